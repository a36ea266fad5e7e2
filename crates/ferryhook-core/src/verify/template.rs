//! What is signed: a template of literals and of parts of the request.
//!
//! ```text
//! {body}  {url}  {url-decoded}  {path}  {query}  {method}  {timestamp}  {secret}
//! {header:x-name}                  the value of a header
//! {config:name}                    a setting of the source
//! ```
//! Filled in piece by piece, so that a body is never copied for it.

use std::borrow::Cow;

use super::options::Options;
use super::reason::{BadVerifier, Reason};
use super::{Request, only_value};

pub(super) const TEMPLATE_BYTES_MAX: usize = 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(Box<str>),
    Body,
    Url,
    UrlDecoded,
    Path,
    Query,
    Method,
    Timestamp,
    Secret,
    Header(Box<str>),
}

/// What a template is filled in with besides the request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filling<'a> {
    pub(super) request: &'a Request<'a>,
    /// As the sender called it, or as the source says that it did.
    pub(super) url: &'a str,
    pub(super) timestamp: &'a str,
    pub(super) secret: &'a [u8],
}

impl Template {
    pub(super) fn compile(text: &str, options: &Options<'_>) -> Result<Self, BadVerifier> {
        let bad = |why| BadVerifier::Template(text.chars().take(100).collect(), why);
        if text.len() > TEMPLATE_BYTES_MAX {
            return Err(bad("it is too long"));
        }
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((literal, behind)) = rest.split_once('{') {
            if !literal.is_empty() {
                pieces.push(Piece::Literal(literal.into()));
            }
            let (name, behind) = behind.split_once('}').ok_or_else(|| bad("a brace is open"))?;
            pieces.push(match name {
                "body" => Piece::Body,
                "url" => Piece::Url,
                "url-decoded" => Piece::UrlDecoded,
                "path" => Piece::Path,
                "query" => Piece::Query,
                "method" => Piece::Method,
                "timestamp" => Piece::Timestamp,
                "secret" => Piece::Secret,
                _ => match name.split_once(':') {
                    Some(("header", header)) if !header.is_empty() => Piece::Header(header.into()),
                    Some(("config", key)) => Piece::Literal(options.require(key)?.into()),
                    _ => return Err(bad("it names a part that no request has")),
                },
            });
            rest = behind;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Literal(rest.into()));
        }
        Ok(Self(pieces))
    }

    /// Headers that it is made of.
    pub(super) fn headers(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Header(name) => Some(&**name),
            _ => None,
        })
    }

    /// Gives the sink one piece after the other.
    pub(super) fn fill(
        &self,
        filling: &Filling<'_>,
        mut sink: impl FnMut(&[u8]),
    ) -> Result<(), Reason> {
        let Filling { request, url, timestamp, secret } = filling;
        for piece in &self.0 {
            match piece {
                Piece::Literal(text) => sink(text.as_bytes()),
                Piece::Body => sink(request.body),
                Piece::Url => sink(url.as_bytes()),
                Piece::UrlDecoded => sink(hubspot_decoded(url).as_bytes()),
                Piece::Path => sink(path_and_query(url).0.as_bytes()),
                Piece::Query => sink(path_and_query(url).1.as_bytes()),
                Piece::Method => sink(request.method.as_bytes()),
                Piece::Timestamp => sink(timestamp.as_bytes()),
                Piece::Secret => sink(secret),
                Piece::Header(name) => sink(only_value(request.headers, name)?.as_bytes()),
            }
        }
        Ok(())
    }

    pub(super) fn filled(&self, filling: &Filling<'_>) -> Result<Vec<u8>, Reason> {
        let mut content = Vec::with_capacity(filling.request.body.len() + 256);
        self.fill(filling, |piece| content.extend_from_slice(piece))?;
        Ok(content)
    }
}

/// The path, never empty, and the query without its question mark.
pub(super) fn path_and_query(url: &str) -> (&str, &str) {
    let behind_host = match url.split_once("://") {
        Some((_, behind)) => behind.find(['/', '?', '#']).map_or("", |at| &behind[at..]),
        None => url,
    };
    let whole = behind_host.split('#').next().unwrap_or_default();
    let (path, query) = whole.split_once('?').unwrap_or((whole, ""));
    (if path.is_empty() { "/" } else { path }, query)
}

/// HubSpot's documents ask for these escapes, and no others, to be undone before signing.
fn hubspot_decoded(url: &str) -> Cow<'_, str> {
    const ESCAPES: [(&str, char); 12] = [
        ("3A", ':'),
        ("2F", '/'),
        ("3F", '?'),
        ("40", '@'),
        ("21", '!'),
        ("24", '$'),
        ("27", '\''),
        ("28", '('),
        ("29", ')'),
        ("2A", '*'),
        ("2C", ','),
        ("3B", ';'),
    ];
    if !url.contains('%') {
        return url.into();
    }
    let mut parts = url.split('%');
    let mut decoded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let known = part.get(..2).and_then(|digits| {
            ESCAPES.iter().find(|(own, _)| own.eq_ignore_ascii_case(digits)).map(|(_, to)| *to)
        });
        match known {
            Some(character) => {
                decoded.push(character);
                decoded.push_str(&part[2..]);
            }
            None => {
                decoded.push('%');
                decoded.push_str(part);
            }
        }
    }
    decoded.into()
}

#[cfg(test)]
mod tests;
