//! Claims, in the ledger.

use ferryhook_core::{Claim, Timestamp};

use crate::key::Key;
use crate::record::{Kind, Record};
use crate::tables::Table;

pub(crate) fn key(claim: &str) -> Key {
    Key::alone(Table::Ledger, claim)
}

impl Record for Claim {
    const KIND: Kind = Kind::Claim;

    fn key(&self) -> Key {
        key(&self.key)
    }

    fn expires_at(&self) -> Option<Timestamp> {
        Some(self.expires_at)
    }
}
