//! Alerts, in the main table under their account.
//!
//! All of them stand in one partition of an index too: there are few, and whoever writes a digest
//! has to find them all.

use ferryhook_core::{Account, Alert, Id, Timestamp};

use super::erasure::partition;
use crate::key::{IndexKey, Key};
use crate::record::{Kind, Record};
use crate::tables::{Index, Table};

pub(crate) const PREFIX: &str = "ALERT#";
/// No source's or connection's id is spelled like this.
pub(crate) const ALL: &str = "ALERTS";

pub(crate) fn key(of: Id<Account>, subject: &str) -> Key {
    Key::new(Table::Main, partition(of), format!("{PREFIX}{subject}"))
}

impl Record for Alert {
    const KIND: Kind = Kind::Alert;

    fn key(&self) -> Key {
        key(self.account_id, &self.subject)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        let sort = format!("{}#{}", self.account_id, self.subject);
        vec![IndexKey::new(Index::SourceOrConnectionById, ALL, sort)]
    }

    fn expires_at(&self) -> Option<Timestamp> {
        self.expires_at
    }
}
