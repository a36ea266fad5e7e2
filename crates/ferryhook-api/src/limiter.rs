//! The limiter: how often one caller may ask within a minute, whichever minute one looks at.
//!
//! In process, and of constant cost and size: a flood of callers makes it forget the quiet ones,
//! never grow.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use ferryhook_core::Env;
use ferryhook_core::sliding::Window;

use crate::caller::Proof;
use crate::limits;
use crate::problem::{Code, Problem};

const MINUTE: Duration = Duration::from_secs(60);

/// Whoever listens answers what we have asked, as often as we ask. That is counted by itself, and so
/// many times as much of it is allowed.
const ANSWERS: &str = "cliSessions.report";
const ANSWERS_RATE: u64 = 60;

/// How many requests a minute each may make; none means as many as they like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rates {
    pub of_key: Option<u64>,
    pub of_person: Option<u64>,
}

/// Cheap to clone: clones count together.
#[derive(Debug, Clone)]
pub struct Limiter {
    rates: Rates,
    env: Env,
    windows: Arc<Mutex<HashMap<String, Window>>>,
}

/// Where a caller stands, for the headers of the answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace(Option<Standing>);

#[derive(Debug, Clone, Copy)]
struct Standing {
    limit: u64,
    remaining: u64,
    /// Seconds until the minute is over.
    reset: u64,
    /// The same as a moment.
    reset_at: i64,
}

impl Limiter {
    pub fn new(rates: Rates, env: Env) -> Self {
        Self { rates, env, windows: Arc::default() }
    }

    pub(crate) fn take(&self, proof: &Proof, operation: &str) -> Result<Pace, Problem> {
        let (limit, name) = match proof {
            Proof::Key { key, .. } => (self.rates.of_key, key.id.to_string()),
            Proof::Person { user, .. } => (self.rates.of_person, user.id.to_string()),
        };
        let (limit, name) = match operation {
            ANSWERS => (limit.map(|limit| limit * ANSWERS_RATE), format!("{name}#{operation}")),
            _ => (limit, name),
        };
        let Some(limit) = limit else { return Ok(Pace(None)) };
        let now = self.env.elapsed();
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= limits::CALLERS_MAX && !windows.contains_key(&name) {
            make_room(&mut windows, now);
        }
        let window = windows.entry(name).or_default();
        let taken = window.take(limit, MINUTE, now);
        let remaining = window.remaining(limit, MINUTE, now);
        drop(windows);
        if let Err(full) = taken {
            let said = format!("{limit} requests a minute are allowed.");
            let problem = Problem::new(Code::RateLimited, said).after(full.wait_seconds);
            let standing = self.standing(limit, 0, full.wait_seconds);
            return Err(problem.with_headers(standing.headers()));
        }
        let reset = 60 - now.as_secs() % 60;
        Ok(Pace(Some(self.standing(limit, remaining, reset))))
    }

    fn standing(&self, limit: u64, remaining: u64, reset: u64) -> Standing {
        let reset_at = (self.env.now() + Duration::from_secs(reset)).as_seconds();
        Standing { limit, remaining, reset, reset_at }
    }
}

/// Lets go of the quiet ones, and of any if all are busy.
fn make_room(windows: &mut HashMap<String, Window>, now: Duration) {
    windows.retain(|_, window| !window.is_quiet(MINUTE, now));
    if windows.len() >= limits::CALLERS_MAX
        && let Some(name) = windows.keys().next().cloned()
    {
        windows.remove(&name);
    }
}

impl Pace {
    pub(crate) fn tell(self, headers: &mut HeaderMap) {
        headers.extend(self.0.into_iter().flat_map(Standing::headers));
    }
}

impl Standing {
    /// Both families: the draft of the standard, and what clients have long read.
    fn headers(self) -> Vec<(HeaderName, HeaderValue)> {
        let Self { limit, remaining, reset, reset_at } = self;
        let headers = [
            ("ratelimit-policy", format!("\"default\";q={limit};w=60")),
            ("ratelimit", format!("\"default\";r={remaining};t={reset}")),
            ("x-ratelimit-limit", limit.to_string()),
            ("x-ratelimit-remaining", remaining.to_string()),
            ("x-ratelimit-reset", reset_at.to_string()),
        ];
        let header = |(name, value): (&'static str, String)| {
            Some((HeaderName::from_static(name), HeaderValue::from_str(&value).ok()?))
        };
        headers.into_iter().filter_map(header).collect()
    }
}

#[cfg(test)]
mod tests;
