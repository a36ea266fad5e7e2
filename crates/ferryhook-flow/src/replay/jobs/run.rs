//! One job from where it stands to its end, or to the end of this process.

use std::collections::HashMap;
use std::time::Duration;

use ferryhook_core::connection::Status;
use ferryhook_core::replay::{Counts, Position, State};
use ferryhook_core::{Connection, Id, Replay, Source, limits as bounds};
use ferryhook_store::{StoreError, Stored};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};

use super::feed::{Feed, Next};
use super::room::Room;
use crate::courier::Courier;
use crate::limits;
use crate::replay::{ReplayError, Replayed};

/// Why a job does not go on here.
enum Stop {
    Done,
    /// The process comes to its end; the job does not.
    Stopping,
    /// Cancelled, or in other hands.
    Taken,
    /// It never can.
    Hopeless(String),
}

struct Job<'a> {
    courier: &'a Courier,
    /// As it was last saved.
    saved: Stored<Replay>,
    saved_at: Duration,
    /// Where it stands.
    counts: Counts,
    position: Option<Position>,
    last_error: Option<String>,
    waiting_for: Option<Id<Connection>>,
    unsaved: usize,
    /// Which source each named connection belongs to.
    named: HashMap<Id<Connection>, Id<Source>>,
    room: Room,
    /// Not before then, in time that passes.
    next_at: Duration,
}

pub(super) async fn run(courier: &Courier, leased: Stored<Replay>) {
    let mut job = Job::new(courier, leased);
    let stop = match job.work().await {
        Ok(never) => match never {},
        Err(stop) => stop,
    };
    job.end(&stop).await;
}

/// What a step comes to if it does not end the job.
type Goes<T = ()> = Result<T, Stop>;

impl<'a> Job<'a> {
    fn new(courier: &'a Courier, leased: Stored<Replay>) -> Self {
        let now = courier.inner().now().passed;
        Self {
            courier,
            saved_at: now,
            counts: leased.counts,
            position: leased.position,
            last_error: leased.last_error.clone(),
            waiting_for: None,
            unsaved: 0,
            named: HashMap::new(),
            room: Room::default(),
            next_at: now,
            saved: leased,
        }
    }

    async fn work(&mut self) -> Goes<std::convert::Infallible> {
        self.find_named().await?;
        let mut feed = Feed::of(&self.saved).map_err(|error| Stop::Hopeless(error.to_string()))?;
        // As many together as make up a twentieth of a second, so that a slow job stays even.
        let rate = self.saved.rate_per_second.max(1);
        let at_once = (rate as usize / 20).clamp(1, limits::REPLAY_AT_ONCE);
        while !feed.is_over() {
            let events = self.take(&mut feed, at_once).await?;
            let count = u32::try_from(events.len()).unwrap_or(u32::MAX);
            if count > 0 {
                self.wait_for_turn().await?;
                self.next_at += Duration::from_secs(1) * count / rate;
                self.replay(&events).await?;
            }
            self.position = feed.passed().or(self.position);
            self.save_now_and_then().await?;
            self.wait_for_room().await?;
        }
        Err(Stop::Done)
    }

    /// A named connection that is gone would fail every event; better to say so at once.
    async fn find_named(&mut self) -> Goes {
        for id in self.saved.connections.clone() {
            let courier = self.courier;
            let find = || async move { courier.inner().store.connections().find(id).await }.boxed();
            let found = self.insist(find).await?;
            let mine = |one: &Stored<Connection>| {
                one.account_id == self.saved.account_id && one.status != Status::Deleted
            };
            let Some(found) = found.filter(mine) else {
                return Err(Stop::Hopeless(ReplayError::UnknownConnection(id).to_string()));
            };
            self.named.insert(id, found.source_id);
        }
        Ok(())
    }

    async fn take(&mut self, feed: &mut Feed, most: usize) -> Goes<Vec<Next>> {
        let mut pause = limits::STORE_PAUSE_FIRST;
        loop {
            let error = match feed.take(&self.courier.inner().store, &self.saved, most).await {
                Ok(events) => return Ok(events),
                Err(error) => error,
            };
            tracing::warn!(%error, replay.id = %self.saved.id, "the events cannot be read; trying again");
            self.sleep(pause).await?;
            pause = (pause * 2).min(limits::STORE_PAUSE_MAX);
        }
    }

