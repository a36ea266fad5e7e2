//! The bytes a sender sent, exactly.
//!
//! Stored as text when they are UTF-8, so that an item can be read in a console, and as binary
//! when they are not. Either way the same bytes come back.

use std::fmt;

use bytes::Bytes;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Cheap to clone: clones share the bytes.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Body(Bytes);

impl Body {
    pub fn as_bytes(&self) -> &Bytes {
        &self.0
    }

    pub fn into_bytes(self) -> Bytes {
        self.0
    }

    pub fn as_text(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Into<Bytes>> From<T> for Body {
    fn from(bytes: T) -> Self {
        Self(bytes.into())
    }
}

/// Says how long it is, not what it says: bodies carry other people's data.
impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Body({} bytes)", self.len())
    }
}

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_text() {
            Some(text) => serializer.serialize_str(text),
            None => serializer.serialize_bytes(&self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_byte_buf(BodyVisitor)
    }
}

struct BodyVisitor;

impl<'de> Visitor<'de> for BodyVisitor {
    type Value = Body;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text or bytes")
    }

    fn visit_str<E>(self, text: &str) -> Result<Body, E> {
        Ok(Body(Bytes::copy_from_slice(text.as_bytes())))
    }

    fn visit_string<E>(self, text: String) -> Result<Body, E> {
        Ok(text.into())
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Body, E> {
        Ok(Body(Bytes::copy_from_slice(bytes)))
    }

    fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Body, E> {
        Ok(bytes.into())
    }

    /// JSON has no bytes and writes them as a list of numbers.
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Body, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = list.next_element::<u8>()? {
            bytes.push(byte);
        }
        Ok(bytes.into())
    }
}

#[cfg(test)]
mod tests;
