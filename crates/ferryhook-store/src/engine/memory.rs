//! The reference: maps in memory, gone when the process is.
//!
//! It is what the other engines are compared with, what tests and simulations run on, and a
//! store for trying things out. Plainness is its virtue; it holds one lock for each call.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferryhook_core::Env;
use tokio::sync::watch;

use super::{Answer, Engine, Row};
use crate::StoreError;
use crate::batch::{Action, Batch, Condition, Durability, Insert, Patch, check_row_bytes};
use crate::changes::{Changes, Place, Wanted, What};
use crate::key::{IndexKey, Key, Part};
use crate::query::{Cursor, Order, Page, Query};
use crate::tables::Index;
use crate::value::{self, Item};

mod history;

use history::History;

#[derive(Debug)]
pub struct Memory {
    env: Env,
    rows: Mutex<Rows>,
    /// The number of the last change.
    bell: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Rows {
    by_key: BTreeMap<Key, Kept>,
    entries: BTreeSet<Entry>,
    history: History,
}

#[derive(Debug, Clone)]
struct Kept {
    row: Row,
    indexes: Vec<IndexKey>,
    expires: Option<i64>,
    /// Of what only DynamoDB keeps; it has to fit beside the record all the same.
    mirror_bytes: usize,
}

/// One index entry: the index's own order first, the row's key to tell equals apart.
type Entry = (Index, Part, Option<Part>, Key);

/// Rows as they were before a commit; see [`Memory::before`].
#[derive(Debug)]
pub struct Before {
    rows: Vec<(Key, Option<Kept>)>,
    last_change: u64,
}

impl Memory {
    pub fn new(env: Env) -> Self {
        Self { env, rows: Mutex::default(), bell: watch::Sender::new(0) }
    }

    /// The rows that a batch is about to change, as they are. For whoever plays a crash that takes
    /// back what was not on disk yet.
    pub fn before(&self, batch: &Batch) -> Before {
        let rows = self.rows();
        let keys = batch.actions().iter().map(Action::key);
        Before {
            rows: keys.map(|key| (key.clone(), rows.by_key.get(key).cloned())).collect(),
            last_change: rows.history.last(),
        }
    }

    /// Makes them what they were, once every later commit has been taken back.
    pub fn take_back(&self, before: Before) {
        let mut rows = self.rows();
        rows.history.forget_after(before.last_change);
        for (key, kept) in before.rows {
            rows.remove(&key);
            let Some(kept) = kept else { continue };
            rows.entries.extend(kept.indexes.iter().map(|entry| entry_of(entry, &key)));
            rows.by_key.insert(key, kept);
        }
    }

    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn commit_now(&self, batch: Batch) -> Result<(), StoreError> {
        let erases = batch.erases_since().is_some();
        let actions = batch.checked()?;
        let now = self.env.now().as_seconds();
        let mut rows = self.rows();
        for (place, action) in actions.iter().enumerate() {
            if !holds(action.condition(), rows.find(action.key(), now).map(|kept| &kept.row)) {
                return Err(StoreError::Refused {
                    action: place,
                    key: action.key().clone(),
                    condition: Box::new(action.condition().clone()),
                });
            }
        }
        // Sums and sizes can still be refused: they are tried before anything changes.
        for action in &actions {
            if let Action::Patch(patch) = action {
                rows.by_key[&patch.key].check(patch)?;
            }
        }
        for action in actions {
            let key = action.key().clone();
            let removes = matches!(action, Action::Delete(_));
            match action {
                Action::Insert(insert) => rows.insert(insert),
                Action::Patch(patch) => rows.patch(patch)?,
                Action::Delete(delete) => rows.remove(&delete.key),
                Action::Require { .. } => continue,
            }
            if erases {
                rows.history.forget_row(&key);
            }
            rows.note(key, removes);
        }
        self.bell.send_replace(rows.history.last());
        Ok(())
    }

