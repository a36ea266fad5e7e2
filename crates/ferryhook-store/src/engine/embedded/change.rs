//! From an action of a batch to changes of the tree.
//!
//! `prepare` runs on the caller's thread and does what needs no look at the data: keys and
//! attributes become bytes. `decide` runs on the writer's thread: it checks the condition
//! against what is there now and says what is to be written. Both are pure.

use ferryhook_core::limits;
use lsm_tree::UserKey;

use super::codec::{self, Head, Place};
use super::layout;
use super::young::Mark;
use crate::StoreError;
use crate::batch::{Action, Condition, Insert, Moves, Patch};
use crate::key::{IndexKey, Key};
use crate::value;

#[derive(Debug)]
pub(super) enum Change {
    Insert {
        key: Vec<u8>,
        name: Key,
        expires: Option<i64>,
        tail: Vec<u8>,
        content: Option<Vec<u8>>,
        entries: Vec<Entry>,
    },
    Patch {
        key: Vec<u8>,
        patch: Box<Patch>,
        dropped: Vec<Entry>,
        added: Vec<Entry>,
        /// Written again only when the row's expiry changes, which they carry too.
        kept: Vec<Entry>,
    },
    Delete {
        key: Vec<u8>,
        name: Key,
        condition: Condition,
        entries: Vec<Entry>,
    },
    Require {
        key: Vec<u8>,
        name: Key,
        condition: Condition,
    },
    /// The engine's own: gives content a new place if the row still points at the old one.
    Relocate {
        key: Vec<u8>,
        from: Place,
        content: Vec<u8>,
    },
    /// The engine's own: a note about its segments, and its end.
    Note {
        key: Vec<u8>,
        value: Vec<u8>,
    },
    Forget {
        key: Vec<u8>,
    },
}

/// The key of an index entry.
#[derive(Debug)]
pub(super) enum Entry {
    Plain(Vec<u8>),
    /// Of an index whose entries begin their life outside the tree.
    Young(UserKey),
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
    Put { key: Vec<u8>, value: Vec<u8> },
    PutWithContent { key: Vec<u8>, expires: Option<i64>, content: Vec<u8>, tail: Vec<u8> },
    Delete { key: Vec<u8> },
}

pub(super) fn prepare(action: Action) -> Change {
    let key = layout::row_key(action.key());
    match action {
        Action::Insert(insert) => {
            let Insert { kind, version, key: name, indexes, expires, item, content, .. } = insert;
            Change::Insert {
                key,
                expires,
                tail: codec::row_tail(kind, version, 1, &item),
                content: (!content.is_empty()).then(|| codec::item_bytes(&content)),
                entries: indexes.iter().map(|entry| entry_of(entry, &name)).collect(),
                name,
            }
        }
        Action::Patch(patch) => {
            let (mut dropped, mut added, mut kept) = (Vec::new(), Vec::new(), Vec::new());
            if let Some(Moves { from, to, .. }) = &patch.moves {
                let bytes = |entry| entry_of(entry, &patch.key);
                dropped.extend(from.iter().filter(|entry| !to.contains(entry)).map(bytes));
                added.extend(to.iter().filter(|entry| !from.contains(entry)).map(bytes));
                kept.extend(to.iter().filter(|entry| from.contains(entry)).map(bytes));
            }
            Change::Patch { key, patch: Box::new(patch), dropped, added, kept }
        }
        Action::Delete(delete) => {
            let entries = delete.indexes.iter().map(|entry| entry_of(entry, &delete.key)).collect();
            Change::Delete { key, name: delete.key, condition: delete.condition, entries }
        }
        Action::Require { key: name, condition } => Change::Require { key, name, condition },
    }
}

fn entry_of(entry: &IndexKey, row: &Key) -> Entry {
    let key = layout::entry_key(entry, row);
    match layout::is_young(entry.index) {
        true => Entry::Young(key.into()),
        false => Entry::Plain(key),
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

    fn put(&mut self, key: Vec<u8>, value: Vec<u8>) {
        self.tree.push(Write::Put { key, value });
    }

    fn delete(&mut self, key: Vec<u8>) {
        self.tree.push(Write::Delete { key });
    }

    /// Entries that are not there yet.
    fn enter(&mut self, entries: Vec<Entry>, expires: Option<i64>) {
        for entry in entries {
            match entry {
                Entry::Plain(key) => self.put(key, codec::expiry_bytes(expires).to_vec()),
                Entry::Young(key) => self.marks.push(Mark::Enter { key, expires }),
            }
        }
    }

    /// Entries that may be there already.
    fn renew(&mut self, entries: Vec<Entry>, expires: Option<i64>) {
        for entry in entries {
            match entry {
                Entry::Plain(key) => self.put(key, codec::expiry_bytes(expires).to_vec()),
                Entry::Young(key) => self.marks.push(Mark::Renew { key, expires }),
            }
        }
    }

    fn leave(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            match entry {
                Entry::Plain(key) => self.delete(key),
                Entry::Young(key) => self.marks.push(Mark::Leave { key }),
            }
        }
    }
}

