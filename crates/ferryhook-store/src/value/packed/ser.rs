//! From a record to bytes, attribute by attribute. Absent options leave no attribute behind.

use std::fmt::Display;

use serde::ser::{self, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::{Misfit, Packed, limits, push_bytes, push_int, push_name, push_varint, tag};
use crate::value::Number;

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SerError(String);

impl ser::Error for SerError {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// The attributes of a struct. Top-level nulls are left out: to an engine they are absence.
pub(crate) fn pack<T: Serialize>(record: &T) -> Result<Packed, SerError> {
    pack_beside(record, &[]).map(|(packed, _)| packed)
}

/// The attributes of a struct, those with these names apart from the others.
pub(crate) fn pack_beside<T: Serialize>(
    record: &T,
    names: &[&str],
) -> Result<(Packed, Packed), SerError> {
    pack_parts(record, names, false)
}

/// The attributes of a struct without those with these names, of which a print is taken: it
/// differs when they do.
pub(crate) fn pack_and_print<T: Serialize>(
    record: &T,
    names: &[&str],
) -> Result<(Packed, Vec<u8>), SerError> {
    pack_parts(record, names, true).map(|(packed, print)| (packed, print.into_bytes()))
}

/// What a record without bulk takes at most, mostly.
const USUAL_BYTES: usize = 384;

fn pack_parts<T: Serialize>(
    record: &T,
    names: &[&str],
    print: bool,
) -> Result<(Packed, Packed), SerError> {
    let mut parts = [Part::new(Vec::with_capacity(USUAL_BYTES), false), Part::new(vec![], print)];
    record.serialize(ItemSerializer { parts: &mut parts, names })?;
    let [rest, apart] = parts.map(Part::end);
    Ok((rest, apart))
}

/// Attributes on their way into bytes.
struct Part {
    bytes: Vec<u8>,
    count: u64,
    size: usize,
    misfit: Option<Misfit>,
    /// Whether text and bytes are to leave no more than a print.
    print: bool,
    /// The name of a map's entry, on its way.
    name: String,
}

impl Part {
    fn new(mut bytes: Vec<u8>, print: bool) -> Self {
        bytes.push(0); // the count; see `end`
        Self { bytes, count: 0, size: 0, misfit: None, print, name: String::new() }
    }

    fn end(mut self) -> Packed {
        self.set_count(0, self.count);
        Packed { bytes: self.bytes, size: self.size, misfit: self.misfit }
    }

    /// Fills in a count that was not known when its place was reserved.
    fn set_count(&mut self, place: usize, count: u64) {
        match u8::try_from(count) {
            Ok(short) if short < 0x80 => self.bytes[place] = short,
            _ => {
                let mut long = Vec::new();
                push_varint(&mut long, count);
                self.bytes.splice(place..=place, long);
            }
        }
    }

    fn put<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), SerError> {
        let (before, size) = (self.bytes.len(), self.size);
        push_name(&mut self.bytes, name);
        self.size += name.len();
        let start = self.bytes.len();
        value.serialize(ValueSerializer { part: self, depth: 1 })?;
        match self.bytes[start..] {
            [tag::NULL] => {
                self.bytes.truncate(before);
                self.size = size;
            }
            _ => self.count += 1,
        }
        Ok(())
    }

    fn put_bytes(&mut self, tag: u8, raw: &[u8]) {
        self.bytes.push(tag);
        self.size += raw.len();
        match self.print {
            true => {
                push_varint(&mut self.bytes, raw.len() as u64);
                self.bytes.extend_from_slice(&xxh3_64(raw).to_le_bytes());
            }
            false => push_bytes(&mut self.bytes, raw),
        }
    }
}

/// Only a struct (or a map, when serde flattens one) is an item.
struct ItemSerializer<'a> {
    /// The second is for the attributes with these names.
    parts: &'a mut [Part; 2],
    names: &'a [&'a str],
}

struct Fields<'a> {
    item: ItemSerializer<'a>,
    /// A struct with a flattened part arrives as a map: a name, and then its value.
    name: String,
}

impl Fields<'_> {
    fn put<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), SerError> {
        let part = usize::from(self.item.names.contains(&name));
        self.item.parts[part].put(name, value)
    }
}

