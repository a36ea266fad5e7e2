//! One step of the domain as one atomic commit.
//!
//! Either every condition holds and every action is done, or nothing is and the error names the
//! first action whose condition failed. The bounds are DynamoDB's, on every engine.

mod seal;

use std::fmt;

use ferryhook_core::{Timestamp, limits};

use crate::StoreError;
use crate::key::{IndexKey, Key, Part};
use crate::record::{Kind, Record, Stored, not_stored};
use crate::value::packed::{self, Attribute, Packed};
use crate::value::{self, Item, Name, Value};

pub(crate) use seal::Binding;
use seal::Seal;

/// When a commit counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// On disk before the answer.
    Synced,
    /// Readers see it at the answer; a power loss before the next sync may still take it back.
    Buffered,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// Nothing lives there; what has expired counts as nothing.
    Absent,
    Exists,
    /// Unchanged since it was read at this revision.
    Revision(u64),
    /// This attribute has exactly this value.
    Is(Name, Value),
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("no such row"),
            Self::Exists => f.write_str("an existing row"),
            Self::Revision(revision) => write!(f, "revision {revision}"),
            Self::Is(name, _) => write!(f, "another value of {name}"),
        }
    }
}

/// A row that must not exist yet.
#[derive(Debug, Clone)]
pub struct Insert {
    pub kind: Kind,
    pub version: u8,
    pub key: Key,
    pub indexes: Vec<IndexKey>,
    /// In seconds.
    pub expires: Option<i64>,
    pub item: Item,
    /// The attributes that never change; see [`Kind::content`].
    pub content: Item,
    pub mirror: Vec<(Name, Value)>,
}

impl Insert {
    fn bytes(&self) -> Result<usize, StoreError> {
        let attributes = self.item.bytes() + self.content.bytes() + value::bytes(&self.mirror);
        check_row_bytes(&self.key, &self.indexes, attributes)
    }
}

/// The size of a row whose attributes, mirrored ones included, have this many bytes; an error if
/// it is too large. As much as DynamoDB would count: what it keeps beside the record has a size
/// too. Where an index shares an attribute with the record it is counted twice, which errs on the
/// safe side.
pub(crate) fn check_row_bytes(
    key: &Key,
    indexes: &[IndexKey],
    attributes: usize,
) -> Result<usize, StoreError> {
    let table = key.table.shape();
    let mut bytes = ENVELOPE_BYTES + attributes;
    bytes += table.partition.name.len() + key.partition.len();
    if let (Some(attribute), Some(sort)) = (table.sort, &key.sort) {
        bytes += attribute.name.len() + sort.len();
    }
    for entry in indexes {
        let index = entry.index.shape();
        bytes += index.partition.name.len() + part_bytes(&entry.partition);
        if let (Some(attribute), Some(sort)) = (index.sort, &entry.sort) {
            bytes += attribute.name.len() + part_bytes(sort);
        }
    }
    let max = limits::ITEM_BYTES_MAX;
    match bytes > max {
        true => Err(StoreError::OutOfBounds(format!(
            "{key} would have {bytes} bytes, an item may have {max}"
        ))),
        false => Ok(bytes),
    }
}

fn part_bytes(part: &Part) -> usize {
    match part {
        Part::Number(_) => 21, // the most a number takes
        Part::Text(text) => text.len(),
    }
}

/// Room for what an engine notes about a row: kind, shape, revision.
const ENVELOPE_BYTES: usize = 128;

/// A change of some attributes of a row that exists.
#[derive(Debug, Clone)]
pub struct Patch {
    pub kind: Kind,
    pub key: Key,
    pub condition: Condition,
    pub set: Vec<(Name, Value)>,
    pub add: Vec<(Name, i64)>,
    pub remove: Vec<Name>,
    /// Where the row stands in indexes and when it expires, before and after; absent when neither
    /// changes.
    pub moves: Option<Moves>,
}

#[derive(Debug, Clone)]
pub struct Moves {
    pub from: Vec<IndexKey>,
    pub to: Vec<IndexKey>,
    /// In seconds; absent when the row goes on to expire when it did.
    pub expires: Option<Option<i64>>,
}

#[derive(Debug, Clone)]
pub struct Delete {
    pub kind: Kind,
    pub key: Key,
    pub condition: Condition,
    pub indexes: Vec<IndexKey>,
}

