//! Tokens that were fetched for connections (OAuth 2.0 client credentials), for as long as they
//! are good.
//!
//! The endpoint is an address that a user typed, so it is called through the guarded client like
//! any destination. For one connection only one request is under way, and whoever wants a token
//! meanwhile waits for what it brings. A token that a destination refuses is not shown again; nor
//! is an endpoint asked again at once that has just failed. All of it is in memory only and may be
//! forgotten at any time.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use ferryhook_core::destination_auth::{Grant, Token, TokenRequest};
use ferryhook_core::{Connection, Env, Id, Secret};
use ferryhook_net::client::{Guard, Identity, Outbound, Outgoing};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, USER_AGENT};
use hyper::{HeaderMap, Method};
use tokio::sync::watch;
use tokio::time::timeout;

use super::hidden;
use crate::{attempt, limits};

pub(crate) struct Tokens {
    outbound: Arc<dyn Outbound>,
    guard: Guard,
    env: Env,
    kept: Mutex<HashMap<Id<Connection>, Slot>>,
}

struct Slot {
    /// What it was fetched with: with anything else it means nothing.
    auth: Option<Secret>,
    state: State,
}

enum State {
    /// Somebody has asked, and tells it here.
    Asked(watch::Receiver<Option<Answer>>),
    Have(Arc<Held>),
    None {
        why: String,
        until: Duration,
    },
}

type Answer = Result<Arc<Held>, String>;

#[derive(Debug, Clone)]
struct Held {
    authorization: HeaderValue,
    since: Duration,
    until: Duration,
}

/// A token for one attempt.
#[derive(Debug, Clone)]
pub(crate) struct Lent {
    held: Arc<Held>,
    /// It was fetched for this attempt, so that there is no better one.
    pub(crate) is_new: bool,
}

impl Lent {
    pub(crate) fn authorization(&self) -> HeaderValue {
        self.held.authorization.clone()
    }

    #[cfg(test)]
    pub(crate) fn sample(is_new: bool) -> Self {
        let (since, until) = (Duration::ZERO, Duration::MAX);
        let authorization = HeaderValue::from_static("Bearer sample");
        Self { held: Arc::new(Held { authorization, since, until }), is_new }
    }
}

/// How a token is come by.
enum Found {
    Have(Arc<Held>),
    Wait(watch::Receiver<Option<Answer>>),
    Ask(watch::Sender<Option<Answer>>),
}

impl Tokens {
    pub(crate) fn new(outbound: Arc<dyn Outbound>, guard: Guard, env: Env) -> Self {
        Self { outbound, guard, env, kept: Mutex::default() }
    }

    /// A token, and how long it took to get it: at most half of what the attempt has, so that the
    /// destination gets the other half.
    pub(crate) async fn get(
        &self,
        connection: &Connection,
        grant: &Grant,
        identity: Option<&Identity>,
        attempt: Duration,
    ) -> Result<(Lent, Duration), String> {
        let (begun, within) = (self.env.elapsed(), attempt / 2);
        let fetched = match self.find(connection, begun)? {
            Found::Have(held) => return Ok((Lent { held, is_new: false }, Duration::ZERO)),
            Found::Ask(tell) => {
                let fetched = self.fetch(grant, identity, within).await.map(Arc::new);
                self.keep(connection, &tell, &fetched);
                tell.send_replace(Some(fetched.clone()));
                fetched
            }
            Found::Wait(mut told) => {
                let told = timeout(within, told.wait_for(Option::is_some)).await;
                let told = told.ok().and_then(Result::ok).and_then(|answer| answer.clone());
                told.unwrap_or_else(|| Err("no token came in time".to_owned()))
            }
        };
        let took = self.env.elapsed().saturating_sub(begun);
        Ok((Lent { held: fetched?, is_new: true }, took))
    }

    /// A destination did not take it, so another is fetched. For a moment it is shown all the same
    /// if it is young: whoever refuses them all must not have us ask for a new one each time.
    pub(crate) fn refused(&self, connection: Id<Connection>, lent: &Lent) {
        let mut kept = self.kept();
        let Some(slot) = kept.get_mut(&connection) else { return };
        match &slot.state {
            State::Have(held) if Arc::ptr_eq(held, &lent.held) => {
                let until = held.until.min(held.since + limits::TOKEN_PAUSE);
                slot.state = State::Have(Arc::new(Held { until, ..Held::clone(held) }));
            }
            _ => {} // it is replaced already, or about to be
        }
    }

