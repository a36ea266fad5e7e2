//! A row looked at and changed as bytes: what a change does not name is copied and never decoded.

use super::*;
use crate::batch::Patch;

/// A row's value, taken apart as far as its attributes.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct View<'a> {
    pub(in super::super) expires: Option<i64>,
    pub(in super::super) place: Option<Place>,
    pub(in super::super) revision: u64,
    kind: Kind,
    version: u8,
    count: u64,
    attributes: &'a [u8],
}

/// One attribute: its name, its value, and both as they are stored.
struct Attribute<'a> {
    name: &'a str,
    value: &'a [u8],
    whole: &'a [u8],
    /// As DynamoDB counts them.
    bytes: usize,
}

impl<'a> View<'a> {
    pub(in super::super) fn of(value: &'a [u8]) -> Result<Self, StoreError> {
        let damaged = || StoreError::Damaged("a row in the tree cannot be read".into());
        let (expires, place) = (expiry_of(value), place_of(value));
        let mut rest =
            value.get(5 + if place.is_some() { PLACE_BYTES } else { 0 }..).ok_or_else(damaged)?;
        let [kind, version] = *take::<2>(&mut rest).ok_or_else(damaged)?;
        let kind = Kind::from_number(kind)
            .ok_or_else(|| StoreError::Damaged(format!("a row has the unknown kind {kind}")))?;
        let corrupt = || StoreError::corrupt(kind, "its bytes do not decode");
        let revision = take_varint(&mut rest).ok_or_else(corrupt)?;
        let count = take_varint(&mut rest).ok_or_else(corrupt)?;
        Ok(Self { expires, place, revision, kind, version, count, attributes: rest })
    }

    pub(in super::super) fn get(&self, name: &str) -> Result<Option<Value>, StoreError> {
        let mut rest = self.attributes;
        for _ in 0..self.count {
            let mut attribute = self.next(&mut rest)?;
            if attribute.name == name {
                let value = take_value(&mut attribute.value, 0);
                return value.map(Some).ok_or_else(|| self.corrupt());
            }
        }
        Ok(None)
    }

    /// The row's value with the patch applied, one revision on.
    pub(in super::super) fn patched(&self, patch: &Patch) -> Result<Vec<u8>, StoreError> {
        let mut attributes = Vec::with_capacity(self.attributes.len() + 64);
        let mut rest = self.attributes;
        let (mut count, mut bytes) = (0, 0);
        let mut put = |attributes: &mut Vec<u8>, name: &str, value: &Value| {
            push_name(attributes, name);
            push_value(attributes, value);
            bytes += name.len() + value.bytes();
            count += 1;
        };
        // No name is changed twice, so what was met here is not to be appended below.
        let (mut set, mut added) = (vec![false; patch.set.len()], vec![false; patch.add.len()]);
        let (mut kept, mut kept_bytes) = (0, 0);
        for _ in 0..self.count {
            let mut attribute = self.next(&mut rest)?;
            let name = attribute.name;
            if let Some(place) = patch.set.iter().position(|(known, _)| known == name) {
                set[place] = true;
                put(&mut attributes, name, &patch.set[place].1);
            } else if let Some(place) = patch.add.iter().position(|(known, _)| known == name) {
                added[place] = true;
                let value = take_value(&mut attribute.value, 0).ok_or_else(|| self.corrupt())?;
                let sum = value.plus(patch.add[place].1).ok_or_else(|| no_sum(name))?;
                put(&mut attributes, name, &sum);
            } else if !patch.remove.iter().any(|known| known == name) {
                attributes.extend_from_slice(attribute.whole);
                kept_bytes += attribute.bytes;
                kept += 1;
            }
        }
        if !rest.is_empty() {
            return Err(self.corrupt());
        }
        for ((name, amount), _) in patch.add.iter().zip(added).filter(|(_, met)| !met) {
            put(&mut attributes, name, &(*amount).into());
        }
        for ((name, value), _) in patch.set.iter().zip(set).filter(|(_, met)| !met) {
            put(&mut attributes, name, value);
        }
        let content = self.place.map_or(0, |place| place.length as usize);
        check_bytes(patch, bytes + kept_bytes + content)?;
        let expires = patch.moves.as_ref().map_or(self.expires, |moves| moves.expires);
        let mut tail = Vec::with_capacity(attributes.len() + 32);
        tail.extend_from_slice(&[self.kind as u8, self.version]);
        push_varint(&mut tail, self.revision + 1);
        push_varint(&mut tail, count + kept);
        tail.extend_from_slice(&attributes);
        Ok(assemble(expires, self.place, &tail))
    }

    fn next(&self, rest: &mut &'a [u8]) -> Result<Attribute<'a>, StoreError> {
        take_attribute(rest).ok_or_else(|| self.corrupt())
    }

    fn corrupt(&self) -> StoreError {
        StoreError::corrupt(self.kind, "its bytes do not decode")
    }
}

fn no_sum(name: &str) -> StoreError {
    StoreError::Malformed(format!("cannot add to {name:?}"))
}

fn check_bytes(patch: &Patch, bytes: usize) -> Result<(), StoreError> {
    let (key, max) = (&patch.key, ferryhook_core::limits::ITEM_BYTES_MAX);
    match bytes > max {
        true => Err(StoreError::OutOfBounds(format!(
            "{key} would have {bytes} bytes, an item may have {max}"
        ))),
        false => Ok(()),
    }
}

fn take_attribute<'a>(rest: &mut &'a [u8]) -> Option<Attribute<'a>> {
    let from = *rest;
    let name = match take_varint(rest)? {
        0 => std::str::from_utf8(take_bytes(rest)?).ok()?,
        number => names::name_of(number)?,
    };
    let value = *rest;
    let bytes = name.len() + skip_value(rest, 0)?;
    let value = &value[..value.len() - rest.len()];
    Some(Attribute { name, value, whole: &from[..from.len() - rest.len()], bytes })
}

/// Passes over a value and tells its size as DynamoDB counts it.
fn skip_value(rest: &mut &[u8], depth: usize) -> Option<usize> {
    if depth > ferryhook_core::limits::ITEM_DEPTH_MAX {
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