struct ValueSerializer<'a> {
    part: &'a mut Part,
    depth: usize,
}

/// A list or a map whose values are being written.
struct Values<'a> {
    part: &'a mut Part,
    /// Of its values.
    depth: usize,
    /// Where its count goes.
    place: usize,
    count: u64,
}

impl<'a> ValueSerializer<'a> {
    fn begin(self, tag: u8) -> Values<'a> {
        let Self { part, depth } = self;
        part.bytes.push(tag);
        let place = part.bytes.len();
        part.bytes.push(0);
        part.size += 3;
        Values { part, depth: depth + 1, place, count: 0 }
    }

    fn leaf(self) -> &'a mut Part {
        if self.depth > limits::ITEM_DEPTH_MAX {
            self.part.misfit = Some(Misfit::Depth);
        }
        self.part
    }

    /// A variant's content is wrapped as `{variant: content}`.
    fn wrap(self, variant: &'static str) -> ValueSerializer<'a> {
        let mut map = self.begin(tag::MAP);
        map.name(variant);
        map.part.size += 1;
        map.part.set_count(map.place, 1);
        ValueSerializer { part: map.part, depth: map.depth }
    }
}

impl Values<'_> {
    fn name(&mut self, name: &str) {
        push_bytes(&mut self.part.bytes, name.as_bytes());
        self.part.size += name.len();
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerError> {
        self.count += 1;
        self.part.size += 1;
        value.serialize(ValueSerializer { part: self.part, depth: self.depth })
    }

    fn end(self) {
        self.part.set_count(self.place, self.count);
    }
}

fn not_an_item<T>() -> Result<T, SerError> {
    Err(SerError("only a struct can be stored as an item".into()))
}

impl<'a> ser::Serializer for ValueSerializer<'a> {
    type Ok = ();
    type Error = SerError;
    type SerializeSeq = Values<'a>;
    type SerializeTuple = Values<'a>;
    type SerializeTupleStruct = Values<'a>;
    type SerializeTupleVariant = Values<'a>;
    type SerializeMap = Values<'a>;
    type SerializeStruct = Values<'a>;
    type SerializeStructVariant = Values<'a>;

    fn serialize_bool(self, v: bool) -> Result<(), SerError> {
        let part = self.leaf();
        part.bytes.push(if v { tag::TRUE } else { tag::FALSE });
        part.size += 1;
        Ok(())
    }
    fn serialize_i8(self, v: i8) -> Result<(), SerError> {
        self.serialize_i64(v.into())
    }
    fn serialize_i16(self, v: i16) -> Result<(), SerError> {
        self.serialize_i64(v.into())
    }
    fn serialize_i32(self, v: i32) -> Result<(), SerError> {
        self.serialize_i64(v.into())
    }
    fn serialize_i64(self, v: i64) -> Result<(), SerError> {
        let part = self.leaf();
        push_int(&mut part.bytes, v);
        part.size += Number::BYTES;
        Ok(())
    }
    fn serialize_u8(self, v: u8) -> Result<(), SerError> {
        self.serialize_i64(v.into())
    }
    fn serialize_u16(self, v: u16) -> Result<(), SerError> {
        self.serialize_i64(v.into())
    }
    fn serialize_u32(self, v: u32) -> Result<(), SerError> {
        self.serialize_i64(v.into())
    }
    fn serialize_u64(self, v: u64) -> Result<(), SerError> {
        if let Ok(v) = i64::try_from(v) {
            return self.serialize_i64(v);
        }
        let part = self.leaf();
        part.bytes.push(tag::BIG);
        part.bytes.extend_from_slice(&v.to_le_bytes());
        part.size += Number::BYTES;
        Ok(())
    }
    fn serialize_f32(self, v: f32) -> Result<(), SerError> {
        self.serialize_f64(v.into())
    }
    fn serialize_f64(self, v: f64) -> Result<(), SerError> {
        let refused = || SerError(format!("{v} is not a number that can be stored"));
        let number = Number::from_f64(v).ok_or_else(refused)?;
        match number {
            Number::Int(v) => self.serialize_i64(v),
            Number::Big(v) => self.serialize_u64(v),
            Number::Float(v) => {
                let part = self.leaf();
                if !number.fits() {
                    part.misfit = Some(Misfit::Number(number));
                }
                part.bytes.push(tag::FLOAT);
                part.bytes.extend_from_slice(&v.to_le_bytes());
                part.size += Number::BYTES;
                Ok(())
            }
        }
    }
    fn serialize_char(self, v: char) -> Result<(), SerError> {
        self.serialize_str(v.encode_utf8(&mut [0; 4]))
    }
    fn serialize_str(self, v: &str) -> Result<(), SerError> {
        self.leaf().put_bytes(tag::TEXT, v.as_bytes());
        Ok(())
    }
    fn serialize_bytes(self, v: &[u8]) -> Result<(), SerError> {
        self.leaf().put_bytes(tag::BYTES, v);
        Ok(())
    }
    fn serialize_none(self) -> Result<(), SerError> {
        self.serialize_unit()
    }
    fn serialize_some<T: Serialize + ?Sized>(self, v: &T) -> Result<(), SerError> {
        v.serialize(self)
    }
    fn serialize_unit(self) -> Result<(), SerError> {
        let part = self.leaf();
        part.bytes.push(tag::NULL);
        part.size += 1;
        Ok(())
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), SerError> {
        self.serialize_unit()
    }
    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), SerError> {
        self.serialize_str(variant)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        v: &T,
    ) -> Result<(), SerError> {
        v.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        v: &T,
    ) -> Result<(), SerError> {
        v.serialize(self.wrap(variant))
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Values<'a>, SerError> {
        Ok(self.begin(tag::LIST))
    }
    fn serialize_tuple(self, _: usize) -> Result<Values<'a>, SerError> {
        Ok(self.begin(tag::LIST))
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Values<'a>, SerError> {
        Ok(self.begin(tag::LIST))
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Values<'a>, SerError> {
        Ok(self.wrap(variant).begin(tag::LIST))
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Values<'a>, SerError> {
        Ok(self.begin(tag::MAP))
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Values<'a>, SerError> {
        Ok(self.begin(tag::MAP))
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Values<'a>, SerError> {
        Ok(self.wrap(variant).begin(tag::MAP))
    }
}

