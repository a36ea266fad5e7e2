//! Text that must not reach a log: signing secrets, hashes, credentials.
//!
//! Stored like any other text. Whoever needs the characters says so with [`Secret::expose`].

use std::fmt;

use aws_lc_rs::{constant_time, digest};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::signature::SECRETS_MAX;
use crate::{Env, Timestamp, limits};

/// In the order of ASCII.
pub(crate) const BASE62: &[u8; 62] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// `==` is for tests and for noticing a change; it takes longer the more characters agree, so a
/// stranger's guess is never compared with it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A new signing secret, in the form that the libraries of receivers read.
    pub fn generate(env: &Env) -> Self {
        let mut bytes = [0u8; 32];
        env.fill(&mut bytes);
        Self(format!("whsec_{}", STANDARD.encode(bytes)))
    }

    /// This many letters and digits, all equally likely: almost six bits each.
    pub fn letters(count: usize, env: &Env) -> Self {
        let mut text = String::with_capacity(count);
        let mut bytes = [0u8; 64];
        while text.len() < count {
            env.fill(&mut bytes);
            // Of the 256 values of a byte the last ones would favour the first letters.
            let even = bytes.iter().filter(|byte| usize::from(**byte) < 256 / 62 * 62);
            let letters = even.map(|byte| char::from(BASE62[usize::from(*byte) % 62]));
            text.extend(letters.take(count - text.len()));
        }
        Self(text)
    }

    /// What is kept of a secret that is only ever compared. Good for secrets that were drawn, not
    /// for those that people think of: trying out a dictionary costs nothing.
    pub fn hash(&self) -> Self {
        let digest = digest::digest(&digest::SHA256, self.0.as_bytes());
        Self(digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Whether it is the same, in a time that tells nothing of where it differs.
    pub fn is(&self, guess: &Secret) -> bool {
        let (own, guess) = (self.0.as_bytes(), guess.0.as_bytes());
        constant_time::verify_slices_are_equal(own, guess).is_ok()
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// A secret that was replaced and is honoured for a while longer, so that both sides need not
/// change over at the same moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Previous {
    pub secret: Secret,
    pub valid_until: Timestamp,
}

impl Previous {
    /// What is honoured beside the secret that follows `replaced` now: that one for a day, and
    /// of the earlier ones those whose time has not run out, the newest first.
    pub fn after_rotation(replaced: Secret, earlier: &[Previous], now: Timestamp) -> Vec<Previous> {
        let newest = Previous { secret: replaced, valid_until: now + limits::SECRET_OVERLAP };
        let earlier = earlier.iter().filter(|old| now < old.valid_until).cloned();
        std::iter::once(newest).chain(earlier).take(SECRETS_MAX - 1).collect()
    }
}

#[cfg(test)]
mod tests;
