//! Reply: what whoever leased an item has to say about it.
//!
//! A reply holds for the lease it names. One that ran out still counts as long as nobody else has
//! leased the item. After a crash that undid a lease two may hold one of the same number: both
//! work, and the first who is done settles it.

use std::collections::{HashMap, HashSet};

use ferryhook_core::delivery::State;
use ferryhook_core::inbox::{Group, Replied, Reply, Step, Token};
use ferryhook_core::limits::PAGE_MAX;
use ferryhook_core::{Account, Delivery, Event, Id};
use ferryhook_store::{Slice, StoreError, Stored};
use futures_util::future::try_join_all;

use super::moves::{Done, Kept, Move, carry_out};
use crate::courier::Courier;
use crate::limits;

/// Which item is meant, in which of its leases.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Meant {
    event: Id<Event>,
    item: Item,
    lease: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Item {
    Over(Id<ferryhook_core::Connection>),
    Of(Group),
}

/// What a reply comes to before it is written.
enum Heard {
    Already(Replied),
    Moves(Box<Move>),
}

impl Courier {
    /// What became of the reply to each of these leases, in order. What was heard is durable.
    pub async fn reply_to_leases(
        &self,
        account: Id<Account>,
        tokens: &[Token],
        reply: &Reply,
    ) -> Result<Vec<Replied>, StoreError> {
        let meant = tokens.iter().map(|token| Meant {
            event: token.event,
            item: Item::Over(token.connection),
            lease: Some(token.lease),
        });
        let meant: Vec<_> = meant.collect();
        let replied = self.reply(account, &meant, reply).await?;
        let told = |meant| replied.get(meant).copied().unwrap_or(Replied::Unknown);
        Ok(meant.iter().map(told).collect())
    }

    /// The same for the item that the group has of an event, whoever has leased it.
    pub async fn reply_to_event(
        &self,
        event: &Event,
        group: &Group,
        reply: &Reply,
    ) -> Result<Replied, StoreError> {
        let meant = Meant { event: event.id, item: Item::Of(group.clone()), lease: None };
        let replied = self.reply(event.account_id, std::slice::from_ref(&meant), reply).await?;
        Ok(replied.get(&meant).copied().unwrap_or(Replied::Unknown))
    }

    async fn reply(
        &self,
        account: Id<Account>,
        meant: &[Meant],
        reply: &Reply,
    ) -> Result<HashMap<Meant, Replied>, StoreError> {
        let inner = self.inner();
        let mut told = HashMap::with_capacity(meant.len());
        for _ in 0..limits::CONFLICT_TRIES_MAX {
            let open: HashSet<_> = meant.iter().filter(|one| !told.contains_key(*one)).collect();
            let open = Vec::from_iter(open);
            if open.is_empty() {
                return Ok(told);
            }
            let now = inner.now().wall;
            let heard = open.iter().map(|one| self.hear(account, one, reply, now));
            let mut moves = Vec::with_capacity(open.len());
            let mut names = HashMap::with_capacity(open.len());
            for (one, heard) in open.iter().zip(try_join_all(heard).await?) {
                match heard {
                    Heard::Already(replied) => {
                        told.insert((*one).clone(), replied);
                    }
                    Heard::Moves(made) => {
                        names.insert((made.was.event_id, made.was.connection_id), *one);
                        moves.push(*made);
                    }
                }
            }
            // Where another came before, the item is looked at again.
            let (done, _) = carry_out(&inner.store, moves, now, Kept::ForGood).await?;
            for Done { now, consequence, mut event, event_stays } in done {
                if now.is_settled() {
                    self.fetched(&event, &now, consequence);
                } else if matches!(now.state, State::Waiting { .. }) {
                    self.arrived([&*now]);
                }
                let replied = Replied::Heard {
                    lease_until: now
                        .due_at()
                        .filter(|_| !matches!(now.state, State::Waiting { .. })),
                    status: now.inbox_status(),
                };
                if let Some(name) = names.get(&(now.event_id, now.connection_id)) {
                    told.insert((*name).clone(), replied);
                }
                if event_stays && matches!(now.state, State::Sending { .. }) {
                    inner.leases.remember(now, &mut event); // for longer
                }
            }
        }
        let error = "others keep writing to these items; try again".to_owned();
        match meant.iter().all(|one| told.contains_key(one)) {
            true => Ok(told),
            false => Err(StoreError::Unavailable(error, None)),
        }
    }

    async fn hear(
        &self,
        account: Id<Account>,
        meant: &Meant,
        reply: &Reply,
        now: ferryhook_core::Timestamp,
    ) -> Result<Heard, StoreError> {
        let store = &self.inner().store;
        if let Some((was, event)) = self.remembered(account, meant)
            && let Step::Moves(next) = was.replied(meant.lease, reply, now)
        {
            let made = Move::new(store, was, *next, event, None).await?;
            return Ok(Heard::Moves(Box::new(made)));
        }
        let unknown = Heard::Already(Replied::Unknown);
        let slice = Slice::default().limit(PAGE_MAX);
        let mut all = store.deliveries().list_by_event(meant.event, slice).await?.rows;
        let is_meant = |one: &Stored<Delivery>| {
            let Some(place) = one.inbox.as_ref().filter(|_| one.account_id == account) else {
                return false;
            };
            match &meant.item {
                Item::Over(connection) => one.connection_id == *connection,
                Item::Of(group) => place.group == *group,
            }
        };
        let Some(at) = all.iter().position(is_meant) else { return Ok(unknown) };
        let was = all.swap_remove(at);
        let next = match was.replied(meant.lease, reply, now) {
            Step::Moves(next) => *next,
            Step::Stale => return Ok(Heard::Already(Replied::Stale)),
            Step::Known => {
                let status = was.inbox_status();
                return Ok(Heard::Already(Replied::Heard { lease_until: None, status }));
            }
        };
        let Some(place) = &was.inbox else { return Ok(unknown) };
        let events = store.events();
        let found = events.find_of(was.source_id, place.received_at, was.event_id).await?;
        let Some(event) = found else { return Ok(unknown) };
        let made = Move::new(store, was, next, event, Some(all)).await?;
        Ok(Heard::Moves(Box::new(made)))
    }

    fn remembered(
        &self,
        account: Id<Account>,
        meant: &Meant,
    ) -> Option<(Stored<Delivery>, Stored<Event>)> {
        let Item::Over(connection) = meant.item else { return None };
        let known = self.inner().leases.take(&(meant.event, connection));
        known.filter(|(item, _)| item.account_id == account)
    }
}
