//! A piece of paper that is good for one thing, once, for a while: the link in a letter, the
//! set-up link of a new installation, the pause between a password and its second factor.
//!
//! Whoever has its text has the right, so only its hash is kept. It is bound to what it was made
//! for: a link that verifies an address does nothing once the address has changed, and one that
//! resets a password is void as soon as the password is another.

use std::time::Duration;

use aws_lc_rs::digest;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::session::Method;
use crate::time::seconds;
use crate::{Env, Id, Secret, Timestamp, User};

const BYTES: usize = 32;
/// A longer text is none of ours, and is not hashed.
const TEXT_BYTES_MAX: usize = 128;
/// Wrong codes that a sign-in may have before it begins anew.
pub const TRIES_MAX: u32 = 5;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ticket {
    #[serde(rename = "ticketHash")]
    pub hash: Secret,
    pub purpose: Purpose,
    /// Nobody's when it sets up an installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<Id<User>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// As the user's was; see [`User::session_epoch`].
    pub epoch: u32,
    /// What the user has proved already, where a second factor is awaited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<Method>,
    /// Wrong answers so far.
    pub tries: u32,
    pub created_at: Timestamp,
    #[serde(rename = "ttl", with = "seconds")]
    pub expires_at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    VerifyEmail,
    ResetPassword,
    SetUp,
    SecondFactor,
}

impl Purpose {
    pub const fn lives(self) -> Duration {
        Duration::from_secs(match self {
            Self::VerifyEmail => 48 * 60 * 60,
            Self::ResetPassword => 60 * 60,
            Self::SetUp => 30 * 60,
            Self::SecondFactor => 5 * 60,
        })
    }

    /// What its text begins with, by which people and scanners tell it from other secrets.
    const fn prefix(self) -> &'static str {
        match self {
            Self::VerifyEmail => "fhv_",
            Self::ResetPassword => "fhp_",
            Self::SetUp => "fhs_",
            Self::SecondFactor => "fh2_",
        }
    }
}

impl Ticket {
    /// A ticket and its text, which is not kept.
    pub fn issue(purpose: Purpose, user: Option<&User>, env: &Env) -> (Self, Secret) {
        let now = env.now();
        let mut bytes = [0u8; BYTES];
        env.fill(&mut bytes);
        let text = format!("{}{}", purpose.prefix(), URL_SAFE_NO_PAD.encode(bytes));
        let ticket = Self {
            hash: hash(&text),
            purpose,
            user_id: user.map(|user| user.id),
            email: user.map(|user| user.email.clone()),
            epoch: user.map_or(0, |user| user.session_epoch),
            method: None,
            tries: 0,
            created_at: now,
            expires_at: Timestamp::from_seconds((now + purpose.lives()).as_seconds()),
        };
        (ticket, Secret::new(text))
    }

    /// Where the ticket with this text would be kept; `None` if there can be none.
    pub fn hash_of(text: &str, purpose: Purpose) -> Option<Secret> {
        let is_one = text.starts_with(purpose.prefix()) && text.len() <= TEXT_BYTES_MAX;
        is_one.then(|| hash(text))
    }

    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.expires_at && self.tries < TRIES_MAX
    }

    /// Whether it is still good for this user, as they are now.
    pub fn is_for(&self, user: &User) -> bool {
        self.user_id == Some(user.id)
            && self.epoch == user.session_epoch
            && self.email.as_deref() == Some(&user.email)
    }

    /// After a wrong answer.
    pub fn failed(&self) -> Self {
        Self { tries: self.tries.saturating_add(1), ..self.clone() }
    }
}

fn hash(text: &str) -> Secret {
    let digest = digest::digest(&digest::SHA256, text.as_bytes());
    Secret::new(URL_SAFE_NO_PAD.encode(digest))
}

#[cfg(test)]
mod tests;
