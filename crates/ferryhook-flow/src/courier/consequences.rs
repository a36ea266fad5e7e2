//! What the rest of the system is owed after an outcome: people are told, a connection whose
//! destination is gone stops.

use ferryhook_core::connection::Status;
use ferryhook_core::delivery::{Consequence, State};
use ferryhook_core::{Attempt, Connection, Delivery, Event};

use super::Courier;
use super::carry::Hand;
use super::settle::Outcomes;
use crate::attempt::Made;
use crate::feed::Happening;
use crate::lanes::LaneOf;
use crate::limits;
use crate::tally::{Course, End, Tried};

impl Courier {
    /// Once it is written down what came of a delivery.
    pub(super) fn count(&self, event: &Event, next: &Delivery, attempt: Option<&Attempt>) {
        let course = Course {
            account: event.account_id,
            source: event.source_id,
            connection: next.connection_id,
        };
        let end = match next.state {
            State::Delivered { .. } => Some(End::Delivered),
            State::Failed { .. } => Some(End::Failed),
            _ => None,
        };
        let tried = attempt
            .map(|attempt| Tried { status: attempt.status_code, latency_ms: attempt.latency_ms });
        self.0.tally.carried(course, tried, end, self.0.now().wall);
    }

    /// For those who watch.
    pub(super) fn tell(&self, hand: &Hand, outcomes: &Outcomes) {
        let inner = &self.0;
        let (event, next) = (hand.event(), &outcomes.delivery);
        if let State::Waiting { .. } = next.state {
            inner.gauges.put_off();
        }
        let Some(made) = &outcomes.made else { return };
        if inner.feed.receiver_count() > 0 {
            let _ = inner.feed.send(Happening::Attempted {
                event: event.id,
                source: event.source_id,
                connection: next.connection_id,
                destination: made.attempt.destination_url.clone(),
                status: made.attempt.status_code,
                error: made.attempt.error.clone(),
                latency_ms: made.attempt.latency_ms,
                delivered: matches!(next.state, State::Delivered { .. }),
            });
        }
    }

    pub(super) async fn follow(
        &self,
        of: &LaneOf,
        event: &Event,
        consequence: Consequence,
        made: Option<&Made>,
    ) {
        let (connection, status) = (of.id.connection, made.map(|made| made.attempt.status_code));
        match consequence {
            Consequence::Nothing => {}
            Consequence::Alert => {
                self.0.gauges.gave_up();
                tracing::warn!(event.id = %event.id, connection.id = %connection, account.id = %of.account,
                    status, "a delivery was given up; replay it once the destination works");
            }
            Consequence::DisableConnection => {
                self.0.gauges.gave_up();
                tracing::warn!(event.id = %event.id, connection.id = %connection, account.id = %of.account,
                    "the destination is gone for good (410); the connection is paused");
                self.disable(of).await;
            }
        }
    }

    async fn disable(&self, of: &LaneOf) {
        let inner = &self.0;
        let connections = inner.store.connections();
        for _ in 0..limits::CONFLICT_TRIES_MAX {
            let find = || connections.find_of(of.source, of.id.connection);
            let Some(Some(was)) = inner.until_stored(find).await else { return };
            if was.status != Status::Active {
                return;
            }
            let now = Connection {
                status: Status::Paused,
                status_reason: Some("the destination answered 410 Gone".to_owned()),
                updated_at: inner.env.now(),
                ..was.record.clone()
            };
            match connections.replace(&was, now).await {
                Ok(_) => {
                    self.changed(Some(of.source)).await;
                    return;
                }
                Err(error) if error.is_refused() => {}
                Err(error) => {
                    tracing::warn!(%error, connection.id = %of.id.connection, "cannot be paused");
                    return;
                }
            }
        }
    }
}
