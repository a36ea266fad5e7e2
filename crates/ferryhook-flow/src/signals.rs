//! Signals: what the outcomes of deliveries mean for people, and what Ferryhook itself has to say.
//!
//! Woken by the courier after an outcome is written, and only where it matters: a connection that
//! works costs one look into a map. One task counts the rest, fires and ends alerts, and keeps the
//! records of hooks. Whatever is told goes into the commit of what it tells about; how often a
//! connection has failed is remembered in memory only, and begins anew with the process.
//!
//! Deliveries of what Ferryhook itself has said count for nothing here: that would never end.

mod announce;
mod calls;
mod watch;

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use ferryhook_core::alert::{Outcome, Settings, Watch};
use ferryhook_core::delivery::{Consequence, Next, State};
use ferryhook_core::operational::Operational;
use ferryhook_core::quick::QuickMap;
use ferryhook_core::{Account, Alert, Connection, Delivery, Hook, Id, Source, User};
use ferryhook_store::Stored;
use tokio::sync::Notify;

use crate::attempt::Made;
use crate::courier::{Courier, lock};
use crate::limits;
use crate::routes::Way;
use calls::Calls;

/// Something for a letter, at once: who should get it, and what it is about.
#[derive(Debug, Clone)]
pub struct Alarm {
    pub account: Id<Account>,
    pub users: Vec<Id<User>>,
    pub said: Operational,
}

type Bell = Arc<dyn Fn(Alarm) + Send + Sync>;

/// An outcome that matters.
#[derive(Debug, Clone)]
pub(crate) enum Signal {
    Outcome(Box<Report>),
    Called(Call),
}

/// Of an attempt over a connection.
#[derive(Debug, Clone)]
pub(crate) struct Report {
    account: Id<Account>,
    source: Id<Source>,
    connection: Id<Connection>,
    name: String,
    outcome: Outcome,
    /// Absent when there was no answer.
    status: Option<u16>,
    error: Option<String>,
}

/// Of an attempt over the way of a hook.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub(crate) hook: Id<Hook>,
    /// What was called about is something that Ferryhook itself has said.
    pub(crate) of_ours: bool,
    succeeded: bool,
    status: u16,
}

#[derive(Default)]
pub(crate) struct Signals {
    queue: Mutex<VecDeque<Report>>,
    bell: Notify,
    known: Mutex<QuickMap<Id<Connection>, Known>>,
    settings: Mutex<HashMap<Id<Account>, (Duration, Settings)>>,
    calls: Mutex<HashMap<Id<Hook>, Calls>>,
    letters: OnceLock<Bell>,
}

/// What is known of a connection.
#[derive(Debug, Default)]
struct Known {
    watch: Watch,
    /// As the store has it, or had it then.
    alert: Option<Stored<Alert>>,
    read_at: Duration,
}

impl Known {
    fn is_calm(&self) -> bool {
        self.watch.is_calm() && self.alert.as_ref().is_none_or(|alert| !alert.is_firing())
    }
}

impl Courier {
    /// Called whenever an account that wants letters at once should get one.
    pub fn on_alarm(&self, ring: impl Fn(Alarm) + Send + Sync + 'static) {
        // Once, by whoever puts the parts together.
        let _ = self.inner().signals.letters.set(Arc::new(ring));
    }

    /// What an attempt means beyond its delivery; mostly nothing.
    pub(crate) fn signal(&self, way: &Way, next: &Next, made: &Made) -> Option<Signal> {
        let connection = &way.connection;
        let succeeded = matches!(next.delivery.state, State::Delivered { .. });
        let status = made.attempt.status_code;
        if let Some(hook) = way.hook {
            let of_ours = is_of_ours(connection);
            return Some(Signal::Called(Call { hook, of_ours, succeeded, status }));
        }
        let outcome = match next.consequence {
            _ if succeeded => Outcome::Delivered,
            Consequence::Alert => Outcome::Dead,
            _ => Outcome::Failed,
        };
        if outcome == Outcome::Delivered && self.is_known_to_work(connection.id) {
            return None;
        }
        // Of a connection that is paused for it, that is told instead.
        if next.consequence == Consequence::DisableConnection {
            return None;
        }
        let status = Some(status).filter(|status| *status > 0);
        report(connection, outcome, status, made.attempt.error.as_deref())
    }