    fn find(&self, connection: &Connection, now: Duration) -> Result<Found, String> {
        let mut kept = self.kept();
        let slot = kept.get(&connection.id).filter(|slot| slot.auth == connection.auth);
        match slot.map(|slot| &slot.state) {
            Some(State::Have(held)) if now < held.until => return Ok(Found::Have(held.clone())),
            Some(State::None { why, until }) if now < *until => return Err(why.clone()),
            // Unless whoever asked was cut off and will never tell.
            Some(State::Asked(told)) if told.has_changed().is_ok() => {
                return Ok(Found::Wait(told.clone()));
            }
            _ => {}
        }
        if kept.len() >= limits::TOKENS_MAX && !kept.contains_key(&connection.id) {
            make_room(&mut kept);
        }
        let (tell, told) = watch::channel(None);
        let slot = Slot { auth: connection.auth.clone(), state: State::Asked(told) };
        kept.insert(connection.id, slot);
        Ok(Found::Ask(tell))
    }

    /// Unless the connection has changed meanwhile, and somebody has asked anew.
    fn keep(&self, connection: &Connection, tell: &watch::Sender<Option<Answer>>, answer: &Answer) {
        let mut kept = self.kept();
        let is_ours = |slot: &&mut Slot| matches!(&slot.state, State::Asked(told) if told.same_channel(&tell.subscribe()));
        let Some(slot) = kept.get_mut(&connection.id).filter(is_ours) else { return };
        slot.state = match answer {
            Ok(held) => State::Have(held.clone()),
            Err(why) => {
                let until = self.env.elapsed() + limits::TOKEN_PAUSE;
                State::None { why: why.clone(), until }
            }
        };
    }

    async fn fetch(
        &self,
        grant: &Grant,
        identity: Option<&Identity>,
        within: Duration,
    ) -> Result<Held, String> {
        let target = self.guard.target(&grant.token_url);
        let target =
            target.map_err(|refusal| format!("the token endpoint cannot be called: {refusal}"))?;
        let TokenRequest { authorization, form } = grant.request();
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
        headers.insert(CONTENT_TYPE, kind);
        headers.insert(USER_AGENT, HeaderValue::from_static(attempt::USER_AGENT));
        if let Some(value) = authorization {
            let value = HeaderValue::try_from(value.expose());
            headers.insert(AUTHORIZATION, value.map(hidden).map_err(|error| error.to_string())?);
        }
        let since = self.env.elapsed();
        let sending = self.outbound.send(Outgoing {
            identity: identity.filter(|_| target.is_secure()).cloned(),
            target,
            method: Method::POST,
            headers,
            body: Bytes::from(form.expose().to_owned()),
            timeout: within,
        });
        let reply = sending.await.map_err(|unsent| {
            // The client calls whomever it calls the destination.
            let message = unsent.message.replace("the destination", "it");
            format!("the token endpoint gave no answer: {message}")
        })?;
        let token = Token::read(reply.status, &reply.body).map_err(|bad| bad.to_string())?;
        let value = HeaderValue::try_from(token.authorization.expose());
        let margin = (token.lifetime / 10).min(limits::TOKEN_MARGIN);
        Ok(Held {
            authorization: value.map(hidden).map_err(|error| error.to_string())?,
            since,
            until: since + token.lifetime - margin,
        })
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<Id<Connection>, Slot>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.kept().len()
    }
}

/// Of a few, which chance picked, the one that is good for the shortest time.
fn make_room(kept: &mut HashMap<Id<Connection>, Slot>) {
    const SAMPLE: usize = 8;
    let until = |slot: &Slot| match &slot.state {
        State::Have(held) => held.until,
        State::None { until, .. } => *until,
        State::Asked(_) => Duration::MAX,
    };
    let first = kept.iter().take(SAMPLE).min_by_key(|(_, slot)| until(slot));
    if let Some(id) = first.map(|(id, _)| *id) {
        kept.remove(&id);
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").finish_non_exhaustive()
    }
}
