//! Heads of audit logs, in the main table under their account. All of them stand in one partition
//! of an index too, for whoever checks every log.

use ferryhook_core::{Account, AuditHead, Id};

use super::erasure::partition;
use crate::key::{IndexKey, Key};
use crate::record::{Kind, Record};
use crate::tables::{Index, Table};

/// No source's or connection's id is spelled like this.
pub(crate) const ALL: &str = "AUDITS";

pub(crate) fn key(of: Id<Account>) -> Key {
    Key::new(Table::Main, partition(of), "AUDIT")
}

impl Record for AuditHead {
    const KIND: Kind = Kind::AuditHead;

    fn key(&self) -> Key {
        key(self.account_id)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        let account = self.account_id.as_str();
        vec![IndexKey::new(Index::SourceOrConnectionById, ALL, account)]
    }
}
