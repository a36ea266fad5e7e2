//! Users, in the main table: the head of the partition that their sources and keys are kept in.

use ferryhook_core::user::Identity;
use ferryhook_core::{Id, User};

use crate::key::{IndexKey, Key};
use crate::record::{Kind, Record, Secrets};
use crate::tables::{Index, Table};

pub(crate) fn partition(id: Id<User>) -> String {
    format!("USER#{id}")
}

pub(crate) fn key(id: Id<User>) -> Key {
    Key::new(Table::Main, partition(id), "PROFILE")
}

const EMAIL: &str = "EMAIL#";

/// Addresses that differ only in case reach the same person.
pub(crate) fn email_value(email: &str) -> String {
    format!("{EMAIL}{}", email.trim().to_lowercase())
}

pub(crate) fn is_email_value(value: &str) -> bool {
    value.starts_with(EMAIL)
}

pub(crate) fn identity_value(identity: Identity, id: &str) -> String {
    match identity {
        Identity::Github => format!("GITHUB#{id}"),
        Identity::Google => format!("GOOGLE#{id}"),
    }
}

impl Record for User {
    const KIND: Kind = Kind::User;
    const VERSION: u8 = 2;
    /// What is the user's alone is sealed with a key of their own, in whatever account they work:
    /// name the attribute here. A password's hash is not among them: it opens nothing.
    const SECRETS: Option<Secrets> =
        Some(Secrets { owner: Some("userId"), named_by: &["userId"], attributes: &["totpSecret"] });

    fn key(&self) -> Key {
        key(self.id)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        let email = email_value(&self.email);
        vec![IndexKey::new(Index::UserByEmail, email, "USER")]
    }
}
