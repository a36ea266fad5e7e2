//! The process that gets killed: it commits from many tasks and tells what was acknowledged.
//!
//! A line of small letters says what is about to be asked, one of capitals that it was
//! acknowledged as durable. Each is one short write to a pipe, so a kill leaves whole lines.

use std::collections::VecDeque;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ferryhook_core::env::{ManualClock, SeededEntropy};
use ferryhook_core::{Env, Event, Id, Timestamp};
use ferryhook_store::engine::Engine;
use ferryhook_store::engine::embedded::Embedded;
use ferryhook_store::repositories::{Accepted, Arrival};
use ferryhook_store::{Batch, Durability, Slice, Store, StoreError, Stored, Window};
use tokio::task::JoinSet;

use crate::cargo::{self, Five, Manifest, SOURCES};
use crate::dice::Dice;

const TASKS: u64 = 24;
/// Events one task looks after at a time.
const OWN_MAX: usize = 40;

/// What the parent tells the child through its environment.
pub(crate) struct Orders {
    pub(crate) directory: PathBuf,
    pub(crate) seed: u64,
    /// In seconds.
    pub(crate) now: i64,
}

impl Orders {
    pub(crate) const DIRECTORY: &'static str = "FERRYHOOK_CRASH_DIRECTORY";
    pub(crate) const SEED: &'static str = "FERRYHOOK_CRASH_CHILD_SEED";
    pub(crate) const NOW: &'static str = "FERRYHOOK_CRASH_NOW";

    pub(crate) fn read() -> Option<Self> {
        let number = |name| std::env::var(name).ok()?.parse::<i64>().ok();
        Some(Self {
            directory: std::env::var_os(Self::DIRECTORY)?.into(),
            seed: number(Self::SEED)?.cast_unsigned(),
            now: number(Self::NOW)?,
        })
    }
}

/// Runs until it is killed, or until something is not as it should be.
pub(crate) fn run(orders: &Orders) {
    let clock = Arc::new(ManualClock::new(Timestamp::from_seconds(orders.now)));
    let env = Env::new(clock.clone(), Arc::new(SeededEntropy::new(orders.seed)));
    let engine = Embedded::open(cargo::config(&orders.directory), env.clone());
    let engine = Arc::new(engine.unwrap_or_else(|error| panic!("the child cannot open: {error}")));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let load = Arc::new(Load {
            store: Store::new(engine.clone(), env.clone()),
            engine,
            env,
            clock,
            backups: orders.directory.with_extension("backup"),
            arriving: Mutex::default(),
            groups: AtomicU64::new(orders.seed % 1_000_000 * 1000),
            passing: Mutex::default(),
        });
        let legacies = load.legacies().await.unwrap_or_else(|error| panic!("a list: {error}"));
        let mut tasks = JoinSet::new();
        for (number, own) in (0..TASKS).zip(legacies) {
            let dice = Dice(orders.seed ^ (number << 32));
            let task = Task { load: load.clone(), dice, own, five: None, held: vec![] };
            tasks.spawn(task.run(number));
        }
        let ended = tasks.join_next().await;
        ended.unwrap().unwrap().unwrap_or_else(|error| panic!("a task of the child: {error}"));
    });
}

struct Load {
    store: Store,
    engine: Arc<Embedded>,
    env: Env,
    clock: Arc<ManualClock>,
    backups: PathBuf,
    /// Events that are about to be accepted or just were: others patch them meanwhile.
    arriving: Mutex<VecDeque<Event>>,
    groups: AtomicU64,
    /// Held while time passes: it is told before it comes.
    passing: Mutex<()>,
}

impl Load {
    /// What an earlier child left, for each task to go on with. Nobody works yet, so that every
    /// event has one owner, who tells in the right order what became of it.
    async fn legacies(&self) -> Result<Vec<Vec<Stored<Event>>>, StoreError> {
        let mut legacies = vec![Vec::new(); TASKS as usize];
        let slice = Slice::newest_first().limit(100);
        for number in 0..SOURCES {
            let (source, always) = (cargo::source(number), Window::ALWAYS);
            let page = self.store.events().list_by_source(source, always, slice.clone()).await?;
            for (place, event) in page.rows.into_iter().enumerate() {
                legacies[place % TASKS as usize].push(event);
            }
        }
        Ok(legacies)
    }
}

struct Task {
    load: Arc<Load>,
    dice: Dice,
    /// Nobody else's.
    own: Vec<Stored<Event>>,
    five: Option<(u64, u64)>,
    /// Told with the next durable acknowledgement: what was only buffered is durable then.
    held: Vec<String>,
}

