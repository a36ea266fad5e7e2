//! One sign-in: a browser or a program that a user has proved themselves from.
//!
//! It is renewed by a refresh token, which is a family of values, each used once. A token has two
//! parts: what all of the family have in common, and what only this one has. So one that was
//! replaced long ago is told from a guess: whoever shows it has a copy that they should not have,
//! and the session ends for everybody.
//!
//! Only hashes are kept. A session that has ended is deleted; nothing brings it back.

use std::time::Duration;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::id::Identified;
use crate::time::seconds;
use crate::user::Status;
use crate::{Env, Id, Secret, Timestamp, User};

/// Unused for this long, it has ended.
pub const IDLE_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// However much it is used.
pub const AGE_MAX: Duration = Duration::from_secs(180 * 24 * 60 * 60);
/// How long the token before counts as well: the answer with the new one may have been lost, and
/// two windows of a browser may ask at once.
pub const GRACE: Duration = Duration::from_secs(10);
/// How many tokens may count at once after such losses.
pub const TOKENS_MAX: usize = 4;

const PART_BYTES: usize = 24;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    #[serde(rename = "sessionId")]
    pub id: Id<Session>,
    pub user_id: Id<User>,
    /// As the user's was when it began; see [`User::session_epoch`].
    pub epoch: u32,
    pub method: Method,
    /// Of the part that all tokens of this session share.
    pub family_hash: Secret,
    /// Of those that count: one, or a few after an answer was lost.
    pub token_hashes: Vec<Secret>,
    /// Of those that these have replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced_hashes: Vec<Secret>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotated_at: Option<Timestamp>,
    /// How often it was renewed.
    pub generation: u32,
    pub created_at: Timestamp,
    pub last_used_at: Timestamp,
    #[serde(rename = "ttl", with = "seconds")]
    pub expires_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_address: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
}

impl Identified for Session {
    const PREFIX: &'static str = "ses_";
}

/// How the user proved who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    Password,
    Github,
    Google,
}

/// A refresh token as its holder has it. Its text is `user.session.family.own`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub user: Id<User>,
    pub session: Id<Session>,
    family: Secret,
    own: Secret,
}

/// What becomes of a session that somebody wants to renew.
#[derive(Debug, Clone, PartialEq)]
pub enum Renewal {
    Renewed(Box<Session>, Token),
    /// A token that was replaced: there are two holders, and one of them is a thief.
    Reused,
    /// Not of this session, or too late.
    Refused,
}

impl Session {
    /// A new session and the token that renews it.
    pub fn begin(
        user: &User,
        method: Method,
        ip_address: Option<String>,
        user_agent: Option<String>,
        env: &Env,
    ) -> (Self, Token) {
        let now = env.now();
        let token =
            Token { user: user.id, session: Id::new(env), family: part(env), own: part(env) };
        let session = Self {
            id: token.session,
            user_id: user.id,
            epoch: user.session_epoch,
            method,
            family_hash: hash(&token.family),
            token_hashes: vec![hash(&token.own)],
            replaced_hashes: Vec::new(),
            rotated_at: None,
            generation: 0,
            created_at: now,
            last_used_at: now,
            expires_at: expiry(now, now),
            ip_address,
            user_agent,
        };
        (session, token)
    }

    /// Whether it still opens anything for this user.
    pub fn counts_for(&self, user: &User, now: Timestamp) -> bool {
        self.user_id == user.id
            && self.epoch == user.session_epoch
            && user.status == Status::Active
            && now < self.expires_at
    }

    pub fn renew(&self, shown: &Token, env: &Env) -> Renewal {
        let now = env.now();
        let is_ours = self.id == shown.session && self.user_id == shown.user;
        if !is_ours || now >= self.expires_at || !same(&self.family_hash, &hash(&shown.family)) {
            return Renewal::Refused;
        }
        let own = hash(&shown.own);
        let next = Token { own: part(env), ..shown.clone() };
        let renewed = if any(&self.token_hashes, &own) {
            Self {
                token_hashes: vec![hash(&next.own)],
                replaced_hashes: self.token_hashes.clone(),
                rotated_at: Some(now),
                generation: self.generation.saturating_add(1),
                ..self.clone()
            }
        } else if any(&self.replaced_hashes, &own) && self.is_in_grace(now) {
            let mut token_hashes = self.token_hashes.clone();
            token_hashes.push(hash(&next.own));
            if token_hashes.len() > TOKENS_MAX {
                token_hashes.remove(0);
            }
            Self { token_hashes, ..self.clone() }
        } else {
            return Renewal::Reused;
        };
        let expires_at = expiry(self.created_at, now);
        Renewal::Renewed(Box::new(Self { last_used_at: now, expires_at, ..renewed }), next)
    }

    /// Whether this token, once a valid one, is of this session: enough to end it.
    pub fn is_named_by(&self, shown: &Token) -> bool {
        self.id == shown.session && same(&self.family_hash, &hash(&shown.family))
    }

    fn is_in_grace(&self, now: Timestamp) -> bool {
        self.rotated_at.is_some_and(|at| now.saturating_since(at) <= GRACE)
    }
}

impl Token {
    pub fn to_text(&self) -> String {
        let (family, own) = (self.family.expose(), self.own.expose());
        format!("{}.{}.{family}.{own}", self.user, self.session)
    }

    /// `None` for whatever we have not made.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let mut next = || parts.next();
        let token = Self {
            user: next()?.parse().ok()?,
            session: next()?.parse().ok()?,
            family: read(next()?)?,
            own: read(next()?)?,
        };
        parts.next().is_none().then_some(token)
    }
}

fn read(text: &str) -> Option<Secret> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    (bytes.len() == PART_BYTES).then(|| Secret::new(text))
}

fn part(env: &Env) -> Secret {
    let mut bytes = [0u8; PART_BYTES];
    env.fill(&mut bytes);
    Secret::new(URL_SAFE_NO_PAD.encode(bytes))
}

/// Enough for something that nobody can guess.
fn hash(part: &Secret) -> Secret {
    let digest = digest::digest(&digest::SHA256, part.expose().as_bytes());
    Secret::new(URL_SAFE_NO_PAD.encode(digest))
}

fn any(hashes: &[Secret], own: &Secret) -> bool {
    hashes.iter().fold(false, |found, hash| same(hash, own) | found)
}

fn same(one: &Secret, other: &Secret) -> bool {
    verify_slices_are_equal(one.expose().as_bytes(), other.expose().as_bytes()).is_ok()
}

/// In whole seconds, as it is stored.
fn expiry(created: Timestamp, used: Timestamp) -> Timestamp {
    let end = (used + IDLE_MAX).min(created + AGE_MAX);
    Timestamp::from_seconds(end.as_seconds())
}

#[cfg(test)]
mod tests;
