//! What a rule may look at.

use std::borrow::Cow;

use aws_lc_rs::digest::{SHA256, digest};

use super::json::Tree;
use crate::{Body, Event, Headers};

/// A request at the door, or an event made of one.
#[derive(Debug, Clone, Copy)]
pub struct Arriving<'a> {
    pub headers: &'a Headers,
    /// Without its question mark, as it was sent.
    pub query: Option<&'a str>,
    /// What followed the source's id.
    pub path: Option<&'a str>,
    pub body: &'a Body,
}

impl<'a> Arriving<'a> {
    pub fn of(event: &'a Event) -> Self {
        let Event { headers, query, path, body, .. } = event;
        Self { headers, query: query.as_deref(), path: path.as_deref(), body }
    }

    pub(super) fn header(&self, name: &str) -> Option<Cow<'a, str>> {
        self.headers.find(name).map(str::trim).filter(|value| !value.is_empty()).map(Cow::Borrowed)
    }

    pub(super) fn query(&self, name: &str) -> Option<Cow<'a, str>> {
        form_field(self.query?, name)
    }

    /// One value for each path of the tree, from JSON if that is what the body is, and else from
    /// a form. What the sender calls it does not matter: nobody signs that, so whoever sends a
    /// request again could have another key by it.
    pub(super) fn seek(&self, tree: &Tree) -> Vec<Option<Cow<'a, str>>> {
        let Some(text) = self.body.as_text() else { return tree.nothing() };
        let is_likely = text.trim_ascii_start().starts_with(['{', '[']);
        if let Some(found) = is_likely.then(|| tree.seek(text)).flatten() {
            return found;
        }
        tree.names().map(|name| form_field(text, name?)).collect()
    }

    pub(super) fn body_hash(&self) -> Option<String> {
        (!self.body.is_empty()).then(|| sha256_hex(self.body.as_bytes()))
    }
}

pub(super) fn sha256_hex(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(64);
    crate::signature::push_hex(&mut hex, digest(&SHA256, bytes).as_ref());
    hex
}

/// The first field of this name that is not empty.
fn form_field<'a>(form: &'a str, name: &str) -> Option<Cow<'a, str>> {
    form.split('&').find_map(|pair| {
        let (own, value) = pair.split_once('=')?;
        (decoded(own)? == name).then(|| decoded(value))?.filter(|value| !value.is_empty())
    })
}

/// `None` when the escapes do not make text.
pub(crate) fn decoded(text: &str) -> Option<Cow<'_, str>> {
    match unescaped(text) {
        None => Some(text.into()),
        Some(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
    }
}

/// The bytes that a part of a form or query stands for; `None` where it stands for itself. A lone
/// percent sign does.
pub(crate) fn unescaped(text: &str) -> Option<Vec<u8>> {
    if !text.contains(['%', '+']) {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        let escaped = (byte == b'%').then(|| escape(behind)).flatten();
        bytes.push(escaped.unwrap_or(if byte == b'+' { b' ' } else { byte }));
        rest = if escaped.is_some() { &behind[2..] } else { behind };
    }
    Some(bytes)
}

fn escape(behind: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*behind.get(at)?).to_digit(16);
    u8::try_from(digit(0)? << 4 | digit(1)?).ok()
}
