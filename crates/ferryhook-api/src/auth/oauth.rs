//! Signing in through a platform: the browser leaves for it, and comes back with a code.
//!
//! What leaves is remembered in a state that counts once and for ten minutes, and in a cookie, so
//! that only the browser that left can come back. The code is exchanged from here, with a proof
//! (PKCE) that nobody on the way has. Who somebody is there is the platform's own id; an address
//! counts only if the platform has verified it, and leads to an existing user only if that user
//! has shown that it is theirs.

pub mod github;
pub mod google;
mod platform;
mod who;

use std::time::Duration;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use axum::extract::State;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ferryhook_core::session::Method;
use ferryhook_core::user::Identity;
use ferryhook_core::{Env, OauthState, Secret};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use super::cookies::{self, Cookie};
use super::entry::{self, WithCookie};
use super::refresh::Headers;
use crate::call::{ApiResult, Asked, Redirect};
use crate::problem::{Code, Problem};
use crate::router::App;
use crate::visit::Visit;

pub(crate) use platform::{Left, Platforms, Returned};

const STATE_SECONDS: u64 = 10 * 60;
/// From one address of the network: an office, not a flood.
const DEPARTURES: (u64, Duration) = (60, Duration::from_secs(STATE_SECONDS));
const NEXT_BYTES_MAX: usize = 1024;
const RANDOM_BYTES: usize = 32;

/// Where to go once they are signed in.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Departure {
    /// A path on this server; `/` without it.
    #[serde(default)]
    pub next: Option<String>,
}

/// What the platform sends people back with.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
pub struct Arrival {
    #[serde(default)]
    pub code: Option<String>,
    #[serde(default)]
    pub state: Option<String>,
    /// What went wrong there, in a word.
    #[serde(default)]
    pub error: Option<String>,
}

pub async fn to_github(
    State(app): State<App>,
    visit: Visit,
    Asked(departure): Asked<Departure>,
) -> ApiResult<WithCookie<Redirect>> {
    leave(&app, &visit, Identity::Github, departure).await
}

pub async fn from_github(
    State(app): State<App>,
    visit: Visit,
    Headers(headers): Headers,
    Asked(arrival): Asked<Arrival>,
) -> ApiResult<WithCookie<Redirect>> {
    let browser = Cookie::Errand.read(&visit, &headers);
    arrive(&app, &visit, Identity::Github, arrival, browser).await
}

pub async fn to_google(
    State(app): State<App>,
    visit: Visit,
    Asked(departure): Asked<Departure>,
) -> ApiResult<WithCookie<Redirect>> {
    leave(&app, &visit, Identity::Google, departure).await
}

pub async fn from_google(
    State(app): State<App>,
    visit: Visit,
    Headers(headers): Headers,
    Asked(arrival): Asked<Arrival>,
) -> ApiResult<WithCookie<Redirect>> {
    let browser = Cookie::Errand.read(&visit, &headers);
    arrive(&app, &visit, Identity::Google, arrival, browser).await
}

async fn leave(
    app: &App,
    visit: &Visit,
    at: Identity,
    departure: Departure,
) -> ApiResult<WithCookie<Redirect>> {
    // Each leaves a state behind that is kept for ten minutes.
    app.auth.brake.pace_from("departures", visit.address, DEPARTURES)?;
    let next = next(departure.next.as_deref())?;
    let left = Left {
        state: random(&app.env),
        verifier: random(&app.env),
        nonce: random(&app.env),
        redirect_uri: redirect_uri(app, at),
    };
    let url = app.auth.platforms.url(at, &left).await?;
    let (browser, now) = (random(&app.env), app.env.now());
    let kept = json!({
        "next": next, "nonce": left.nonce.expose(), "browser": hash(browser.expose()),
    });
    let state = OauthState {
        state: left.state,
        user_id: None,
        account_id: None,
        platform_id: word(at).to_owned(),
        redirect_uri: left.redirect_uri,
        code_verifier: Some(left.verifier),
        created_at: now,
        expires_at: now + Duration::from_secs(STATE_SECONDS),
        metadata: kept.as_object().cloned(),
    };
    app.store.oauth_states().create(&state).await?;
    let cookie = cookies::keep_errand(visit, browser.expose(), STATE_SECONDS);
    Ok(WithCookie::one(Redirect(url), cookie))
}

