//! From an item back to a record.

use std::fmt::Display;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{self, DeserializeOwned, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::{Item, Number, Value};

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct DeError(String);

impl de::Error for DeError {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

pub fn from_item<T: DeserializeOwned>(item: Item) -> Result<T, DeError> {
    T::deserialize(MapDeserializer::new(item.into_iter()))
}

impl<'de> IntoDeserializer<'de, DeError> for Value {
    type Deserializer = Value;

    fn into_deserializer(self) -> Value {
        self
    }
}

impl<'de> de::Deserializer<'de> for Value {
    type Error = DeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match self {
            Value::Null => visitor.visit_unit(),
            Value::Bool(v) => visitor.visit_bool(v),
            Value::Number(Number::Int(v)) => visitor.visit_i64(v),
            Value::Number(Number::Big(v)) => visitor.visit_u64(v),
            Value::Number(Number::Float(v)) => visitor.visit_f64(v),
            Value::Text(v) => visitor.visit_string(v),
            Value::Bytes(v) => visitor.visit_byte_buf(v.into()),
            Value::List(v) => visitor.visit_seq(SeqDeserializer::new(v.into_iter())),
            Value::Map(v) => visitor.visit_map(MapDeserializer::new(v.into_iter())),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match self {
            Value::Null => visitor.visit_none(),
            value => visitor.visit_some(value),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeError> {
        match self {
            Value::Text(variant) => {
                visitor.visit_enum(IntoDeserializer::<DeError>::into_deserializer(variant))
            }
            Value::Map(map) => {
                let access =
                    de::value::MapAccessDeserializer::new(MapDeserializer::new(map.into_iter()));
                de::Deserializer::deserialize_enum(access, name, variants, visitor)
            }
            _ => Err(de::Error::custom(format!("{name} is neither text nor a map"))),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DeError> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
