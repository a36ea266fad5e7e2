//! A JSON document that is taken apart only where somebody looks.
//!
//! What nobody touches is copied as it was written, so that long numbers keep their digits and
//! objects the order of their names. Nothing recurses into what a stranger nested: levels are
//! opened one by one, and only along a path.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::Deserializer as _;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

/// A value, opened or not. The text of one that is not is valid JSON.
#[derive(Debug, Clone)]
pub(super) enum Json<'a> {
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

impl<'a> Json<'a> {
    pub(super) const NULL: Self = Self::Text(Cow::Borrowed("null"));

    /// Refuses what is not JSON from beginning to end.
    pub(super) fn read(text: &'a str) -> serde_json::Result<Self> {
        serde_json::from_str::<&RawValue>(text).map(|raw| Self::Text(raw.get().into()))
    }

    pub(super) fn string(text: &str) -> Self {
        Self::Text(serde_json::Value::from(text).to_string().into())
    }

    pub(super) const fn empty() -> Self {
        Self::Object(Vec::new())
    }

    /// Takes one level apart, if this is a list or an object.
    fn open(&mut self) {
        let Self::Text(text) = self else { return };
        let opened = match (text.as_bytes().first(), &text) {
            (Some(b'['), Cow::Borrowed(text)) => list(text),
            (Some(b'['), Cow::Owned(text)) => list(text).map(Json::into_owned),
            (Some(b'{'), Cow::Borrowed(text)) => object(text),
            (Some(b'{'), Cow::Owned(text)) => object(text).map(Json::into_owned),
            _ => return,
        };
        if let Ok(opened) = opened {
            *self = opened;
        }
    }

    fn into_owned<'o>(self) -> Json<'o> {
        match self {
            Self::Text(text) => Json::Text(text.into_owned().into()),
            Self::List(items) => Json::List(items.into_iter().map(Json::into_owned).collect()),
            Self::Object(fields) => {
                let own = |(name, value): (Cow<'_, str>, Json<'_>)| {
                    (Cow::Owned(name.into_owned()), value.into_owned())
                };
                Json::Object(fields.into_iter().map(own).collect())
            }
        }
    }

    pub(super) fn as_list(&mut self) -> Option<&mut Vec<Json<'a>>> {
        self.open();
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    pub(super) fn as_object(&mut self) -> Option<&mut Vec<(Cow<'a, str>, Json<'a>)>> {
        self.open();
        match self {
            Self::Object(fields) => Some(fields),
            _ => None,
        }
    }

    /// What stands under this name, or in this place of a list.
    pub(super) fn child(&mut self, name: &str) -> Option<&mut Json<'a>> {
        let fields = self.as_object()?;
        fields.iter_mut().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// What it says as part of a text: a string without its quotes, nothing for `null`.
    pub(super) fn plain(&self) -> String {
        match self {
            Self::Text(text) if text.starts_with('"') => {
                // Half a surrogate pair is JSON and not text; then it stands there as written.
                serde_json::from_str(text).unwrap_or_else(|_| text.trim_matches('"').to_owned())
            }
            Self::Text(text) if text == "null" => String::new(),
            other => other.to_string(),
        }
    }

    /// How many bytes it is as text, at least.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::List(items) => items.iter().map(|item| item.size() + 1).sum::<usize>() + 2,
            Self::Object(fields) => {
                fields.iter().map(|(name, value)| name.len() + value.size() + 4).sum::<usize>() + 2
            }
        }
    }
}

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::List(items) => {
                f.write_str("[")?;
                for (place, item) in items.iter().enumerate() {
                    f.write_str(if place > 0 { "," } else { "" })?;
                    item.fmt(f)?;
                }
                f.write_str("]")
            }
            Self::Object(fields) => {
                f.write_str("{")?;
                for (place, (name, value)) in fields.iter().enumerate() {
                    f.write_str(if place > 0 { "," } else { "" })?;
                    let name = serde_json::to_string(name).map_err(|_| fmt::Error)?;
                    write!(f, "{name}:{value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

fn list(text: &str) -> serde_json::Result<Json<'_>> {
    let items: Vec<&RawValue> = serde_json::from_str(text)?;
    Ok(Json::List(items.into_iter().map(|raw| Json::Text(raw.get().into())).collect()))
}

fn object(text: &str) -> serde_json::Result<Json<'_>> {
    serde_json::Deserializer::from_str(text).deserialize_map(Fields)
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json<'de>, A::Error> {
        let mut fields: Vec<(Cow<'de, str>, Json<'de>)> = Vec::new();
        let mut places = HashMap::new();
        while let Some(name) = map.next_key::<Name<'de>>()? {
            let value = Json::Text(map.next_value::<&'de RawValue>()?.get().into());
            // Of those with the same name the last one counts, as it does for other readers.
            match places.get(&name.0) {
                Some(&place) => {
                    let (_, earlier): &mut (_, Json<'de>) = &mut fields[place];
                    *earlier = value;
                }
                None => {
                    places.insert(name.0.clone(), fields.len());
                    fields.push((name.0, value));
                }
            }
        }
        Ok(Json::Object(fields))
    }
}

/// A name, borrowed where it has no escapes.
struct Name<'de>(Cow<'de, str>);

impl<'de> serde::Deserialize<'de> for Name<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Name(text.into()))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Name(text.to_owned().into()))
            }
        }
        deserializer.deserialize_str(Text)
    }
}
