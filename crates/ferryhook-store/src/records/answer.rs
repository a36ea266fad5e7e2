//! Answers to requests with an `Idempotency-Key`, each found by who asked and the word they chose.

use ferryhook_core::{Answer, Timestamp};

use crate::key::Key;
use crate::record::{Kind, Record};
use crate::tables::Table;

pub(crate) fn key(caller: &str, key_hash: &str) -> Key {
    Key::new(Table::Main, format!("ANSWER#{caller}#{key_hash}"), "ANSWER")
}

impl Record for Answer {
    const KIND: Kind = Kind::Answer;

    fn key(&self) -> Key {
        key(&self.caller, &self.key_hash)
    }

    fn expires_at(&self) -> Option<Timestamp> {
        Some(self.expires_at)
    }
}
