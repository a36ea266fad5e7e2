//! Hooks, each in a partition of its own, found from their account.

use ferryhook_core::{Hook, Id};

use crate::key::{IndexKey, Key};
use crate::record::{Kind, Record, Secrets};
use crate::tables::{Index, Table};

pub(crate) fn key(id: Id<Hook>) -> Key {
    Key::alone(Table::Hooks, id.as_str())
}

impl Record for Hook {
    const KIND: Kind = Kind::Hook;
    const SECRETS: Option<Secrets> = Some(Secrets {
        owner: Some("accountId"),
        named_by: &["webhookId"],
        attributes: &["secret", "headers"],
    });

    fn key(&self) -> Key {
        key(self.id)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        let active = i64::from(self.is_active);
        vec![IndexKey::new(Index::HookActive, self.account_id.as_str(), active)]
    }
}
