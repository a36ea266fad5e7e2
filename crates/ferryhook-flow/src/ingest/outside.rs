//! What the door has to fetch to judge a request: the certificates that some providers sign with,
//! and the address that confirms a subscription.
//!
//! Both URLs come from strangers. Their hosts were checked against the provider's own before they
//! get here, and every call goes through the guarded client. A certificate is fetched once a day;
//! one that could not be had is not asked for again at once.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use ferryhook_core::Env;
use ferryhook_core::verify::Certificates;
use ferryhook_net::client::{Guard, Outbound, Outgoing, Reply};
use hyper::{HeaderMap, Method};
use tokio::sync::Semaphore;

use super::limits;

/// Whom the door may call.
#[derive(Clone)]
pub struct Outside {
    pub outbound: Arc<dyn Outbound>,
    pub guard: Guard,
}

impl Outside {
    /// What is there, or in a sentence why nothing is.
    pub(super) async fn get(&self, url: &str) -> Result<Bytes, String> {
        let target = self.guard.target(url).map_err(|refusal| refusal.to_string())?;
        let outgoing = Outgoing {
            target,
            method: Method::GET,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            identity: None,
            timeout: limits::FETCH,
        };
        match self.outbound.send(outgoing).await {
            Ok(Reply { status: 200..=299, body, .. }) => Ok(body),
            Ok(Reply { status, .. }) => Err(format!("it answered {status}")),
            Err(unsent) => Err(unsent.to_string()),
        }
    }
}

impl fmt::Debug for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outside").field("guard", &self.guard).finish_non_exhaustive()
    }
}

/// The certificates of providers, by address.
#[derive(Debug)]
pub(super) struct Fetched {
    outside: Option<Outside>,
    env: Env,
    kept: Mutex<HashMap<String, Kept>>,
    /// A stranger can name as many addresses as they like.
    turns: Semaphore,
}

#[derive(Debug)]
struct Kept {
    certificate: Option<Bytes>,
    until: Duration,
}

impl Fetched {
    pub(super) fn new(outside: Option<Outside>, env: Env) -> Self {
        let turns = Semaphore::new(limits::FETCHES_AT_ONCE);
        Self { outside, env, kept: Mutex::default(), turns }
    }

    /// Whether it is there then.
    pub(super) async fn fetch(&self, url: &str) -> bool {
        let now = self.env.elapsed();
        if let Some(known) = self.known(url, now) {
            return known;
        }
        let Some(outside) = &self.outside else { return false };
        let Ok(_turn) = self.turns.try_acquire() else { return false };
        let (certificate, fresh_for) = match outside.get(url).await {
            Ok(certificate) => (Some(certificate), limits::CERTIFICATE_FRESH_FOR),
            Err(error) => {
                tracing::warn!(url, error, "a provider's certificate cannot be fetched");
                (None, limits::CERTIFICATE_PAUSE)
            }
        };
        let is_there = certificate.is_some();
        let mut kept = self.kept();
        if kept.len() >= limits::CERTIFICATES_MAX {
            kept.retain(|_, one| now < one.until && one.certificate.is_some());
        }
        if kept.len() < limits::CERTIFICATES_MAX {
            kept.insert(url.to_owned(), Kept { certificate, until: now + fresh_for });
        }
        is_there
    }

    fn known(&self, url: &str, now: Duration) -> Option<bool> {
        let kept = self.kept();
        let known = kept.get(url).filter(|known| now < known.until)?;
        Some(known.certificate.is_some())
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<String, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn outside(&self) -> Option<&Outside> {
        self.outside.as_ref()
    }
}

impl Certificates for Fetched {
    fn find(&self, url: &str) -> Option<Bytes> {
        let now = self.env.elapsed();
        self.kept().get(url).filter(|kept| now < kept.until)?.certificate.clone()
    }
}
