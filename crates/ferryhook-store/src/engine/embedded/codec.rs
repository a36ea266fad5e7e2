//! Rows as bytes: small, self-describing, and versioned from the first byte.
//!
//! Every value in the tree starts with its expiry, so that compaction can drop it without
//! knowing more. A row goes on with a flag byte, the place of its content in the log if it has
//! any, its kind, shape version and revision, and then its attributes, packed.

use lsm_tree::UserValue;

use crate::StoreError;
use crate::engine::Row;
use crate::record::Kind;
use crate::value::Item;
use crate::value::packed;

pub(super) use crate::value::packed::{push_bytes, push_varint, take, take_bytes, take_varint};

mod view;

pub(super) use view::{Edit, View};

const HAS_CONTENT: u8 = 1;

/// Where in the log the content of a row lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) segment: u32,
    pub(super) offset: u32,
    pub(super) length: u32,
    /// The lower half of the content's hash.
    pub(super) check: u32,
}

pub(super) const PLACE_BYTES: usize = 16;

impl Place {
    /// No segment has this number: there is no room for one behind it.
    const ON_ITS_WAY: u32 = u32::MAX;

    /// Stands for content that is still on its way to the log, with this write of its group.
    pub(super) fn with_write(write: usize, length: usize) -> Self {
        let (offset, length) = (write as u32, length as u32);
        Self { segment: Self::ON_ITS_WAY, offset, length, check: 0 }
    }

    /// The write of the group that takes the content to the log, if it is not there yet.
    pub(super) fn write(self) -> Option<usize> {
        (self.segment == Self::ON_ITS_WAY).then_some(self.offset as usize)
    }

    fn to_bytes(self) -> [u8; PLACE_BYTES] {
        let mut bytes = [0; PLACE_BYTES];
        for (chunk, word) in
            bytes.chunks_exact_mut(4).zip([self.segment, self.offset, self.length, self.check])
        {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn from_bytes(bytes: &[u8; PLACE_BYTES]) -> Self {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        Self { segment: word(0), offset: word(4), length: word(8), check: word(12) }
    }
}

/// A row without its content.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Head {
    pub(super) expires: Option<i64>,
    pub(super) place: Option<Place>,
    pub(super) row: Row,
}

/// Expiry as stored: seconds, 0 for never. What lies beyond 2106 is kept until then.
pub(super) fn expiry_bytes(expires: Option<i64>) -> [u8; 4] {
    let seconds = expires.map_or(0, |at| u32::try_from(at.max(1)).unwrap_or(u32::MAX));
    seconds.to_le_bytes()
}

/// When a value of the tree (row or index entry) expires.
pub(super) fn expiry_of(value: &[u8]) -> Option<i64> {
    let seconds = u32::from_le_bytes(*value.first_chunk()?);
    (seconds != 0).then_some(i64::from(seconds))
}

pub(super) fn has_expired(value: &[u8], now: i64) -> bool {
    expiry_of(value).is_some_and(|at| at <= now)
}

/// The kind of a row's value, without reading the rest.
pub(super) fn kind_of(value: &[u8]) -> Option<Kind> {
    let at = 5 + if value.get(4)? & HAS_CONTENT != 0 { PLACE_BYTES } else { 0 };
    Kind::from_number(*value.get(at)?)
}

pub(super) fn place_of(value: &[u8]) -> Option<Place> {
    (value.get(4)? & HAS_CONTENT != 0).then_some(())?;
    value.get(5..)?.first_chunk().map(Place::from_bytes)
}

/// Gives a row's value, which has content, the place where it lies.
pub(super) fn with_place(value: &[u8], place: Place) -> UserValue {
    let mut bytes = value.to_vec();
    bytes[5..5 + PLACE_BYTES].copy_from_slice(&place.to_bytes());
    bytes.into()
}

/// The value of a new row that has no content.
pub(super) fn row_value(kind: Kind, version: u8, expires: Option<i64>, item: &Item) -> UserValue {
    let mut bytes = Vec::with_capacity(item.bytes() + 32);
    bytes.extend_from_slice(&expiry_bytes(expires));
    bytes.push(0);
    push_tail(&mut bytes, kind, version, 1, item);
    bytes.into()
}

/// The value for the tree, from what `row_tail` made and where the content went.
pub(super) fn assemble(expires: Option<i64>, place: Option<Place>, tail: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(5 + PLACE_BYTES + tail.len());
    assemble_into(&mut bytes, expires, place, tail);
    bytes
}

pub(super) fn assemble_into(
    bytes: &mut Vec<u8>,
    expires: Option<i64>,
    place: Option<Place>,
    tail: &[u8],
) {
    bytes.extend_from_slice(&expiry_bytes(expires));
    match place {
        Some(place) => {
            bytes.push(HAS_CONTENT);
            bytes.extend_from_slice(&place.to_bytes());
        }
        None => bytes.push(0),
    }
    bytes.extend_from_slice(tail);
}

/// Kind, version, revision and attributes: all that does not depend on where things lie.
pub(super) fn row_tail(kind: Kind, version: u8, revision: u64, item: &Item) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(item.bytes() + 32);
    push_tail(&mut bytes, kind, version, revision, item);
    bytes
}

fn push_tail(bytes: &mut Vec<u8>, kind: Kind, version: u8, revision: u64, item: &Item) {
    bytes.extend_from_slice(&[kind as u8, version]);
    push_varint(bytes, revision);
    item.push_packed(bytes);
}

pub(super) fn read_head(value: &[u8]) -> Result<Head, StoreError> {
    let damaged = || StoreError::Damaged("a row in the tree cannot be read".into());
    let expires = expiry_of(value);
    let place = place_of(value);
    let mut rest =
        value.get(5 + if place.is_some() { PLACE_BYTES } else { 0 }..).ok_or_else(damaged)?;
    let [kind, version] = *take::<2>(&mut rest).ok_or_else(damaged)?;
    let kind = Kind::from_number(kind)
        .ok_or_else(|| StoreError::Damaged(format!("a row has the unknown kind {kind}")))?;
    let corrupt = || StoreError::corrupt(kind, "its bytes do not decode");
    let revision = take_varint(&mut rest).ok_or_else(corrupt)?;
    let item = read_item(rest).ok_or_else(corrupt)?;
    Ok(Head { expires, place, row: Row { kind, version, revision, item } })
}

/// A number as a value of the tree.
pub(super) fn count_value(count: u64) -> Vec<u8> {
    let mut bytes = expiry_bytes(None).to_vec();
    push_varint(&mut bytes, count);
    bytes
}

pub(super) fn read_count(value: &[u8]) -> Option<u64> {
    take_varint(&mut value.get(4..)?)
}

pub(super) fn read_item(bytes: &[u8]) -> Option<Item> {
    let mut rest = bytes;
    let attributes = packed::take_attributes(&mut rest).filter(|_| rest.is_empty())?;
    Some(attributes.into_iter().collect())
}

#[cfg(test)]
mod tests;
