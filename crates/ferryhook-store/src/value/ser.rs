//! From a record to an item. Absent options leave no attribute behind.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Display;

use bytes::Bytes;
use serde::ser::{self, Serialize};

use super::{Item, Number, Value};

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SerError(String);

impl ser::Error for SerError {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// The attributes of a struct. Top-level nulls are left out: to an engine they are absence.
pub fn to_item<T: Serialize>(record: &T) -> Result<Item, SerError> {
    record.serialize(ItemSerializer)
}

/// Only a struct (or a map, when serde flattens one) is an item.
struct ItemSerializer;
struct ValueSerializer;

struct Fields(Item);
struct Values(Vec<Value>);
struct Entries {
    map: BTreeMap<String, Value>,
    name: Option<String>,
}
/// A variant's content, wrapped as `{variant: content}`.
struct Variant<B>(&'static str, B);

fn wrap(variant: &'static str, content: Value) -> Value {
    Value::Map(BTreeMap::from([(variant.to_owned(), content)]))
}

fn not_an_item<T>() -> Result<T, SerError> {
    Err(SerError("only a struct can be stored as an item".into()))
}

impl ser::Serializer for ValueSerializer {
    type Ok = Value;
    type Error = SerError;
    type SerializeSeq = Values;
    type SerializeTuple = Values;
    type SerializeTupleStruct = Values;
    type SerializeTupleVariant = Variant<Values>;
    type SerializeMap = Entries;
    type SerializeStruct = Entries;
    type SerializeStructVariant = Variant<Entries>;

    fn serialize_bool(self, v: bool) -> Result<Value, SerError> {
        Ok(Value::Bool(v))
    }
    fn serialize_i8(self, v: i8) -> Result<Value, SerError> {
        self.serialize_i64(v.into())
    }
    fn serialize_i16(self, v: i16) -> Result<Value, SerError> {
        self.serialize_i64(v.into())
    }
    fn serialize_i32(self, v: i32) -> Result<Value, SerError> {
        self.serialize_i64(v.into())
    }
    fn serialize_i64(self, v: i64) -> Result<Value, SerError> {
        Ok(v.into())
    }
    fn serialize_u8(self, v: u8) -> Result<Value, SerError> {
        self.serialize_i64(v.into())
    }
    fn serialize_u16(self, v: u16) -> Result<Value, SerError> {
        self.serialize_i64(v.into())
    }
    fn serialize_u32(self, v: u32) -> Result<Value, SerError> {
        self.serialize_i64(v.into())
    }
    fn serialize_u64(self, v: u64) -> Result<Value, SerError> {
        Ok(Value::Number(Number::from_u64(v)))
    }
    fn serialize_f32(self, v: f32) -> Result<Value, SerError> {
        self.serialize_f64(v.into())
    }
    fn serialize_f64(self, v: f64) -> Result<Value, SerError> {
        Number::from_f64(v)
            .map(Value::Number)
            .ok_or_else(|| SerError(format!("{v} is not a number that can be stored")))
    }
    fn serialize_char(self, v: char) -> Result<Value, SerError> {
        Ok(Value::Text(v.into()))
    }
    fn serialize_str(self, v: &str) -> Result<Value, SerError> {
        Ok(v.into())
    }
    fn serialize_bytes(self, v: &[u8]) -> Result<Value, SerError> {
        Ok(Value::Bytes(Bytes::copy_from_slice(v)))
    }
    fn serialize_none(self) -> Result<Value, SerError> {
        Ok(Value::Null)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, v: &T) -> Result<Value, SerError> {
        v.serialize(self)
    }
    fn serialize_unit(self) -> Result<Value, SerError> {
        Ok(Value::Null)
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<Value, SerError> {
        Ok(Value::Null)
    }
    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Value, SerError> {
        Ok(variant.into())
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        v: &T,
    ) -> Result<Value, SerError> {
        v.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        v: &T,
    ) -> Result<Value, SerError> {
        Ok(wrap(variant, v.serialize(self)?))
    }
    fn serialize_seq(self, length: Option<usize>) -> Result<Values, SerError> {
        Ok(Values(Vec::with_capacity(length.unwrap_or(0).min(1024))))
    }
    fn serialize_tuple(self, length: usize) -> Result<Values, SerError> {
        self.serialize_seq(Some(length))
    }
    fn serialize_tuple_struct(self, _: &'static str, length: usize) -> Result<Values, SerError> {
        self.serialize_seq(Some(length))
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Variant<Values>, SerError> {
        Ok(Variant(variant, self.serialize_seq(Some(length))?))
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Entries, SerError> {
        Ok(Entries { map: BTreeMap::new(), name: None })
    }
    fn serialize_struct(self, _: &'static str, length: usize) -> Result<Entries, SerError> {
        self.serialize_map(Some(length))
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Variant<Entries>, SerError> {
        Ok(Variant(variant, self.serialize_map(Some(length))?))
    }
}

impl ser::SerializeSeq for Values {
    type Ok = Value;
    type Error = SerError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, v: &T) -> Result<(), SerError> {
        self.0.push(v.serialize(ValueSerializer)?);
        Ok(())
    }
    fn end(self) -> Result<Value, SerError> {
        Ok(Value::List(self.0))
    }
}

impl ser::SerializeTuple for Values {
    type Ok = Value;
    type Error = SerError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, v: &T) -> Result<(), SerError> {
        ser::SerializeSeq::serialize_element(self, v)
    }
    fn end(self) -> Result<Value, SerError> {
        ser::SerializeSeq::end(self)
    }
}

impl ser::SerializeTupleStruct for Values {
    type Ok = Value;
    type Error = SerError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, v: &T) -> Result<(), SerError> {
        ser::SerializeSeq::serialize_element(self, v)
    }
    fn end(self) -> Result<Value, SerError> {
        ser::SerializeSeq::end(self)
    }
}

impl ser::SerializeTupleVariant for Variant<Values> {
    type Ok = Value;
    type Error = SerError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, v: &T) -> Result<(), SerError> {
        ser::SerializeSeq::serialize_element(&mut self.1, v)
    }
    fn end(self) -> Result<Value, SerError> {
        Ok(wrap(self.0, ser::SerializeSeq::end(self.1)?))
    }
}

impl ser::SerializeMap for Entries {
    type Ok = Value;
    type Error = SerError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, name: &T) -> Result<(), SerError> {
        self.name = Some(name_of(name)?);
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, v: &T) -> Result<(), SerError> {
        let name = self.name.take().ok_or_else(|| SerError("a map value without a key".into()))?;
        self.map.insert(name, v.serialize(ValueSerializer)?);
        Ok(())
    }
    fn end(self) -> Result<Value, SerError> {
        Ok(Value::Map(self.map))
    }
}

fn name_of<T: Serialize + ?Sized>(name: &T) -> Result<String, SerError> {
    match name.serialize(ValueSerializer)? {
        Value::Text(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(SerError("a map key must be text or a number".into())),
    }
}

impl ser::SerializeStruct for Entries {
    type Ok = Value;
    type Error = SerError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        v: &T,
    ) -> Result<(), SerError> {
        self.map.insert(name.to_owned(), v.serialize(ValueSerializer)?);
        Ok(())
    }
    fn end(self) -> Result<Value, SerError> {
        Ok(Value::Map(self.map))
    }
}

impl ser::SerializeStructVariant for Variant<Entries> {
    type Ok = Value;
    type Error = SerError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        v: &T,
    ) -> Result<(), SerError> {
        ser::SerializeStruct::serialize_field(&mut self.1, name, v)
    }
    fn end(self) -> Result<Value, SerError> {
        Ok(wrap(self.0, ser::SerializeStruct::end(self.1)?))
    }
}

