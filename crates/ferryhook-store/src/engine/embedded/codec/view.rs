//! A row looked at and changed as bytes: what a change does not name is copied and never decoded.

use super::super::layout;
use super::*;
use crate::value::packed::{Attribute, push_name, push_value, set_varint, varint_width};
use crate::value::{Name, Value};

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

/// What is to become of a row; no name stands in it twice.
#[derive(Debug)]
pub(in super::super) struct Edit {
    pub(in super::super) set: Vec<(Name, Value)>,
    pub(in super::super) add: Vec<(Name, i64)>,
    pub(in super::super) remove: Vec<Name>,
    /// Absent when the row goes on to expire when it did.
    pub(in super::super) expires: Option<Option<i64>>,
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
            let attribute = self.next(&mut rest)?;
            if attribute.name == name {
                return attribute.unpack().map(Some).ok_or_else(|| self.corrupt());
            }
        }
        Ok(None)
    }

    /// The row's value with the edit made, one revision on.
    pub(in super::super) fn edited(&self, edit: &Edit, key: &[u8]) -> Result<Vec<u8>, StoreError> {
        let expires = edit.expires.unwrap_or(self.expires);
        let mut bytes = Vec::with_capacity(self.attributes.len() + 128);
        assemble_into(&mut bytes, expires, self.place, &[self.kind as u8, self.version]);
        push_varint(&mut bytes, self.revision + 1);
        // The count is known at the end; its place is as wide as it could come to need.
        let widest = self.count + (edit.set.len() + edit.add.len()) as u64;
        let (count_at, count_width) = (bytes.len(), varint_width(widest));
        bytes.resize(count_at + count_width, 0);

        let (mut count, mut size) = (0, self.place.map_or(0, |place| place.length as usize));
        let put = |bytes: &mut Vec<u8>, name: &str, value: &Value| {
            push_name(bytes, name);
            push_value(bytes, value);
            name.len() + value.bytes()
        };
        // No name is changed twice, so what was met here is not to be appended below.
        let mut met = vec![false; edit.set.len() + edit.add.len()];
        let (set_met, add_met) = met.split_at_mut(edit.set.len());
        let mut rest = self.attributes;
        for _ in 0..self.count {
            let attribute = self.next(&mut rest)?;
            let name = attribute.name;
            if let Some(place) = edit.set.iter().position(|(known, _)| known == name) {
                set_met[place] = true;
                size += put(&mut bytes, name, &edit.set[place].1);
            } else if let Some(place) = edit.add.iter().position(|(known, _)| known == name) {
                add_met[place] = true;
                let value = attribute.unpack().ok_or_else(|| self.corrupt())?;
                let sum = value.plus(edit.add[place].1).ok_or_else(|| no_sum(name))?;
                size += put(&mut bytes, name, &sum);
            } else if edit.remove.iter().any(|known| known == name) {
                continue;
            } else {
                bytes.extend_from_slice(attribute.whole);
                size += attribute.size;
            }
            count += 1;
        }
        if !rest.is_empty() {
            return Err(self.corrupt());
        }
        for ((name, amount), _) in edit.add.iter().zip(add_met).filter(|(_, met)| !**met) {
            size += put(&mut bytes, name, &(*amount).into());
            count += 1;
        }
        for ((name, value), _) in edit.set.iter().zip(set_met).filter(|(_, met)| !**met) {
            size += put(&mut bytes, name, value);
            count += 1;
        }
        check_bytes(key, size)?;
        set_varint(&mut bytes[count_at..count_at + count_width], count);
        Ok(bytes)
    }

    fn next(&self, rest: &mut &'a [u8]) -> Result<Attribute<'a>, StoreError> {
        Attribute::take(rest).ok_or_else(|| self.corrupt())
    }

    fn corrupt(&self) -> StoreError {
        StoreError::corrupt(self.kind, "its bytes do not decode")
    }
}

fn no_sum(name: &str) -> StoreError {
    StoreError::Malformed(format!("cannot add to {name:?}"))
}

fn check_bytes(key: &[u8], bytes: usize) -> Result<(), StoreError> {
    let max = ferryhook_core::limits::ITEM_BYTES_MAX;
    if bytes <= max {
        return Ok(());
    }
    let key = layout::read_row_key(key)?;
    Err(StoreError::OutOfBounds(format!("{key} would have {bytes} bytes, an item may have {max}")))
}
