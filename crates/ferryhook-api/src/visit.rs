//! A visit: from where a request came, and what it leaves in the audit log.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::{FromRequestParts, Request};
use axum::http::header;
use axum::http::request::Parts;
use ferryhook_core::{Account, Activity, Id, Map, User};
use ferryhook_net::Peer;
use ferryhook_store::Store;
use serde::Serialize;
use serde_json::Value;

use crate::call::{ApiResult, Describes};
use crate::home;
use crate::limits;
use crate::openapi::Sketch;
use crate::problem::Problem;
use crate::request::RequestId;
use crate::router::App;

/// Cheap to clone; clones are the same visit.
#[derive(Debug, Clone)]
pub struct Visit {
    /// Absent only where there is no network, in tests.
    pub address: Option<IpAddr>,
    pub agent: Option<String>,
    pub request: Option<RequestId>,
    /// The request reached us over TLS, as far as we or a trusted proxy can tell.
    pub is_secure: bool,
    accounted: Arc<AtomicBool>,
    changed: Arc<AtomicBool>,
}

/// One line of the audit log, without what the visit knows.
#[derive(Debug, Clone)]
pub struct Deed<'a> {
    /// Such as `source_created`.
    pub event_type: &'a str,
    /// The noun, such as `source`.
    pub resource: &'a str,
    pub id: &'a str,
    pub details: Map,
}

impl Visit {
    pub(crate) fn of(request: &Request, app: &App) -> Self {
        let headers = request.headers();
        let peer = request.extensions().get::<Peer>().map(|Peer(peer)| peer.ip());
        let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
        let trusts = peer.is_some_and(|peer| app.settings.trusted.trusts(peer));
        let said = headers.get("x-forwarded-proto").and_then(|said| said.to_str().ok());
        Self {
            address: peer.map(|peer| app.settings.trusted.sender(peer, headers)),
            agent: agent.map(|text| text.chars().take(limits::AGENT_CHARACTERS_KEPT).collect()),
            request: request.extensions().get::<RequestId>().copied(),
            is_secure: app.settings.is_secure || (trusts && said == Some("https")),
            accounted: Arc::default(),
            changed: Arc::default(),
        }
    }

    /// A store whose next commit also writes the line.
    pub fn noting(
        &self,
        app: &App,
        account: Id<Account>,
        user: Option<Id<User>>,
        deed: Deed<'_>,
    ) -> Store {
        self.accounted.store(true, Ordering::Relaxed);
        self.changed.store(true, Ordering::Relaxed);
        app.store.noting(Activity {
            account_id: account,
            id: Id::new(&app.env),
            at: app.env.now(),
            user_id: user,
            event_type: deed.event_type.to_owned(),
            resource: deed.resource.to_owned(),
            resource_id: Some(deed.id.to_owned()),
            action: deed.event_type.rsplit('_').next().unwrap_or_default().to_owned(),
            details: Some(deed.details).filter(|details| !details.is_empty()),
            ip_address: self.address.map(|address| address.to_string()),
            user_agent: self.agent.clone(),
            number: None,
            previous_hash: None,
            hash: None,
        })
    }

    /// The same for what somebody does about themselves: the line stands where they are at home. If
    /// that is nowhere there is no log that it could stand in.
    pub(crate) async fn noting_at_home(
        &self,
        app: &App,
        user: &User,
        deed: Deed<'_>,
    ) -> ApiResult<Store> {
        let home = home::of(app, user).await?;
        Ok(match home {
            Some(home) => self.noting(app, home.account.id, Some(user.id), deed),
            None => {
                self.not_for_the_log();
                app.store.clone()
            }
        })
    }

    /// The call was answered and has changed nothing, so there is nothing to write down.
    pub fn nothing_changed(&self) {
        self.accounted.store(true, Ordering::Relaxed);
    }

    /// It changed something that is work rather than management, such as a claim: the audit log
    /// would drown in it.
    pub fn not_for_the_log(&self) {
        self.accounted.store(true, Ordering::Relaxed);
        self.changed.store(true, Ordering::Relaxed);
    }

    /// Whether it may have changed something.
    pub(crate) fn has_changed_something(&self) -> bool {
        self.changed.load(Ordering::Relaxed)
    }

    /// Whether it is known what this visit has changed.
    pub(crate) fn is_accounted(&self) -> bool {
        self.accounted.load(Ordering::Relaxed)
    }
}

/// What was, and what is; of views, which hold no secrets.
pub fn details(before: Option<&impl Serialize>, after: Option<&impl Serialize>) -> Map {
    let mut details = Map::new();
    let before = before.and_then(|view| serde_json::to_value(view).ok());
    let after = after.and_then(|view| serde_json::to_value(view).ok());
    let (before, after) = match (before, after) {
        (Some(Value::Object(before)), Some(Value::Object(after))) => differing(before, after),
        others => others,
    };
    details.extend(before.map(|before| ("before".to_owned(), before)));
    details.extend(after.map(|after| ("after".to_owned(), after)));
    details
}

/// Only the fields in which they differ.
fn differing(mut before: Map, mut after: Map) -> (Option<Value>, Option<Value>) {
    let same: Vec<_> =
        before.iter().filter(|(name, value)| after.get(*name) == Some(value)).collect();
    let same: Vec<_> = same.into_iter().map(|(name, _)| name.clone()).collect();
    for name in same {
        before.shift_remove(&name);
        after.shift_remove(&name);
    }
    (Some(Value::Object(before)), Some(Value::Object(after)))
}

impl FromRequestParts<App> for Visit {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        parts.extensions.get::<Self>().cloned().ok_or_else(Problem::internal)
    }
}

impl Describes for Visit {
    fn describe(_: &mut Sketch) {}
}

#[cfg(test)]
mod tests;
