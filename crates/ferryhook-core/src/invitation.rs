//! An invitation into an account: for one address, with one role, once.
//!
//! Whoever is invited gets a token, which is shown to nobody else and of which only the hash is
//! kept. The token says where the invitation lies, so that no index has to be asked.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::Identified;
use crate::member::{self, Role};
use crate::time::seconds;
use crate::{Account, Env, Id, Map, Member, Secret, Timestamp, User, limits};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Invitation {
    #[serde(rename = "invitationId")]
    pub id: Id<Invitation>,
    pub account_id: Id<Account>,
    /// Only someone with this address can accept.
    pub email: String,
    pub role: Role,
    pub invited_by: Id<User>,
    pub token_hash: Secret,
    pub status: Status,
    /// Who accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<Id<User>>,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    /// When the row goes: people want to see for a while what became of it.
    #[serde(rename = "ttl", with = "seconds")]
    pub kept_until: Timestamp,
}

impl Identified for Invitation {
    const PREFIX: &'static str = "inv_";
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = InvitationStatus)]
pub enum Status {
    Pending,
    Accepted,
    Revoked,
    /// Never stored: what a pending one is called once its time has run out.
    Expired,
}

impl Invitation {
    /// A new invitation and the token that accepts it.
    pub fn new(
        account: Id<Account>,
        email: &str,
        role: Role,
        invited_by: Id<User>,
        env: &Env,
    ) -> (Self, Token) {
        let now = env.now();
        let token = Token::new(account, Id::new(env), env);
        let expires_at = now + limits::INVITATION_LIVES;
        let kept_until = (expires_at + limits::INVITATION_KEPT).as_seconds();
        let invitation = Self {
            id: token.invitation,
            account_id: account,
            email: email.trim().to_owned(),
            role,
            invited_by,
            token_hash: token.text().hash(),
            status: Status::Pending,
            user_id: None,
            created_at: now,
            expires_at,
            kept_until: Timestamp::from_seconds(kept_until),
        };
        (invitation, token)
    }

    pub fn status_at(&self, now: Timestamp) -> Status {
        match self.status {
            Status::Pending if now >= self.expires_at => Status::Expired,
            status => status,
        }
    }

    /// Whether the token opens it at `now`.
    pub fn is_opened_by(&self, token: &Token, now: Timestamp) -> bool {
        self.status_at(now) == Status::Pending && self.token_hash.is(&token.text().hash())
    }

    /// Addresses that differ only in case reach the same person.
    pub fn is_for(&self, email: &str) -> bool {
        self.email.trim().to_lowercase() == email.trim().to_lowercase()
    }

    /// The invitation once `user` has accepted it.
    pub fn accepted(&self, user: Id<User>) -> Self {
        Self { status: Status::Accepted, user_id: Some(user), ..self.clone() }
    }

    /// The place in the account that it gives.
    pub fn member(&self, user: Id<User>, now: Timestamp) -> Member {
        Member {
            user_id: user,
            account_id: self.account_id,
            role: self.role,
            permissions: Map::new(),
            is_default: false,
            joined_at: now,
            invited_by: Some(self.invited_by),
            status: member::Status::Active,
        }
    }
}

/// What is sent to the one who is invited.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    pub account: Id<Account>,
    pub invitation: Id<Invitation>,
    secret: Secret,
}

impl Token {
    const PREFIX: &'static str = "fh_inv_";
    const ID: usize = 16;
    const SECRET: usize = 32;

    fn new(account: Id<Account>, invitation: Id<Invitation>, env: &Env) -> Self {
        Self { account, invitation, secret: Secret::letters(Self::SECRET, env) }
    }

    /// `None` for anything that no token looks like.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(Self::PREFIX).filter(|rest| rest.is_ascii())?;
        if rest.len() != 2 * Self::ID + Self::SECRET {
            return None;
        }
        let (account, rest) = rest.split_at(Self::ID);
        let (invitation, secret) = rest.split_at(Self::ID);
        Some(Self {
            account: format!("{}{account}", Account::PREFIX).parse().ok()?,
            invitation: format!("{}{invitation}", Invitation::PREFIX).parse().ok()?,
            secret: Secret::new(secret),
        })
    }

    pub fn text(&self) -> Secret {
        let account = self.account.as_str().strip_prefix(Account::PREFIX).unwrap_or_default();
        let invitation =
            self.invitation.as_str().strip_prefix(Invitation::PREFIX).unwrap_or_default();
        Secret::new(format!("{}{account}{invitation}{}", Self::PREFIX, self.secret.expose()))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({})", self.invitation)
    }
}

#[cfg(test)]
mod tests;