impl Task {
    async fn run(mut self, number: u64) -> Result<(), StoreError> {
        for turn in 1u64.. {
            match self.dice.roll(20) {
                0..=7 => self.accept().await?,
                8..=12 => self.step().await?,
                13 => self.move_expiry().await?,
                14 => self.delete().await?,
                15..=16 => self.turn_five().await?,
                17 => self.count_duplicate().await?,
                18 => self.arrive_again().await?,
                _ => self.read().await?,
            }
            match number {
                0 if turn % 6 == 0 => drop(self.load.engine.sweep().await?),
                1 if turn % 30 == 0 => self.back_up().await?,
                2..=5 => self.pass_time(),
                _ => {}
            }
        }
        Ok(())
    }

    fn told(&mut self, line: String) {
        self.held.push(line);
        for line in self.held.drain(..) {
            tell(&line);
        }
    }

    fn manifest(&mut self) -> Manifest {
        let env = &self.load.env;
        let (id, now) = (Id::new(env), env.now());
        let dice = &mut self.dice;
        let body_bytes = match dice.roll(300) {
            0 => 390 * 1024,
            1..=3 => 40_000,
            4..=10 => 0,
            _ => dice.roll(1500) as usize,
        };
        let expires = match dice.roll(20) {
            0 => None,
            1..=3 => Some(now.as_seconds() + 4 * 3600),
            _ => Some(now.as_seconds() + 60 + dice.roll(3600) as i64),
        };
        let source = dice.roll(SOURCES);
        Manifest { id, source, received_ms: now.as_millis(), body_bytes, expires }
    }

    async fn accept(&mut self) -> Result<(), StoreError> {
        let manifests: Vec<_> = (0..=self.dice.roll(3)).map(|_| self.manifest()).collect();
        let arrivals = manifests.iter().map(|manifest| {
            let Manifest { id, source, received_ms, body_bytes, expires } = manifest;
            let expires = expires.unwrap_or(0);
            tell(&format!("a {id} {source} {received_ms} {body_bytes} {expires}"));
            Arrival { event: manifest.event(), claim: Some(manifest.claim()), items: Vec::new() }
        });
        let arrivals: Vec<_> = arrivals.collect();
        {
            let mut arriving = self.load.arriving.lock().unwrap();
            arriving.extend(arrivals.iter().map(|arrival| arrival.event.clone()));
            let many = arriving.len().saturating_sub(64);
            arriving.drain(..many);
        }
        let accepted = self.load.store.events().accept(&arrivals).await?;
        for (arrival, accepted) in arrivals.into_iter().zip(accepted) {
            assert_eq!(accepted, Accepted::New, "{}", arrival.event.id);
            self.told(format!("A {}", arrival.event.id));
            // Others may have counted duplicates by now; whoever is refused looks again.
            self.own.push(Stored { record: arrival.event, revision: 1 });
        }
        let many = self.own.len().saturating_sub(OWN_MAX);
        self.own.drain(..many);
        Ok(())
    }

    /// One of the task's own events, as it is now.
    async fn take(&mut self) -> Result<Option<Stored<Event>>, StoreError> {
        if self.own.is_empty() {
            return Ok(None);
        }
        let place = self.dice.roll(self.own.len() as u64) as usize;
        let event = self.own.swap_remove(place);
        if self.dice.roll(2) == 0 {
            return Ok(Some(event)); // perhaps stale; then the commit is refused
        }
        let events = self.load.store.events();
        events.find_of(event.source_id, event.received_at, event.id).await
    }

    async fn step(&mut self) -> Result<(), StoreError> {
        let Some(was) = self.take().await? else { return Ok(()) };
        let now = cargo::step(&was);
        let line = format!("S {} {}", now.id, now.retry_count);
        let buffered = self.dice.roll(2) == 0;
        let durability = if buffered { Durability::Buffered } else { Durability::Synced };
        let done = self.load.engine.commit(Batch::new().replace(&was, &now), durability).await;
        if passed(done)? {
            if buffered {
                self.held.push(line)
            } else {
                self.told(line)
            }
            self.own.push(Stored { revision: was.revision + 1, record: now });
        }
        Ok(())
    }

    async fn move_expiry(&mut self) -> Result<(), StoreError> {
        let Some(was) = self.take().await? else { return Ok(()) };
        let mut now = cargo::step(&was);
        let expires = self.load.env.now().as_seconds() + self.dice.roll(20_000) as i64;
        now.expires_at = Some(Timestamp::from_seconds(expires));
        tell(&format!("e {} {expires}", now.id));
        let done = self.load.engine.commit(Batch::new().replace(&was, &now), Durability::Synced);
        if passed(done.await)? {
            self.told(format!("E {} {expires}", now.id));
        }
        Ok(())
    }

    async fn delete(&mut self) -> Result<(), StoreError> {
        let Some(was) = self.take().await? else { return Ok(()) };
        tell(&format!("d {}", was.id));
        if passed(self.load.store.events().delete(&was).await)? {
            self.told(format!("D {}", was.id));
        }
        Ok(())
    }

