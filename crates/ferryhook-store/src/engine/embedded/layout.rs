//! Where things lie in the tree: keys as bytes whose order is the order that queries ask for.
//!
//! A row's key is its table, its partition and its sort key; an index entry's key is its index,
//! its partition, its sort key and then the row's own key, which makes it unique and says where
//! to look. Text ends in a mark below every other byte, so that `a` sorts before `ab`.

use std::ops::Bound;

use lsm_tree::UserKey;

use super::fresh::Span;
use crate::StoreError;
use crate::key::{IndexKey, Key, Part};
use crate::query::{Order, Query, Range};
use crate::tables::{Index, IndexShape, Table};

/// The engine's own notes.
const NOTES: u8 = 0x01;
const TABLES: u8 = 0x10;
const INDEXES: u8 = 0x40;

const END: [u8; 2] = [0x00, 0x01];
const ZERO: [u8; 2] = [0x00, 0xFF];

pub(super) fn row_key(key: &Key) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(80);
    push_row_key(&mut bytes, key);
    bytes
}

pub(super) fn entry_key(entry: &IndexKey, row: &Key) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(128);
    push_entry_key(&mut bytes, entry, row);
    bytes
}

/// Makes keys as the tree keeps them; one buffer does for all of a batch.
#[derive(Debug)]
pub(super) struct Keys(Vec<u8>);

impl Default for Keys {
    fn default() -> Self {
        Self(Vec::with_capacity(256))
    }
}

impl Keys {
    pub(super) fn row(&mut self, key: &Key) -> UserKey {
        self.0.clear();
        push_row_key(&mut self.0, key);
        self.0.as_slice().into()
    }

    pub(super) fn entry(&mut self, entry: &IndexKey, row: &Key) -> UserKey {
        self.0.clear();
        push_entry_key(&mut self.0, entry, row);
        self.0.as_slice().into()
    }
}

fn push_row_key(bytes: &mut Vec<u8>, key: &Key) {
    bytes.push(TABLES + key.table as u8);
    push_row(bytes, key);
}

fn push_entry_key(bytes: &mut Vec<u8>, entry: &IndexKey, row: &Key) {
    bytes.push(INDEXES + entry.index as u8);
    push_part(bytes, &entry.partition);
    if let Some(sort) = &entry.sort {
        push_part(bytes, sort);
    }
    push_row(bytes, row);
}

fn push_row(bytes: &mut Vec<u8>, key: &Key) {
    push_text(bytes, &key.partition);
    if let Some(sort) = &key.sort {
        push_text(bytes, sort);
    }
}

fn push_part(bytes: &mut Vec<u8>, part: &Part) {
    match part {
        Part::Text(text) => push_text(bytes, text),
        Part::Number(number) => push_number(bytes, *number),
    }
}

fn push_number(bytes: &mut Vec<u8>, number: i64) {
    // Flipping the sign bit puts negative numbers first.
    bytes.extend_from_slice(&(number ^ i64::MIN).to_be_bytes());
}

fn push_text(bytes: &mut Vec<u8>, text: &str) {
    push_escaped(bytes, text);
    bytes.extend_from_slice(&END);
}

fn push_escaped(bytes: &mut Vec<u8>, text: &str) {
    if !text.as_bytes().contains(&0) {
        return bytes.extend_from_slice(text.as_bytes());
    }
    for byte in text.bytes() {
        match byte {
            0 => bytes.extend_from_slice(&ZERO),
            byte => bytes.push(byte),
        }
    }
}

/// Whether these bytes are the key of an index entry.
pub(super) fn is_entry(key: &[u8]) -> bool {
    key.first().is_some_and(|first| *first >= INDEXES)
}

/// Whether the entries of this index mostly live for milliseconds; see `young`.
pub(super) fn is_young(index: Index) -> bool {
    matches!(index, Index::Pending | Index::Due)
}

/// Keys that follow each other in time, because ids of events begin with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stretch {
    /// The entries by which events are found by their ids.
    Ids,
    /// What is kept under an event: its deliveries and their attempts.
    UnderEvents,
}

impl Stretch {
    pub(super) const ALL: [Self; 2] = [Self::Ids, Self::UnderEvents];

    const fn prefix(self) -> &'static [u8] {
        const IDS: u8 = INDEXES + Index::EventById as u8;
        const EVENTS: u8 = TABLES + Table::Events as u8;
        match self {
            // Replays are found by their ids in the same index, and these are no events'.
            Self::Ids => &[IDS, b'E', b'V', b'T', b'I', b'D', b'#'],
            Self::UnderEvents => &[EVENTS, b'E', b'V', b'T', b'#'],
        }
    }

    pub(super) fn of(key: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|stretch| key.starts_with(stretch.prefix()))
    }

    pub(super) fn span(self) -> Span {
        beginning(self.prefix().to_vec())
    }
}

