//! From an action of a batch to changes of the tree.
//!
//! `prepare` runs on the caller's thread and does what needs no look at the data: keys and
//! attributes become bytes. `decide` runs on the writer's thread: it checks the condition
//! against what is there now and says what is to be written. Both are pure.

use lsm_tree::{UserKey, UserValue};

use super::codec::{self, Edit, Place, View};
use super::layout::{self, Keys};
use super::young::Mark;
use crate::StoreError;
use crate::batch::{Action, Condition, Delete, Insert, Moves, Patch};
use crate::value;

#[derive(Debug)]
pub(super) enum Change {
    Insert {
        key: UserKey,
        expires: Option<i64>,
        /// The row as the tree keeps it; without its expiry and place if it has content.
        row: Row,
        entries: Vec<UserKey>,
    },
    Patch {
        key: UserKey,
        condition: Condition,
        edit: Edit,
        dropped: Vec<UserKey>,
        added: Vec<UserKey>,
        /// Written again only when the row's expiry changes, which they carry too.
        kept: Vec<UserKey>,
    },
    Delete {
        key: UserKey,
        condition: Condition,
        entries: Vec<UserKey>,
    },
    Require {
        key: UserKey,
        condition: Condition,
    },
    /// The engine's own: gives content a new place if the row still points at the old one.
    Relocate {
        key: UserKey,
        from: Place,
        content: Vec<u8>,
    },
    /// The engine's own: a note about its segments, and its end.
    Note {
        key: UserKey,
        value: Vec<u8>,
    },
    Forget {
        key: UserKey,
    },
}

#[derive(Debug)]
pub(super) enum Row {
    Whole(UserValue),
    WithContent { tail: Vec<u8>, content: Vec<u8> },
}

/// What is to be written: into the tree, and what happens to markers.
#[derive(Debug, Default)]
pub(super) struct Writes {
    pub(super) tree: Vec<Write>,
    pub(super) marks: Vec<Mark>,
}

/// What is to be written, with owned bytes.
#[derive(Debug)]
pub(super) enum Write {
    Put {
        key: UserKey,
        value: UserValue,
    },
    PutWithContent {
        key: UserKey,
        expires: Option<i64>,
        content: Vec<u8>,
        tail: Vec<u8>,
        /// By the upkeep; nobody has changed the row.
        moved: bool,
    },
    Delete {
        key: UserKey,
    },
}

pub(super) fn prepare(actions: Vec<Action>) -> Vec<Change> {
    let mut keys = Keys::default();
    actions.into_iter().map(|action| prepare_one(action, &mut keys)).collect()
}

fn prepare_one(action: Action, keys: &mut Keys) -> Change {
    let key = keys.row(action.key());
    match action {
        Action::Insert(insert) => {
            let Insert { kind, version, key: name, indexes, expires, item, content, .. } = insert;
            let row = match content.is_empty() {
                true => Row::Whole(codec::row_value(kind, version, expires, &item)),
                false => Row::WithContent {
                    tail: codec::row_tail(kind, version, 1, &item),
                    content: content.into_packed(),
                },
            };
            let entries = indexes.iter().map(|entry| keys.entry(entry, &name)).collect();
            Change::Insert { key, expires, row, entries }
        }
        Action::Patch(Patch { key: name, condition, set, add, remove, moves, .. }) => {
            let (mut dropped, mut added, mut kept) = (Vec::new(), Vec::new(), Vec::new());
            if let Some(Moves { from, to, expires }) = &moves {
                for entry in from.iter().filter(|entry| !to.contains(entry)) {
                    dropped.push(keys.entry(entry, &name));
                }
                for entry in to {
                    match from.contains(entry) {
                        true if expires.is_none() => {}
                        true => kept.push(keys.entry(entry, &name)),
                        false => added.push(keys.entry(entry, &name)),
                    }
                }
            }
            let edit = Edit { set, add, remove, expires: moves.and_then(|moves| moves.expires) };
            Change::Patch { key, condition, edit, dropped, added, kept }
        }
        Action::Delete(Delete { key: name, condition, indexes, .. }) => {
            let entries = indexes.iter().map(|entry| keys.entry(entry, &name)).collect();
            Change::Delete { key, condition, entries }
        }
        Action::Require { condition, .. } => Change::Require { key, condition },
    }
}

impl Writes {
    pub(super) fn is_empty(&self) -> bool {
        self.tree.is_empty() && self.marks.is_empty()
    }

    pub(super) fn len(&self) -> (usize, usize) {
        (self.tree.len(), self.marks.len())
    }

    pub(super) fn truncate(&mut self, (tree, marks): (usize, usize)) {
        self.tree.truncate(tree);
        self.marks.truncate(marks);
    }

    /// Adds a note, which stays with whoever has it until it is known to be written.
    pub(super) fn note(&mut self, note: &Change) {
        if let Change::Note { key, value } = note {
            self.put(key.clone(), value.as_slice());
        }
    }

    fn put(&mut self, key: UserKey, value: impl Into<UserValue>) {
        self.tree.push(Write::Put { key, value: value.into() });
    }