#[derive(Debug, Clone)]
pub enum Action {
    Insert(Insert),
    Patch(Patch),
    Delete(Delete),
    /// Does nothing; the batch holds only if this does.
    Require {
        key: Key,
        condition: Condition,
    },
}

impl Action {
    pub fn key(&self) -> &Key {
        match self {
            Self::Insert(insert) => &insert.key,
            Self::Patch(patch) => &patch.key,
            Self::Delete(delete) => &delete.key,
            Self::Require { key, .. } => key,
        }
    }

    pub fn condition(&self) -> &Condition {
        match self {
            Self::Insert(_) => &Condition::Absent,
            Self::Patch(patch) => &patch.condition,
            Self::Delete(delete) => &delete.condition,
            Self::Require { condition, .. } => condition,
        }
    }
}

/// What is to happen together. Mistakes made while building are told at the commit.
#[derive(Debug, Default)]
pub struct Batch {
    actions: Vec<Action>,
    /// Mostly none: few records have secrets.
    seals: Vec<Seal>,
    mistake: Option<StoreError>,
    erases_since: Option<Timestamp>,
}

impl Batch {
    pub fn new() -> Self {
        Self::default()
    }

    /// The record must be new.
    pub fn insert<T: Record>(self, record: &T) -> Self {
        let key = record.key();
        self.with(|| {
            let packed = packed::pack_beside(record, T::CONTENT);
            let (item, content) = packed.map_err(|error| not_stored(T::KIND, &error))?;
            let binding =
                T::SECRETS.and_then(|secrets| Binding::of_packed(T::KIND, secrets, &item));
            let action = Action::Insert(Insert {
                kind: T::KIND,
                version: T::VERSION,
                key,
                indexes: record.indexes(),
                expires: record.expires_at().map(Timestamp::as_seconds),
                item: item.into(),
                content: content.into(),
                mirror: record.mirror(),
            });
            Ok((action, binding))
        })
    }

    /// Writes what differs, if the record is still as it was read.
    pub fn replace<T: Record>(self, was: &Stored<T>, now: &T) -> Self {
        self.replace_when(was, now, Condition::Revision(was.revision))
    }

    /// Writes what differs, if this holds instead: for rows that are deleted and made anew, whose
    /// revisions begin again.
    pub fn replace_when<T: Record>(self, was: &Stored<T>, now: &T, condition: Condition) -> Self {
        self.with(|| {
            let (patch, binding) = difference(was, now)?;
            Ok((Action::Patch(patch.when(condition)), binding))
        })
    }

    /// A change of attributes that no index and no expiry depends on, without reading first.
    pub fn patch(mut self, patch: Patch) -> Self {
        self.actions.push(Action::Patch(patch));
        self
    }

    pub fn delete<T: Record>(self, was: &Stored<T>) -> Self {
        self.delete_when(&was.record, Condition::Revision(was.revision))
    }

    pub fn delete_when<T: Record>(mut self, was: &T, condition: Condition) -> Self {
        let (key, indexes) = (was.key(), was.indexes());
        self.actions.push(Action::Delete(Delete { kind: T::KIND, key, condition, indexes }));
        self
    }

    pub fn require(mut self, key: Key, condition: Condition) -> Self {
        self.actions.push(Action::Require { key, condition });
        self
    }

    /// What this batch deletes, and what the rows that it changes were before, is to be really gone
    /// after the next [scrub](crate::engine::Engine::scrub). None of it was written before `since`,
    /// which saves the scrub from looking there.
    pub fn erasing(mut self, since: Timestamp) -> Self {
        self.erases_since = Some(since);
        self
    }

    pub(crate) fn erases_since(&self) -> Option<Timestamp> {
        self.erases_since
    }

    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// The same once more, for one who may have to try again; `None` if it is mistaken anyway.
    pub(crate) fn copy(&self) -> Option<Self> {
        let Self { actions, seals, mistake, erases_since } = self;
        mistake.is_none().then(|| Self {
            actions: actions.clone(),
            seals: seals.clone(),
            mistake: None,
            erases_since: *erases_since,
        })
    }

    pub fn is_empty(&self) -> bool {
        self.actions.is_empty() && self.mistake.is_none()
    }

