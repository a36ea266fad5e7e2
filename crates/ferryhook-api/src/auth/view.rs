//! What clients are shown of people and their sessions. No secret is among it, but for the access
//! token that was just made.

use ferryhook_core::member::Role;
use ferryhook_core::session::Method;
use ferryhook_core::{Account, Id, Map, Session, Timestamp, User, user};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::tokens;

/// Somebody is signed in. The refresh token is in a cookie.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignedIn {
    /// For the header `Authorization: Bearer`.
    pub access_token: String,
    /// How long it counts, in seconds.
    pub expires_in: u64,
    pub user: Profile,
    /// Where requests go that name no account. Absent for somebody who is in none any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<HomeAccount>,
}

/// A person, as they see themselves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Profile {
    #[schema(value_type = String)]
    pub user_id: Id<User>,
    pub email: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_name: Option<String>,
    #[schema(value_type = String)]
    pub status: user::Status,
    pub email_verified: bool,
    pub two_factor_enabled: bool,
    /// Recovery codes that are left.
    pub recovery_codes_left: usize,
    /// Whether they can sign in with a password.
    pub has_password: bool,
    pub github_linked: bool,
    pub google_linked: bool,
    pub plan: String,
    /// Absent for somebody who is in no account any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub default_account_id: Option<Id<Account>>,
    /// The dashboard's own notes.
    #[schema(value_type = Object)]
    pub preferences: Map,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_login_at: Option<Timestamp>,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// The account that somebody is in by default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HomeAccount {
    #[schema(value_type = String)]
    pub account_id: Id<Account>,
    pub account_name: String,
    /// What they may do there.
    #[schema(value_type = String)]
    pub role: Role,
}

/// A browser or program that somebody is signed in with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Session)]
pub struct SessionView {
    #[schema(value_type = String)]
    pub session_id: Id<Session>,
    /// The one that asks.
    pub is_current: bool,
    /// How they proved who they are: `password`, `github` or `google`.
    #[schema(value_type = String)]
    pub method: Method,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_address: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub last_used_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

impl SignedIn {
    pub(crate) fn new(access_token: String, user: &User, account: Option<HomeAccount>) -> Self {
        let expires_in = tokens::LIVES.as_secs();
        let user = Profile::of(user, account.as_ref().map(|account| account.account_id));
        Self { access_token, expires_in, user, account }
    }
}

impl Profile {
    /// Of somebody who is at home there.
    pub(crate) fn of(user: &User, home: Option<Id<Account>>) -> Self {
        Self {
            user_id: user.id,
            email: user.email.clone(),
            name: user.name.clone(),
            first_name: user.first_name.clone(),
            last_name: user.last_name.clone(),
            status: user.status,
            email_verified: user.email_verified,
            two_factor_enabled: user.two_factor_enabled,
            recovery_codes_left: user.recovery_codes.len(),
            has_password: user.password_hash.is_some(),
            github_linked: user.github_id.is_some(),
            google_linked: user.google_id.is_some(),
            plan: user.plan.clone(),
            default_account_id: home,
            preferences: user.preferences.clone().unwrap_or_default(),
            last_login_at: user.last_login_at,
            created_at: user.created_at,
            updated_at: user.updated_at,
        }
    }
}

impl SessionView {
    pub(crate) fn of(session: &Session, current: Id<Session>) -> Self {
        Self {
            session_id: session.id,
            is_current: session.id == current,
            method: session.method,
            ip_address: session.ip_address.clone(),
            user_agent: session.user_agent.clone(),
            created_at: session.created_at,
            last_used_at: session.last_used_at,
            expires_at: session.expires_at,
        }
    }
}
