//! One sample, looked over: every path that it has, and what is there. Bounded, whatever was sent.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{ELEMENT, ROOT, escaped};
use crate::event_type::JsonType;
use crate::limits;

#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) seen: BTreeMap<String, Seen>,
    /// Nothing that could be looked at was left out.
    pub(super) is_whole: bool,
    values: usize,
}

/// What was at a path.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// By [`JsonType`].
    types: [bool; 7],
    pub(super) times: u32,
    /// How often it was an object.
    pub(super) objects: u32,
}

impl Seen {
    pub(super) fn types(&self) -> impl Iterator<Item = JsonType> + '_ {
        JsonType::ALL.into_iter().filter(|one| self.types[*one as usize])
    }

    /// At least once it was not null.
    pub(super) fn is_something(&self) -> bool {
        self.types().any(|one| one != JsonType::Null)
    }
}

impl Survey {
    pub(super) fn of(sample: &Value) -> Self {
        let mut survey = Self { is_whole: true, ..Self::default() };
        survey.look(ROOT, sample, 0);
        survey
    }

    fn look(&mut self, path: &str, value: &Value, depth: usize) {
        self.values += 1;
        let is_known = self.seen.contains_key(path);
        let is_full = !is_known && self.seen.len() >= limits::TYPE_PATHS_SURVEYED_MAX;
        if is_full || self.values > limits::TYPE_VALUES_SURVEYED_MAX {
            self.is_whole = false;
            return;
        }
        let seen = self.seen.entry(path.to_owned()).or_default();
        seen.types[JsonType::of(value) as usize] = true;
        seen.times += 1;
        seen.objects += u32::from(value.is_object());
        if depth == limits::TYPE_DEPTH_MAX {
            return;
        }
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.look_beneath(path, &escaped(name), value, depth);
                }
            }
            Value::Array(elements) => {
                for element in elements.iter().take(limits::TYPE_ELEMENTS_LOOKED_AT) {
                    self.look_beneath(path, ELEMENT, element, depth);
                }
            }
            _ => {}
        }
    }

    /// A name that is too long is nobody's field; that there are others is known all the same.
    fn look_beneath(&mut self, path: &str, name: &str, value: &Value, depth: usize) {
        if path.len() + 1 + name.len() <= limits::TYPE_PATH_BYTES_MAX {
            self.look(&format!("{path}/{name}"), value, depth + 1);
        }
    }
}