impl ser::SerializeStruct for Fields {
    type Ok = Item;
    type Error = SerError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        v: &T,
    ) -> Result<(), SerError> {
        match v.serialize(ValueSerializer)? {
            Value::Null => {}
            value => self.0.push(Cow::Borrowed(name), value),
        }
        Ok(())
    }
    fn end(self) -> Result<Item, SerError> {
        Ok(self.0)
    }
}

/// A struct with a flattened part arrives as a map.
struct FlatFields(Item, Option<String>);

impl ser::SerializeMap for FlatFields {
    type Ok = Item;
    type Error = SerError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, name: &T) -> Result<(), SerError> {
        self.1 = Some(name_of(name)?);
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, v: &T) -> Result<(), SerError> {
        let name = self.1.take().ok_or_else(|| SerError("a map value without a key".into()))?;
        match v.serialize(ValueSerializer)? {
            Value::Null => {}
            value => self.0.push(Cow::Owned(name), value),
        }
        Ok(())
    }
    fn end(self) -> Result<Item, SerError> {
        Ok(self.0)
    }
}

macro_rules! refuse {
    ($($method:ident($($argument:ty),*);)*) => {
        $(fn $method(self, $(_: $argument),*) -> Result<Item, SerError> { not_an_item() })*
    };
}

impl ser::Serializer for ItemSerializer {
    type Ok = Item;
    type Error = SerError;
    type SerializeSeq = ser::Impossible<Item, SerError>;
    type SerializeTuple = ser::Impossible<Item, SerError>;
    type SerializeTupleStruct = ser::Impossible<Item, SerError>;
    type SerializeTupleVariant = ser::Impossible<Item, SerError>;
    type SerializeMap = FlatFields;
    type SerializeStruct = Fields;
    type SerializeStructVariant = ser::Impossible<Item, SerError>;

    refuse! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_f32(f32);
        serialize_f64(f64);
        serialize_char(char);
        serialize_str(&str);
        serialize_bytes(&[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(&'static str);
        serialize_unit_variant(&'static str, u32, &'static str);
    }

    fn serialize_some<T: Serialize + ?Sized>(self, v: &T) -> Result<Item, SerError> {
        v.serialize(self)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        v: &T,
    ) -> Result<Item, SerError> {
        v.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<Item, SerError> {
        not_an_item()
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, SerError> {
        not_an_item()
    }
    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, SerError> {
        not_an_item()
    }
    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, SerError> {
        not_an_item()
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, SerError> {
        not_an_item()
    }
    fn serialize_map(self, length: Option<usize>) -> Result<FlatFields, SerError> {
        Ok(FlatFields(Item::with_capacity(length.unwrap_or(16).min(64)), None))
    }
    fn serialize_struct(self, _: &'static str, length: usize) -> Result<Fields, SerError> {
        Ok(Fields(Item::with_capacity(length)))
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, SerError> {
        not_an_item()
    }
}
