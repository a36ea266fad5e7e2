//! Answers to requests with an `Idempotency-Key`, each found by who asked and the word they chose.

use ferryhook_core::{Answer, Timestamp};

use crate::key::Key;
use crate::record::{Kind, Record, Secrets};
use crate::tables::Table;

pub(crate) fn key(caller: &str, key_hash: &str) -> Key {
    Key::new(Table::Main, format!("ANSWER#{caller}#{key_hash}"), "ANSWER")
}

impl Record for Answer {
    const KIND: Kind = Kind::Answer;
    /// A reply may hold what is shown only once.
    const SECRETS: Option<Secrets> = Some(Secrets {
        owner: Some("accountId"),
        named_by: &["caller", "keyHash"],
        attributes: &["reply"],
    });

    fn key(&self) -> Key {
        key(&self.caller, &self.key_hash)
    }

    fn expires_at(&self) -> Option<Timestamp> {
        Some(self.expires_at)
    }
}
