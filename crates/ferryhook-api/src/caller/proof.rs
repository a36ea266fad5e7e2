//! Proof: what a request carries to show who sends it.

use aws_lc_rs::digest::{SHA256, digest};
use axum::http::{HeaderMap, header};
use ferryhook_core::{Key, User, user};
use ferryhook_store::Stored;

use crate::problem::{Code, Problem};
use crate::router::App;

/// Keys are told from tokens by this beginning.
pub(crate) const KEY_PREFIX: &str = "fh_";

#[derive(Debug, Clone)]
pub(crate) enum Proof {
    Person { user: Stored<User>, session: String },
    Key { key: Stored<Key>, user: Stored<User> },
}

/// Looks at what the request carries. Everything that does not hold is refused in the same words.
pub(crate) async fn prove(app: &App, headers: &HeaderMap) -> Result<Proof, Problem> {
    match credential(headers)? {
        text if text.starts_with(KEY_PREFIX) => key(app, text).await,
        text => person(app, text).await,
    }
}

fn credential(headers: &HeaderMap) -> Result<&str, Problem> {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().map_err(|_| refused()));
    let bearer = text(header::AUTHORIZATION.as_str()).transpose()?.map(|value| {
        let (scheme, rest) = value.split_once(' ').ok_or_else(refused)?;
        scheme.eq_ignore_ascii_case("bearer").then(|| rest.trim()).ok_or_else(refused)
    });
    match (bearer.transpose()?, text("x-api-key").transpose()?) {
        (Some(credential), None) => Ok(credential),
        (None, Some(key)) if key.starts_with(KEY_PREFIX) => Ok(key),
        (None, Some(_)) => Err(refused()),
        (Some(bearer), Some(key)) if bearer == key => Ok(key),
        (Some(_), Some(_)) => Err(refused()),
        (None, None) => Err(Problem::new(
            Code::Unauthorized,
            "Sign in, or send a key in the header Authorization: Bearer or X-API-Key.",
        )),
    }
}

async fn key(app: &App, text: &str) -> Result<Proof, Problem> {
    let key = app.store.keys().find_by_hash(&hash(text)).await?.ok_or_else(refused)?;
    if !key.is_usable(app.env.now()) {
        return Err(refused());
    }
    let user = app.store.users().find(key.user_id).await?.ok_or_else(refused)?;
    if user.status != user::Status::Active {
        return Err(refused());
    }
    Ok(Proof::Key { key, user })
}

async fn person(app: &App, text: &str) -> Result<Proof, Problem> {
    let _ = (app, text);
    Err(refused())
}

/// What is kept of a key.
pub(crate) fn hash(key: &str) -> String {
    digest(&SHA256, key.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn refused() -> Problem {
    Problem::new(
        Code::Unauthorized,
        "The token or key is not valid: it may be mistyped, expired or revoked.",
    )
}
