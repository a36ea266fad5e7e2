//! Items: what a record looks like to an engine, attribute by attribute.
//!
//! The kinds of value are those DynamoDB knows. Records turn into items and back with serde
//! ([`to_item`], [`from_item`]), so that an attribute is named once, at its field. An item that
//! was made from a record stays packed until someone looks at its attributes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use bytes::Bytes;
use ferryhook_core::limits;
use serde::Serialize;

use crate::StoreError;

mod de;
mod names;
pub(crate) mod packed;

pub use de::from_item;
pub use packed::SerError;

use packed::{Misfit, Packed};

pub type Name = Cow<'static, str>;

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    Bytes(Bytes),
    List(Vec<Value>),
    Map(BTreeMap<String, Value>),
}

/// A number that every engine keeps exactly. Whole floats are integers, as in DynamoDB, which
/// does not tell `3.0` from `3`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    Int(i64),
    /// Above `i64::MAX` only.
    Big(u64),
    /// Neither whole nor infinite nor NaN.
    Float(f64),
}

impl Number {
    /// The most it takes.
    pub(crate) const BYTES: usize = 21;

    pub fn from_f64(number: f64) -> Option<Self> {
        const EXACT: f64 = (1u64 << 53) as f64;
        if !number.is_finite() {
            return None;
        }
        Some(match number.fract() == 0.0 && number.abs() <= EXACT {
            true => Self::Int(number as i64),
            false => Self::Float(number),
        })
    }

    pub fn from_u64(number: u64) -> Self {
        i64::try_from(number).map_or(Self::Big(number), Self::Int)
    }

    /// DynamoDB keeps magnitudes from 1e-130 up to 1e126.
    fn fits(self) -> bool {
        match self {
            Self::Int(_) | Self::Big(_) => true,
            Self::Float(number) => (1e-130..1e126).contains(&number.abs()),
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(number) => number.fmt(f),
            Self::Big(number) => number.fmt(f),
            Self::Float(number) => write!(f, "{number:e}"),
        }
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(Number::Int(number))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl Value {
    /// The size DynamoDB would charge for it, closely enough to enforce its bounds.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Null | Self::Bool(_) => 1,
            Self::Number(_) => Number::BYTES,
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::List(values) => 3 + values.iter().map(|value| 1 + value.bytes()).sum::<usize>(),
            Self::Map(map) => {
                3 + map.iter().map(|(name, value)| 1 + name.len() + value.bytes()).sum::<usize>()
            }
        }
    }

    /// A whole number and this amount; nothing else can be added to.
    pub(crate) fn plus(&self, amount: i64) -> Option<Value> {
        match self {
            Self::Number(Number::Int(number)) => number.checked_add(amount).map(Into::into),
            _ => None,
        }
    }

    fn check(&self, depth: usize) -> Result<(), StoreError> {
        if depth > limits::ITEM_DEPTH_MAX {
            return Err(Misfit::Depth.into());
        }
        match self {
            Self::Number(number) if !number.fits() => Err(Misfit::Number(*number).into()),
            Self::List(values) => values.iter().try_for_each(|value| value.check(depth + 1)),
            Self::Map(map) => map.values().try_for_each(|value| value.check(depth + 1)),
            _ => Ok(()),
        }
    }
}

/// The attributes of a struct. Top-level nulls are left out: to an engine they are absence.
pub fn to_item<T: Serialize>(record: &T) -> Result<Item, SerError> {
    packed::pack(record).map(Item::from)
}

/// Attributes by name. Few enough that looking through them beats hashing.
#[derive(Debug, Clone)]
pub struct Item(Form);

#[derive(Debug, Clone)]
enum Form {
    Open(Vec<(Name, Value)>),
    /// As it came from a record, and what it is once someone has looked.
    Packed(Packed, OnceLock<Vec<(Name, Value)>>),
}

impl Default for Item {
    fn default() -> Self {
        Self(Form::Open(Vec::new()))
    }
}

impl From<Packed> for Item {
    fn from(packed: Packed) -> Self {
        Self(Form::Packed(packed, OnceLock::new()))
    }
}

