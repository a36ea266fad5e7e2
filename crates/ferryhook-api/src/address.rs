//! Where this server is reached, for answers that name one of its addresses.

use axum::extract::FromRequestParts;
use axum::http::header::HOST;
use axum::http::request::Parts;
use ferryhook_net::Peer;

use crate::call::Describes;
use crate::openapi::Sketch;
use crate::problem::Problem;
use crate::router::App;
use crate::visit::Visit;

/// Without a slash at the end. As the operator has set it; where nothing is set, as the client
/// reached us, which is right for whoever tries things out. Empty where nobody asks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Address(String);

impl Address {
    /// The whole address of a path; nothing where nobody asks.
    pub fn of(&self, path: &str) -> String {
        match self.0.is_empty() {
            true => String::new(),
            false => format!("{}{path}", self.0),
        }
    }
}

impl FromRequestParts<App> for Address {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        if let Some(url) = &app.settings.public_url {
            return Ok(Self(url.clone()));
        }
        let is_secure = parts.extensions.get::<Visit>().is_some_and(|visit| visit.is_secure);
        let peer = parts.extensions.get::<Peer>();
        let is_proxied = peer.is_some_and(|Peer(peer)| app.settings.trusted.trusts(peer.ip()));
        let said = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
        let forwarded = said("x-forwarded-host").filter(|_| is_proxied);
        let forwarded = forwarded.and_then(|hosts| hosts.split(',').next()).map(str::trim);
        let authority = parts.uri.authority().map(|authority| authority.as_str());
        let host = forwarded.or_else(|| said(HOST.as_str())).or(authority);
        let scheme = if is_secure { "https" } else { "http" };
        Ok(Self(format!("{scheme}://{}", host.unwrap_or("localhost"))))
    }
}

impl Describes for Address {
    fn describe(_: &mut Sketch) {}
}