    /// Of a delivery that was given up although nothing was sent.
    pub(crate) fn signal_without_attempt(&self, way: &Way, error: &str) -> Option<Signal> {
        match way.hook {
            Some(_) => None,
            None => report(&way.connection, Outcome::Dead, None, Some(error)),
        }
    }

    /// An item of the inbox is settled, which says something of those who fetch.
    pub(crate) fn heed_item(&self, item: &Delivery) {
        let outcome = match item.state {
            State::Failed { .. } => Outcome::Dead,
            State::Delivered { .. } if !self.is_known_to_work(item.connection_id) => {
                Outcome::Delivered
            }
            _ => return,
        };
        if item.source_id == Source::own_id(item.account_id) {
            return;
        }
        let group = item.inbox.as_ref().map(|place| place.group.to_string());
        self.heed(Signal::Outcome(Box::new(Report {
            account: item.account_id,
            source: item.source_id,
            connection: item.connection_id,
            name: format!("inbox {}", group.unwrap_or_default()),
            outcome,
            status: None,
            error: item.last_error.clone(),
        })));
    }

    fn is_known_to_work(&self, connection: Id<Connection>) -> bool {
        let inner = self.inner();
        let known = lock(&inner.signals.known);
        let is_fresh = |known: &&Known| {
            // Another process may have fired meanwhile.
            let age = inner.env.elapsed().saturating_sub(known.read_at);
            !inner.shared || age < limits::ALERT_FRESH_FOR
        };
        known.get(&connection).filter(is_fresh).is_some_and(Known::is_calm)
    }

    /// The outcome is written.
    pub(crate) fn heed(&self, signal: Signal) {
        let signals = &self.inner().signals;
        match signal {
            Signal::Called(call) => self.count_call(call),
            Signal::Outcome(report) => {
                let mut queue = lock(&signals.queue);
                // What is lost here is said by the next one that fails, or succeeds.
                if queue.len() < limits::SIGNALS_MAX {
                    queue.push_back(*report);
                    signals.bell.notify_one();
                }
            }
        }
    }

    /// Heeds what is reported, and writes down now and then what hooks were called with.
    pub(crate) async fn heed_until(&self, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        let mut flush = pin!(tokio::time::sleep(limits::CALLS_FLUSH_EVERY));
        loop {
            tokio::select! {
                biased;
                () = stop.as_mut() => return,
                () = self.inner().signals.bell.notified() => self.heed_all().await,
                () = flush.as_mut() => {
                    self.flush_calls().await;
                    flush.set(tokio::time::sleep(limits::CALLS_FLUSH_EVERY));
                }
            }
        }
    }

    /// Everything that was reported until now.
    pub(crate) async fn heed_all(&self) {
        loop {
            let Some(report) = lock(&self.inner().signals.queue).pop_front() else { return };
            let connection = report.connection;
            if let Err(error) = self.watch_over(report).await {
                tracing::warn!(%error, connection.id = %connection, "an alert has to wait");
            }
        }
    }
}

impl std::fmt::Debug for Signals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signals").finish_non_exhaustive()
    }
}

/// Whether what goes over it is what Ferryhook itself says.
fn is_of_ours(connection: &Connection) -> bool {
    connection.source_id == Source::own_id(connection.account_id)
}

/// Nothing where whoever listens sees for themselves.
fn report(
    connection: &Connection,
    outcome: Outcome,
    status: Option<u16>,
    error: Option<&str>,
) -> Option<Signal> {
    if is_of_ours(connection) || connection.is_listened_to() {
        return None;
    }
    Some(Signal::Outcome(Box::new(Report {
        account: connection.account_id,
        source: connection.source_id,
        connection: connection.id,
        name: connection.name.clone(),
        outcome,
        status,
        error: error.map(str::to_owned),
    })))
}

#[cfg(test)]
mod tests;
