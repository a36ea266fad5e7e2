//! What the rest of the system is owed after an outcome: people are told, a connection whose
//! destination is gone stops.

use ferryhook_core::connection::Status;
use ferryhook_core::delivery::{Consequence, State};
use ferryhook_core::operational::Operational;
use ferryhook_core::{Attempt, Connection, Delivery, Event, Source};

use super::Courier;
use super::carry::Hand;
use super::settle::Outcomes;
use crate::attempt::Made;
use crate::feed::Happening;
use crate::lanes::LaneOf;
use crate::limits;
use crate::signals::Signal;
use crate::tally::{Course, End, Tried};

impl Courier {
    /// Once it is written down what came of a delivery.
    pub(crate) fn count(&self, event: &Event, next: &Delivery, attempt: Option<&Attempt>) {
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
        (made, signal): (Option<&Made>, Option<&Signal>),
    ) {
        let (connection, status) = (of.id.connection, made.map(|made| made.attempt.status_code));
        match (consequence, signal) {
            (Consequence::Nothing, _) => {}
            (Consequence::Alert, _) => {
                self.0.gauges.gave_up();
                tracing::warn!(event.id = %event.id, connection.id = %connection, account.id = %of.account,
                    status, "a delivery was given up; replay it once the destination works");
            }
            (Consequence::DisableConnection, Some(Signal::Called(call))) => {
                self.0.gauges.gave_up();
                self.unsubscribe(*call).await;
            }
            (Consequence::DisableConnection, _) => {
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
            let reason = "the destination answered 410 Gone".to_owned();
            let said =
                Operational::connection_disabled(of.id.connection.as_str(), &was.name, &reason);
            // What fails while Ferryhook speaks of itself is not spoken of; people are told.
            let is_event = of.source != Source::own_id(of.account);
            let prepare = || self.prepare(of.account, &said, is_event);
            let Some(prepared) = inner.until_stored(prepare).await else { return };
            let now = Connection {
                status: Status::Paused,
                status_reason: Some(reason),
                updated_at: inner.env.now(),
                ..was.record.clone()
            };
            match connections.disable(&was, &now, &prepared.announcement).await {
                Ok(()) => {
                    self.changed(Some(of.source)).await;
                    self.announced(prepared);
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
