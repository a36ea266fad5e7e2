//! Writes what was told of types: counts are added, samples are learned from, and whatever is
//! different about them is said in the commit that notes it.

use std::future::Future;
use std::pin::pin;

use ferryhook_core::event_type::{Drift, Mode};
use ferryhook_core::limits::TYPES_PER_ACCOUNT_MAX;
use ferryhook_core::operational::Operational;
use ferryhook_core::{Account, Alert, Event, EventType, Id};
use ferryhook_store::StoreError;
use ferryhook_store::repositories::Announcement;

use super::sample::{Lesson, Read, Sample};
use super::{Catalogue, Waiting};
use crate::courier::{Courier, lock};
use crate::limits;
use crate::routes::Route;
use crate::writes::{self, Write};

impl Courier {
    /// An event was taken in.
    pub(crate) fn learn_of(&self, event: &Event, route: &Route) {
        let declared = route.declared.find(event.event_type.as_deref());
        // The door has kept out what is to be refused.
        let declared = declared.filter(|declared| declared.mode() == Mode::Warn);
        self.inner().types.arrived(event, declared);
    }

    /// Writes now and then what was told.
    pub(crate) async fn learn_until(&self, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        loop {
            tokio::select! {
                biased;
                () = stop.as_mut() => return,
                () = tokio::time::sleep(limits::TYPES_FLUSH_EVERY) => self.flush_types().await,
            }
        }
    }

    /// Everything that was told until now.
    pub(crate) async fn flush_types(&self) {
        let types = &self.inner().types;
        let _alone = types.flushing.lock().await;
        let waiting = types.take().into_iter();
        let writes = waiting.map(|(account, name, mut waiting)| {
            let courier = self.clone();
            Box::pin(async move {
                let written = courier.write_type(account, &name, &mut waiting).await;
                written.inspect_err(|_| {
                    courier.inner().types.give_back(account, &name, waiting);
                })
            }) as Write
        });
        if let Some((failed, error)) = writes::all(writes).await {
            tracing::warn!(%error, failed, "some event types were not counted; they are kept");
        }
    }

    async fn write_type(
        &self,
        account: Id<Account>,
        name: &str,
        waiting: &mut Waiting,
    ) -> Result<(), StoreError> {
        let types = self.inner().store.event_types();
        let lessons = read(waiting).await;
        let counted = (waiting.events, waiting.last_at);
        let doubtful = (waiting.mismatches, waiting.unchecked);
        let is_plain = waiting.is_stored && lessons.is_empty() && waiting.mismatch.is_none();
        if is_plain && types.count(account, name, counted, doubtful).await? {
            // Without a sample nobody knows better whether it is still young.
            self.inner().types.wants(account, name, true, limits::TYPE_SAMPLES);
            return Ok(());
        }
        if !self.has_room(account, name).await? {
            self.inner().types.wants(account, name, false, 0);
            return Ok(());
        }
        for _ in 0..limits::CONFLICT_TRIES_MAX {
            if self.learn(account, name, waiting, &lessons).await? {
                return Ok(());
            }
        }
        let busy = "others write this event type all the time".to_owned();
        Err(StoreError::Unavailable(busy, None))
    }