    fn with(
        mut self,
        action: impl FnOnce() -> Result<(Action, Option<Binding>), StoreError>,
    ) -> Self {
        match action() {
            Ok((action, binding)) => {
                let place = self.actions.len();
                self.seals.extend(binding.map(|binding| Seal { place, binding }));
                self.actions.push(action);
            }
            Err(mistake) => self.mistake = self.mistake.or(Some(mistake)),
        }
        self
    }

    /// The actions, once they are known to keep every bound. Engines start here.
    pub(crate) fn checked(self) -> Result<Vec<Action>, StoreError> {
        if let Some(mistake) = self.mistake {
            return Err(mistake);
        }
        let actions = self.actions;
        if actions.is_empty() {
            return Err(StoreError::OutOfBounds("the batch is empty".into()));
        }
        if actions.len() > limits::batch::ACTIONS_MAX {
            let (count, max) = (actions.len(), limits::batch::ACTIONS_MAX);
            return Err(StoreError::OutOfBounds(format!(
                "the batch has {count} actions, {max} are allowed"
            )));
        }
        let bytes = actions.iter().map(Action::check).sum::<Result<usize, _>>()?;
        if let Some(key) = twice(actions.iter().map(Action::key).collect()) {
            return Err(StoreError::Malformed(format!("the batch names {key} twice")));
        }
        if bytes > limits::batch::BYTES_MAX {
            let max = limits::batch::BYTES_MAX;
            return Err(StoreError::OutOfBounds(format!(
                "the batch has {bytes} bytes, {max} are allowed"
            )));
        }
        Ok(actions)
    }
}

impl Action {
    /// Checks one action and tells its size.
    fn check(&self) -> Result<usize, StoreError> {
        let key = self.key();
        key.check()?;
        let check_indexes = |keys: &[IndexKey]| keys.iter().try_for_each(|k| k.check(key.table));
        match self {
            Self::Insert(insert) => {
                check_indexes(&insert.indexes)?;
                insert.item.check()?;
                insert.content.check()?;
                insert.bytes()
            }
            Self::Patch(patch) => {
                if let Some(moves) = &patch.moves {
                    check_indexes(&moves.from)?;
                    check_indexes(&moves.to)?;
                }
                if patch.condition == Condition::Absent {
                    return Err(StoreError::Malformed(format!(
                        "{key} cannot be absent and changed"
                    )));
                }
                patch.check_names()?;
                check_condition(key, &patch.condition, patch.kind.content())?;
                value::check(&patch.set)?;
                Ok(value::bytes(&patch.set))
            }
            Self::Delete(delete) => {
                check_indexes(&delete.indexes)?;
                check_condition(key, &delete.condition, delete.kind.content())?;
                Ok(0)
            }
            // It does not say its kind, so it may ask for the content of none.
            Self::Require { condition, .. } => {
                let mut kinds = Kind::ALL.into_iter().filter(|kind| kind.table() == key.table);
                kinds.try_for_each(|kind| check_condition(key, condition, kind.content()))?;
                Ok(0)
            }
        }
    }
}

