//! YAML as a tree in which every value knows its line and column, so that a complaint about
//! anything in the file can point at it.

use std::fmt;

use ferryhook_core::{Map, limits};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value as Json};
use serde_saphyr::Spanned;

use super::Complaint;
use super::reader::Way;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: u64,
    pub(crate) column: u64,
}

impl From<serde_saphyr::Location> for Place {
    fn from(location: serde_saphyr::Location) -> Self {
        Self { line: location.line(), column: location.column() }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) value: Value,
}

#[derive(Debug, Clone)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Name, Node)>),
}

#[derive(Debug, Clone)]
pub(crate) struct Name {
    pub(crate) place: Place,
    pub(crate) text: String,
}

/// Reads one document. An empty one is a map without fields.
pub(crate) fn read(text: &str) -> Result<Node, Complaint> {
    let start = Place { line: 1, column: 1 };
    if text.len() > limits::MANIFEST_BYTES_MAX {
        let max = limits::MANIFEST_BYTES_MAX;
        return Err(Complaint::new(
            start,
            &Way::default(),
            format!("the file is larger than {max} bytes"),
        ));
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_depth: limits::MANIFEST_DEPTH_MAX },
        // Only true and false: a source may be called `no`.
        strict_booleans: true,
        with_snippet: false,
    };
    match serde_saphyr::from_str_with_options::<Option<Node>>(text, options) {
        Ok(Some(node)) if !matches!(node.value, Value::Null) => Ok(node),
        Ok(_) => Ok(Node { place: start, value: Value::Map(Vec::new()) }),
        Err(error) => {
            let place = error.location().map_or(start, Place::from);
            Err(Complaint::new(place, &Way::default(), without_place(&error)))
        }
    }
}

/// The library ends its messages with the place, which we say in front.
fn without_place(error: &serde_saphyr::Error) -> String {
    let error = error.without_snippet();
    match error {
        serde_saphyr::Error::DuplicateMappingKey { key: Some(name), .. } => {
            return format!("{name} stands there twice");
        }
        serde_saphyr::Error::MultipleDocuments { .. } => {
            return "there is a second document in the file".to_owned();
        }
        _ => {}
    }
    let text = error.to_string();
    let place =
        error.location().map(|at| format!(" at line {}, column {}", at.line(), at.column()));
    match place.and_then(|place| text.strip_suffix(&place).map(str::to_owned)) {
        Some(text) => text,
        None => text,
    }
}

/// JSON that came by itself has no lines to point at.
const NOWHERE: Place = Place { line: 0, column: 0 };

impl Node {
    /// As deep as the JSON, whose reader has a bound.
    fn of_json(json: &Json) -> Self {
        let value = match json {
            Json::Null => Value::Null,
            Json::Bool(is) => Value::Bool(*is),
            Json::Number(number) => Value::Number(number.clone()),
            Json::String(text) => Value::Text(text.clone()),
            Json::Array(items) => Value::List(items.iter().map(Self::of_json).collect()),
            Json::Object(fields) => return Self::of_fields(fields),
        };
        Self { place: NOWHERE, value }
    }

    /// Of a value that holds no others it is 1.
    pub(super) fn depth(&self) -> usize {
        let inside = match &self.value {
            Value::List(nodes) => nodes.iter().map(Self::depth).max(),
            Value::Map(fields) => fields.iter().map(|(_, node)| node.depth()).max(),
            _ => None,
        };
        1 + inside.unwrap_or_default()
    }

    pub(super) fn of_fields(fields: &Map) -> Self {
        let field = |(name, value): (&String, &Json)| {
            (Name { place: NOWHERE, text: name.clone() }, Self::of_json(value))
        };
        Self { place: NOWHERE, value: Value::Map(fields.iter().map(field).collect()) }
    }
}

impl Value {
    /// What it is, for a complaint that it should be something else.
    pub(crate) fn sort(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
        }
    }

    pub(crate) fn to_json(&self) -> Json {
        match self {
            Self::Null => Json::Null,
            Self::Bool(is) => Json::Bool(*is),
            Self::Number(number) => Json::Number(number.clone()),
            Self::Text(text) => Json::String(text.clone()),
            Self::List(nodes) => nodes.iter().map(|node| node.value.to_json()).collect(),
            Self::Map(fields) => {
                let fields = fields.iter();
                fields.map(|(name, node)| (name.text.clone(), node.value.to_json())).collect()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Value>::deserialize(deserializer)?;
        Ok(Self { place: spanned.referenced.into(), value: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E>(self, is: bool) -> Result<Value, E> {
        Ok(Value::Bool(is))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Value, E> {
        let number = Number::from_f64(number);
        number.map(Value::Number).ok_or_else(|| E::custom("this number is not finite"))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = list.next_element()? {
            nodes.push(node);
        }
        Ok(Value::List(nodes))
    }

    /// The library refuses a name that stands there twice.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut fields: Vec<(Name, Node)> = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let name = Name { place: key.referenced.into(), text: key.value };
            fields.push((name, map.next_value()?));
        }
        Ok(Value::Map(fields))
    }
}
