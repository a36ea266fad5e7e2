//! The one thread that writes. It takes all commits that wait, decides them in order, writes one
//! frame, syncs once, shows the group to readers, and only then answers.
//!
//! While the disk syncs, the group enters the tree unseen and the next one gathers in the channel.
//! Only a sync that worked shows it, so a reader never sees what a crash could take back, and a
//! refusal is answered after the same sync, because it may rest on a commit of the same group.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use ferryhook_core::Env;
use lsm_tree::{SeqNo, UserKey, UserValue};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use xxhash_rust::xxh3::xxh3_64;

use super::change::{Change, Write, Writes};
use super::codec::{self, Place};
use super::faults::Step;
use super::fresh::Version;
use super::hashed::ByHash;
use super::layout;
use super::log::{FRAME_HEADER, Log, Op, Position, RoomFor};
use super::shared::{Layers, Shared, lock};
use super::tally::Tally;
use super::young::Mark;
use crate::StoreError;
use crate::batch::Durability;

/// How much one group takes from the channel.
const GROUP_COMMITS_MAX: usize = 1024;
const GROUP_BYTES_MAX: usize = 8 * 1024 * 1024;
/// How many turns to wait for a group to fill when the one before was larger.
const GATHER_TURNS: usize = 100;
/// Groups with fewer writes than this enter the tree faster than a thread can be woken.
const WRITES_WORTH_A_THREAD: usize = 40;
/// Young markers may take this part of what a table may; then they go into it.
const YOUNG_SHARE: u64 = 3;
/// Full tables in memory that may wait to be written out before commits have to wait too.
const SEALED_MAX: usize = 2;

pub(super) enum Request {
    Commit {
        changes: Vec<Change>,
        durability: Durability,
        done: oneshot::Sender<Result<(), StoreError>>,
        /// Returned when the commit is over: it bounds the bytes that wait.
        _permit: OwnedSemaphorePermit,
    },
    /// Ends the segment and the table in memory, for a backup, and writes nothing more until the
    /// other end of `go_on` is dropped.
    Seal {
        done: std::sync::mpsc::Sender<Result<Position, StoreError>>,
        go_on: std::sync::mpsc::Receiver<()>,
    },
    /// Makes durable what was only buffered, for who reads the changes.
    Sync { done: oneshot::Sender<Result<(), StoreError>> },
}

/// A table in memory is full: write it out; the log before this place is then no longer needed
/// to open the store.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sealed(pub(super) Position);

pub(super) struct Writer {
    pub(super) env: Env,
    pub(super) shared: Arc<Shared>,
    pub(super) log: Log,
    pub(super) requests: mpsc::Receiver<Request>,
    pub(super) sealed: std::sync::mpsc::Sender<Sealed>,
    pub(super) table_bytes_max: u64,
    /// Content of the current segment, by expiry.
    pub(super) content: Tally,
    /// The latest time, in seconds, that the clock has shown while this segment or one before it
    /// was written.
    pub(super) latest: i64,
    /// Notes to write with the next group.
    pub(super) notes: Vec<Change>,
    /// The group being written; kept for its room.
    pub(super) frame: Vec<u8>,
}

type Waiting = (oneshot::Sender<Result<(), StoreError>>, Result<(), StoreError>);

struct Group {
    waiting: Vec<Waiting>,
    permits: Vec<OwnedSemaphorePermit>,
    writes: Writes,
    /// As they were when it began; what becomes of them meanwhile they still tell the truth.
    layers: Arc<Layers>,
    /// Where this group wrote a row last, by the hash of its key: the conditions of the commits
    /// behind look here first.
    rows: HashMap<u64, usize, ByHash>,
    sync: bool,
    room_for: RoomFor,
}

impl Group {
    fn new(layers: Arc<Layers>) -> Self {
        Self {
            waiting: Vec::new(),
            permits: Vec::new(),
            writes: Writes::default(),
            layers,
            rows: HashMap::default(),
            sync: false,
            room_for: RoomFor::Commits,
        }
    }

