//! What a body may have been before something on the way wrote it anew.

use std::io;

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

/// Larger ones are not written anew.
const BODY_BYTES_MAX: usize = 1024 * 1024;

/// With what was done to it, as the end of "it fits it …".
pub(super) fn variants(body: &[u8]) -> impl Iterator<Item = (&'static str, Vec<u8>)> {
    let mut variants = Vec::new();
    if body.len() > BODY_BYTES_MAX {
        return variants.into_iter();
    }
    let trimmed = body.trim_ascii();
    if trimmed != body {
        variants.push(("without the white space around it", trimmed.to_vec()));
    }
    for (name, end) in [
        ("with a line break at its end", &b"\n"[..]),
        ("with a line break (CR LF) at its end", b"\r\n"),
    ] {
        variants.push((name, [trimmed, end].concat()));
    }
    if let Ok(value) = serde_json::from_slice::<Value>(body) {
        let sorted = sorted(value.clone());
        let compact = |value: &Value| value.to_string().into_bytes();
        variants.push(("as JSON without spaces", compact(&value)));
        variants.push(("as JSON without spaces, its names sorted", compact(&sorted)));
        variants.push(("as JSON with an indent of two spaces", written(&value, indent(b"  "))));
        variants.push(("as JSON with an indent of four spaces", written(&value, indent(b"    "))));
        variants.push(("as JSON with a space behind colons and commas", written(&value, Spaced)));
        let escaped = |value: &Value| ascii(&value.to_string());
        variants.push(("as JSON whose characters beyond ASCII are escaped", escaped(&value)));
        let spaced = String::from_utf8(written(&value, Spaced)).unwrap_or_default();
        let name = "as JSON with spaces whose characters beyond ASCII are escaped";
        variants.push((name, ascii(&spaced)));
    }
    variants.retain(|(_, other)| other != body);
    variants.into_iter()
}

fn indent(indent: &'static [u8]) -> PrettyFormatter<'static> {
    PrettyFormatter::with_indent(indent)
}

fn written(value: &Value, formatter: impl Formatter) -> Vec<u8> {
    let mut text = Vec::new();
    match value.serialize(&mut Serializer::with_formatter(&mut text, formatter)) {
        Ok(()) => text,
        // Memory takes everything, so this is never asked for.
        Err(_) => Vec::new(),
    }
}

/// The parser does not nest deeper than 128, and so neither does this.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut pairs: Vec<_> =
                map.into_iter().map(|(name, value)| (name, sorted(value))).collect();
            pairs.sort_by(|one, two| one.0.cmp(&two.0));
            Value::Object(pairs.into_iter().collect())
        }
        Value::Array(list) => Value::Array(list.into_iter().map(sorted).collect()),
        other => other,
    }
}

/// As Python writes it unless told otherwise.
struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        to: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { to.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        to: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { to.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, to: &mut W) -> io::Result<()> {
        to.write_all(b": ")
    }
}

fn ascii(text: &str) -> Vec<u8> {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii() {
            escaped.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            escaped.push_str(&format!("\\u{unit:04x}"));
        }
    }
    escaped.into_bytes()
}