    /// Whether nobody else was faster.
    async fn learn(
        &self,
        account: Id<Account>,
        name: &str,
        waiting: &Waiting,
        lessons: &[Lesson],
    ) -> Result<bool, StoreError> {
        let inner = self.inner();
        let found = inner.store.event_types().find(account, name).await?;
        let known = found.as_ref().map(|found| found.record.clone());
        let mut now = known.unwrap_or_else(|| EventType::new(account, name));
        if waiting.events > 0 {
            now.first_seen_at.get_or_insert(waiting.first_at);
        }
        now.count(waiting.events, waiting.last_at);
        now.mismatches = now.mismatches.saturating_add(waiting.mismatches);
        now.unchecked = now.unchecked.saturating_add(waiting.unchecked);
        let mut drifts: Vec<Drift> = Vec::new();
        for Lesson { source, event, content } in lessons {
            drifts.extend(now.learn(content, *source, *event, inner.now().wall));
            // Each can take a while.
            tokio::task::yield_now().await;
        }
        let told = self.told(&mut now, waiting, &drifts);
        let prepared = match &told {
            Some(said) => Some(self.prepare(account, said, true).await?),
            None => None,
        };
        let silence = Announcement::default();
        let announcement = prepared.as_ref().map_or(&silence, |prepared| &prepared.announcement);
        if !inner.store.event_types().learn(found.as_ref(), &now, announcement).await? {
            return Ok(false);
        }
        if let Some(prepared) = prepared {
            tracing::info!(account.id = %account, event.r#type = %name, "an event type is told of");
            self.announced(prepared);
        }
        let samples = match now.learned.is_young() {
            true => limits::TYPE_SAMPLES_YOUNG,
            false => limits::TYPE_SAMPLES,
        };
        inner.types.wants(account, name, true, samples);
        if let (false, Some(mismatch)) = (drifts.is_empty(), &waiting.mismatch) {
            inner.types.put_off(account, name, mismatch.clone());
        }
        Ok(true)
    }

    /// What is to be said. One thing at a time: a mismatch waits where there is drift.
    fn told(
        &self,
        now: &mut EventType,
        waiting: &Waiting,
        drifts: &[Drift],
    ) -> Option<Operational> {
        if !drifts.is_empty() {
            return Some(Operational::type_drifted(&now.name, drifts));
        }
        let (mode, wrong) = waiting.mismatch.as_ref()?;
        let declared = now.declared.as_mut().filter(|declared| declared.told_at.is_none())?;
        declared.told_at = Some(self.inner().now().wall);
        Some(Operational::type_mismatched(&now.name, *mode, &wrong.pointer, &wrong.reason))
    }

    /// Whether it is one of the types of its account, or can become one.
    async fn has_room(&self, account: Id<Account>, name: &str) -> Result<bool, StoreError> {
        let inner = self.inner();
        let now = inner.env.elapsed();
        let known = |catalogue: &mut Catalogue| {
            if catalogue.is_stale {
                return None;
            }
            let is_known = catalogue.names.contains(name);
            let is_full = catalogue.names.len() >= TYPES_PER_ACCOUNT_MAX;
            let is_old = now.saturating_sub(catalogue.read_at) >= limits::ALERT_FRESH_FOR;
            match (is_known, is_full) {
                (true, _) => Some(true),
                (false, false) => Some(catalogue.names.insert(name.to_owned())),
                // Some may have been deleted elsewhere.
                (false, true) => (!is_old).then_some(false),
            }
        };
        let has_room = lock(&inner.types.catalogues).get_mut(&account).and_then(known);
        let has_room = match has_room {
            Some(has_room) => has_room,
            None => {
                let names = inner.store.event_types().names(account).await?;
                let mut catalogues = lock(&inner.types.catalogues);
                if catalogues.len() >= limits::TYPE_CATALOGUES_MAX {
                    catalogues.clear(); // all of it can be read again
                }
                let read = || Catalogue { read_at: now, ..Catalogue::default() };
                let catalogue = catalogues.entry(account).or_insert_with(read);
                if catalogue.is_stale || catalogue.read_at < now {
                    *catalogue = read();
                }
                // Another may have read them at the same time, and have promised some since.
                catalogue.names.extend(names);
                known(catalogue).unwrap_or(false)
            }
        };
        if !has_room {
            self.say_full(account).await?;
        }
        Ok(has_room)
    }

    /// Once, whoever finds out.
    async fn say_full(&self, account: Id<Account>) -> Result<(), StoreError> {
        const SUBJECT: &str = "event-types";
        let was_told = lock(&self.inner().types.catalogues)
            .get_mut(&account)
            .is_none_or(|catalogue| std::mem::replace(&mut catalogue.is_told, true));
        if was_told {
            return Ok(());
        }
        let alerts = self.inner().store.alerts();
        if alerts.find(account, SUBJECT).await?.is_some() {
            return Ok(());
        }
        let said = Operational::types_full(TYPES_PER_ACCOUNT_MAX);
        let prepared = self.prepare(account, &said, true).await?;
        let now = self.inner().now().wall;
        let fired = Alert::fired(account, SUBJECT, "event types", now);
        let alert = Alert { reason: Some(said.title.clone()), ..fired.recovered(now) };
        if alerts.turn(None, &alert, &prepared.announcement).await?.is_some() {
            self.announced(prepared);
        }
        Ok(())
    }
}

/// What can be learned from. What is wrong with those that were to be checked is added to what was
/// told.
async fn read(waiting: &mut Waiting) -> Vec<Lesson> {
    let samples = std::mem::take(&mut waiting.samples);
    if samples.is_empty() {
        return Vec::new();
    }
    let (checks, bytes) = (Sample::checks(&samples), Sample::bytes(&samples));
    // A few small ones are read faster than a thread is woken, and in the same order every time.
    let read = match checks == 0 && bytes <= limits::TYPE_BYTES_AT_ONCE {
        true => Sample::read(samples),
        false => {
            let read = tokio::task::spawn_blocking(|| Sample::read(samples)).await;
            read.unwrap_or_else(|error| {
                tracing::warn!(%error, "samples of an event type are not looked at");
                Read { unchecked: checks, ..Read::default() }
            })
        }
    };
    let Read { lessons, mismatches, mismatch, unchecked } = read;
    waiting.mismatches += mismatches;
    waiting.unchecked += unchecked;
    if let Some(mismatch) = mismatch {
        waiting.mismatch.get_or_insert((Mode::Warn, mismatch));
    }
    lessons
}