async fn arrive(
    app: &App,
    visit: &Visit,
    at: Identity,
    arrival: Arrival,
    browser: Option<String>,
) -> ApiResult<WithCookie<Redirect>> {
    let state = arrival.state.ok_or_else(lost)?;
    let state = app.store.oauth_states().take(&state).await?.ok_or_else(lost)?;
    let kept = |name: &str| {
        let value = state.metadata.as_ref().and_then(|kept| kept.get(name));
        value.and_then(|value| value.as_str()).unwrap_or_default().to_owned()
    };
    let own = hash(&browser.ok_or_else(lost)?);
    let is_same_browser =
        verify_slices_are_equal(kept("browser").as_bytes(), own.as_bytes()).is_ok();
    if state.platform_id != word(at) || !is_same_browser {
        return Err(lost());
    }
    if let Some(error) = arrival.error {
        let error: String = error.chars().filter(char::is_ascii_graphic).take(60).collect();
        let name = name(at);
        return Err(Problem::new(Code::Forbidden, format!("{name} did not agree: {error}.")));
    }
    let returned = Returned {
        code: Secret::new(arrival.code.ok_or_else(lost)?),
        verifier: state.code_verifier.clone().ok_or_else(lost)?,
        nonce: Secret::new(kept("nonce")),
        redirect_uri: state.redirect_uri.clone(),
    };
    let somebody = app.auth.platforms.who(at, &returned).await?;
    let user = who::find_or_make(app, visit, at, &somebody).await?;
    let (next, method) = (kept("next"), method(at));
    let over = cookies::forget(Cookie::Errand, visit);
    if user.two_factor_enabled {
        let ticket = entry::await_second_factor(app, &user, method).await?;
        // Behind the `#`, where only the page that is shown next can read it.
        let to = format!("{next}#secondFactor={}", ticket.expose());
        return Ok(WithCookie::one(Redirect(to), over));
    }
    let entered = entry::begin(app, visit, user, method, |user| user).await?;
    let cookies = entered.cookie.into_iter().chain(over).collect();
    Ok(WithCookie { answer: Redirect(next), cookies })
}

/// A path here and nowhere else: what a browser would take for another host is refused.
fn next(asked: Option<&str>) -> ApiResult<String> {
    let next = asked.unwrap_or("/");
    let is_path = next.starts_with('/') && !next.starts_with("//");
    let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '\\' | '#');
    if !is_path || next.len() > NEXT_BYTES_MAX || !next.chars().all(is_plain) {
        return Err(Problem::invalid("next", "must be a path on this server such as /sources"));
    }
    Ok(next.to_owned())
}

fn redirect_uri(app: &App, at: Identity) -> String {
    format!("{}/v1/auth/{}/callback", app.auth.settings.base_url, word(at))
}

fn word(at: Identity) -> &'static str {
    match at {
        Identity::Github => "github",
        Identity::Google => "google",
    }
}

fn name(at: Identity) -> &'static str {
    match at {
        Identity::Github => "GitHub",
        Identity::Google => "Google",
    }
}

fn method(at: Identity) -> Method {
    match at {
        Identity::Github => Method::Github,
        Identity::Google => Method::Google,
    }
}

fn random(env: &Env) -> Secret {
    let mut bytes = [0u8; RANDOM_BYTES];
    env.fill(&mut bytes);
    Secret::new(URL_SAFE_NO_PAD.encode(bytes))
}

/// Also what PKCE shows of the verifier when they leave (S256).
fn hash(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()))
}

fn lost() -> Problem {
    Problem::new(
        Code::Forbidden,
        "This sign-in was begun in another browser, more than ten minutes ago, or is over. Begin \
         again.",
    )
}

#[cfg(test)]
mod tests;
