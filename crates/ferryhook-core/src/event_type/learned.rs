//! What samples have taught: which fields there are, how often, of which types.
//!
//! Counted by sample, not by occurrence: a list of a thousand elements says as much as one. A field
//! that comes and goes is optional, and one that is null at times is as good as absent then;
//! neither is a [`Change`]. One is told only against what has settled, so that an object whose
//! names are ever new (a map by id) never gives rise to any.

mod field;
mod survey;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::drift::{Change, DriftKind};
use super::json_type::JsonType;
use crate::limits;

pub use field::Field;
use survey::{Seen, Survey};

/// The whole; it has no name.
pub(super) const ROOT: &str = "";
/// In place of a name: any element of a list.
pub(super) const ELEMENT: &str = "*";

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Learned {
    pub samples: u32,
    /// By path. A field stands behind the object or list that it is part of.
    #[serde(with = "named")]
    pub(super) fields: BTreeMap<String, Field>,
}

/// The whole has an empty path, and an attribute of an item must have a name.
mod named {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serializer};

    use super::{Field, ROOT};

    /// No path is called that: all others begin with a slash.
    const WHOLE: &str = "$";

    pub(super) fn serialize<S: Serializer>(
        fields: &BTreeMap<String, Field>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let name = |path: &String| if path == ROOT { WHOLE.to_owned() } else { path.clone() };
        serializer.collect_map(fields.iter().map(|(path, field)| (name(path), field)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<String, Field>, D::Error> {
        let mut fields = BTreeMap::<String, Field>::deserialize(deserializer)?;
        if let Some(whole) = fields.remove(WHOLE) {
            fields.insert(ROOT.to_owned(), whole);
        }
        Ok(fields)
    }
}

impl Learned {
    pub fn is_empty(&self) -> bool {
        self.samples == 0
    }

    /// Whether one more sample is worth more than those of a busy type are.
    pub fn is_young(&self) -> bool {
        self.samples < limits::TYPE_YOUNG_SAMPLES
    }

    pub fn paths(&self) -> usize {
        self.fields.len()
    }

    /// Takes a sample in; what about it is different from those before.
    pub fn learn(&mut self, sample: &Value) -> Vec<Change> {
        let survey = Survey::of(sample);
        let mut changes = Vec::new();
        if survey.is_whole {
            self.note_missing(&survey, &mut changes);
        }
        let mut grown = Vec::new();
        for (path, seen) in &survey.seen {
            match self.fields.get_mut(path) {
                Some(field) => changes.extend(retyped(path, field, seen)),
                None => grown.extend(self.note_new(path, seen, &survey, &mut changes)),
            }
        }
        self.note_quiet(&survey, &grown);
        self.samples = self.samples.saturating_add(1);
        changes
    }

    /// Those that could be there and are not.
    fn note_missing(&mut self, survey: &Survey, changes: &mut Vec<Change>) {
        for (path, field) in &mut self.fields {
            let Some((parent, name)) = split(path) else { continue };
            let Some(around) = survey.seen.get(parent).filter(|around| around.objects > 0) else {
                continue;
            };
            if name == ELEMENT {
                continue;
            }
            let seen = survey.seen.get(path);
            let is_everywhere = seen.is_some_and(|seen| seen.times >= around.objects);
            field.note_key(is_everywhere);
            if field.note_presence(seen.is_some_and(Seen::is_something)) {
                let (kind, was) = (DriftKind::Vanished, field.shown_types());
                changes.push(Change { path: path.clone(), kind, was, now: Vec::new() });
            }
        }
    }

    /// The path of what it became a part of.
    fn note_new(
        &mut self,
        path: &str,
        seen: &Seen,
        survey: &Survey,
        changes: &mut Vec<Change>,
    ) -> Option<String> {
        let Some((parent, name)) = split(path) else {
            self.fields.insert(path.to_owned(), Field::first(seen, true));
            return None;
        };
        let around = self.fields.get(parent).filter(|around| !around.is_open())?;
        let (is_settled, was_there) = (around.is_quiet(), around.was_object_before());
        if name != ELEMENT && self.children(parent).count() >= limits::TYPE_FIELDS_OF_OBJECT_MAX {
            self.open(parent);
            return None;
        }
        if self.fields.len() >= limits::TYPE_PATHS_MAX {
            return None;
        }
        let objects = survey.seen.get(parent).map_or(0, |around| around.objects);
        let is_everywhere = !was_there && seen.times >= objects;
        self.fields.insert(path.to_owned(), Field::first(seen, is_everywhere));
        if name == ELEMENT {
            return None;
        }
        if is_settled {
            let (kind, now) = (DriftKind::New, seen.types().collect());
            changes.push(Change { path: path.to_owned(), kind, was: Vec::new(), now });
        }
        Some(parent.to_owned())
    }

    /// An object with too many names for them to mean anything: they are forgotten.
    fn open(&mut self, path: &str) {
        let beneath = format!("{path}/");
        self.fields.retain(|known, _| !known.starts_with(&beneath));
        if let Some(field) = self.fields.get_mut(path) {
            field.open();
        }
    }

    fn note_quiet(&mut self, survey: &Survey, grown: &[String]) {
        for (path, _) in survey.seen.iter().filter(|(_, seen)| seen.objects > 0) {
            if let Some(field) = self.fields.get_mut(path) {
                field.note_object(grown.contains(path));
            }
        }
    }

    /// Those directly beneath, by name as it is written in a path.
    pub(super) fn children(&self, path: &str) -> impl Iterator<Item = (&str, &Field)> {
        let beneath = format!("{path}/");
        let from = self.fields.range(beneath.clone()..);
        from.map_while(move |(known, field)| {
            let name = known.get(beneath.len()..).filter(|_| known.starts_with(&beneath));
            name.map(|name| (name, field))
        })
        .filter(|(name, _)| !name.contains('/'))
    }
}

/// Another type than it has ever been. Null is none.
fn retyped(path: &str, field: &mut Field, seen: &Seen) -> Option<Change> {
    let was = field.shown_types();
    let is_settled = field.is_settled();
    let known = |new: &JsonType| field.types().any(|old| old.is_like(*new));
    let now: Vec<_> = seen.types().filter(|one| *one != JsonType::Null && !known(one)).collect();
    field.note_types(seen, !now.is_empty());
    let change = Change { path: path.to_owned(), kind: DriftKind::Retyped, was, now };
    (is_settled && !change.now.is_empty()).then_some(change)
}

/// What it is part of, and its name there.
fn split(path: &str) -> Option<(&str, &str)> {
    path.rsplit_once('/')
}

/// A name as it stands in a path.
fn escaped(name: &str) -> String {
    match name {
        ELEMENT => "~2".to_owned(),
        name if name.contains(['~', '/']) => name.replace('~', "~0").replace('/', "~1"),
        name => name.to_owned(),
    }
}

/// The name itself.
pub(super) fn unescaped(name: &str) -> String {
    match name {
        "~2" => ELEMENT.to_owned(),
        name => name.replace("~1", "/").replace("~0", "~"),
    }
}

#[cfg(test)]
mod tests;
