//! Connections, in the main table under their source.

use ferryhook_core::connection::{DestinationType, Status};
use ferryhook_core::{Connection, Id, Source, Timestamp, limits};

use super::{Shard, source, word};
use crate::key::{IndexKey, Key};
use crate::record::{Kind, Record, Secrets};
use crate::tables::{Index, Table};

pub(crate) const PREFIX: &str = "CONN#";

pub(crate) fn key(of: Id<Source>, id: Id<Connection>) -> Key {
    Key::new(Table::Main, source::partition(of), format!("{PREFIX}{id}"))
}

pub(crate) fn by_id(id: Id<Connection>) -> IndexKey {
    IndexKey::new(Index::SourceOrConnectionById, format!("CONNID#{id}"), "CONNECTION")
}

/// All connections of all accounts, for the one who looks after their queues. The index is that
/// of the keys' hashes, which has room: both are found by a text that nothing else begins with.
pub(crate) fn lanes(shard: Shard) -> String {
    format!("LANES#{}", shard.partition())
}

impl Record for Connection {
    const KIND: Kind = Kind::Connection;
    /// 2 has `orderingPolicy`.
    const VERSION: u8 = 2;
    /// Headers may be credentials, and so may what a destination needs beyond an address.
    const SECRETS: Option<Secrets> = Some(Secrets {
        owner: Some("accountId"),
        named_by: &["connectionId"],
        attributes: &["signingSecret", "previousSecrets", "auth", "headers", "destinationConfig"],
    });

    fn key(&self) -> Key {
        key(self.source_id, self.id)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        let account = self.account_id.to_string();
        vec![
            IndexKey::new(Index::KeyByHash, lanes(Shard::of_connection(self.id)), self.id.as_str()),
            by_id(self.id),
            IndexKey::new(Index::AccountStatus, account, word(self.status)),
        ]
    }

    /// What a session of `ferryhook listen` leaves behind does not pile up.
    fn expires_at(&self) -> Option<Timestamp> {
        let is_over = self.status == Status::Deleted;
        (is_over && self.destination_type == DestinationType::Cli)
            .then(|| self.updated_at + limits::CLI_CONNECTION_KEPT)
    }
}
