//! A rule, and what it makes of a request.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::arriving::sha256_hex;
use super::json::Tree;
use super::{Arriving, EVENT_TYPE_BYTES_MAX, KEY_BYTES_MAX};
use crate::cloud_events::{Mode, attribute};
use crate::signature::push_hex;

/// Compiled; a source keeps its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pieces: Vec<Piece>,
    tree: Tree,
    /// Every character that stands between values. Inside of a value it is escaped, so that
    /// `a:b` and `c` cannot make the same key as `a` and `b:c`.
    separators: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Literal(String),
    Part(Part),
    /// Left out as a whole when a part of it is missing.
    Optional(Vec<Piece>),
}

/// Places to look at; the first that has something counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part(pub(super) Vec<Place>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// A slot of the tree.
    Body(usize),
    BodyHash,
    Header(String),
    Query(String),
    Path,
    /// An attribute of a CloudEvent: a header, or a slot of the tree, as the event travels.
    CloudEvent(String, usize),
}

impl Rule {
    pub(super) fn new(pieces: Vec<Piece>, tree: Tree) -> Self {
        let mut separators = String::new();
        literals(&pieces, &mut separators);
        Self { pieces, tree, separators }
    }

    /// The key of this request, or `None` if something that it needs is not there.
    pub fn key(&self, arriving: &Arriving<'_>) -> Option<String> {
        self.filled(arriving, |value| self.escaped(value)).map(bounded)
    }

    /// What it reads as, for people and for patterns, or `None` if that is too long for a type.
    pub fn text(&self, arriving: &Arriving<'_>) -> Option<String> {
        let text = self.filled(arriving, |value| value)?;
        let is_fit = text.len() <= EVENT_TYPE_BYTES_MAX && !text.contains(char::is_control);
        is_fit.then_some(text)
    }

    /// All of it, however long it is.
    pub(crate) fn whole(&self, arriving: &Arriving<'_>) -> Option<String> {
        self.filled(arriving, |value| value)
    }

    fn filled<'a>(
        &self,
        arriving: &Arriving<'a>,
        value: impl Fn(Cow<'a, str>) -> Cow<'a, str>,
    ) -> Option<String> {
        let look = Look { arriving, tree: &self.tree, body: OnceCell::new() };
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(literal) => text.push_str(literal),
                Piece::Part(part) => text.push_str(&value(look.at(part)?)),
                Piece::Optional(inner) => {
                    let inner: Option<Vec<_>> = inner
                        .iter()
                        .map(|piece| match piece {
                            Piece::Literal(literal) => Some(Cow::Borrowed(literal.as_str())),
                            Piece::Part(part) => look.at(part).map(&value),
                            // Written nowhere: the reader refuses brackets inside of brackets.
                            Piece::Optional(_) => None,
                        })
                        .collect();
                    text.extend(inner.into_iter().flatten());
                }
            }
        }
        Some(text)
    }

    fn escaped<'a>(&self, value: Cow<'a, str>) -> Cow<'a, str> {
        let is_escaped = |c: char| c == '%' || self.separators.contains(c);
        if self.separators.is_empty() || !value.contains(is_escaped) {
            return value;
        }
        let mut text = String::with_capacity(value.len() + 16);
        for character in value.chars() {
            if !is_escaped(character) {
                text.push(character);
                continue;
            }
            for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                text.push('%');
                push_hex(&mut text, &[byte]);
            }
        }
        text.into()
    }
}

fn literals(pieces: &[Piece], into: &mut String) {
    for piece in pieces {
        match piece {
            Piece::Literal(text) => into.push_str(text),
            Piece::Part(_) => {}
            Piece::Optional(inner) => literals(inner, into),
        }
    }
}

/// A key that is long, or that would be hard to read in a log, stands there as its hash.
pub(super) fn bounded(key: String) -> String {
    if key.len() > KEY_BYTES_MAX || key.contains(char::is_control) {
        return format!("sha256:{}", sha256_hex(key.as_bytes()));
    }
    key
}

/// One look at a request, which reads its body once, and only when something asks for it.
struct Look<'r, 'a> {
    arriving: &'r Arriving<'a>,
    tree: &'r Tree,
    body: OnceCell<Vec<Option<Cow<'a, str>>>>,
}

impl<'a> Look<'_, 'a> {
    fn at(&self, part: &Part) -> Option<Cow<'a, str>> {
        part.0.iter().find_map(|place| match place {
            Place::Body(slot) => self.in_body(*slot),
            Place::BodyHash => self.arriving.body_hash().map(Cow::Owned),
            Place::Header(name) => self.arriving.header(name),
            Place::Query(name) => self.arriving.query(name),
            Place::CloudEvent(header, slot) => match Mode::of(self.arriving.headers)? {
                Mode::Binary => {
                    let value = attribute(self.arriving.headers.find(header)?)?;
                    Some(value).filter(|value| !value.is_empty())
                }
                // Whoever sees a batch here sees one of its parts.
                Mode::Structured | Mode::Batch => self.in_body(*slot),
            },
            Place::Path => self.arriving.path.filter(|path| !path.is_empty()).map(Cow::Borrowed),
        })
    }

    fn in_body(&self, slot: usize) -> Option<Cow<'a, str>> {
        let body = self.body.get_or_init(|| self.arriving.seek(self.tree));
        body.get(slot).cloned().flatten()
    }
}