    /// What this group has at the key: nothing known, a deletion, or a value.
    fn find(&self, key: &[u8], hash: u64) -> Option<Option<UserValue>> {
        let place = *self.rows.get(&hash)?;
        match self.writes.tree.get(place)? {
            Write::Put { key: own, value } if **own == *key => Some(Some(value.clone())),
            // Where the content will lie is not known yet; see `settle`.
            Write::PutWithContent { key: own, expires, content, tail, .. } if **own == *key => {
                let content = Place::with_write(place, content.len());
                Some(Some(codec::assemble(*expires, Some(content), tail).into()))
            }
            Write::Delete { key: own } if **own == *key => Some(None),
            _ => None,
        }
    }

    fn remember(&mut self, from: usize) {
        for (place, write) in self.writes.tree.iter().enumerate().skip(from) {
            if !layout::is_entry(write.key()) {
                self.rows.insert(xxh3_64(write.key()), place);
            }
        }
    }
}

impl Writer {
    pub(super) fn run(mut self) {
        let mut last_group = 0;
        while let Some(first) = self.requests.blocking_recv() {
            self.gather(last_group / 2);
            let mut group = Group::new(self.shared.layers());
            let mut seals = Vec::new();
            let mut syncs = Vec::new();
            let mut notes = Vec::new();
            let mut next = Some(first);
            let mut bytes = 0;
            while let Some(request) = next {
                match request {
                    Request::Commit { changes, done, .. }
                        if changes.iter().all(Change::is_note) =>
                    {
                        notes.push((changes, done));
                    }
                    Request::Commit { changes, durability, done, _permit: permit } => {
                        bytes += changes.iter().map(Change::bytes).sum::<usize>();
                        let decided = self.decide(&mut group, changes);
                        group.sync |= durability == Durability::Synced;
                        group.waiting.push((done, decided));
                        group.permits.push(permit);
                    }
                    Request::Seal { done, go_on } => seals.push((done, go_on)),
                    Request::Sync { done } => syncs.push(done),
                }
                let more = group.waiting.len() < GROUP_COMMITS_MAX && bytes < GROUP_BYTES_MAX;
                next = if more { self.requests.try_recv().ok() } else { None };
            }
            last_group = group.waiting.len();
            self.finish(group);
            for (changes, done) in notes {
                self.note(changes, done);
            }
            for done in syncs {
                let _ = done.send(self.sync());
            }
            for (done, go_on) in seals {
                let _ = done.send(self.seal());
                let _ = go_on.recv();
            }
        }
        // The last sender is gone: what was only buffered gets its sync.
        if let Err(error) = self.log.finish() {
            self.shared.fail(&error.to_string());
        }
    }

    /// Those who were just answered are about to ask again: a moment's patience puts them into
    /// one group instead of two. A lone caller never waits.
    fn gather(&self, expected: usize) {
        for _ in 0..GATHER_TURNS {
            if self.requests.len() >= expected {
                return;
            }
            std::thread::yield_now();
        }
    }

    /// Checks one commit against the tree and the group so far, and adds all of its writes or none.
    fn decide(&self, group: &mut Group, changes: Vec<Change>) -> Result<(), StoreError> {
        let before = group.writes.len();
        match self.try_decide(group, changes) {
            Ok(freed) => {
                group.remember(before.0);
                let mut segments = lock(&self.shared.freed);
                for place in freed.into_iter().filter(|place| place.write().is_none()) {
                    *segments.entry(place.segment).or_default() += u64::from(place.length);
                }
                Ok(())
            }
            Err(error) => {
                group.writes.truncate(before);
                Err(error)
            }
        }
    }

