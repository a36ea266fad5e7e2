//! The steps of an item: a delivery that is fetched. Like those of one that is sent they are pure,
//! and one that does not apply changes nothing.
//!
//! Its attempts are its leases, counted when they begin. That a lease has run out is noticed by the
//! next who comes for the item; until then whoever had it may still reply.

use super::{Place, Reply, Settings};
use crate::delivery::{Consequence, Failure, Lane, Next, State};
use crate::event::Status;
use crate::{Connection, Delivery, Event, Id, Timestamp, limits};

/// What becomes of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// It leads on to this.
    Moves(Box<Next>),
    /// It was said before, and counts already.
    Known,
    Stale,
}

impl Delivery {
    /// `event` for those who share the inbox that `over` leads to, from now on.
    pub fn to_fetch(
        event: &Event,
        over: Id<Connection>,
        settings: &Settings,
        now: Timestamp,
    ) -> Self {
        Self {
            event_id: event.id,
            connection_id: over,
            source_id: event.source_id,
            account_id: event.account_id,
            state: State::Waiting { next_attempt_at: now },
            lane: Lane::Live,
            attempts: 0,
            attempts_before: 0,
            order_key: None,
            last_status_code: None,
            last_error: None,
            created_at: now,
            updated_at: now,
            expires_at: event.expires_at,
            inbox: Some(Place {
                group: settings.group.clone(),
                leases_max: settings.leases_max,
                event_type: event.event_type.clone(),
                received_at: event.received_at,
                alone: false,
            }),
        }
    }

    /// The word for where an item stands, to those who fetch.
    pub fn inbox_status(&self) -> Status {
        match (self.state, self.leases()) {
            (State::Waiting { .. }, 0) | (State::Sending { .. }, ..=1) => Status::Received,
            (State::Waiting { .. }, _) | (State::Failed { .. }, _) => Status::Failed,
            (State::Sending { .. }, _) => Status::Retrying,
            (State::Held { .. }, _) => Status::Held,
            (State::Delivered { .. }, _) => Status::Delivered,
            (State::Cancelled { .. }, _) => Status::Filtered,
        }
    }

    /// How often it was leased before this time.
    pub fn retry_count(&self) -> u32 {
        u32::from(self.attempts.saturating_sub(1))
    }

    /// Leased until `until`, or given up because it has been leased often enough; `None` when it is
    /// not there to be leased.
    pub fn fetch(&self, until: Timestamp, now: Timestamp) -> Option<Next> {
        let place = self.inbox.as_ref()?;
        self.due_at().filter(|due| *due <= now)?;
        if self.leases() >= place.leases_max {
            return Some(self.given_up("nobody replied before its last lease ran out", now));
        }
        let leased = Self {
            state: State::Sending { lease_until: until },
            attempts: self.attempts.saturating_add(1),
            updated_at: now,
            ..self.clone()
        };
        Some(Next { delivery: leased, consequence: Consequence::Nothing })
    }

    /// What a reply to its lease of this number comes to; to whichever it has, if none is named.
    pub fn replied(&self, lease: Option<u16>, reply: &Reply, now: Timestamp) -> Step {
        if self.inbox.is_none() || lease.is_some_and(|lease| lease != self.attempts) {
            return Step::Stale;
        }
        match (self.state, reply) {
            (State::Sending { .. }, Reply::Ack) => self.acknowledged(now),
            // Who names the event and no lease may be done with it before anybody fetched it.
            (State::Waiting { .. }, Reply::Ack) if lease.is_none() => self.acknowledged(now),
            (State::Delivered { .. }, Reply::Ack) => Step::Known,
            (State::Sending { .. }, Reply::Nack { delay, reason }) => {
                moves(self.given_back(now + *delay, reason.as_deref(), now))
            }
            (State::Sending { .. }, Reply::Extend { visibility }) => {
                let state = State::Sending { lease_until: now + *visibility };
                let delivery = Self { state, updated_at: now, ..self.clone() };
                moves(Next { delivery, consequence: Consequence::Nothing })
            }
            _ => Step::Stale,
        }
    }

    /// For the next who comes after `until`, if it may be leased once more.
    fn given_back(&self, until: Timestamp, reason: Option<&str>, now: Timestamp) -> Next {
        if self.inbox.as_ref().is_some_and(|place| self.leases() >= place.leases_max) {
            return self.given_up(reason.unwrap_or("given back the last time"), now);
        }
        let state = State::Waiting { next_attempt_at: until };
        let last_error = reason.map(kept);
        let delivery = Self { state, last_error, updated_at: now, ..self.clone() };
        Next { delivery, consequence: Consequence::Nothing }
    }

    fn acknowledged(&self, now: Timestamp) -> Step {
        let state = State::Delivered { settled_at: now };
        let delivery = Self { state, last_error: None, updated_at: now, ..self.clone() };
        moves(Next { delivery, consequence: Consequence::Nothing })
    }

    fn given_up(&self, error: &str, now: Timestamp) -> Next {
        let state = State::Failed { reason: Failure::Exhausted, settled_at: now };
        let last_error = Some(kept(error));
        let delivery = Self { state, last_error, updated_at: now, ..self.clone() };
        Next { delivery, consequence: Consequence::Alert }
    }

    /// Since it was last replayed.
    fn leases(&self) -> u16 {
        self.attempts.saturating_sub(self.attempts_before)
    }
}

fn moves(next: Next) -> Step {
    Step::Moves(Box::new(next))
}

fn kept(reason: &str) -> String {
    reason.chars().take(limits::ERROR_CHARACTERS_KEPT).collect()
}
