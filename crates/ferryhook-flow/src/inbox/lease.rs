//! Lease: gives items to whoever asks, for a while.
//!
//! At least once, never to two at a time: the condition on each item's revision decides between
//! processes, and within one they take turns.

use std::collections::HashSet;
use std::time::Duration;

use ferryhook_core::connection::PipelineOrder;
use ferryhook_core::delivery::{Consequence, Next, State};
use ferryhook_core::event_types::EventTypes;

use ferryhook_core::inbox::{Leased, Reply, Step, Token, Wanted};
use ferryhook_core::limits::PAGE_MAX;
use ferryhook_core::{Account, Delivery, Event, Id, Timestamp};
use ferryhook_store::{Slice, StoreError, Stored, Window};
use futures_util::future::try_join_all;

use super::moves::{Kept, Move, carry_out};
use super::{InHand, Item, Spot};
use crate::courier::{Courier, lock};
use crate::limits;
use crate::shape::{self, Shape};

impl Courier {
    /// As many as are there, at most as many as wanted. Waits for the first as long as it may.
    pub async fn lease_items(
        &self,
        account: Id<Account>,
        wanted: &Wanted,
    ) -> Result<Vec<Leased>, StoreError> {
        let types = EventTypes::compile(&wanted.types).unwrap_or_default();
        let until = self.inner().now().passed + wanted.wait;
        loop {
            let arrival = self.arrival(account, &wanted.group);
            let leased = self.lease_now(account, wanted, &types).await?;
            let left = until.saturating_sub(self.inner().now().passed);
            if !leased.is_empty() || left.is_zero() {
                return Ok(leased);
            }
            let next = self.next_due(account, wanted).await?.map_or(left, |next| next.min(left));
            tokio::select! {
                () = arrival => {}
                () = tokio::time::sleep(next) => {}
            }
        }
    }

    /// Until a lease ends or something that was given back is there again.
    async fn next_due(
        &self,
        account: Id<Account>,
        wanted: &Wanted,
    ) -> Result<Option<Duration>, StoreError> {
        let inner = self.inner();
        let now = inner.now().wall;
        let later = Window { from: Some(now + Duration::from_millis(1)), to: None };
        let first = Slice::oldest_first().limit(1);
        let open = inner.store.inbox().list_open(account, &wanted.group, later, first).await?;
        let due = open.rows.first().and_then(|first| first.due_at());
        Ok(due.map(|due| due.saturating_since(now)))
    }

    async fn lease_now(
        &self,
        account: Id<Account>,
        wanted: &Wanted,
        types: &EventTypes,
    ) -> Result<Vec<Leased>, StoreError> {
        let inner = self.inner();
        let queue = inner.queues.of(account, &wanted.group);
        for _ in 0..limits::CONFLICT_TRIES_MAX {
            let mut spot = queue.turn.lock().await;
            let now = inner.now().wall;
            // As of before the look: what is written since is seen as it is.
            let taken = lock(&queue.in_hand).clone();
            let found = self.look(account, wanted, types, (&mut spot, &taken), now).await?;
            if found.is_empty() {
                return Ok(Vec::new());
            }
            let _in_hand = InHand::of(&queue, &found);
            drop(spot);
            let (moves, shaped) = self.prepare_leases(found, now + wanted.visibility, now).await?;
            let (done, _) = carry_out(&inner.store, moves, now, Kept::ForNow).await?;
            let leased: Vec<_> =
                done.into_iter().filter_map(|done| self.handed_out(done, &shaped)).collect();
            // Given up, dropped by a transform, or another process was faster: there may be more.
            if !leased.is_empty() {
                return Ok(leased);
            }
        }
        Ok(Vec::new())
    }

    /// What can be leased now, the longest due first.
    async fn look(
        &self,
        account: Id<Account>,
        wanted: &Wanted,
        types: &EventTypes,
        (spot, taken): (&mut Spot, &HashSet<Item>),
        now: Timestamp,
    ) -> Result<Vec<Stored<Delivery>>, StoreError> {
        if !wanted.types.is_empty() {
            return self.look_for_types(account, wanted, types, (spot, taken), now).await;
        }
        let inner = self.inner();
        let passed = inner.now().passed;
        if passed.saturating_sub(spot.began_at) >= limits::INBOX_LOOK_EVERY {
            spot.from = None;
        }
        loop {
            let window = Window { from: spot.from, to: Some(now) };
            let limit = (wanted.count + taken.len()).min(PAGE_MAX);
            let slice = Slice::oldest_first().limit(limit);
            let page = inner.store.inbox().list_open(account, &wanted.group, window, slice).await?;
            let was = spot.from;
            if was.is_none() {
                spot.began_at = passed;
            }
            let mut rows = page.rows;
            rows.retain(|row| is_free(row, taken, now));
            rows.truncate(wanted.count);
            if let Some(last) = rows.last() {
                spot.from = last.due_at();
                return Ok(rows);
            }
            spot.from = None;
            if was.is_none() {
                return Ok(rows);
            }
        }
    }