impl Item {
    pub fn with_capacity(attributes: usize) -> Self {
        Self(Form::Open(Vec::with_capacity(attributes)))
    }

    fn attributes(&self) -> &[(Name, Value)] {
        match &self.0 {
            Form::Open(attributes) => attributes,
            Form::Packed(packed, open) => open.get_or_init(|| packed.unpack()),
        }
    }

    fn attributes_mut(&mut self) -> &mut Vec<(Name, Value)> {
        if let Form::Packed(packed, open) = &mut self.0 {
            self.0 = Form::Open(open.take().unwrap_or_else(|| packed.unpack()));
        }
        match &mut self.0 {
            Form::Open(attributes) => attributes,
            Form::Packed(..) => unreachable!("it was opened"),
        }
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    pub fn set(&mut self, name: Name, value: Value) {
        let attributes = self.attributes_mut();
        match attributes.iter_mut().find(|(known, _)| *known == name) {
            Some(place) => place.1 = value,
            None => attributes.push((name, value)),
        }
    }

    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let attributes = self.attributes_mut();
        let place = attributes.iter().position(|(known, _)| known == name)?;
        Some(attributes.remove(place).1)
    }

    /// Adds to a number; an absent one counts as zero, as in DynamoDB.
    pub fn add(&mut self, name: &Name, amount: i64) -> Result<(), StoreError> {
        let sum = self.get(name).map_or(Some(amount.into()), |value| value.plus(amount));
        let sum = sum.ok_or_else(|| StoreError::Malformed(format!("cannot add to {name:?}")))?;
        self.set(name.clone(), sum);
        Ok(())
    }

    pub fn iter(&self) -> impl Iterator<Item = &(Name, Value)> {
        self.attributes().iter()
    }

    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Open(attributes) => attributes.len(),
            Form::Packed(packed, _) => packed.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn bytes(&self) -> usize {
        match &self.0 {
            Form::Open(attributes) => bytes(attributes),
            Form::Packed(packed, _) => packed.size(),
        }
    }

    pub(crate) fn check(&self) -> Result<(), StoreError> {
        match &self.0 {
            Form::Open(attributes) => check(attributes),
            Form::Packed(packed, _) => packed.check(),
        }
    }

    pub(crate) fn push_packed(&self, bytes: &mut Vec<u8>) {
        match &self.0 {
            Form::Open(attributes) => packed::push_attributes(bytes, attributes),
            Form::Packed(packed, _) => bytes.extend_from_slice(packed.as_bytes()),
        }
    }

    pub(crate) fn into_packed(self) -> Vec<u8> {
        match self.0 {
            Form::Open(attributes) => {
                let mut packed = Vec::with_capacity(bytes(&attributes) + 64);
                packed::push_attributes(&mut packed, &attributes);
                packed
            }
            Form::Packed(packed, _) => packed.into_bytes(),
        }
    }
}

/// The size of attributes, as DynamoDB counts it.
pub(crate) fn bytes(attributes: &[(Name, Value)]) -> usize {
    attributes.iter().map(|(name, value)| name.len() + value.bytes()).sum()
}

/// Whether every engine can keep these values.
pub(crate) fn check(attributes: &[(Name, Value)]) -> Result<(), StoreError> {
    attributes.iter().try_for_each(|(_, value)| value.check(1))
}

impl Extend<(Name, Value)> for Item {
    fn extend<I: IntoIterator<Item = (Name, Value)>>(&mut self, attributes: I) {
        self.attributes_mut().extend(attributes);
    }
}

impl IntoIterator for Item {
    type Item = (Name, Value);
    type IntoIter = std::vec::IntoIter<(Name, Value)>;

    fn into_iter(mut self) -> Self::IntoIter {
        std::mem::take(self.attributes_mut()).into_iter()
    }
}

impl FromIterator<(Name, Value)> for Item {
    fn from_iter<I: IntoIterator<Item = (Name, Value)>>(attributes: I) -> Self {
        Self(Form::Open(attributes.into_iter().collect()))
    }
}

/// The order of attributes means nothing.
impl PartialEq for Item {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(name, value)| other.get(name) == Some(value))
    }
}

#[cfg(test)]
mod tests;