    /// Tells the places of content that the commit deletes.
    fn try_decide(
        &self,
        group: &mut Group,
        changes: Vec<Change>,
    ) -> Result<Vec<Place>, StoreError> {
        self.shared.check()?;
        let now = self.env.now().as_seconds();
        let mut freed = Vec::new();
        let mut mistake = None;
        for (place, change) in changes.into_iter().enumerate() {
            let hash = xxh3_64(change.key());
            let found = match group.find(change.key(), hash) {
                Some(found) => found,
                None => self.read(&group.layers, change.key(), hash)?,
            };
            let moves = matches!(change, Change::Relocate { .. });
            let has_expired = found.as_deref().is_some_and(|value| codec::has_expired(value, now));
            let found = found.as_deref().filter(|_| moves || !has_expired);
            if let (Some(found), Change::Delete { .. }) = (found, &change) {
                freed.extend(codec::place_of(found));
            }
            match change.decide(place, found, has_expired, &mut group.writes) {
                Ok(()) => {}
                Err(error) if error.is_refused() => return Err(error),
                // Conditions come first: one further on may still refuse the batch.
                Err(error) => mistake = mistake.or(Some(error)),
            }
        }
        mistake.map_or(Ok(freed), Err)
    }

    /// What the tree has at the key, seen or not.
    fn read(
        &self,
        layers: &Layers,
        key: &[u8],
        hash: u64,
    ) -> Result<Option<UserValue>, StoreError> {
        self.log
            .faults()
            .check(Step::Read)
            .map_err(|error| StoreError::unavailable("the tree cannot be read", error))?;
        layers.get(key, hash, SeqNo::MAX)
    }

    fn finish(&mut self, mut group: Group) {
        if !group.writes.is_empty()
            && let Err(error) = self.write(&mut group)
        {
            // The refused too: they may have been refused because of what is not there now.
            for (_, result) in &mut group.waiting {
                *result = Err(again(&error));
            }
        }
        for (done, result) in group.waiting {
            let _ = done.send(result); // whoever asked may have left; the commit stands
        }
    }

    /// Writes notes of the upkeep, which come before it gives room back: a full disk, where no
    /// other commit goes through, has room for them, and so has memory.
    fn note(&mut self, changes: Vec<Change>, done: oneshot::Sender<Result<(), StoreError>>) {
        let layers = self.shared.layers();
        let mut group = Group { room_for: RoomFor::Upkeep, sync: true, ..Group::new(layers) };
        let decided = self.decide(&mut group, changes);
        group.waiting.push((done, decided));
        self.finish(group);
    }