impl ser::SerializeSeq for Values<'_> {
    type Ok = ();
    type Error = SerError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, v: &T) -> Result<(), SerError> {
        self.value(v)
    }
    fn end(self) -> Result<(), SerError> {
        Values::end(self);
        Ok(())
    }
}

impl ser::SerializeTuple for Values<'_> {
    type Ok = ();
    type Error = SerError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, v: &T) -> Result<(), SerError> {
        self.value(v)
    }
    fn end(self) -> Result<(), SerError> {
        Values::end(self);
        Ok(())
    }
}

impl ser::SerializeTupleStruct for Values<'_> {
    type Ok = ();
    type Error = SerError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, v: &T) -> Result<(), SerError> {
        self.value(v)
    }
    fn end(self) -> Result<(), SerError> {
        Values::end(self);
        Ok(())
    }
}

impl ser::SerializeTupleVariant for Values<'_> {
    type Ok = ();
    type Error = SerError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, v: &T) -> Result<(), SerError> {
        self.value(v)
    }
    fn end(self) -> Result<(), SerError> {
        Values::end(self);
        Ok(())
    }
}

impl ser::SerializeMap for Values<'_> {
    type Ok = ();
    type Error = SerError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, name: &T) -> Result<(), SerError> {
        let mut text = std::mem::take(&mut self.part.name);
        text.clear();
        name.serialize(NameSerializer(&mut text))?;
        self.name(&text);
        self.part.name = text; // for its room
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, v: &T) -> Result<(), SerError> {
        self.value(v)
    }
    fn end(self) -> Result<(), SerError> {
        Values::end(self);
        Ok(())
    }
}

impl ser::SerializeStruct for Values<'_> {
    type Ok = ();
    type Error = SerError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        v: &T,
    ) -> Result<(), SerError> {
        self.name(name);
        self.value(v)
    }
    fn end(self) -> Result<(), SerError> {
        Values::end(self);
        Ok(())
    }
}

impl ser::SerializeStructVariant for Values<'_> {
    type Ok = ();
    type Error = SerError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        v: &T,
    ) -> Result<(), SerError> {
        self.name(name);
        self.value(v)
    }
    fn end(self) -> Result<(), SerError> {
        Values::end(self);
        Ok(())
    }
}

