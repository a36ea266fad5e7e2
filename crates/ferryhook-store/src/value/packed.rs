//! Attributes as bytes: a count, and then each attribute's name and value.
//!
//! A name is its number in the dictionary ([`names`](super::names)) where it has one; a value
//! starts with a tag that says what it is. This is what the embedded engine stores, so tags keep
//! their meaning for ever. A record is packed without becoming an [`Item`] first ([`pack`]); who
//! wants the item unpacks it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use bytes::Bytes;
use ferryhook_core::limits;

use super::{Name, Number, Value, names};
use crate::StoreError;

mod ser;

pub use ser::SerError;
pub(crate) use ser::{pack, pack_and_print, pack_beside};

/// The attributes of one item.
#[derive(Debug, Clone)]
pub(crate) struct Packed {
    bytes: Vec<u8>,
    /// As DynamoDB counts it.
    size: usize,
    misfit: Option<Misfit>,
}

/// Why not every engine can keep a value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Misfit {
    Depth,
    Number(Number),
}

impl From<Misfit> for StoreError {
    fn from(misfit: Misfit) -> Self {
        Self::OutOfBounds(match misfit {
            Misfit::Depth => {
                let max = limits::ITEM_DEPTH_MAX;
                format!("an item nests deeper than {max} levels")
            }
            Misfit::Number(number) => format!("{number} is outside 1e-130 to 1e126"),
        })
    }
}

impl Packed {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    pub(crate) fn check(&self) -> Result<(), StoreError> {
        self.misfit.map_or(Ok(()), |misfit| Err(misfit.into()))
    }

    pub(crate) fn len(&self) -> usize {
        take_varint(&mut self.bytes.as_slice()).map_or(0, |count| count as usize)
    }

    pub(crate) fn unpack(&self) -> Vec<(Name, Value)> {
        // What was packed here can be unpacked.
        take_attributes(&mut self.bytes.as_slice()).unwrap_or_default()
    }

    /// Each attribute, not unpacked.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = Attribute<'_>> {
        let mut rest = self.bytes.as_slice();
        let count = take_varint(&mut rest).unwrap_or(0);
        (0..count).map_while(move |_| Attribute::take(&mut rest))
    }
}

/// One attribute: its name, its value, and both as they are stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attribute<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a [u8],
    pub(crate) whole: &'a [u8],
    /// As DynamoDB counts it.
    pub(crate) size: usize,
}

impl<'a> Attribute<'a> {
    pub(crate) fn take(rest: &mut &'a [u8]) -> Option<Self> {
        let from = *rest;
        let name = match take_varint(rest)? {
            0 => std::str::from_utf8(take_bytes(rest)?).ok()?,
            number => names::name_of(number)?,
        };
        let value = *rest;
        let size = name.len() + skip_value(rest, 0)?;
        let value = &value[..value.len() - rest.len()];
        Some(Self { name, value, whole: &from[..from.len() - rest.len()], size })
    }

    pub(crate) fn owned_name(&self) -> Name {
        let known = names::number_of(self.name).and_then(names::name_of);
        known.map_or_else(|| Cow::Owned(self.name.to_owned()), Cow::Borrowed)
    }

    pub(crate) fn unpack(&self) -> Option<Value> {
        take_value(&mut { self.value }, 0)
    }
}

/// The count and every attribute.
pub(crate) fn push_attributes(bytes: &mut Vec<u8>, attributes: &[(Name, Value)]) {
    push_varint(bytes, attributes.len() as u64);
    for (name, value) in attributes {
        push_name(bytes, name);
        push_value(bytes, value);
    }
}

pub(crate) fn take_attributes(rest: &mut &[u8]) -> Option<Vec<(Name, Value)>> {
    let count = take_varint(rest)?;
    let mut attributes = Vec::with_capacity(usize::try_from(count).ok()?.min(rest.len()));
    for _ in 0..count {
        let name = match take_varint(rest)? {
            0 => Cow::Owned(take_text(rest)?),
            number => Cow::Borrowed(names::name_of(number)?),
        };
        attributes.push((name, take_value(rest, 0)?));
    }
    Some(attributes)
}

pub(crate) fn push_name(bytes: &mut Vec<u8>, name: &str) {
    match names::number_of(name) {
        Some(number) => push_varint(bytes, number),
        None => {
            push_varint(bytes, 0);
            push_bytes(bytes, name.as_bytes());
        }
    }
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

pub(crate) fn push_value(bytes: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => bytes.push(tag::NULL),
        Value::Bool(false) => bytes.push(tag::FALSE),
        Value::Bool(true) => bytes.push(tag::TRUE),
        Value::Number(Number::Int(number)) => push_int(bytes, *number),
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

pub(crate) fn take_value(rest: &mut &[u8], depth: usize) -> Option<Value> {
    if depth > limits::ITEM_DEPTH_MAX {
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

pub(crate) fn push_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

pub(crate) fn varint_width(number: u64) -> usize {
    (64 - number.max(1).leading_zeros() as usize).div_ceil(7)
}

/// Writes a number into just this room, which may be more than it needs.
pub(crate) fn set_varint(room: &mut [u8], mut number: u64) {
    let last = room.len() - 1;
    for byte in &mut room[..last] {
        *byte = number as u8 | 0x80;
        number >>= 7;
    }
    room[last] = number as u8;
}

pub(crate) fn take_varint(rest: &mut &[u8]) -> Option<u64> {
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

pub(crate) fn push_bytes(bytes: &mut Vec<u8>, raw: &[u8]) {
    push_varint(bytes, raw.len() as u64);
    bytes.extend_from_slice(raw);
}

pub(crate) fn take_bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take_varint(rest)?).ok()?;
    let (bytes, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some(bytes)
}

fn take_text(rest: &mut &[u8]) -> Option<String> {
    take_bytes(rest).and_then(|bytes| std::str::from_utf8(bytes).ok()).map(str::to_owned)
}

pub(crate) fn take<'a, const N: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (bytes, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(bytes)
}

fn push_int(bytes: &mut Vec<u8>, number: i64) {
    bytes.push(tag::INT);
    // Zigzag: small negative numbers stay small.
    push_varint(bytes, ((number << 1) ^ (number >> 63)) as u64);
}

/// Passes over a value and tells its size as DynamoDB counts it.
fn skip_value(rest: &mut &[u8], depth: usize) -> Option<usize> {
    if depth > limits::ITEM_DEPTH_MAX {
        return None;
    }
    Some(match take::<1>(rest)?[0] {
        tag::NULL | tag::FALSE | tag::TRUE => 1,
        tag::INT => {
            take_varint(rest)?;
            21
        }
        tag::BIG | tag::FLOAT => {
            take::<8>(rest)?;
            21
        }
        tag::TEXT | tag::BYTES => take_bytes(rest)?.len(),
        tag::LIST => {
            let mut bytes = 3;
            for _ in 0..take_varint(rest)? {
                bytes += 1 + skip_value(rest, depth + 1)?;
            }
            bytes
        }
        tag::MAP => {
            let mut bytes = 3;
            for _ in 0..take_varint(rest)? {
                bytes += 1 + take_bytes(rest)?.len() + skip_value(rest, depth + 1)?;
            }
            bytes
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