/// What is named more than once, if anything is. Mostly there are two or three.
fn twice<T: Ord>(mut named: Vec<&T>) -> Option<&T> {
    const FEW: usize = 8;
    if named.len() <= FEW {
        let mut before = named.iter().enumerate();
        return before.find(|(place, one)| named[..*place].contains(one)).map(|(_, one)| *one);
    }
    named.sort_unstable();
    named.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// An engine may keep content where it cannot look while it decides.
fn check_condition(key: &Key, condition: &Condition, content: &[&str]) -> Result<(), StoreError> {
    match condition {
        Condition::Is(name, _) if content.contains(&&**name) => Err(StoreError::Malformed(
            format!("{name} of {key} is content, which no condition can ask for"),
        )),
        _ => Ok(()),
    }
}

impl Patch {
    /// A change that asks only that the row exists.
    pub fn of(kind: Kind, key: Key) -> Self {
        Self {
            kind,
            key,
            condition: Condition::Exists,
            set: Vec::new(),
            add: Vec::new(),
            remove: Vec::new(),
            moves: None,
        }
    }

    pub fn when(mut self, condition: Condition) -> Self {
        self.condition = condition;
        self
    }

    pub fn set(mut self, name: impl Into<Name>, value: impl Into<Value>) -> Self {
        self.set.push((name.into(), value.into()));
        self
    }

    pub fn add(mut self, name: impl Into<Name>, amount: i64) -> Self {
        self.add.push((name.into(), amount));
        self
    }

    pub fn remove(mut self, name: impl Into<Name>) -> Self {
        self.remove.push(name.into());
        self
    }

    /// Content never changes. What two changes of one attribute would come to depends on their
    /// order, and there is none.
    fn check_names(&self) -> Result<(), StoreError> {
        let set = self.set.iter().map(|(name, _)| name);
        let add = self.add.iter().map(|(name, _)| name);
        let mut names: Vec<&Name> = Vec::with_capacity(8);
        for name in set.chain(add).chain(&self.remove) {
            if self.kind.content().contains(&&**name) {
                let kind = self.kind;
                return Err(StoreError::Malformed(format!(
                    "{name} of a stored {kind} never changes"
                )));
            }
            names.push(name);
        }
        if let Some(name) = twice(names) {
            let key = &self.key;
            return Err(StoreError::Malformed(format!("{name} of {key} is changed twice")));
        }
        Ok(())
    }
}

fn difference<T: Record>(was: &Stored<T>, now: &T) -> Result<(Patch, Option<Binding>), StoreError> {
    let key = was.key();
    if key != now.key() {
        let other = now.key();
        return Err(StoreError::Malformed(format!("{key} cannot become {other}")));
    }
    let pack = |record| {
        let packed = packed::pack_and_print(record, T::CONTENT);
        packed.map_err(|error| not_stored(T::KIND, &error))
    };
    let ((before, print), (after, print_after)) = (pack(&was.record)?, pack(now)?);
    if print != print_after && content(&was.record)? != content(now)? {
        let (kind, names) = (T::KIND, T::CONTENT.join(", "));
        return Err(StoreError::Malformed(format!("{names} of a stored {kind} never change")));
    }
    let mut patch = Patch::of(T::KIND, key);
    compare(&before, &after, &mut patch);
    let binding = T::SECRETS.and_then(|secrets| {
        // Also those that stay as they are: what an older version left in the open is sealed now.
        write_anyway(&after, secrets.attributes, &mut patch);
        Binding::of_packed(T::KIND, secrets, &after)
    });
    let (from, to) = (was.indexes(), now.indexes());
    let expires = |record: &T| record.expires_at().map(Timestamp::as_seconds);
    let expires = (expires(now) != expires(was)).then(|| expires(now));
    if from != to || expires.is_some() {
        patch.moves = Some(Moves { from, to, expires });
    }
    Ok((patch, binding))
}

fn write_anyway(after: &Packed, names: &[&str], patch: &mut Patch) {
    for attribute in after.attributes().filter(|attribute| names.contains(&attribute.name)) {
        let is_set = patch.set.iter().any(|(name, _)| name == attribute.name);
        if let (false, Some(value)) = (is_set, attribute.unpack()) {
            patch.set.push((attribute.owned_name(), value));
        }
    }
}

/// For a closer look than a print allows: maps may be equal in another order.
fn content<T: Record>(record: &T) -> Result<Item, StoreError> {
    let packed = packed::pack_beside(record, T::CONTENT);
    packed.map(|(_, content)| content.into()).map_err(|error| not_stored(T::KIND, &error))
}

/// Puts what differs into the patch. Mostly the same attributes come in the same order, with the
/// same bytes.
fn compare(before: &Packed, after: &Packed, patch: &mut Patch) {
    let same = |one: &Attribute<'_>, other: &Attribute<'_>| {
        one.value == other.value || one.unpack() == other.unpack()
    };
    let mut old: Vec<_> = before.attributes().collect();
    let mut place = 0;
    for attribute in after.attributes() {
        let is_it = |known: &Attribute<'_>| known.name == attribute.name;
        let found = match old.get(place).is_some_and(is_it) {
            true => Some(place),
            false => old.iter().position(is_it),
        };
        let is_same = found.is_some_and(|found| same(&old[found], &attribute));
        if let (false, Some(value)) = (is_same, attribute.unpack()) {
            patch.set.push((attribute.owned_name(), value));
        }
        if let Some(found) = found {
            old.remove(found);
            place = found;
        }
    }
    patch.remove.extend(old.iter().map(Attribute::owned_name));
}

#[cfg(test)]
mod tests;
