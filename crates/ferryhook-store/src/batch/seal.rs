//! Which attributes of a batch are secrets, whose they are, and what they are bound to.
//!
//! A batch is built without keys: it only remembers what has to be sealed before an engine sees
//! it. The vault does that, and opens what an engine gives back.

use ferryhook_core::data_key::INSTALLATION;
use ferryhook_core::sealing::Place;

use super::{Action, Batch};
use crate::record::{Kind, Secrets};
use crate::value::packed::{Attribute, Packed};
use crate::value::{Item, Name, Value};

/// What a record's secrets are bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Binding {
    pub(crate) kind: Kind,
    pub(crate) owner: String,
    /// Which record it is.
    names: Vec<String>,
    attributes: &'static [&'static str],
}

/// A binding for the action at this place of a batch.
#[derive(Debug, Clone)]
pub(super) struct Seal {
    pub(super) place: usize,
    pub(super) binding: Binding,
}

impl Binding {
    /// Absent where the record has no secrets at the moment.
    pub(super) fn of_packed(kind: Kind, secrets: Secrets, packed: &Packed) -> Option<Self> {
        let is_secret = |attribute: Attribute<'_>| secrets.attributes.contains(&attribute.name);
        packed.attributes().any(is_secret).then(|| {
            Self::of(kind, secrets, |name| {
                packed.attributes().find(|attribute| attribute.name == name)?.unpack()
            })
        })
    }

    pub(crate) fn of_item(kind: Kind, secrets: Secrets, item: &Item) -> Self {
        Self::of(kind, secrets, |name| item.get(name).cloned())
    }

    fn of(kind: Kind, secrets: Secrets, find: impl Fn(&str) -> Option<Value>) -> Self {
        let text = |name: &str| match find(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        };
        Self {
            kind,
            owner: secrets.owner.and_then(text).unwrap_or_else(|| INSTALLATION.to_owned()),
            names: secrets.named_by.iter().map(|name| text(name).unwrap_or_default()).collect(),
            attributes: secrets.attributes,
        }
    }

    /// Calls with the place of one attribute.
    pub(crate) fn place<T>(&self, attribute: &str, with: impl FnOnce(Place<'_>) -> T) -> T {
        let names = self.names.iter().map(String::as_str);
        let mut parts = vec![self.owner.as_str(), self.kind.name()];
        parts.extend(names.chain([attribute]));
        with(Place(&parts))
    }

    pub(crate) fn attributes(&self) -> &'static [&'static str] {
        self.attributes
    }
}

impl Batch {
    pub(crate) fn has_secrets(&self) -> bool {
        !self.seals.is_empty()
    }

    /// Whose keys it takes.
    pub(crate) fn owners(&self) -> impl Iterator<Item = &str> {
        self.seals.iter().map(|seal| seal.binding.owner.as_str())
    }

    /// Puts what `seal` makes of it in the place of each secret.
    pub(crate) fn seal<E>(
        mut self,
        seal: impl Fn(&Binding, &str, &Value) -> Result<Value, E>,
    ) -> Result<Self, E> {
        for Seal { place, binding } in std::mem::take(&mut self.seals) {
            match self.actions.get_mut(place) {
                Some(Action::Insert(insert)) => {
                    for name in binding.attributes {
                        let sealed = insert.item.get(name).map(|value| seal(&binding, name, value));
                        if let Some(sealed) = sealed.transpose()? {
                            insert.item.set(Name::Borrowed(name), sealed);
                        }
                    }
                }
                Some(Action::Patch(patch)) => {
                    let set = patch.set.iter_mut();
                    for (name, value) in set.filter(|(name, _)| binding.has(name)) {
                        *value = seal(&binding, name, value)?;
                    }
                }
                _ => {}
            }
        }
        Ok(self)
    }
}

impl Binding {
    fn has(&self, attribute: &str) -> bool {
        self.attributes.contains(&attribute)
    }
}
