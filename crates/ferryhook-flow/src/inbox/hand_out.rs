//! Hand out: makes leases of what was found, each as its connection shapes it.
//!
//! One event that cannot be read or whose rules crash is given back by itself and costs the others
//! nothing. What would make the answer too large is left where it is.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use ferryhook_core::connection::PipelineOrder;
use ferryhook_core::delivery::{Consequence, Next, State};
use ferryhook_core::inbox::{Leased, Reply, Step, Token};
use ferryhook_core::limits::INBOX_LEASE_BYTES_MAX;
use ferryhook_core::{Connection, Delivery, Event, Id, Source, Timestamp};
use ferryhook_store::{StoreError, Stored};
use futures_util::future::try_join_all;

use super::moves::{Done, Kept, Move, carry_out};
use super::{InHand, name};
use crate::courier::Courier;
use crate::limits;
use crate::routes::Way;
use crate::shape::{self, Shape};

/// What whoever asked gets, and of how many items something was written.
pub(super) struct HandedOut {
    pub(super) leased: Vec<Leased>,
    pub(super) moved: usize,
}

/// The rules for each, where there are any; or why that cannot be told now.
type Rules = HashMap<(Id<Source>, Id<Connection>), Result<Option<Arc<Way>>, String>>;

/// What is to be done with an item.
enum Ready {
    /// With the event as its connection's transform made it, where there is one.
    Moves(Box<Move>, Option<Box<Event>>),
    /// By itself, because its event cannot be read.
    Alone(Stored<Delivery>, Box<Next>),
    /// There is no such event any more.
    Gone(Stored<Delivery>),
    Nothing,
}

impl Courier {
    pub(super) async fn hand_out(
        &self,
        found: Vec<Stored<Delivery>>,
        (until, now): (Timestamp, Timestamp),
        mut in_hand: InHand,
    ) -> Result<HandedOut, StoreError> {
        let store = &self.inner().store;
        let rules = self.rules_for(&found, now).await;
        let (mut moves, mut shaped, mut moved) = (Vec::new(), HashMap::new(), 0);
        for ready in self.ready(found, &rules, (until, now)).await? {
            match ready {
                Ready::Moves(one, changed) => {
                    shaped.extend(changed.map(|changed| (one.was.event_id, changed)));
                    moves.push(*one);
                }
                Ready::Alone(was, next) => {
                    in_hand.has_moved(name(&was));
                    moved += usize::from(self.return_alone(&was, *next).await?);
                }
                Ready::Gone(item) => {
                    in_hand.has_moved(name(&item));
                    self.withdraw(&item).await;
                    moved += 1;
                }
                Ready::Nothing => {}
            }
        }
        let names: Vec<_> = moves.iter().map(|one| name(&one.was)).collect();
        let (done, _) = carry_out(store, moves, now, Kept::ForNow).await?;
        names.into_iter().for_each(|item| in_hand.has_moved(item));
        moved += done.len();
        let leased = done.into_iter().filter_map(|done| self.handed_out(done, &mut shaped));
        Ok(HandedOut { leased: leased.collect(), moved })
    }

    /// As many as may go together: a few at a time, because nobody knows how large they are.
    async fn ready(
        &self,
        found: Vec<Stored<Delivery>>,
        rules: &Rules,
        times: (Timestamp, Timestamp),
    ) -> Result<Vec<Ready>, StoreError> {
        let (mut all, mut bytes) = (Vec::with_capacity(found.len()), 0);
        let mut rest = found.into_iter();
        loop {
            let few = rest.by_ref().take(limits::INBOX_READ_AT_ONCE);
            let few: Vec<_> = few.map(|item| self.prepare_lease(item, rules, times)).collect();
            if few.is_empty() {
                return Ok(all);
            }
            for ready in try_join_all(few).await? {
                let carries = ready.carries();
                if bytes > 0 && bytes + carries > INBOX_LEASE_BYTES_MAX {
                    return Ok(all);
                }
                bytes += carries;
                all.push(ready);
            }
        }
    }

    async fn prepare_lease(
        &self,
        item: Stored<Delivery>,
        rules: &Rules,
        (until, now): (Timestamp, Timestamp),
    ) -> Result<Ready, StoreError> {
        let store = &self.inner().store;
        let Some(next) = item.fetch(until, now) else { return Ok(Ready::Nothing) };
        let Some(place) = &item.inbox else { return Ok(Ready::Nothing) };
        let events = store.events();
        let event = match events.find_of(item.source_id, place.received_at, item.event_id).await {
            Ok(Some(event)) => event,
            Ok(None) => return Ok(Ready::Gone(item)),
            Err(error) => return unread(item, next, error, now),
        };
        let (next, changed) = match next.consequence {
            Consequence::Nothing => self.shaped_item(&item, next, &event, rules, now).await,
            _ => (next, None),
        };
        match Move::new(store, item.clone(), next.clone(), event, None).await {
            Ok(one) => Ok(Ready::Moves(Box::new(one), changed)),
            Err(error) => unread(item, next, error, now),
        }
    }

