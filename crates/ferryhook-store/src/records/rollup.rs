//! Rollups, in the main table: a partition for each scope, so that a stretch of time is one read.

use ferryhook_core::rollup::{Interval, Scope};
use ferryhook_core::{Rollup, Timestamp};

use super::digits;
use crate::key::Key;
use crate::record::{Kind, Record};
use crate::tables::Table;

pub(crate) fn partition(of: Scope) -> String {
    format!("ROLL#{of}")
}

pub(crate) fn sort(interval: Interval, begins_at: Timestamp) -> String {
    let letter = match interval {
        Interval::Hour => 'H',
        Interval::Day => 'D',
    };
    format!("{letter}#{}", digits(begins_at))
}

impl Record for Rollup {
    const KIND: Kind = Kind::Rollup;

    fn key(&self) -> Key {
        Key::new(Table::Main, partition(self.scope), sort(self.interval, self.begins_at))
    }

    fn expires_at(&self) -> Option<Timestamp> {
        Some(self.expires_at)
    }
}
