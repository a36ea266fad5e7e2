//! The body as a tree of fields, for the few providers that sign fields and not bytes.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::Headers;

/// Fields of one form.
const FIELDS_MAX: usize = 1000;
/// Where forms that carry a document have it.
const DOCUMENT_FIELD: &str = "json";

/// JSON, a form as an object of its fields, or the JSON in the field of a form.
pub(super) fn document(headers: &Headers, body: &[u8]) -> Option<Value> {
    let said = headers.find("content-type").unwrap_or_default().trim();
    let kind = said.to_ascii_lowercase();
    if kind.starts_with("multipart/") {
        return serde_json::from_slice(part(body, boundary(said)?, DOCUMENT_FIELD)?).ok();
    }
    if !kind.starts_with("application/x-www-form-urlencoded")
        && let Ok(value) = serde_json::from_slice(body)
    {
        return Some(value);
    }
    let fields = form_fields(std::str::from_utf8(body).ok()?);
    if let Some((_, text)) = fields.iter().find(|(name, _)| name == DOCUMENT_FIELD) {
        return serde_json::from_str(text).ok();
    }
    let fields =
        fields.into_iter().map(|(name, text)| (name.into_owned(), text.into_owned().into()));
    Some(Value::Object(fields.collect::<Map<_, _>>()))
}

/// Names and values, in their order. Escapes that make no text are replaced, as browsers do.
pub(super) fn form_fields(text: &str) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
    text.split('&')
        .filter(|pair| !pair.is_empty())
        .take(FIELDS_MAX)
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect()
}

fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains(['%', '+']) {
        return text.into();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        let escaped = (byte == b'%').then(|| escape(behind)).flatten();
        bytes.push(escaped.unwrap_or(if byte == b'+' { b' ' } else { byte }));
        rest = if escaped.is_some() { &behind[2..] } else { behind };
    }
    match String::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned().into(),
    }
}

fn escape(behind: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*behind.get(at)?).to_digit(16);
    u8::try_from(digit(0)? << 4 | digit(1)?).ok()
}

fn boundary(content_type: &str) -> Option<&str> {
    let parameters = content_type.split(';').skip(1).filter_map(|part| part.split_once('='));
    let mut own = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("boundary"));
    let value = own.next()?.1.trim().trim_matches('"');
    (!value.is_empty()).then_some(value)
}

/// The content of the first part of this name.
fn part<'a>(body: &'a [u8], boundary: &str, name: &str) -> Option<&'a [u8]> {
    let delimiter = format!("--{boundary}");
    let wanted = [format!("name=\"{name}\""), format!("name={name}")];
    let mut rest = body;
    for _ in 0..FIELDS_MAX {
        let start = find(rest, delimiter.as_bytes())? + delimiter.len();
        rest = &rest[start..];
        let end = find(rest, delimiter.as_bytes())?;
        let (head, content) = split_head(&rest[..end])?;
        let is_own = String::from_utf8_lossy(head)
            .split([';', '\r', '\n'])
            .any(|field| wanted.iter().any(|wanted| field.trim() == wanted));
        if is_own {
            let content = content.strip_suffix(b"\n").unwrap_or(content);
            return Some(content.strip_suffix(b"\r").unwrap_or(content));
        }
        rest = &rest[end..];
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
