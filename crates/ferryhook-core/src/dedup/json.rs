//! Seeks values in JSON text without building a tree of it.
//!
//! All paths of a rule are sought in one pass that keeps only what they lead to. Numbers are taken
//! as they were written: as floating point, long ones would become equal that are not. The
//! parser's limit on depth stays on, and what no path leads to is skipped without recursion.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Paths that share their beginnings. Each has a slot for what it leads to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Tree {
    root: Node,
    paths: Vec<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Node {
    slot: Option<usize>,
    children: Vec<(Step, Node)>,
}

/// A name in an object or, if it is a number, a place in an array.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    name: String,
    index: Option<usize>,
}

impl Tree {
    pub(crate) fn of(path: Vec<String>) -> Self {
        let mut tree = Self::default();
        tree.add(path);
        tree
    }

    /// The slot of this path, which may be there already.
    pub(crate) fn add(&mut self, path: Vec<String>) -> usize {
        let next = self.paths.len();
        let mut node = &mut self.root;
        for name in &path {
            let known = node.children.iter().position(|(step, _)| step.name == *name);
            let at = known.unwrap_or_else(|| {
                let step = Step { name: name.clone(), index: name.parse().ok() };
                node.children.push((step, Node::default()));
                node.children.len() - 1
            });
            node = &mut node.children[at].1;
        }
        let slot = *node.slot.get_or_insert(next);
        if slot == next {
            self.paths.push(path);
        }
        slot
    }

    /// What to call each path where there are only names: in a form.
    pub(super) fn names(&self) -> impl Iterator<Item = Option<&str>> {
        self.paths.iter().map(|path| match &path[..] {
            [name] => Some(name.as_str()),
            _ => None,
        })
    }

    pub(super) fn nothing<'de>(&self) -> Vec<Option<Cow<'de, str>>> {
        vec![None; self.paths.len()]
    }

    /// The scalar at the end of each path. `None` if the text is not JSON to its end.
    pub(super) fn seek<'de>(&self, text: &'de str) -> Option<Vec<Option<Cow<'de, str>>>> {
        let found = self.seek_raw(text).ok()?;
        Some(found.into_iter().map(|raw| scalar(raw?)).collect())
    }

    /// The text at the end of each path, whatever it is.
    pub(crate) fn seek_raw<'de>(
        &self,
        text: &'de str,
    ) -> serde_json::Result<Vec<Option<&'de str>>> {
        let mut found = vec![None; self.paths.len()];
        let mut json = serde_json::Deserializer::from_str(text);
        Seek { node: &self.root, found: &mut found }.deserialize(&mut json)?;
        json.end()?;
        Ok(found)
    }
}

/// Text, numbers and truth values. An empty text says nothing, like `null`.
fn scalar(raw: &str) -> Option<Cow<'_, str>> {
    match raw.as_bytes().first()? {
        b'"' if raw.contains('\\') => {
            let text: String = serde_json::from_str(raw).ok()?;
            (!text.is_empty()).then_some(text.into())
        }
        b'"' => Some(&raw[1..raw.len() - 1]).filter(|text| !text.is_empty()).map(Cow::Borrowed),
        b'{' | b'[' | b'n' => None,
        _ => Some(raw.into()),
    }
}

type Found<'de> = [Option<&'de str>];

impl Node {
    /// Seeks on below a value that a path ends at.
    fn seek_behind<'de>(&self, text: &'de str, found: &mut Found<'de>) -> serde_json::Result<()> {
        serde_json::Deserializer::from_str(text).deserialize_any(Seek { node: self, found })
    }

    /// When a name comes twice in an object the last one counts, as it does for other readers.
    fn forget(&self, found: &mut Found<'_>) {
        if let Some(slot) = self.slot {
            found[slot] = None;
        }
        self.children.iter().for_each(|(_, child)| child.forget(found));
    }
}

struct Seek<'t, 'f, 'de> {
    node: &'t Node,
    found: &'f mut Found<'de>,
}

impl<'de> DeserializeSeed<'de> for Seek<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let Some(slot) = self.node.slot else {
            return deserializer.deserialize_any(self);
        };
        let raw: &'de RawValue = serde::Deserialize::deserialize(deserializer)?;
        self.found[slot] = Some(raw.get());
        if !self.node.children.is_empty() {
            self.node.seek_behind(raw.get(), self.found).map_err(serde::de::Error::custom)?;
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for Seek<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(known) = map.next_key_seed(Name(self.node))? {
            let Some(node) = known else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            node.forget(self.found);
            map.next_value_seed(Seek { node, found: &mut *self.found })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        for index in 0.. {
            let known = self.node.children.iter().find(|(step, _)| step.index == Some(index));
            let more = match known {
                None => list.next_element::<IgnoredAny>()?.is_some(),
                Some((_, node)) => {
                    list.next_element_seed(Seek { node, found: &mut *self.found })?.is_some()
                }
            };
            if !more {
                break;
            }
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// Reads a name and says where it leads, without keeping it.
struct Name<'t>(&'t Node);

impl<'de, 't> DeserializeSeed<'de> for Name<'t> {
    type Value = Option<&'t Node>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'t> Visitor<'_> for Name<'t> {
    type Value = Option<&'t Node>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        let child = self.0.children.iter().find(|(step, _)| step.name == name);
        Ok(child.map(|(_, node)| node))
    }
}
