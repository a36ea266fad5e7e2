//! Keys of access tokens: few, and always read together.

use ferryhook_core::{Timestamp, TokenKey};

use crate::key::Key;
use crate::record::{Kind, Record, Secrets};
use crate::tables::Table;

pub(crate) const PARTITION: &str = "TOKENKEYS";

impl Record for TokenKey {
    const KIND: Kind = Kind::TokenKey;
    const SECRETS: Option<Secrets> =
        Some(Secrets { owner: None, named_by: &["keyId"], attributes: &["privateKey"] });

    fn key(&self) -> Key {
        Key::new(Table::Main, PARTITION, format!("{}#{}", self.created_at, self.id))
    }

    fn expires_at(&self) -> Option<Timestamp> {
        Some(self.expires_at)
    }
}