    /// Passes over the rest. How far it came is remembered, so that whoever asks again gets on.
    async fn look_for_types(
        &self,
        account: Id<Account>,
        wanted: &Wanted,
        types: &EventTypes,
        (spot, taken): (&mut Spot, &HashSet<Item>),
        now: Timestamp,
    ) -> Result<Vec<Stored<Delivery>>, StoreError> {
        let known = spot.passed.iter().position(|(of, _)| *of == wanted.types);
        let mut after = known.map(|known| spot.passed.swap_remove(known).1);
        let mut found = Vec::new();
        for _ in 0..limits::INBOX_PAGES_PASSED_MAX {
            let slice = Slice::oldest_first().limit(limits::INBOX_PAGE).after(after.clone());
            let (inbox, due) = (self.inner().store.inbox(), Window::until(now));
            let page = inbox.list_open(account, &wanted.group, due, slice).await?;
            let of_type = |row: &Stored<Delivery>| {
                let place = row.inbox.as_ref();
                types.wants(place.and_then(|place| place.event_type.as_deref()))
            };
            let fitting =
                page.rows.into_iter().filter(|row| is_free(row, taken, now) && of_type(row));
            found.extend(fitting.take(wanted.count - found.len()));
            if found.len() == wanted.count {
                break; // the same page has more, perhaps
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        if let Some(after) = after {
            spot.passed.truncate(limits::INBOX_TYPES_REMEMBERED - 1);
            spot.passed.insert(0, (wanted.types.clone(), after));
        }
        Ok(found)
    }

    /// Each as it moves on, and what its connection's transform made of it where there is one.
    async fn prepare_leases(
        &self,
        found: Vec<Stored<Delivery>>,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<(Vec<Move>, Vec<(Id<Event>, Event)>), StoreError> {
        let prepared = found.into_iter().map(|item| self.prepare_lease(item, until, now));
        let (mut moves, mut shaped) = (Vec::new(), Vec::new());
        for (one, changed) in try_join_all(prepared).await?.into_iter().flatten() {
            shaped.extend(changed.map(|changed| (one.was.event_id, changed)));
            moves.push(one);
        }
        Ok((moves, shaped))
    }

    async fn prepare_lease(
        &self,
        item: Stored<Delivery>,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<Option<(Move, Option<Event>)>, StoreError> {
        let inner = self.inner();
        let Some(next) = item.fetch(until, now) else { return Ok(None) };
        let Some(place) = &item.inbox else { return Ok(None) };
        let events = inner.store.events();
        let found = events.find_of(item.source_id, place.received_at, item.event_id).await?;
        let Some(event) = found else {
            self.withdraw(&item).await;
            return Ok(None);
        };
        let (next, changed) = match next.consequence {
            Consequence::Nothing => self.shaped_item(&item, next, &event, now).await?,
            _ => (next, None),
        };
        Ok(Some((Move::new(&inner.store, item, next, event, None).await?, changed)))
    }

    /// As an attempt over the connection would send it; as it came where that has no transform or
    /// is no more.
    async fn shaped_item(
        &self,
        item: &Delivery,
        next: Next,
        event: &Event,
        now: Timestamp,
    ) -> Result<(Next, Option<Event>), StoreError> {
        let inner = self.inner();
        let route = inner.routes.find(item.source_id).await?;
        let ways = route.as_ref().map_or(&[][..], |route| &route.ways);
        let way = ways.iter().find(|way| way.connection.id == item.connection_id);
        let Some(way) = way.filter(|way| {
            way.connection.transform.is_some()
                || way.connection.pipeline_order == PipelineOrder::TransformFirst
        }) else {
            return Ok((next, None));
        };
        let quietly = |delivery| Next { delivery, consequence: Consequence::Nothing };
        Ok(match shape::shape(event, way, self.scripts()).await {
            Shape::AsItCame => (next, None),
            Shape::Changed(changed) => (next, Some(*changed)),
            Shape::Unwanted(reason, said) => {
                let cancelled = item.cancel(reason, now);
                (quietly(Delivery { last_error: Some(said), ..cancelled }), None)
            }
            Shape::NotNow(said) => {
                let put_off = item.put_off(now + limits::SHAPE_PAUSE, now);
                (quietly(Delivery { last_error: Some(said), ..put_off }), None)
            }
            // As if whoever leased it had given it back: it ends when it has been tried enough.
            Shape::Failed(error) => {
                let nack = Reply::Nack { delay: limits::SHAPE_PAUSE, reason: Some(error) };
                match next.delivery.replied(None, &nack, now) {
                    Step::Moves(back) => (*back, None),
                    Step::Known | Step::Stale => (next, None),
                }
            }
        })
    }

    /// What the worker gets, if it is theirs now.
    fn handed_out(&self, done: Move, shaped: &[(Id<Event>, Event)]) -> Option<Leased> {
        let Move { next, event, .. } = done;
        let now = next.delivery;
        let State::Sending { lease_until } = now.state else {
            if now.is_settled() {
                self.fetched(&event, &now, next.consequence);
            }
            return None;
        };
        let changed = shaped.iter().find(|(of, _)| *of == now.event_id);
        let token =
            Token { event: now.event_id, connection: now.connection_id, lease: now.attempts };
        Some(Leased {
            event: changed.map_or(event.record, |(_, changed)| changed.clone()),
            token,
            lease_until,
            retry_count: now.retry_count(),
        })
    }
}

fn is_free(item: &Delivery, taken: &HashSet<Item>, now: Timestamp) -> bool {
    item.due_at().is_some_and(|due| due <= now)
        && !taken.contains(&(item.event_id, item.connection_id))
}