    fn delete(&mut self, key: UserKey) {
        self.tree.push(Write::Delete { key });
    }

    /// Entries that are not there yet.
    fn enter(&mut self, entries: Vec<UserKey>, expires: Option<i64>) {
        for key in entries {
            match layout::is_marker(&key) {
                true => self.marks.push(Mark::Enter { key, expires }),
                false => self.put(key, codec::expiry_bytes(expires)),
            }
        }
    }

    /// Entries that may be there already.
    fn renew(&mut self, entries: Vec<UserKey>, expires: Option<i64>) {
        for key in entries {
            match layout::is_marker(&key) {
                true => self.marks.push(Mark::Renew { key, expires }),
                false => self.put(key, codec::expiry_bytes(expires)),
            }
        }
    }

    fn leave(&mut self, entries: Vec<UserKey>) {
        for key in entries {
            match layout::is_marker(&key) {
                true => self.marks.push(Mark::Leave { key }),
                false => self.delete(key),
            }
        }
    }
}

impl Change {
    /// Its share of the memory that waiting commits may take.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Insert { row: Row::WithContent { tail, content }, .. } => {
                512 + tail.len() + content.len()
            }
            Self::Insert { row: Row::Whole(value), .. } => 512 + value.len(),
            Self::Patch { edit, .. } => 512 + value::bytes(&edit.set),
            Self::Relocate { content, .. } => 512 + content.len(),
            _ => 512,
        }
    }

    pub(super) fn is_note(&self) -> bool {
        matches!(self, Self::Note { .. } | Self::Forget { .. })
    }

    pub(super) fn key(&self) -> &[u8] {
        match self {
            Self::Insert { key, .. }
            | Self::Patch { key, .. }
            | Self::Delete { key, .. }
            | Self::Require { key, .. }
            | Self::Relocate { key, .. }
            | Self::Note { key, .. }
            | Self::Forget { key } => key,
        }
    }

    /// What to write, given the value that stands at the key now (absent when it has expired) and
    /// whether there is one that has.
    pub(super) fn decide(
        self,
        place_in_batch: usize,
        found: Option<&[u8]>,
        has_expired: bool,
        writes: &mut Writes,
    ) -> Result<(), StoreError> {
        match self {
            Self::Insert { key, expires, row, entries } => {
                if found.is_some() {
                    return Err(refused(place_in_batch, &key, Condition::Absent));
                }
                match has_expired {
                    // Entries of the row before it, which expired too, may still be there.
                    true => writes.renew(entries, expires),
                    false => writes.enter(entries, expires),
                }
                writes.tree.push(match row {
                    Row::Whole(value) => Write::Put { key, value },
                    Row::WithContent { tail, content } => {
                        Write::PutWithContent { key, expires, content, tail, moved: false }
                    }
                });
            }
            Self::Patch { key, condition, edit, dropped, added, kept } => {
                let view = found.map(View::of).transpose()?;
                let holds = view.map_or(Ok(false), |view| holds(&condition, &view))?;
                let Some(view) = view.filter(|_| holds) else {
                    return Err(refused(place_in_batch, &key, condition));
                };
                let value = view.edited(&edit, &key)?;
                let expires = codec::expiry_of(&value);
                writes.leave(dropped);
                writes.enter(added, expires);
                if expires != view.expires {
                    writes.renew(kept, expires);
                }
                writes.put(key, value);
            }
            Self::Delete { key, condition, entries } => {
                check(place_in_batch, &key, condition, found)?;
                writes.leave(entries);
                writes.delete(key);
            }
            Self::Require { key, condition } => check(place_in_batch, &key, condition, found)?,
            Self::Relocate { key, from, content } => {
                let Some(found) = found.filter(|found| codec::place_of(found) == Some(from)) else {
                    return Ok(());
                };
                let expires = codec::expiry_of(found);
                let tail = found[5 + codec::PLACE_BYTES..].to_vec();
                let moved = true;
                writes.tree.push(Write::PutWithContent { key, expires, content, tail, moved });
            }
            Self::Note { key, value } => writes.put(key, value),
            Self::Forget { key } => writes.delete(key),
        }
        Ok(())
    }
}

fn check(
    place: usize,
    key: &UserKey,
    condition: Condition,
    found: Option<&[u8]>,
) -> Result<(), StoreError> {
    let holds = match found {
        None => condition == Condition::Absent,
        Some(_) if condition == Condition::Absent => false,
        Some(found) => holds(&condition, &View::of(found)?)?,
    };
    if holds { Ok(()) } else { Err(refused(place, key, condition)) }
}

fn holds(condition: &Condition, view: &View<'_>) -> Result<bool, StoreError> {
    Ok(match condition {
        Condition::Absent => false,
        Condition::Exists => true,
        Condition::Revision(revision) => view.revision == *revision,
        Condition::Is(name, value) => view.get(name)?.as_ref() == Some(value),
    })
}

fn refused(action: usize, key: &UserKey, condition: Condition) -> StoreError {
    match layout::read_row_key(key) {
        Ok(key) => StoreError::Refused { action, key, condition: Box::new(condition) },
        Err(error) => error,
    }
}
