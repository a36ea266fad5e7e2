//! An alert: something fails and people should know, once; it works again and they should know
//! that, once.
//!
//! What fails is a connection, or a quota that is used up. Outcomes are counted in memory by a
//! [`Watch`]; the record is written only when an alert fires or is over, and whoever writes it
//! first is the one who tells. A function of outcomes, settings and the time, nothing else.

mod settings;

use serde::{Deserialize, Serialize};

use crate::time::seconds;
use crate::{Account, Id, Source, Timestamp, limits};

pub use settings::{BadSettings, Digest, Settings};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Alert {
    pub account_id: Id<Account>,
    /// What fails: the id of a connection, or the name of a quota with its period.
    pub subject: String,
    /// Of a connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id: Option<Id<Source>>,
    /// Its name, for people.
    pub what: String,
    #[serde(flatten)]
    pub state: State,
    /// The last time.
    pub fired_at: Timestamp,
    /// How often it has fired.
    pub times: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_status_code: Option<u16>,
    pub updated_at: Timestamp,
    /// Absent as long as it fires.
    #[serde(
        rename = "ttl",
        default,
        with = "seconds::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub expires_at: Option<Timestamp>,
}

/// Stored flat: the word under `state`, and beside it what that state has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum State {
    Firing,
    Recovered { recovered_at: Timestamp },
}

impl Alert {
    /// A new one, which fires.
    pub fn fired(account_id: Id<Account>, subject: &str, what: &str, now: Timestamp) -> Self {
        Self {
            account_id,
            subject: subject.to_owned(),
            source_id: None,
            what: what.to_owned(),
            state: State::Firing,
            fired_at: now,
            times: 1,
            reason: None,
            last_error: None,
            last_status_code: None,
            updated_at: now,
            expires_at: None,
        }
    }

    pub fn is_firing(&self) -> bool {
        self.state == State::Firing
    }

    /// The same, which fires once more.
    pub fn again(&self, now: Timestamp) -> Self {
        Self {
            state: State::Firing,
            fired_at: now,
            times: self.times.saturating_add(1),
            updated_at: now,
            expires_at: None,
            ..self.clone()
        }
    }

    /// The same, over.
    pub fn recovered(&self, now: Timestamp) -> Self {
        Self {
            state: State::Recovered { recovered_at: now },
            updated_at: now,
            expires_at: Some(Timestamp::from_seconds((now + limits::ALERT_KEPT).as_seconds())),
            ..self.clone()
        }
    }
}

/// What came of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Delivered,
    /// It will be tried again.
    Failed,
    /// It was given up.
    Dead,
}

/// What is to be done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Nothing,
    Fire(Reason),
    Recover,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// This many deliveries were given up.
    Dead(u32),
    /// This many attempts failed in a row.
    Failed(u32),
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Dead(1) => f.write_str("a delivery was given up"),
            Self::Dead(count) => write!(f, "{count} deliveries were given up"),
            Self::Failed(count) => write!(f, "{count} attempts failed in a row"),
        }
    }
}

/// The outcomes of one connection, as far as they matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watch {
    /// In a row.
    failures: u32,
    dead: u32,
    /// The first of them.
    since: Option<Timestamp>,
}

impl Watch {
    /// Nothing has failed lately.
    pub fn is_calm(&self) -> bool {
        self.since.is_none()
    }

    /// Counts an outcome. `alert` is what the store has.
    pub fn note(
        &mut self,
        outcome: Outcome,
        alert: Option<&Alert>,
        settings: &Settings,
        now: Timestamp,
    ) -> Step {
        let is_firing = alert.is_some_and(Alert::is_firing);
        if outcome == Outcome::Delivered {
            self.failures = 0;
            if self.dead == 0 || is_firing {
                *self = Self::default();
            }
            return if is_firing { Step::Recover } else { Step::Nothing };
        }
        let is_old = |since: Timestamp| now.saturating_since(since) > settings.window;
        if self.since.is_some_and(is_old) {
            *self = Self::default();
        }
        self.since.get_or_insert(now);
        self.failures = self.failures.saturating_add(1);
        self.dead = self.dead.saturating_add(u32::from(outcome == Outcome::Dead));
        // One that comes and goes must not be told each time.
        let rests = alert.is_some_and(|alert| now < alert.fired_at + limits::ALERT_PAUSE);
        if is_firing || rests {
            return Step::Nothing;
        }
        if self.dead >= settings.dead_deliveries {
            Step::Fire(Reason::Dead(self.dead))
        } else if self.failures >= settings.failed_attempts {
            Step::Fire(Reason::Failed(self.failures))
        } else {
            Step::Nothing
        }
    }
}

#[cfg(test)]
mod tests;
