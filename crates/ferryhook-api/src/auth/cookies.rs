//! Cookies: where a browser keeps what scripts on a page must not read.
//!
//! The refresh token is in one and nowhere else. Over TLS its name begins with `__Host-`, so that
//! no other host of the domain can set it; without TLS (at home, in tests) it has a plain name and
//! the narrowest path. It is sent to this site only, and whoever uses it is asked where they come
//! from on top of that.

use axum::http::{HeaderMap, HeaderValue, header};
use ferryhook_core::session::{self, Token};

use crate::problem::{Code, Problem};
use crate::visit::Visit;

const REFRESH: &str = "ferryhook_refresh";
const REFRESH_PATH: &str = "/v1/auth";
/// Which browser has left for a platform; read when the platform sends it back, so that it has to
/// come along from there.
const ERRAND: &str = "ferryhook_oauth";
const ERRAND_PATH: &str = "/v1/auth";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cookie {
    Refresh,
    Errand,
}

impl Cookie {
    fn name(self, is_secure: bool) -> String {
        let name = match self {
            Self::Refresh => REFRESH,
            Self::Errand => ERRAND,
        };
        match is_secure {
            true => format!("__Host-{name}"),
            false => name.to_owned(),
        }
    }

    fn write(self, visit: &Visit, value: &str, seconds: u64) -> Option<HeaderValue> {
        let name = self.name(visit.is_secure);
        let path = match self {
            _ if visit.is_secure => "/",
            Self::Refresh => REFRESH_PATH,
            Self::Errand => ERRAND_PATH,
        };
        let site = match self {
            Self::Refresh => "Strict",
            Self::Errand => "Lax",
        };
        let secure = if visit.is_secure { "; Secure" } else { "" };
        HeaderValue::from_str(&format!(
            "{name}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite={site}{secure}"
        ))
        .ok()
    }

    /// What the browser has, if it has exactly one.
    pub(crate) fn read(self, visit: &Visit, headers: &HeaderMap) -> Option<String> {
        let name = self.name(visit.is_secure);
        let all = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let pairs = all.flat_map(|line| line.split(';')).filter_map(|pair| pair.split_once('='));
        let mut found = pairs.filter(|(key, _)| key.trim() == name).map(|(_, value)| value.trim());
        let first = found.next()?.to_owned();
        found.next().is_none().then_some(first)
    }
}

pub(crate) fn keep_token(visit: &Visit, token: &Token) -> Option<HeaderValue> {
    Cookie::Refresh.write(visit, &token.to_text(), session::IDLE_MAX.as_secs())
}

pub(crate) fn keep_errand(visit: &Visit, value: &str, seconds: u64) -> Option<HeaderValue> {
    Cookie::Errand.write(visit, value, seconds)
}

pub(crate) fn forget(cookie: Cookie, visit: &Visit) -> Option<HeaderValue> {
    cookie.write(visit, "", 0)
}

pub(crate) fn token(visit: &Visit, headers: &HeaderMap) -> Option<Token> {
    Token::parse(&Cookie::Refresh.read(visit, headers)?)
}

/// Refuses what a page of another site has set off. Browsers say where a request comes from;
/// programs that say nothing have no cookies of somebody else to abuse.
pub(crate) fn require_own_site(headers: &HeaderMap, base_url: &str) -> Result<(), Problem> {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let is_own_site =
        text("sec-fetch-site").is_none_or(|site| matches!(site, "same-origin" | "none"));
    let (host, own) = (text("host").unwrap_or_default(), authority(base_url));
    let is_own_origin = text("origin").is_none_or(|origin| {
        authority(origin).is_some_and(|from| from == host || Some(from) == own)
    });
    match is_own_site && is_own_origin {
        true => Ok(()),
        false => Err(Problem::new(
            Code::Forbidden,
            "This was asked for by a page of another site, and is for our own pages only.",
        )),
    }
}

/// Host and port of an address.
fn authority(url: &str) -> Option<&str> {
    let rest = url.split_once("://")?.1;
    rest.split('/').next().filter(|authority| !authority.is_empty())
}

#[cfg(test)]
mod tests;