impl Change {
    /// Its share of the memory that waiting commits may take.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Insert { tail, content, .. } => {
                512 + tail.len() + content.as_ref().map_or(0, Vec::len)
            }
            Self::Patch { patch, .. } => 512 + value::bytes(&patch.set),
            Self::Relocate { content, .. } => 512 + content.len(),
            _ => 512,
        }
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
            Self::Insert { key, name, expires, tail, content, entries } => {
                if found.is_some() {
                    return Err(refused(place_in_batch, name, Condition::Absent));
                }
                match has_expired {
                    // Entries of the row before it, which expired too, may still be there.
                    true => writes.renew(entries, expires),
                    false => writes.enter(entries, expires),
                }
                writes.tree.push(match content {
                    Some(content) => Write::PutWithContent { key, expires, content, tail },
                    None => Write::Put { key, value: codec::assemble(expires, None, &tail) },
                });
            }
            Self::Patch { key, patch, dropped, added, kept } => {
                let head = found.map(codec::read_head).transpose()?;
                let Some(mut head) = head.filter(|head| holds(&patch.condition, head)) else {
                    return Err(refused(place_in_batch, patch.key, patch.condition));
                };
                let expires_before = head.expires;
                apply(&mut head, *patch)?;
                writes.leave(dropped);
                writes.enter(added, head.expires);
                if head.expires != expires_before {
                    writes.renew(kept, head.expires);
                }
                let row = &head.row;
                let tail = codec::row_tail(row.kind, row.version, row.revision, &row.item);
                let value = codec::assemble(head.expires, head.place, &tail);
                writes.put(key, value);
            }
            Self::Delete { key, name, condition, entries } => {
                check(place_in_batch, name, condition, found)?;
                writes.leave(entries);
                writes.delete(key);
            }
            Self::Require { name, condition, .. } => check(place_in_batch, name, condition, found)?,
            Self::Relocate { key, from, content } => {
                let Some(found) = found.filter(|found| codec::place_of(found) == Some(from)) else {
                    return Ok(());
                };
                let expires = codec::expiry_of(found);
                let tail = found[5 + codec::PLACE_BYTES..].to_vec();
                writes.tree.push(Write::PutWithContent { key, expires, content, tail });
            }
            Self::Note { key, value } => writes.put(key, value),
            Self::Forget { key } => writes.delete(key),
        }
        Ok(())
    }
}

fn apply(head: &mut Head, patch: Patch) -> Result<(), StoreError> {
    let item = &mut head.row.item;
    for (name, amount) in &patch.add {
        item.add(name, *amount)?;
    }
    for name in &patch.remove {
        item.remove(name);
    }
    for (name, value) in patch.set {
        item.set(name, value);
    }
    let bytes = item.bytes() + head.place.map_or(0, |place| place.length as usize);
    if bytes > limits::ITEM_BYTES_MAX {
        let (key, max) = (patch.key, limits::ITEM_BYTES_MAX);
        return Err(StoreError::OutOfBounds(format!(
            "{key} would have {bytes} bytes, an item may have {max}"
        )));
    }
    head.row.revision += 1;
    if let Some(moves) = patch.moves {
        head.expires = moves.expires;
    }
    Ok(())
}

fn check(
    place: usize,
    name: Key,
    condition: Condition,
    found: Option<&[u8]>,
) -> Result<(), StoreError> {
    let holds = match found {
        None => condition == Condition::Absent,
        Some(_) if condition == Condition::Absent => false,
        Some(found) => holds(&condition, &codec::read_head(found)?),
    };
    if holds { Ok(()) } else { Err(refused(place, name, condition)) }
}

fn holds(condition: &Condition, head: &Head) -> bool {
    match condition {
        Condition::Absent => false,
        Condition::Exists => true,
        Condition::Revision(revision) => head.row.revision == *revision,
        Condition::Is(name, value) => head.row.item.get(name) == Some(value),
    }
}

fn refused(action: usize, key: Key, condition: Condition) -> StoreError {
    StoreError::Refused { action, key, condition: Box::new(condition) }
}