    async fn replay(&mut self, events: &[Next]) -> Goes {
        let mut open: Vec<Next> = events.to_vec();
        let mut pause = limits::STORE_PAUSE_FIRST;
        loop {
            let told = join_all(open.iter().map(|next| self.replay_one(next))).await;
            let told: Vec<_> = open.drain(..).zip(told).collect();
            for (next, told) in told {
                match told {
                    Err(ReplayError::Store(error)) if may_pass(&error) => open.push(next),
                    told => self.count(&next, told),
                }
            }
            if open.is_empty() {
                break;
            }
            tracing::warn!(replay.id = %self.saved.id, "the store does not take a replay; asking again");
            self.sleep(pause).await?;
            pause = (pause * 2).min(limits::STORE_PAUSE_MAX);
        }
        self.position = events.last().map(|last| last.position).or(self.position);
        self.unsaved += events.len();
        Ok(())
    }

    /// `None` when none of the named connections belongs to the event's source.
    async fn replay_one(&self, next: &Next) -> Result<Option<Replayed>, ReplayError> {
        let id = next.position.event_id;
        let Some(source) = next.source else { return Err(ReplayError::Unknown(id)) };
        if self.named.is_empty() {
            return self.courier.replay(id, None).await.map(Some);
        }
        let mine = self.named.iter().filter(|(_, of)| **of == source);
        let mine: Vec<_> = mine.map(|(connection, _)| *connection).collect();
        match mine.is_empty() {
            true => Ok(None),
            false => self.courier.replay(id, Some(&mine)).await.map(Some),
        }
    }

    fn count(&mut self, next: &Next, told: Result<Option<Replayed>, ReplayError>) {
        self.counts.matched += 1;
        match told {
            Ok(Some(replayed)) if replayed.is_any() => {
                self.counts.replayed += 1;
                let begun = replayed.begun.iter().chain(&replayed.held);
                begun.for_each(|connection| self.room.used(*connection));
            }
            Ok(_) => self.counts.skipped += 1,
            Err(ReplayError::Pending(_) | ReplayError::SourcePaused(_)) => {
                self.counts.skipped += 1;
            }
            Err(error) => {
                self.counts.failed += 1;
                let id = next.position.event_id;
                tracing::debug!(%error, event.id = %id, replay.id = %self.saved.id, "not replayed");
                let said = error.to_string();
                self.last_error = Some(said.chars().take(bounds::ERROR_CHARACTERS_KEPT).collect());
            }
        }
    }

    async fn wait_for_turn(&mut self) -> Goes {
        loop {
            let now = self.courier.inner().now().passed;
            // What could not be done in its time is not made up for.
            self.next_at = self.next_at.max(now);
            let Some(wait) = self.next_at.checked_sub(now).filter(|wait| !wait.is_zero()) else {
                return Ok(());
            };
            self.sleep(wait.min(limits::REPLAY_SAVE_EVERY)).await?;
            self.save_now_and_then().await?;
        }
    }

    async fn wait_for_room(&mut self) -> Goes {
        loop {
            let full = match self.room.find_full(&self.courier.inner().store).await {
                Ok(full) => full,
                Err(error) => {
                    tracing::warn!(%error, replay.id = %self.saved.id, "a queue cannot be read");
                    self.waiting_for
                }
            };
            self.waiting_for = full;
            if full.is_none() {
                return Ok(());
            }
            self.sleep(limits::REPLAY_ROOM_PAUSE).await?;
            self.save_now_and_then().await?;
        }
    }

    /// Ends with an error when the process is asked to stop.
    async fn sleep(&mut self, wait: Duration) -> Goes {
        tokio::select! {
            biased;
            () = self.courier.inner().tasks.stopping() => Err(Stop::Stopping),
            () = tokio::time::sleep(wait) => Ok(()),
        }
    }