    /// Moves five rows on together, or ends them together.
    async fn turn_five(&mut self) -> Result<(), StoreError> {
        let (number, token) = match self.five {
            Some(five) => five,
            None => (self.load.groups.fetch_add(1, Ordering::Relaxed), 0),
        };
        let next = if token > 0 && self.dice.roll(8) == 0 { 0 } else { token + 1 };
        tell(&format!("g {number} {next}"));
        let batch = match (token, next) {
            (0, _) => inserted(&Five::new(number, next)),
            (_, 0) => deleted(Five::new(number, token), token),
            _ => replaced(Five::new(number, token), token, &Five::new(number, next)),
        };
        self.load.engine.commit(batch, Durability::Synced).await?;
        self.told(format!("G {number} {next}"));
        self.five = (next > 0).then_some((number, next));
        Ok(())
    }

    /// Patches an event that someone else may be accepting, moving or deleting right now.
    async fn count_duplicate(&mut self) -> Result<(), StoreError> {
        let event = {
            let arriving = self.load.arriving.lock().unwrap();
            let place = self.dice.roll(arriving.len().max(1) as u64) as usize;
            arriving.get(place).cloned()
        };
        let Some(event) = event else { return Ok(()) };
        let Event { source_id, received_at, id, .. } = event;
        let events = self.load.store.events();
        passed(events.count_duplicates(source_id, received_at, id, 1).await).map(drop)
    }

    /// The claim of an accepted event keeps a copy out.
    async fn arrive_again(&mut self) -> Result<(), StoreError> {
        let lasting = self.own.iter().find(|event| event.expires_at.is_none());
        let Some(first) = lasting.map(|event| event.id) else { return Ok(()) };
        let mut copy = self.manifest();
        copy.expires = None;
        let claim = ferryhook_core::Claim { key: cargo::claim_key(first), ..copy.claim() };
        let arrival = Arrival { event: copy.event(), claim: Some(claim), items: Vec::new() };
        let accepted = self.load.store.events().accept(&[arrival]).await?;
        // Unless an earlier move gave the event itself an end, its claim never ends.
        assert_eq!(accepted, [Accepted::Duplicate { first: Some(first) }]);
        Ok(())
    }

    async fn read(&mut self) -> Result<(), StoreError> {
        let source = cargo::source(self.dice.roll(SOURCES));
        let slice = Slice::newest_first().limit(20);
        self.load.store.events().list_by_source(source, Window::ALWAYS, slice).await.map(drop)
    }

    async fn back_up(&mut self) -> Result<(), StoreError> {
        let target = &self.load.backups;
        remove(target);
        self.load.engine.backup(target).await?;
        remove(target);
        Ok(())
    }

    /// The parent's clock is never behind ours: it hears of the time before it comes.
    fn pass_time(&mut self) {
        let seconds = 20 + self.dice.roll(39);
        let _passing = self.load.passing.lock().unwrap();
        tell(&format!("t {}", self.load.env.now().as_seconds() + seconds as i64));
        self.load.clock.advance(Duration::from_secs(seconds));
    }
}

fn remove(directory: &Path) {
    let _ = std::fs::remove_dir_all(directory);
}

fn inserted(five: &Five) -> Batch {
    let batch = five.deliveries.iter().fold(Batch::new(), Batch::insert);
    five.notifications.iter().fold(batch, Batch::insert).insert(&five.schedule)
}

fn replaced(was: Five, revision: u64, now: &Five) -> Batch {
    let mut batch = Batch::new();
    for (record, now) in was.deliveries.into_iter().zip(&now.deliveries) {
        batch = batch.replace(&Stored { record, revision }, now);
    }
    for (record, now) in was.notifications.into_iter().zip(&now.notifications) {
        batch = batch.replace(&Stored { record, revision }, now);
    }
    batch.replace(&Stored { record: was.schedule, revision }, &now.schedule)
}

fn deleted(was: Five, revision: u64) -> Batch {
    let mut batch = Batch::new().delete(&Stored { record: was.schedule, revision });
    for record in was.deliveries {
        batch = batch.delete(&Stored { record, revision });
    }
    for record in was.notifications {
        batch = batch.delete(&Stored { record, revision });
    }
    batch
}

/// A refusal is no failure here: someone else was faster, or it has expired.
fn passed(done: Result<impl Sized, StoreError>) -> Result<bool, StoreError> {
    match done {
        Ok(_) => Ok(true),
        Err(error) if error.is_refused() => Ok(false),
        Err(error) => Err(error),
    }
}

fn tell(line: &str) {
    let line = format!("@{line}\n");
    let mut out = std::io::stdout().lock();
    let told = out.write_all(line.as_bytes()).and_then(|()| out.flush());
    told.unwrap_or_else(|error| panic!("the parent does not listen: {error}"));
}
