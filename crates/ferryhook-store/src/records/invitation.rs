//! Invitations, in the main table under their account.

use ferryhook_core::{Account, Id, Invitation, Timestamp};

use super::word;
use crate::key::{IndexKey, Key};
use crate::record::{Kind, Record};
use crate::tables::{Index, Table};

pub(crate) const PREFIX: &str = "INV#";

pub(crate) fn partition(of: Id<Account>) -> String {
    format!("ACC#{of}")
}

pub(crate) fn key(of: Id<Account>, id: Id<Invitation>) -> Key {
    Key::new(Table::Main, partition(of), format!("{PREFIX}{id}"))
}

impl Record for Invitation {
    const KIND: Kind = Kind::Invitation;

    fn key(&self) -> Key {
        key(self.account_id, self.id)
    }

    /// Its attributes put it there, among the account's sources and keys; nobody asks for it.
    fn indexes(&self) -> Vec<IndexKey> {
        let account = self.account_id.as_str();
        vec![IndexKey::new(Index::AccountStatus, account, word(self.status))]
    }

    fn expires_at(&self) -> Option<Timestamp> {
        Some(self.kept_until)
    }
}