    async fn save_now_and_then(&mut self) -> Goes {
        if self.courier.inner().tasks.stopping().now_or_never().is_some() {
            return Err(Stop::Stopping);
        }
        let passed = self.courier.inner().now().passed;
        let due = passed.saturating_sub(self.saved_at) >= limits::REPLAY_SAVE_EVERY;
        if self.unsaved < limits::REPLAY_SAVE_EVENTS && !due {
            return Ok(());
        }
        let now = self.courier.inner().now().wall;
        let next = self.standing(now + limits::REPLAY_LEASE);
        let fresh = matches!(self.saved.state, State::Running { lease_until }
            if lease_until > now + limits::REPLAY_LEASE / 2);
        let same = Replay {
            state: self.saved.state.clone(),
            updated_at: self.saved.updated_at,
            ..next.clone()
        };
        match same == self.saved.record && fresh {
            true => self.look().await?,
            false => self.save(next).await?,
        }
        (self.saved_at, self.unsaved) = (passed, 0);
        Ok(())
    }

    /// Nothing has happened; is it still ours?
    async fn look(&mut self) -> Goes {
        let (account, id) = (self.saved.account_id, self.saved.id);
        let courier = self.courier;
        let find =
            || async move { courier.inner().store.replays().find_of(account, id).await }.boxed();
        let found = self.insist(find).await?;
        match found.is_some_and(|found| found.revision == self.saved.revision) {
            true => Ok(()),
            false => Err(Stop::Taken),
        }
    }

    async fn save(&mut self, next: Replay) -> Goes {
        let (courier, was) = (self.courier, self.saved.clone());
        let replays = courier.inner().store.replays();
        let save = || {
            let (was, next) = (was.clone(), next.clone());
            async move {
                match replays.save(&was, next).await {
                    Err(error) if error.is_refused() => Ok(None),
                    saved => saved.map(Some),
                }
            }
            .boxed()
        };
        self.saved = self.insist(save).await?.ok_or(Stop::Taken)?;
        Ok(())
    }

    fn standing(&self, until: ferryhook_core::Timestamp) -> Replay {
        let now = self.courier.inner().now().wall;
        Replay {
            waiting_for: self.waiting_for,
            last_error: self.last_error.clone(),
            ..self.saved.advance(self.counts, self.position, until, now)
        }
    }

    /// Asks the store until it answers.
    async fn insist<T>(
        &mut self,
        step: impl Fn() -> BoxFuture<'a, Result<T, StoreError>>,
    ) -> Goes<T> {
        let mut pause = limits::STORE_PAUSE_FIRST;
        loop {
            match step().await {
                Ok(done) => return Ok(done),
                Err(error) => {
                    tracing::warn!(%error, replay.id = %self.saved.id, "the store does not answer a replay; asking again");
                }
            }
            self.sleep(pause).await?;
            pause = (pause * 2).min(limits::STORE_PAUSE_MAX);
        }
    }

    async fn end(&mut self, stop: &Stop) {
        let now = self.courier.inner().now().wall;
        // Given back, so that the next need not wait for the lease to end.
        let standing = self.standing(now);
        let next = match stop {
            Stop::Taken => return,
            Stop::Stopping => standing,
            Stop::Done => standing.finish(now),
            Stop::Hopeless(reason) => standing.fail(reason, now),
        };
        let (id, state, counts) = (self.saved.id, next.state.word(), self.counts);
        let ended = match stop {
            // There is one try: what is not saved is done again.
            Stop::Stopping => {
                let replays = self.courier.inner().store.replays();
                replays.save(&self.saved, next).await.map(drop).map_err(|error| error.to_string())
            }
            _ => match self.save(next).await {
                Ok(()) => Ok(()),
                Err(_) => Err("it was cancelled, or the process stops".to_owned()),
            },
        };
        match ended {
            Ok(()) => tracing::info!(replay.id = %id, state, counts.matched, counts.replayed,
                counts.skipped, counts.failed, "a replay has come so far"),
            Err(error) => tracing::info!(error, replay.id = %id, "a replay could not be saved"),
        }
    }
}

/// Whether the store may take it another time.
fn may_pass(error: &StoreError) -> bool {
    matches!(error, StoreError::Unavailable(..) | StoreError::Full(_))
}
