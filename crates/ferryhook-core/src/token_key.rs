//! A key that access tokens are signed with: P-256, for a month, then the next one.
//!
//! It goes on verifying until the last token that it signed has run out, and is then forgotten.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::time::seconds;
use crate::{Env, Secret, Timestamp};

/// How long a key signs.
pub const SIGNS_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How long it is kept: a day more than it signs, which is longer than any token lives.
pub const KEPT_FOR: Duration = Duration::from_secs(31 * 24 * 60 * 60);

const NAME_BYTES: usize = 8;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenKey {
    #[serde(rename = "keyId")]
    pub id: String,
    /// PKCS #8, in base64.
    pub private_key: Secret,
    pub created_at: Timestamp,
    #[serde(rename = "ttl", with = "seconds")]
    pub expires_at: Timestamp,
}

impl TokenKey {
    pub fn new(private_key: Secret, env: &Env) -> Self {
        let now = env.now();
        let mut bytes = [0u8; NAME_BYTES];
        env.fill(&mut bytes);
        let id = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let expires_at = Timestamp::from_seconds((now + KEPT_FOR).as_seconds());
        Self { id, private_key, created_at: now, expires_at }
    }

    pub fn may_sign(&self, now: Timestamp) -> bool {
        now < self.created_at + SIGNS_FOR
    }

    pub fn may_verify(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }
}

#[cfg(test)]
mod tests;