    fn query_now(&self, query: &Query) -> Result<Page<Row>, StoreError> {
        query.check()?;
        let now = self.env.now().as_seconds();
        let rows = self.rows();
        let mut found = Vec::new();
        let mut take = |key: &Key, entry: Option<IndexKey>| {
            let Some(kept) = rows.find(key, now) else {
                return true;
            };
            if kept.row.kind == query.kind {
                found.push((Cursor { key: key.clone(), entry }, kept.row.clone()));
            }
            found.len() <= query.limit
        };
        match query.index {
            None => {
                let Part::Text(partition) = &query.partition else { unreachable!("checked") };
                let first = Key { table: query.table, partition: partition.clone(), sort: None };
                let keys = rows
                    .by_key
                    .range((Bound::Included(first), Bound::Unbounded))
                    .map(|(key, _)| key)
                    .take_while(|key| key.table == query.table && key.partition == *partition)
                    .filter(|key| query.range.contains(key.sort.clone().map(Part::Text).as_ref()))
                    .filter(|key| behind(query, key, None));
                match query.order {
                    Order::Ascending => keys.into_iter().all(|key| take(key, None)),
                    Order::Descending => {
                        let keys: Vec<_> = keys.collect();
                        keys.into_iter().rev().all(|key| take(key, None))
                    }
                };
            }
            Some(index) => {
                let first = (index, query.partition.clone(), None, lowest_key(query));
                let entries = rows
                    .entries
                    .range((Bound::Included(first), Bound::Unbounded))
                    .take_while(|entry| entry.0 == index && entry.1 == query.partition)
                    .filter(|entry| query.range.contains(entry.2.as_ref()))
                    .filter(|entry| behind(query, &entry.3, Some(entry.2.as_ref())));
                let mut take = |(index, partition, sort, key): &Entry| {
                    let (partition, sort) = (partition.clone(), sort.clone());
                    take(key, Some(IndexKey { index: *index, partition, sort }))
                };
                match query.order {
                    Order::Ascending => entries.into_iter().all(&mut take),
                    Order::Descending => {
                        let entries: Vec<_> = entries.collect();
                        entries.into_iter().rev().all(&mut take)
                    }
                };
            }
        }
        let more = found.len() > query.limit;
        found.truncate(query.limit);
        let next = if more { found.last().map(|(cursor, _)| cursor.clone()) } else { None };
        Ok(Page { rows: found.into_iter().map(|(_, row)| row).collect(), next })
    }
}

fn lowest_key(query: &Query) -> Key {
    Key { table: query.table, partition: String::new(), sort: None }
}

/// Whether this place lies behind the cursor, in the direction of the query.
fn behind(query: &Query, key: &Key, entry_sort: Option<Option<&Part>>) -> bool {
    let Some(cursor) = &query.after else {
        return true;
    };
    let last = (cursor.entry.as_ref().map(|entry| entry.sort.as_ref()), &cursor.key);
    let this = (entry_sort, key);
    match query.order {
        Order::Ascending => this > last,
        Order::Descending => this < last,
    }
}

fn holds(condition: &Condition, found: Option<&Row>) -> bool {
    match (condition, found) {
        (Condition::Absent, found) => found.is_none(),
        (_, None) => false,
        (Condition::Exists, Some(_)) => true,
        (Condition::Revision(revision), Some(row)) => row.revision == *revision,
        (Condition::Is(name, value), Some(row)) => row.item.get(name) == Some(value),
    }
}

impl Rows {
    fn find(&self, key: &Key, now: i64) -> Option<&Kept> {
        self.by_key.get(key).filter(|kept| kept.expires.is_none_or(|at| at > now))
    }

    fn insert(&mut self, insert: Insert) {
        let Insert { kind, version, key, indexes, expires, mut item, content, mirror } = insert;
        self.remove(&key); // an expired one may still be there
        item.extend(content);
        for entry in &indexes {
            self.entries.insert(entry_of(entry, &key));
        }
        let row = Row { kind, version, revision: 1, item };
        let mirror_bytes = value::bytes(&mirror);
        self.by_key.insert(key, Kept { row, indexes, expires, mirror_bytes });
    }

    fn patch(&mut self, patch: Patch) -> Result<(), StoreError> {
        let Some(kept) = self.by_key.get_mut(&patch.key) else {
            return Ok(());
        };
        change(&mut kept.row.item, &patch)?;
        kept.row.revision += 1;
        if let Some(moves) = patch.moves {
            kept.expires = moves.expires.unwrap_or(kept.expires);
            for entry in std::mem::replace(&mut kept.indexes, moves.to) {
                self.entries.remove(&entry_of(&entry, &patch.key));
            }
            for entry in &kept.indexes {
                self.entries.insert(entry_of(entry, &patch.key));
            }
        }
        Ok(())
    }

    fn note(&mut self, key: Key, removes: bool) {
        if !key.table.shape().stream {
            return;
        }
        match self.by_key.get(&key).filter(|_| !removes) {
            Some(kept) => {
                let (what, expires) = (What::written(kept.row.clone()), kept.expires);
                self.history.push(key, what, expires);
            }
            None => self.history.push(key, What::Removed, None),
        }
    }

    fn remove(&mut self, key: &Key) {
        for entry in self.by_key.remove(key).into_iter().flat_map(|kept| kept.indexes) {
            self.entries.remove(&entry_of(&entry, key));
        }
    }
}

impl Kept {
    /// Whether the patch would leave a row that every engine can keep.
    fn check(&self, patch: &Patch) -> Result<(), StoreError> {
        let mut item = self.row.item.clone();
        change(&mut item, patch)?;
        let indexes = patch.moves.as_ref().map_or(&self.indexes, |moves| &moves.to);
        check_row_bytes(&patch.key, indexes, item.bytes() + self.mirror_bytes).map(drop)
    }
}

fn change(item: &mut Item, patch: &Patch) -> Result<(), StoreError> {
    for (name, amount) in &patch.add {
        item.add(name, *amount)?;
    }
    for name in &patch.remove {
        item.remove(name);
    }
    for (name, value) in &patch.set {
        item.set(name.clone(), value.clone());
    }
    Ok(())
}

fn entry_of(entry: &IndexKey, key: &Key) -> Entry {
    (entry.index, entry.partition.clone(), entry.sort.clone(), key.clone())
}

impl Engine for Memory {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Row>> {
        Box::pin(async move {
            key.check()?;
            let now = self.env.now().as_seconds();
            Ok(self.rows().find(key, now).map(|kept| kept.row.clone()))
        })
    }

    fn query(&self, query: Query) -> Answer<'_, Page<Row>> {
        Box::pin(async move { self.query_now(&query) })
    }

    fn commit(&self, batch: Batch, _: Durability) -> Answer<'_, ()> {
        Box::pin(async move { self.commit_now(batch) })
    }

    fn changes<'a>(&'a self, wanted: &'a Wanted) -> Answer<'a, Changes> {
        Box::pin(async move {
            wanted.check()?;
            self.rows().history.read(wanted, self.env.now().as_seconds())
        })
    }

    fn changed<'a>(&'a self, since: &'a Place) -> Answer<'a, ()> {
        Box::pin(async move {
            let since = history::number_of(since)?;
            let _ = self.bell.subscribe().wait_for(|last| *last > since).await;
            Ok(())
        })
    }
}