    fn write(&mut self, group: &mut Group) -> Result<(), StoreError> {
        if group.room_for == RoomFor::Commits {
            self.shared.wait_for_room(SEALED_MAX)?;
        }
        self.latest = self.latest.max(self.env.now().as_seconds());
        if self.log.is_full() {
            match self.rotate() {
                Err(StoreError::Full(_)) if group.room_for == RoomFor::Upkeep => {}
                rotated => rotated?,
            }
        }
        let mut writes = std::mem::take(&mut group.writes);
        for note in &self.notes {
            writes.note(note);
        }
        self.frame.clear();
        self.frame.resize(FRAME_HEADER, 0);
        let (frame, at) = (&mut self.frame, self.log.end());
        let mut places = Vec::with_capacity(writes.tree.len());
        for write in &mut writes.tree {
            write.settle(&places);
            places.push(write.op().push(frame, at));
        }
        for mark in &writes.marks {
            push_mark(mark, frame, at);
        }
        self.log
            .make_room(frame.len(), group.room_for)
            .map_err(|error| disk_error("the log cannot get more room", error))?;
        if let Err(error) = self.log.append(frame) {
            return Err(self.give_up("the log cannot be written", error));
        }
        self.notes.clear();
        let (young, older) = match writes.marks.is_empty() {
            true => Default::default(),
            false => lock(&self.shared.young).sort_out(writes.marks),
        };
        let mut writes = writes.tree;
        for mark in older {
            places.push(None);
            writes.push(mark.into());
        }
        self.count(&writes);
        let table = self.shared.table();
        // Nobody publishes before the sync is known to have worked.
        let entering = lock(&self.shared.entering);
        let sequence = self.shared.sequence.next();
        let apart = writes.len() >= WRITES_WORTH_A_THREAD;
        let enter = || {
            table.add(versions_of(writes, &places, sequence));
            table.tidy();
        };
        let ((), synced) = match group.sync {
            true => self.log.sync_beside(apart, enter),
            false => (enter(), Ok(())),
        };
        if let Err(error) = synced {
            return Err(self.give_up("the log cannot be synced", error));
        }
        self.shared.publish_with(young);
        drop(entering);
        self.shared.move_horizon(self.log.end(), self.log.durable());
        if table.bytes() >= self.table_bytes_max {
            self.seal_table()?;
        } else if self.young_bytes() > self.table_bytes_max / YOUNG_SHARE {
            self.grow_up();
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        self.shared.check()?;
        if !self.log.is_synced()
            && let Err(error) = self.log.sync()
        {
            return Err(self.give_up("the log cannot be synced", error));
        }
        self.shared.move_horizon(self.log.end(), self.log.durable());
        Ok(())
    }

    /// What is on disk is not known any more, and a second sync could pretend that it is.
    fn give_up(&self, what: &str, error: io::Error) -> StoreError {
        self.shared.fail(&error.to_string());
        disk_error(what, error)
    }

    fn count(&mut self, writes: &[Write]) {
        let mut entries = lock(&self.shared.entries);
        for write in writes {
            let expires = match write {
                Write::Put { value, .. } => codec::expiry_of(value),
                Write::PutWithContent { expires, content, .. } => {
                    self.content.add(*expires, content.len() as u64);
                    *expires
                }
                Write::Delete { .. } => None,
            };
            if expires.is_some() {
                entries.add(expires, 1);
            }
        }
    }

    fn rotate(&mut self) -> Result<(), StoreError> {
        let ended = self.log.end().segment;
        self.sync()?;
        // This is the step a full disk stops, and nothing has changed yet.
        let rest = self
            .log
            .begin_next()
            .map_err(|error| disk_error("no log segment could be begun", error))?;
        if let Err(error) = rest.cut() {
            return Err(self.give_up("the log cannot be synced", error));
        }
        let content = std::mem::take(&mut self.content);
        self.notes.push(Change::Note {
            key: layout::segment_note(ended).into(),
            value: content.to_value(),
        });
        let key = layout::era_note(ended).into();
        let latest = u64::try_from(self.latest).unwrap_or(0);
        self.notes.push(Change::Note { key, value: codec::count_value(latest) });
        let entries = lock(&self.shared.entries).to_value();
        self.notes.push(Change::Note { key: layout::tree_note().into(), value: entries });
        for (segment, bytes) in lock(&self.shared.freed).iter() {
            let key = layout::freed_note(*segment).into();
            self.notes.push(Change::Note { key, value: codec::count_value(*bytes) });
        }
        Ok(())
    }

    fn seal_table(&mut self) -> Result<(), StoreError> {
        // Rows in the table point into the log: the log has to be on disk before the table is.
        self.sync()?;
        self.grow_up();
        if self.shared.seal_table() {
            let _ = self.sealed.send(Sealed(self.log.end()));
        }
        Ok(())
    }

    /// Lets all young markers enter the tree. The log has them already, and so has every reader.
    fn grow_up(&mut self) {
        let writes: Vec<Write> = {
            let young = lock(&self.shared.young);
            let put = |(key, expiry): (&UserKey, &[u8; 4])| Write::Put {
                key: key.clone(),
                value: expiry.into(),
            };
            young.iter().map(put).collect()
        };
        if writes.is_empty() {
            return;
        }
        self.count(&writes);
        let table = self.shared.table();
        let _entering = lock(&self.shared.entering);
        let sequence = self.shared.sequence.next();
        let places = vec![None; writes.len()];
        table.add(versions_of(writes, &places, sequence));
        self.shared.publish_grown();
    }

    fn young_bytes(&self) -> u64 {
        lock(&self.shared.young).bytes() as u64
    }

    fn seal(&mut self) -> Result<Position, StoreError> {
        self.shared.check()?;
        self.rotate()?;
        // The notes about the ended segment belong into the table that is sealed with it.
        self.write(&mut Group { sync: true, ..Group::new(self.shared.layers()) })?;
        self.seal_table()?;
        self.rotate()?;
        Ok(self.log.end())
    }
}

impl Write {
    fn key(&self) -> &[u8] {
        match self {
            Self::Put { key, .. } | Self::PutWithContent { key, .. } | Self::Delete { key } => key,
        }
    }