const SOURCE_BYTES: usize = b"SRC#src_0000000000000000".len();
const EVENT_BYTES: usize = b"evt_0000000000000000".len();
/// How the key of an entry begins by which an event is found by its id.
type ById = [u8; 1 + b"EVTID#".len() + EVENT_BYTES];

/// Of the event whose own row has this key; nothing for all other keys. An event has that entry as
/// long as it has its row: they come and go in the same commits.
pub(super) fn entry_by_id(row: &[u8]) -> Option<ById> {
    const IDS: u8 = INDEXES + Index::EventById as u8;
    const EVENTS: u8 = TABLES + Table::Events as u8;
    let (partition, sort) = row.strip_prefix(&[EVENTS])?.split_at_checked(SOURCE_BYTES)?;
    let sort = sort.strip_prefix(&END)?.strip_suffix(&END)?;
    let (rest, id) = sort.split_last_chunk::<EVENT_BYTES>()?;
    let is_event =
        partition.starts_with(b"SRC#") && rest.starts_with(b"EVT#") && id.starts_with(b"evt_");
    if !is_event {
        return None;
    }
    let mut entry = [IDS; _];
    let (lead, rest) = entry[1..].split_at_mut(b"EVTID#".len());
    lead.copy_from_slice(b"EVTID#");
    rest.copy_from_slice(id);
    Some(entry)
}

/// Whether these bytes are the key of an entry of an index whose entries live that shortly.
pub(super) fn is_marker(key: &[u8]) -> bool {
    const PENDING: u8 = INDEXES + Index::Pending as u8;
    const DUE: u8 = INDEXES + Index::Due as u8;
    matches!(key.first(), Some(&(PENDING | DUE)))
}

/// Whether these bytes are the key of a row.
pub(super) fn is_row(key: &[u8]) -> bool {
    key.first().is_some_and(|first| (TABLES..INDEXES).contains(first))
}

/// Where the engine notes what a segment of the log holds.
pub(super) fn segment_note(segment: u32) -> Vec<u8> {
    let mut bytes = vec![NOTES, b's'];
    bytes.extend_from_slice(&segment.to_be_bytes());
    bytes
}

/// The segment that a note of this key is about, if it is such a note.
pub(super) fn segment_noted(key: &[u8]) -> Option<u32> {
    let segment = key.strip_prefix(&[NOTES, b's'])?;
    Some(u32::from_be_bytes(segment.try_into().ok()?))
}

/// Where the engine notes how much of a segment's content was deleted.
pub(super) fn freed_note(segment: u32) -> Vec<u8> {
    let mut bytes = freed_notes();
    bytes.extend_from_slice(&segment.to_be_bytes());
    bytes
}

/// How all of these notes begin.
pub(super) fn freed_notes() -> Vec<u8> {
    vec![NOTES, b'f']
}

/// Where the engine notes the time up to which a segment of the log was written.
pub(super) fn era_note(segment: u32) -> Vec<u8> {
    let mut bytes = vec![NOTES, b'w'];
    bytes.extend_from_slice(&segment.to_be_bytes());
    bytes
}

/// Where the engine notes the last segment of the log whose changes cannot be read any more.
pub(super) fn floor_note() -> Vec<u8> {
    vec![NOTES, b'c']
}

/// Whether these bytes are the key of a row of this table.
pub(super) fn is_row_of(table: Table, key: &[u8]) -> bool {
    key.first() == Some(&(TABLES + table as u8))
}

/// Whether these bytes are the key of a row whose changes are told.
pub(super) fn is_told(key: &[u8]) -> bool {
    let table = key.first().and_then(|first| first.checked_sub(TABLES));
    let table = table.and_then(|table| Table::ALL.get(usize::from(table)));
    table.is_some_and(|table| table.shape().stream)
}

/// Where the engine notes that nothing may be left of a row, of whose key this is the hash.
pub(super) fn erased_note(hash: u64) -> Vec<u8> {
    let mut bytes = erased_notes();
    bytes.extend_from_slice(&hash.to_be_bytes());
    bytes
}

/// How all of these notes begin.
pub(super) fn erased_notes() -> Vec<u8> {
    vec![NOTES, b'e']
}

/// All keys that begin like this.
pub(super) fn beginning(prefix: Vec<u8>) -> Span {
    let high = above(prefix.clone());
    (Bound::Included(prefix), Bound::Excluded(high))
}

