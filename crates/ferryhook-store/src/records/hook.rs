//! Hooks, each in a partition of its own, found from their account, and by whoever looks after the
//! queues of their deliveries.

use ferryhook_core::{Hook, Id};

use super::Shard;
use crate::key::{IndexKey, Key};
use crate::record::{Kind, Record, Secrets};
use crate::tables::{Index, Table};

pub(crate) fn key(id: Id<Hook>) -> Key {
    Key::alone(Table::Hooks, id.as_str())
}

impl Record for Hook {
    const KIND: Kind = Kind::Hook;
    /// 2 has `previousSecrets` and `statusReason`.
    const VERSION: u8 = 2;
    const SECRETS: Option<Secrets> = Some(Secrets {
        owner: Some("accountId"),
        named_by: &["webhookId"],
        attributes: &["secret", "previousSecrets", "headers"],
    });

    fn key(&self) -> Key {
        key(self.id)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        let active = i64::from(self.is_active);
        let lanes = Shard::of_connection(self.way_id()).partition();
        vec![
            IndexKey::new(Index::HookActive, self.account_id.as_str(), active),
            IndexKey::new(Index::HookLanes, lanes, self.id.as_str()),
        ]
    }
}
