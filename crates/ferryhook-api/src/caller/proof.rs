//! Proof: what a request carries to show who sends it.

use axum::http::{HeaderMap, header};
use ferryhook_core::key::PlainKey;
use ferryhook_core::{Key, Session, User, user};
use ferryhook_store::Stored;

use crate::problem::{Code, Problem};
use crate::router::App;
use crate::tokens::BadToken;

/// Keys are told from tokens by this beginning.
pub(crate) const KEY_PREFIX: &str = "fh_";

#[derive(Debug, Clone)]
pub(crate) enum Proof {
    Person { user: Stored<User>, session: Stored<Session> },
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
    let plain = PlainKey::parse(text).ok_or_else(refused)?;
    let keys = app.store.keys();
    let key = keys.find_by_hash(plain.hash().expose()).await?.ok_or_else(refused)?;
    let now = app.env.now();
    if !key.is_usable(now) {
        return Err(refused());
    }
    let user = app.store.users().find(key.user_id).await?.ok_or_else(refused)?;
    if user.status != user::Status::Active {
        return Err(refused());
    }
    if key.is_use_news(now)
        && let Err(error) = keys.touch(key.user_id, key.id, now).await
    {
        tracing::warn!(%error, key.id = %key.id, "the use of a key cannot be noted");
    }
    Ok(Proof::Key { key, user })
}

async fn person(app: &App, text: &str) -> Result<Proof, Problem> {
    let claims = app.auth.tokens.verify(text).await?;
    // The token would do until it runs out; the session is read so that an end counts at once.
    let session = app.store.sessions().find(claims.user, claims.session).await?;
    let session = session.ok_or_else(refused)?;
    let user = app.store.users().find(claims.user).await?.ok_or_else(refused)?;
    match session.counts_for(&user, app.env.now()) {
        true => Ok(Proof::Person { user, session }),
        false => Err(refused()),
    }
}

impl From<BadToken> for Problem {
    fn from(error: BadToken) -> Self {
        match error {
            BadToken::Store(error) => error.into(),
            BadToken::Unsigned => {
                tracing::error!(%error, "access tokens cannot be signed");
                Self::internal()
            }
            BadToken::Foreign | BadToken::Forged | BadToken::Expired => refused(),
        }
    }
}

fn refused() -> Problem {
    Problem::new(
        Code::Unauthorized,
        "The token or key is not valid: it may be mistyped, expired or revoked.",
    )
}
