//! Rows as bytes: small, self-describing, and versioned from the first byte.
//!
//! Every value in the tree starts with its expiry, so that compaction can drop it without
//! knowing more. A row goes on with a flag byte, the place of its content in the log if it has
//! any, its kind, shape version and revision, and then its attributes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use bytes::Bytes;
use lsm_tree::UserValue;

use super::names;
use crate::StoreError;
use crate::engine::Row;
use crate::record::Kind;
use crate::value::{Item, Number, Value};

mod view;

pub(super) use view::View;

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
    push_item(bytes, item);
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
    let item = take_item(&mut rest).filter(|_| rest.is_empty()).ok_or_else(corrupt)?;
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

pub(super) fn item_bytes(item: &Item) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(item.bytes() + 64);
    push_item(&mut bytes, item);
    bytes
}

pub(super) fn read_item(bytes: &[u8]) -> Option<Item> {
    let mut rest = bytes;
    take_item(&mut rest).filter(|_| rest.is_empty())
}

fn push_item(bytes: &mut Vec<u8>, item: &Item) {
    push_varint(bytes, item.len() as u64);
    for (name, value) in item.iter() {
        push_name(bytes, name);
        push_value(bytes, value);
    }
}

fn push_name(bytes: &mut Vec<u8>, name: &str) {
    match names::number_of(name) {
        Some(number) => push_varint(bytes, number),
        None => {
            push_varint(bytes, 0);
            push_bytes(bytes, name.as_bytes());
        }
    }
}

fn take_item(rest: &mut &[u8]) -> Option<Item> {
    let count = take_varint(rest)?;
    let mut item = Item::with_capacity(usize::try_from(count).ok()?.min(rest.len()));
    for _ in 0..count {
        let name = match take_varint(rest)? {
            0 => Cow::Owned(take_text(rest)?),
            number => Cow::Borrowed(names::name_of(number)?),
        };
        item.push(name, take_value(rest, 0)?);
    }
    Some(item)
}

mod tag {
    pub(super) const NULL: u8 = 0;
    pub(super) const FALSE: u8 = 1;
    pub(super) const TRUE: u8 = 2;
    pub(super) const INT: u8 = 3;
    pub(super) const BIG: u8 = 4;
    pub(super) const FLOAT: u8 = 5;
    pub(super) const TEXT: u8 = 6;
    pub(super) const BYTES: u8 = 7;
    pub(super) const LIST: u8 = 8;
    pub(super) const MAP: u8 = 9;
}

fn push_value(bytes: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => bytes.push(tag::NULL),
        Value::Bool(false) => bytes.push(tag::FALSE),
        Value::Bool(true) => bytes.push(tag::TRUE),
        Value::Number(Number::Int(number)) => {
            bytes.push(tag::INT);
            // Zigzag: small negative numbers stay small.
            push_varint(bytes, ((number << 1) ^ (number >> 63)) as u64);
        }
        Value::Number(Number::Big(number)) => {
            bytes.push(tag::BIG);
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        Value::Number(Number::Float(number)) => {
            bytes.push(tag::FLOAT);
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        Value::Text(text) => {
            bytes.push(tag::TEXT);
            push_bytes(bytes, text.as_bytes());
        }
        Value::Bytes(raw) => {
            bytes.push(tag::BYTES);
            push_bytes(bytes, raw);
        }
        Value::List(values) => {
            bytes.push(tag::LIST);
            push_varint(bytes, values.len() as u64);
            values.iter().for_each(|value| push_value(bytes, value));
        }
        Value::Map(map) => {
            bytes.push(tag::MAP);
            push_varint(bytes, map.len() as u64);
            for (name, value) in map {
                push_bytes(bytes, name.as_bytes());
                push_value(bytes, value);
            }
        }
    }
}

fn take_value(rest: &mut &[u8], depth: usize) -> Option<Value> {
    if depth > ferryhook_core::limits::ITEM_DEPTH_MAX {
        return None;
    }
    Some(match take::<1>(rest)?[0] {
        tag::NULL => Value::Null,
        tag::FALSE => Value::Bool(false),
        tag::TRUE => Value::Bool(true),
        tag::INT => {
            let zigzag = take_varint(rest)?;
            Value::Number(Number::Int((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64)))
        }
        tag::BIG => Value::Number(Number::Big(u64::from_le_bytes(*take(rest)?))),
        tag::FLOAT => Value::Number(Number::Float(f64::from_le_bytes(*take(rest)?))),
        tag::TEXT => Value::Text(take_text(rest)?),
        tag::BYTES => Value::Bytes(Bytes::copy_from_slice(take_bytes(rest)?)),
        tag::LIST => {
            let count = take_varint(rest)?;
            (0..count)
                .map(|_| take_value(rest, depth + 1))
                .collect::<Option<_>>()
                .map(Value::List)?
        }
        tag::MAP => {
            let mut map = BTreeMap::new();
            for _ in 0..take_varint(rest)? {
                let name = take_text(rest)?;
                map.insert(name, take_value(rest, depth + 1)?);
            }
            Value::Map(map)
        }
        _ => return None,
    })
}

pub(super) fn push_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

pub(super) fn take_varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = take::<1>(rest)?[0];
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

pub(super) fn push_bytes(bytes: &mut Vec<u8>, raw: &[u8]) {
    push_varint(bytes, raw.len() as u64);
    bytes.extend_from_slice(raw);
}

pub(super) fn take_bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take_varint(rest)?).ok()?;
    let (bytes, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some(bytes)
}

fn take_text(rest: &mut &[u8]) -> Option<String> {
    take_bytes(rest).and_then(|bytes| std::str::from_utf8(bytes).ok()).map(str::to_owned)
}

pub(super) fn take<'a, const N: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (bytes, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(bytes)
}

#[cfg(test)]
mod tests;
