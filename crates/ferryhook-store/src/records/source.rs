//! Sources, in the main table under the user who owns their account.

use ferryhook_core::{Id, Source, User};

use super::{Shard, user, word};
use crate::key::{IndexKey, Key};
use crate::record::{Kind, Record, Secrets};
use crate::tables::{Index, Table};

pub(crate) const PREFIX: &str = "SRC#";

pub(crate) fn key(owner: Id<User>, id: Id<Source>) -> Key {
    Key::new(Table::Main, user::partition(owner), format!("{PREFIX}{id}"))
}

/// Of everything that is kept under a source, in either table.
pub(crate) fn partition(id: Id<Source>) -> String {
    ["SRC#", id.as_str()].concat()
}

pub(crate) fn by_id(id: Id<Source>) -> IndexKey {
    IndexKey::new(Index::SourceOrConnectionById, format!("SRCID#{id}"), "SOURCE")
}

/// All sources of all accounts, for the one who looks after what they hold; in the index of the
/// keys' hashes, like the lanes of connections.
pub(crate) fn everywhere(shard: Shard) -> String {
    format!("SOURCES#{}", shard.partition())
}

impl Record for Source {
    const KIND: Kind = Kind::Source;
    /// `config` as a whole: passwords and keys of providers are among it, under many names.
    const SECRETS: Option<Secrets> = Some(Secrets {
        owner: Some("accountId"),
        named_by: &["sourceId"],
        attributes: &["signingSecret", "previousSecrets", "config"],
    });

    fn key(&self) -> Key {
        key(self.user_id, self.id)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        let account = self.account_id.to_string();
        let everywhere = everywhere(Shard::of_source(self.id));
        vec![
            by_id(self.id),
            IndexKey::new(Index::KeyByHash, everywhere, self.id.as_str()),
            IndexKey::new(Index::AccountPlatform, account.clone(), &*self.provider),
            IndexKey::new(Index::AccountStatus, account, word(self.status)),
        ]
    }
}
