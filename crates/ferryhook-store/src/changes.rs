//! Changes: what was written to the rows of a table, one after the other.
//!
//! Engines give them out of what they keep anyway ([`Engine::changes`](crate::Engine::changes)):
//! the embedded engine reads its log, dynamo the stream of the table. Changes of one row come in
//! the order they were made. What an engine does for itself is no change, nor is it one that a row
//! expires. Nothing here knows who asks or whose rows they are.

use std::fmt;

use ferryhook_core::limits;

use crate::StoreError;
use crate::engine::Row;
use crate::key::Key;
use crate::record::Kind;
use crate::value::{Name, Value};

/// A page ends once its rows, with all that they carry, have this many bytes.
pub(crate) const PAGE_BYTES_MAX: usize = 1024 * 1024;

/// A place between two changes, in words that only the engine understands. None is used twice.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place(String);

impl Place {
    /// What someone was told before.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// The first change that is still kept.
    Oldest,
    /// Nothing that was written before the call.
    Now,
    After(Place),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    pub kind: Kind,
    /// Only rows that have this attribute with this value, which may be none of the
    /// [content](Kind::content). Removals are given in any case: nothing is left to look at.
    pub only: Option<(Name, Value)>,
    pub start: Start,
    pub limit: usize,
}

impl Wanted {
    pub fn new(kind: Kind, start: Start) -> Self {
        Self { kind, only: None, start, limit: limits::PAGE_DEFAULT }
    }

    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if !self.kind.table().shape().stream {
            let name = self.kind.table().name();
            return Err(StoreError::Malformed(format!("the changes of {name} are not kept")));
        }
        if self.limit == 0 || self.limit > limits::PAGE_MAX {
            let (limit, max) = (self.limit, limits::PAGE_MAX);
            let what = format!("{limit} changes were asked for; it has to be 1 to {max}");
            return Err(StoreError::OutOfBounds(what));
        }
        Ok(())
    }

    pub(crate) fn wants(&self, row: &Row) -> bool {
        let is_only = |(name, value): &(Name, Value)| row.item.get(name) == Some(value);
        row.kind == self.kind && self.only.as_ref().is_none_or(is_only)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    pub key: Key,
    pub what: What,
    /// Tells the changes of a row apart and grows from one to the next.
    pub sequence: String,
    /// Right behind it.
    pub place: Place,
}

#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// The row as it was written. What it carries may be missing if it is gone by now.
    Inserted(Row),
    Changed(Row),
    /// A row of the same table, of whatever kind it was.
    Removed,
}

impl What {
    /// How much it is for a page.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Inserted(row) | Self::Changed(row) => row.item.bytes(),
            Self::Removed => 0,
        }
    }

    pub(crate) fn written(row: Row) -> Self {
        match row.revision {
            1 => Self::Inserted(row),
            _ => Self::Changed(row),
        }
    }
}

/// A page of changes. It may be shorter than its limit, or empty, and still not be the last.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes {
    pub changes: Vec<Change>,
    /// Where to go on.
    pub next: Place,
    /// Nothing more was there to read.
    pub is_end: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangesError {
    #[error("what follows {0} is too old and no longer kept")]
    TooOld(Place),
    #[error("no change of this store was ever called {0}")]
    Unknown(Place),
    #[error("this store keeps no changes")]
    NotKept,
}