/// The key of the row that an entry or a row's own key stands for, into `row`; nothing for a note.
pub(super) fn row_behind<'a>(key: &'a [u8], row: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    if is_row(key) {
        return Some(key);
    }
    let index = *Index::ALL.get(usize::from(key.first()?.checked_sub(INDEXES)?))?;
    let IndexShape { partition, sort, .. } = index.shape();
    let mut rest = &key[1..];
    for part in [Some(partition), sort].into_iter().flatten() {
        match part.numeric {
            true => rest = rest.get(8..)?,
            false => rest = &rest[rest.windows(2).position(|pair| pair == END)? + END.len()..],
        }
    }
    row.clear();
    row.push(TABLES + index.table() as u8);
    row.extend_from_slice(rest);
    Some(row)
}

/// Where the engine notes what the tree holds.
pub(super) fn tree_note() -> Vec<u8> {
    vec![NOTES, b't']
}

/// The part of the tree that a query must look through.
pub(super) fn span(query: &Query) -> (Bound<Vec<u8>>, Bound<Vec<u8>>) {
    let mut base = Vec::with_capacity(128);
    base.push(match query.index {
        Some(index) => INDEXES + index as u8,
        None => TABLES + query.table as u8,
    });
    push_part(&mut base, &query.partition);
    let starting = |part: &Part| {
        let mut bytes = base.clone();
        push_part(&mut bytes, part);
        bytes
    };
    let (low, mut high) = match &query.range {
        Range::All => (base.clone(), above(base.clone())),
        Range::Prefix(prefix) => {
            let mut bytes = base.clone();
            push_escaped(&mut bytes, prefix);
            (bytes.clone(), above(bytes))
        }
        Range::Between(from, to) => (
            from.as_ref().map_or_else(|| base.clone(), starting),
            above(to.as_ref().map_or_else(|| base.clone(), starting)),
        ),
    };
    let mut start = Bound::Included(low.clone());
    if let Some(cursor) = &query.after {
        let last = match &cursor.entry {
            Some(entry) => entry_key(entry, &cursor.key),
            None => row_key(&cursor.key),
        };
        match query.order {
            Order::Ascending if last >= low => start = Bound::Excluded(last),
            Order::Descending if last < high => high = last,
            _ => {}
        }
    }
    (start, Bound::Excluded(high))
}

/// The first key behind all keys that start with these bytes.
fn above(mut bytes: Vec<u8>) -> Vec<u8> {
    while let Some(last) = bytes.pop() {
        if last < 0xFF {
            bytes.push(last + 1);
            break;
        }
    }
    bytes
}

/// Reads an index entry's key back: the entry, and the row it stands for.
pub(super) fn read_entry(index: Index, bytes: &[u8]) -> Result<(IndexKey, Key), StoreError> {
    let IndexShape { partition, sort, .. } = index.shape();
    let mut rest = bytes.get(1..).unwrap_or_default();
    let partition = take_part(&mut rest, partition.numeric)?;
    let sort = sort.map(|sort| take_part(&mut rest, sort.numeric)).transpose()?;
    let key = take_row(index.table(), rest)?;
    Ok((IndexKey { index, partition, sort }, key))
}

/// The table and the row that a key of a row stands for.
pub(super) fn read_row_key(bytes: &[u8]) -> Result<Key, StoreError> {
    let table = bytes.first().and_then(|first| first.checked_sub(TABLES));
    let table = table.and_then(|table| Table::ALL.get(usize::from(table)).copied());
    read_row(table.ok_or_else(bad_key)?, bytes)
}

pub(super) fn read_row(table: Table, bytes: &[u8]) -> Result<Key, StoreError> {
    take_row(table, bytes.get(1..).unwrap_or_default())
}

fn take_row(table: Table, mut rest: &[u8]) -> Result<Key, StoreError> {
    let partition = take_text(&mut rest)?;
    let sort = table.shape().sort.map(|_| take_text(&mut rest)).transpose()?;
    Ok(Key { table, partition, sort })
}

fn take_part(rest: &mut &[u8], numeric: bool) -> Result<Part, StoreError> {
    if !numeric {
        return take_text(rest).map(Part::Text);
    }
    let (number, behind) = rest.split_first_chunk::<8>().ok_or_else(bad_key)?;
    *rest = behind;
    Ok(Part::Number(i64::from_be_bytes(*number) ^ i64::MIN))
}

fn take_text(rest: &mut &[u8]) -> Result<String, StoreError> {
    let mut text = Vec::new();
    loop {
        let zero = rest.iter().position(|byte| *byte == 0).ok_or_else(bad_key)?;
        text.extend_from_slice(&rest[..zero]);
        let mark = rest.get(zero..zero + 2).ok_or_else(bad_key)?;
        *rest = &rest[zero + 2..];
        match mark {
            mark if *mark == END => break,
            mark if *mark == ZERO => text.push(0),
            _ => return Err(bad_key()),
        }
    }
    String::from_utf8(text).map_err(|_| bad_key())
}

fn bad_key() -> StoreError {
    StoreError::Damaged("a key in the tree cannot be read".into())
}

#[cfg(test)]
mod tests;
