//! OAuth states, each found only by whoever knows it.

use ferryhook_core::{OauthState, Timestamp};

use crate::key::Key;
use crate::record::{Kind, Record, Secrets};
use crate::tables::Table;

pub(crate) fn key(state: &str) -> Key {
    Key::alone(Table::OauthStates, state)
}

impl Record for OauthState {
    const KIND: Kind = Kind::OauthState;
    /// Not the state itself. It is the key, which other readers of the table look up; it lives for
    /// minutes, works once, and is nothing without the verifier, which is sealed.
    const SECRETS: Option<Secrets> = Some(Secrets {
        owner: Some("accountId"),
        named_by: &["state"],
        attributes: &["codeVerifier"],
    });

    fn key(&self) -> Key {
        key(self.state.expose())
    }

    fn expires_at(&self) -> Option<Timestamp> {
        Some(self.expires_at)
    }
}
