//! The body as a tree of fields, for the few providers that sign fields and not bytes.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::Headers;
use crate::dedup::unescaped;

/// Fields of one form.
const FIELDS_MAX: usize = 1000;
/// RFC 2046. It is sought byte by byte.
const BOUNDARY_BYTES_MAX: usize = 70;
/// Where forms that carry a document have it.
const DOCUMENT_FIELD: &str = "json";

/// JSON, a form as an object of its fields, or the JSON in the field of a form.
///
/// What is JSON is never taken for a form, whatever the sender says that it is: nobody signs that,
/// and whoever reads the event later would see something else than what was verified. For the same
/// reason a field that comes twice is as good as missing.
pub(super) fn document(headers: &Headers, body: &[u8]) -> Option<Value> {
    if let Ok(value) = serde_json::from_slice(body) {
        return Some(value);
    }
    let said = headers.find("content-type").unwrap_or_default().trim();
    if said.to_ascii_lowercase().starts_with("multipart/") {
        return serde_json::from_slice(part(body, boundary(said)?, DOCUMENT_FIELD)?).ok();
    }
    let mut object = Map::new();
    for (name, text) in form_fields(std::str::from_utf8(body).ok()?)? {
        let value = if object.contains_key(&*name) { Value::Null } else { (*text).into() };
        object.insert(name.into_owned(), value);
    }
    match object.get(DOCUMENT_FIELD) {
        Some(json) => serde_json::from_str(json.as_str()?).ok(),
        None => Some(Value::Object(object)),
    }
}

/// Names and values, in their order; `None` if there are too many. Escapes that make no text are
/// replaced, as browsers do.
pub(super) fn form_fields(text: &str) -> Option<Vec<(Cow<'_, str>, Cow<'_, str>)>> {
    let pairs = || text.split('&').filter(|pair| !pair.is_empty());
    if pairs().nth(FIELDS_MAX).is_some() {
        return None;
    }
    let pairs = pairs().map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    Some(pairs.map(|(name, value)| (decoded(name), decoded(value))).collect())
}

fn decoded(text: &str) -> Cow<'_, str> {
    match unescaped(text) {
        None => text.into(),
        Some(bytes) => String::from_utf8_lossy(&bytes).into_owned().into(),
    }
}

fn boundary(content_type: &str) -> Option<&str> {
    let parameters = content_type.split(';').skip(1).filter_map(|part| part.split_once('='));
    let mut own = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("boundary"));
    let value = own.next()?.1.trim().trim_matches('"');
    (1..=BOUNDARY_BYTES_MAX).contains(&value.len()).then_some(value)
}

/// The content of the only part of this name.
fn part<'a>(body: &'a [u8], boundary: &str, name: &str) -> Option<&'a [u8]> {
    let delimiter = format!("--{boundary}");
    let wanted = [format!("name=\"{name}\""), format!("name={name}")];
    let mut rest = &body[find(body, delimiter.as_bytes())? + delimiter.len()..];
    let mut found = None;
    for _ in 0..FIELDS_MAX {
        let Some(end) = find(rest, delimiter.as_bytes()) else {
            return found.filter(|_| rest.starts_with(b"--"));
        };
        let (head, content) = split_head(&rest[..end])?;
        let is_own = String::from_utf8_lossy(head)
            .split([';', '\r', '\n'])
            .any(|field| wanted.iter().any(|wanted| field.trim() == wanted));
        if is_own {
            let content = content.strip_suffix(b"\n").unwrap_or(content);
            let content = content.strip_suffix(b"\r").unwrap_or(content);
            if found.replace(content).is_some() {
                return None;
            }
        }
        rest = &rest[end + delimiter.len()..];
    }
    None
}

fn split_head(part: &[u8]) -> Option<(&[u8], &[u8])> {
    if let Some(at) = find(part, b"\r\n\r\n") {
        return Some((&part[..at], &part[at + 4..]));
    }
    let at = find(part, b"\n\n")?;
    Some((&part[..at], &part[at + 2..]))
}

fn find(bytes: &[u8], sought: &[u8]) -> Option<usize> {
    bytes.windows(sought.len()).position(|window| window == sought)
}

#[cfg(test)]
mod tests;
