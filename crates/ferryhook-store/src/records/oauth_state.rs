//! OAuth states, each found only by whoever knows it.

use ferryhook_core::{OauthState, Timestamp};

use crate::key::Key;
use crate::record::{Kind, Record};
use crate::tables::Table;

pub(crate) fn key(state: &str) -> Key {
    Key::alone(Table::OauthStates, state)
}

impl Record for OauthState {
    const KIND: Kind = Kind::OauthState;

    fn key(&self) -> Key {
        key(self.state.expose())
    }

    fn expires_at(&self) -> Option<Timestamp> {
        Some(self.expires_at)
    }
}
