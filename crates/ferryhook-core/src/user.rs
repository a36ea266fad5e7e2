//! A person who can sign in.
//!
//! What they may do is not here: a [`Member`](crate::Member) says that, per account.

use serde::{Deserialize, Serialize};

use crate::id::Identified;
use crate::time::seconds;
use crate::{Account, Id, Map, Secret, Timestamp};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    #[serde(rename = "userId")]
    pub id: Id<User>,
    pub email: String,
    /// What they are called in the dashboard; the two parts are kept where they are known.
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_name: Option<String>,
    /// Absent for someone who signs in only through GitHub or Google.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_hash: Option<Secret>,
    pub status: Status,
    pub email_verified: bool,
    pub two_factor_enabled: bool,
    /// Of the app that shows codes. Here before it is enabled too: until the first code was right
    /// it is only an offer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub totp_secret: Option<Secret>,
    /// The latest step whose code was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub totp_last_step: Option<u64>,
    /// Hashes of those that are left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recovery_codes: Vec<Secret>,
    /// Counts up when every session has to end: only those that began under this number count.
    #[serde(default)]
    pub session_epoch: u32,
    /// The id of a [`Plan`](crate::Plan). Text, because operators add plans of their own.
    pub plan: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripe_customer_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripe_sub_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub github_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub google_id: Option<String>,
    pub usage_this_month: u64,
    pub usage_period_start: Timestamp,
    #[serde(default, with = "seconds::option", skip_serializing_if = "Option::is_none")]
    pub last_login_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferences: Option<Map>,
    /// Where a request goes that names no account.
    pub default_account_id: Id<Account>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Where else than here somebody can prove who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Identity {
    Github,
    Google,
}

impl Identity {
    pub const ALL: [Identity; 2] = [Identity::Github, Identity::Google];
}

impl User {
    /// Who they are there; the platform's own id, which never changes as an address may.
    pub fn identity(&self, at: Identity) -> Option<&str> {
        match at {
            Identity::Github => self.github_id.as_deref(),
            Identity::Google => self.google_id.as_deref(),
        }
    }

    #[must_use]
    pub fn with_identity(mut self, at: Identity, id: &str) -> Self {
        match at {
            Identity::Github => self.github_id = Some(id.to_owned()),
            Identity::Google => self.google_id = Some(id.to_owned()),
        }
        self
    }
}

impl Identified for User {
    const PREFIX: &'static str = "usr_";
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Active,
    Inactive,
    Suspended,
}
