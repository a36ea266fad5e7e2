//! Text that must not reach a log: signing secrets, hashes, credentials.
//!
//! Stored like any other text. Whoever needs the characters says so with [`Secret::expose`].

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// `==` is for tests and for noticing a change; it takes longer the more characters agree, so a
/// stranger's guess is never compared with it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// A secret that was replaced and is honoured for a while longer, so that both sides need not
/// change over at the same moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Previous {
    pub secret: Secret,
    pub valid_until: Timestamp,
}