    /// As an attempt over the connection would send it; as it came where that has no rules.
    async fn shaped_item(
        &self,
        item: &Delivery,
        next: Next,
        event: &Event,
        rules: &Rules,
        now: Timestamp,
    ) -> (Next, Option<Box<Event>>) {
        let shape = match rules.get(&(item.source_id, item.connection_id)) {
            Some(Ok(Some(way))) => shape::shape(event, way, self.scripts()).await,
            Some(Err(error)) => Shape::NotNow(error.clone()),
            Some(Ok(None)) | None => return (next, None),
        };
        let quietly = |delivery| Next { delivery, consequence: Consequence::Nothing };
        match shape {
            Shape::AsItCame => (next, None),
            Shape::Changed(changed) => (next, Some(changed)),
            Shape::Unwanted(reason, said) => {
                let cancelled = item.cancel(reason, now);
                (quietly(Delivery { last_error: Some(said), ..cancelled }), None)
            }
            Shape::NotNow(said) => {
                let put_off = item.put_off(now + limits::SHAPE_PAUSE, now);
                (quietly(Delivery { last_error: Some(said), ..put_off }), None)
            }
            Shape::Failed(error) => (given_back(next, error, now), None),
        }
    }

    /// Of each connection that something came over. One that is deleted still has a say in what
    /// waits since before.
    async fn rules_for(&self, found: &[Stored<Delivery>], now: Timestamp) -> Rules {
        let mut rules = Rules::new();
        for item in found {
            let of = (item.source_id, item.connection_id);
            if let Entry::Vacant(unknown) = rules.entry(of) {
                unknown.insert(self.rules_of(of, now).await);
            }
        }
        rules
    }

    async fn rules_of(
        &self,
        (source, connection): (Id<Source>, Id<Connection>),
        now: Timestamp,
    ) -> Result<Option<Arc<Way>>, String> {
        let inner = self.inner();
        let route = inner.routes.find(source).await.map_err(|error| error.to_string())?;
        let ways = route.as_ref().map_or(&[][..], |route| &route.ways);
        if let Some(way) = ways.iter().find(|way| way.connection.id == connection) {
            return Ok(has_rules(&way.connection).then(|| way.clone()));
        }
        let deleted = inner.store.connections().find_of(source, connection).await;
        let deleted = deleted.map_err(|error| error.to_string())?;
        let Some(deleted) = deleted.filter(|deleted| has_rules(deleted)) else { return Ok(None) };
        // To compile a transform can take a while.
        let make = move || Arc::new(Way::new(deleted.record, None, now));
        let made = tokio::task::spawn_blocking(make).await;
        made.map(Some).map_err(|error| format!("the connection's rules cannot be read: {error}"))
    }

    /// Where its event stands cannot be told. Whether it was still as it had been.
    async fn return_alone(&self, was: &Stored<Delivery>, next: Next) -> Result<bool, StoreError> {
        let Next { delivery, consequence } = next;
        match self.inner().store.deliveries().replace(was, delivery.clone()).await {
            Err(error) if error.is_refused() => return Ok(false),
            Err(error) => return Err(error),
            Ok(_) => {}
        }
        if consequence == Consequence::Alert {
            self.inner().gauges.gave_up();
        }
        if delivery.is_settled() {
            self.heed_item(&delivery);
        }
        Ok(true)
    }

    /// What the worker gets, if it is theirs now.
    fn handed_out(
        &self,
        done: Done,
        shaped: &mut HashMap<Id<Event>, Box<Event>>,
    ) -> Option<Leased> {
        let Done { now, consequence, mut event, event_stays } = done;
        let State::Sending { lease_until } = now.state else {
            if now.is_settled() {
                self.fetched(&event, &now, consequence);
            }
            return None;
        };
        let token =
            Token { event: now.event_id, connection: now.connection_id, lease: now.attempts };
        let (status, retry_count) = (now.inbox_status(), now.retry_count());
        if event_stays {
            self.inner().leases.remember(now, &mut event);
        }
        let event = shaped.remove(&token.event).map_or(event.record, |changed| *changed);
        Some(Leased { event, token, lease_until, status, retry_count })
    }
}

impl Ready {
    /// How much of it whoever asked would get, roughly.
    fn carries(&self) -> usize {
        let Self::Moves(one, changed) = self else { return 0 };
        if !matches!(one.next.delivery.state, State::Sending { .. }) {
            return 0;
        }
        let event = changed.as_deref().unwrap_or(&one.event.record);
        let mut payload = Length(0);
        if let Some(posted) = event.payload.as_ref().filter(|_| event.body.is_empty()) {
            // What is counted is not kept, so that this cannot fail.
            let _ = serde_json::to_writer(&mut payload, posted);
        }
        event.body.len() + payload.0
    }
}

/// How long something is when it is written.
struct Length(usize);

impl std::io::Write for Length {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Whether it may make something else of an event that it is asked about when that is leased.
fn has_rules(connection: &Connection) -> bool {
    connection.transform.is_some() || connection.pipeline_order == PipelineOrder::TransformFirst
}

/// It alone, unless nothing can be read at all.
fn unread(
    item: Stored<Delivery>,
    next: Next,
    error: StoreError,
    now: Timestamp,
) -> Result<Ready, StoreError> {
    use StoreError::{Corrupt, Damaged, Malformed, OutOfBounds};
    if !matches!(error, Corrupt { .. } | Damaged(_) | Malformed(_) | OutOfBounds(_)) {
        return Err(error);
    }
    tracing::error!(event.id = %item.event_id, account.id = %item.account_id, %error,
        "an event in the inbox cannot be read");
    let next = match next.consequence {
        Consequence::Nothing => given_back(next, "the event cannot be read".to_owned(), now),
        _ => next,
    };
    Ok(Ready::Alone(item, Box::new(next)))
}

/// As if whoever leased it had given it back: it ends when it has been tried enough.
fn given_back(next: Next, error: String, now: Timestamp) -> Next {
    let nack = Reply::Nack { delay: limits::SHAPE_PAUSE, reason: Some(error) };
    match next.delivery.replied(None, &nack, now) {
        Step::Moves(back) => *back,
        Step::Known | Step::Stale => next,
    }
}