impl ser::SerializeStruct for Fields<'_> {
    type Ok = ();
    type Error = SerError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        v: &T,
    ) -> Result<(), SerError> {
        self.put(name, v)
    }
    fn end(self) -> Result<(), SerError> {
        Ok(())
    }
}

impl ser::SerializeMap for Fields<'_> {
    type Ok = ();
    type Error = SerError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, name: &T) -> Result<(), SerError> {
        self.name.clear();
        name.serialize(NameSerializer(&mut self.name))
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, v: &T) -> Result<(), SerError> {
        let name = std::mem::take(&mut self.name);
        self.put(&name, v)?;
        self.name = name; // for its room
        Ok(())
    }
    fn end(self) -> Result<(), SerError> {
        Ok(())
    }
}

/// The name of a map's entry: text, or a number as text.
struct NameSerializer<'a>(&'a mut String);

fn bad_name() -> SerError {
    SerError("a map key must be text or a number".into())
}

macro_rules! numbers {
    ($($method:ident($number:ty);)*) => {
        $(fn $method(self, v: $number) -> Result<(), SerError> {
            self.serialize_str(&v.to_string())
        })*
    };
}

macro_rules! refuse {
    ($with:expr; $($method:ident($($argument:ty),*);)*) => {
        $(fn $method(self, $(_: $argument),*) -> Result<(), SerError> { $with })*
    };
}

/// What neither a name nor an item can be.
macro_rules! refuse_compounds {
    ($with:expr; $($method:ident($($argument:ty),*) -> $answer:ident;)*) => {
        $(fn $method(self, $(_: $argument),*) -> Result<Self::$answer, SerError> { $with })*
    };
}

type Never = ser::Impossible<(), SerError>;

impl ser::Serializer for NameSerializer<'_> {
    type Ok = ();
    type Error = SerError;
    type SerializeSeq = Never;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Never;
    type SerializeStruct = Never;
    type SerializeStructVariant = Never;

    fn serialize_str(self, v: &str) -> Result<(), SerError> {
        self.0.push_str(v);
        Ok(())
    }
    fn serialize_char(self, v: char) -> Result<(), SerError> {
        self.0.push(v);
        Ok(())
    }
    fn serialize_some<T: Serialize + ?Sized>(self, v: &T) -> Result<(), SerError> {
        v.serialize(self)
    }
    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), SerError> {
        self.serialize_str(variant)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        v: &T,
    ) -> Result<(), SerError> {
        v.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), SerError> {
        Err(bad_name())
    }

    numbers! {
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
    }
    refuse! {
        Err(bad_name());
        serialize_f32(f32);
        serialize_f64(f64);
        serialize_bool(bool);
        serialize_bytes(&[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(&'static str);
    }
    refuse_compounds! {
        Err(bad_name());
        serialize_seq(Option<usize>) -> SerializeSeq;
        serialize_tuple(usize) -> SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> SerializeTupleVariant;
        serialize_map(Option<usize>) -> SerializeMap;
        serialize_struct(&'static str, usize) -> SerializeStruct;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> SerializeStructVariant;
    }
}

impl<'a> ser::Serializer for ItemSerializer<'a> {
    type Ok = ();
    type Error = SerError;
    type SerializeSeq = Never;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Fields<'a>;
    type SerializeStruct = Fields<'a>;
    type SerializeStructVariant = Never;

    fn serialize_map(self, _: Option<usize>) -> Result<Fields<'a>, SerError> {
        Ok(Fields { item: self, name: String::new() })
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Fields<'a>, SerError> {
        Ok(Fields { item: self, name: String::new() })
    }
    fn serialize_some<T: Serialize + ?Sized>(self, v: &T) -> Result<(), SerError> {
        v.serialize(self)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        v: &T,
    ) -> Result<(), SerError> {
        v.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), SerError> {
        not_an_item()
    }

    refuse! {
        not_an_item();
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
    refuse_compounds! {
        not_an_item();
        serialize_seq(Option<usize>) -> SerializeSeq;
        serialize_tuple(usize) -> SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> SerializeTupleVariant;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> SerializeStructVariant;
    }
}
