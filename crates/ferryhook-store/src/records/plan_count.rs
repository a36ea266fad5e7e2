//! Plan counts, in the main table: a partition for each account.

use ferryhook_core::plan_count::Counted;
use ferryhook_core::{Account, Id, PlanCount, Timestamp};

use crate::key::Key;
use crate::record::{Kind, Record};
use crate::tables::Table;

pub(crate) fn key(of: Id<Account>, counted: Counted, month: Option<&str>) -> Key {
    let sort = match month {
        Some(month) => format!("{}#{month}", counted.as_str()),
        None => counted.as_str().to_owned(),
    };
    Key::new(Table::Main, format!("PLAN#{of}"), sort)
}

impl Record for PlanCount {
    const KIND: Kind = Kind::PlanCount;

    fn key(&self) -> Key {
        key(self.account_id, self.counted, self.month.as_deref())
    }

    fn expires_at(&self) -> Option<Timestamp> {
        self.expires_at
    }
}
