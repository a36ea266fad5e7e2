//! Heads of audit logs, in the main table under their account.

use ferryhook_core::{Account, AuditHead, Id};

use super::erasure::partition;
use crate::key::Key;
use crate::record::{Kind, Record};
use crate::tables::Table;

pub(crate) fn key(of: Id<Account>) -> Key {
    Key::new(Table::Main, partition(of), "AUDIT")
}

impl Record for AuditHead {
    const KIND: Kind = Kind::AuditHead;

    fn key(&self) -> Key {
        key(self.account_id)
    }
}
