//! A connect or sign-in that a user has begun at a platform and not yet come back from.
//!
//! Used once: whoever returns with the state takes the record away with it.

use serde::{Deserialize, Serialize};

use crate::time::seconds;
use crate::{Account, Id, Map, Secret, Timestamp, User};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OauthState {
    pub state: Secret,
    // Absent when someone signs in: who it is will be known when they return.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<Id<User>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account_id: Option<Id<Account>>,
    pub platform_id: String,
    pub redirect_uri: String,
    /// Our half of the PKCE exchange.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_verifier: Option<Secret>,
    #[serde(with = "seconds")]
    pub created_at: Timestamp,
    #[serde(with = "seconds")]
    pub expires_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map>,
}

impl OauthState {
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }
}