    /// A row that was changed behind its insert or its move, in one group, learns here where its
    /// content lies: `places` has all writes before this one.
    fn settle(&mut self, places: &[Option<Place>]) {
        if let Self::Put { key, value } = self
            && layout::is_row(key)
            && let Some(write) = codec::place_of(value).and_then(Place::write)
            && let Some(Some(place)) = places.get(write)
        {
            *value = codec::with_place(value, *place);
        }
    }

    fn op(&self) -> Op<'_> {
        match self {
            Self::Put { key, value } => Op::Put { key, value },
            Self::Delete { key } => Op::Delete { key },
            Self::PutWithContent { key, expires, content, tail, moved } => {
                Op::PutWithContent { key, expires: *expires, content, tail, moved: *moved }
            }
        }
    }
}

impl From<Mark> for Write {
    /// For a marker that the tree has, or gets.
    fn from(mark: Mark) -> Self {
        match mark {
            Mark::Enter { key, expires } | Mark::Renew { key, expires } => {
                Self::Put { key, value: codec::expiry_bytes(expires).into() }
            }
            Mark::Leave { key } => Self::Delete { key },
        }
    }
}

fn push_mark(mark: &Mark, frame: &mut Vec<u8>, at: Position) {
    match mark {
        Mark::Enter { key, expires } | Mark::Renew { key, expires } => {
            Op::Put { key, value: &codec::expiry_bytes(*expires) }.push(frame, at)
        }
        Mark::Leave { key } => Op::Delete { key }.push(frame, at),
    };
}

/// As the table keeps them: rows learn where their content lies.
fn versions_of(writes: Vec<Write>, places: &[Option<Place>], sequence: SeqNo) -> Vec<Version> {
    let mut row = Vec::new();
    let version = |(write, place): (Write, &Option<Place>)| match write {
        Write::Put { key, value } => Version { key, value: Some(value), sequence },
        Write::PutWithContent { key, expires, tail, .. } => {
            row.clear();
            codec::assemble_into(&mut row, expires, *place, &tail);
            Version { key, value: Some(row.as_slice().into()), sequence }
        }
        Write::Delete { key } => Version { key, value: None, sequence },
    };
    writes.into_iter().zip(places).map(version).collect()
}

/// What one op of the log leaves in the table, after a crash.
pub(super) fn replay(op: &Op<'_>, place: Option<Place>, sequence: SeqNo) -> Version {
    let (key, value) = match *op {
        Op::Put { key, value } => (key, Some(value.into())),
        Op::Delete { key } => (key, None),
        Op::PutWithContent { key, expires, tail, .. } => {
            (key, Some(codec::assemble(expires, place, tail).into()))
        }
    };
    Version { key: key.into(), value, sequence }
}

pub(super) fn disk_error(what: &str, error: io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::StorageFull => StoreError::Full(error.to_string()),
        _ => StoreError::unavailable(what, error),
    }
}

/// The same failure for everyone in the group.
fn again(error: &StoreError) -> StoreError {
    match error {
        StoreError::Full(what) => StoreError::Full(what.clone()),
        other => StoreError::Unavailable(other.to_string(), None),
    }
}
