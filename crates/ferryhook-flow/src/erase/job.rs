//! One erasure, from where it stands until everything was looked at.

use std::collections::HashSet;
use std::time::Duration;

use ferryhook_core::erasure::{Counts, Matcher, Subject, What};
use ferryhook_core::replay::{Filter, Position};
use ferryhook_core::{Erasure, Event, Id, Source, source};
use ferryhook_store::search::Search;
use ferryhook_store::{Slice, StoreError, Stored, Window};
use futures_util::stream::{self, StreamExt};

use super::lease_until;
use crate::courier::Courier;
use crate::limits;

/// As it stands when nothing is left to be deleted; `None` when it was cancelled or is in other
/// hands.
pub(super) async fn run(
    courier: &Courier,
    leased: Stored<Erasure>,
) -> Result<Option<Stored<Erasure>>, StoreError> {
    tracing::info!(erasure.id = %leased.id, account.id = %leased.account_id, "an erasure runs");
    let mut job = Job {
        courier,
        counts: leased.counts,
        position: leased.position,
        last_error: leased.last_error.clone(),
        unsaved: 0,
        saved_at: courier.inner().now().passed,
        saved: leased,
    };
    let what = job.saved.what.clone();
    let went = match &what {
        What::Events { ids } => job.erase_named(ids).await,
        What::Subject { subject } => job.erase_subject(subject).await,
    };
    let now = courier.inner().now().wall;
    let ended = match went {
        Ok(()) => job.standing().looked_through(now),
        Err(Stop::Hopeless(reason)) => job.standing().give_up(&reason, now),
        Err(Stop::Taken) => return Ok(None),
        Err(Stop::Store(error)) => {
            // What was erased is not looked for again; should this fail too, it is not found.
            let _ = job.save().await;
            return Err(error);
        }
    };
    match job.write(ended).await {
        Ok(()) => Ok(Some(job.saved)),
        Err(Stop::Store(error)) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Why it does not go on here.
enum Stop {
    /// Cancelled, or in other hands.
    Taken,
    /// It never can.
    Hopeless(String),
    Store(StoreError),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

type Goes<T = ()> = Result<T, Stop>;

struct Job<'a> {
    courier: &'a Courier,
    /// As it was last saved.
    saved: Stored<Erasure>,
    saved_at: Duration,
    unsaved: usize,
    /// Where it stands.
    counts: Counts,
    position: Option<Position>,
    last_error: Option<String>,
}

impl Job<'_> {
    async fn erase_named(&mut self, ids: &[Id<Event>]) -> Goes {
        let done = self.position.map_or(0, |last| ids.partition_point(|id| *id <= last.event_id));
        for ids in ids[done..].chunks(limits::ERASURE_PAGE) {
            let mut found = Vec::new();
            for id in ids {
                // Also one that is gone from the store may still be in memory.
                self.courier.inner().forget(*id, None);
                let event = self.courier.inner().store.events().find(*id).await?;
                found.extend(event.filter(|event| event.account_id == self.saved.account_id));
            }
            self.counts.looked_at += ids.len() as u64;
            self.erase_all(&found).await?;
            self.position = ids.last().map(|id| Position {
                received_at: id.made_at().unwrap_or_default(),
                event_id: *id,
            });
            self.save_now_and_then().await?;
        }
        Ok(())
    }

    async fn erase_subject(&mut self, subject: &Subject) -> Goes {
        let hopeless = |error: &dyn std::fmt::Display| Stop::Hopeless(error.to_string());
        let matcher = subject.matcher().map_err(|error| hopeless(&error))?;
        let Some(matcher) = matcher else { return Ok(()) };
        let Subject { source_id, from, to, .. } = subject.clone();
        let filter = Filter { source_id, from, to, ..Filter::default() };
        let search = Search::oldest_first(self.saved.account_id, &filter);
        let mut search = search.map_err(|error| hopeless(&error))?.after(self.position);
        while !search.is_over() {
            let page = search.look(&self.courier.inner().store, limits::ERASURE_PAGE).await?;
            let mut meant = page.events;
            meant.retain(|event| matcher.means(event));
            self.counts.looked_at += page.looked_at as u64;
            self.erase_all(&meant).await?;
            self.position = page.last.or(self.position);
            self.save_now_and_then().await?;
        }
        for source in self.sources(subject).await? {
            self.erase_rejections(source, subject, &matcher).await?;
        }
        Ok(())
    }

    async fn erase_all(&mut self, events: &[Stored<Event>]) -> Goes {
        let inner = self.courier.inner();
        let erase = |event: Stored<Event>| async move {
            inner.forget(event.id, Some(event.source_id));
            let erased = inner.store.events().erase(&event).await;
            // Whatever was read before it was gone has come into memory by now.
            inner.forget(event.id, Some(event.source_id));
            erased
        };
        let told: Vec<_> = stream::iter(events.to_vec())
            .map(erase)
            .buffered(limits::ERASURE_COMMITS_AT_ONCE)
            .collect()
            .await;
        let sources: HashSet<_> = events.iter().map(|event| event.source_id).collect();
        // The door has to look for copies of what was erased from now on.
        sources.into_iter().for_each(|source| inner.routes.forget(source));
        told.into_iter().try_for_each(|told| self.count(told))
    }

    /// Not by account, so source by source, those that are deleted too.
    async fn sources(&self, subject: &Subject) -> Goes<Vec<Id<Source>>> {
        if let Some(source) = subject.source_id {
            return Ok(vec![source]);
        }
        let sources = self.courier.inner().store.sources();
        let account = self.saved.account_id;
        let mut all = Vec::new();
        for status in [None, Some(source::Status::Deleted)] {
            let mut slice = Slice::oldest_first().limit(limits::ERASURE_PAGE);
            loop {
                let page = match status {
                    None => sources.list_by_account(account, slice.clone()).await?,
                    Some(status) => sources.list_by_status(account, status, slice.clone()).await?,
                };
                all.extend(page.rows.iter().map(|source| source.id));
                let Some(next) = page.next else { break };
                slice = slice.after(Some(next));
            }
        }
        Ok(all)
    }

    async fn erase_rejections(
        &mut self,
        source: Id<Source>,
        subject: &Subject,
        matcher: &Matcher,
    ) -> Goes {
        let rejections = self.courier.inner().store.rejections();
        let window = Window { from: subject.from, to: subject.to };
        let mut slice = Slice::oldest_first().limit(limits::ERASURE_PAGE);
        loop {
            let page = rejections.list_by_source(source, window, slice.clone()).await?;
            self.counts.looked_at += page.rows.len() as u64;
            for rejection in &page.rows {
                let mine = rejection.account_id == self.saved.account_id;
                if mine && matcher.means_rejection(rejection) {
                    let told = rejections.erase(rejection).await;
                    self.count(told)?;
                }
            }
            self.save_now_and_then().await?;
            let Some(next) = page.next else { return Ok(()) };
            slice = slice.after(Some(next));
        }
    }

    fn count(&mut self, told: Result<(), StoreError>) -> Goes {
        self.unsaved += 1;
        match told {
            Ok(()) => {
                self.counts.erased += 1;
                self.courier.inner().gauges.erased();
            }
            Err(error @ (StoreError::Unavailable(..) | StoreError::Full(_))) => {
                return Err(error.into());
            }
            Err(error) => {
                self.counts.failed += 1;
                let said = said(&error);
                tracing::error!(error = said, erasure.id = %self.saved.id, "not erased");
                self.last_error = Some(said);
            }
        }
        Ok(())
    }

    async fn save_now_and_then(&mut self) -> Goes {
        let passed = self.courier.inner().now().passed;
        let due = passed.saturating_sub(self.saved_at) >= limits::ERASURE_SAVE_EVERY;
        match due || self.unsaved >= limits::ERASURE_SAVE_EVENTS {
            true => self.save().await,
            false => Ok(()),
        }
    }

    async fn save(&mut self) -> Goes {
        self.write(self.standing()).await
    }

    fn standing(&self) -> Erasure {
        let (until, now) = (lease_until(self.courier), self.courier.inner().now().wall);
        Erasure {
            last_error: self.last_error.clone(),
            ..self.saved.advance(self.counts, self.position, until, now)
        }
    }

    async fn write(&mut self, next: Erasure) -> Goes {
        match self.courier.inner().store.erasures().save(&self.saved, next).await {
            Ok(saved) => self.saved = saved,
            Err(error) if error.is_refused() => return Err(Stop::Taken),
            Err(error) => return Err(error.into()),
        }
        (self.saved_at, self.unsaved) = (self.courier.inner().now().passed, 0);
        Ok(())
    }
}

/// What the store says may name what is to be forgotten.
fn said(error: &StoreError) -> String {
    match error {
        StoreError::Corrupt { kind, .. } => format!("a stored {kind} cannot be read"),
        StoreError::Refused { .. } => "it kept changing".to_owned(),
        _ => "the store refused it".to_owned(),
    }
}
