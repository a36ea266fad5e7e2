//! What can go wrong in the store, in words a caller can act on.

use crate::batch::Condition;
use crate::changes::ChangesError;
use crate::key::Key;
use crate::record::Kind;

pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The batch was refused as a whole because this one of its conditions did not hold.
    #[error("action {action} on {key} was refused: it asked for {condition}")]
    Refused { action: usize, key: Key, condition: Box<Condition> },

    /// What was asked is outside the bounds that every engine keeps.
    #[error("{0}")]
    OutOfBounds(String),

    /// What was asked does not fit the table's or index's declaration.
    #[error("{0}")]
    Malformed(String),

    /// A stored thing cannot be read back. Nothing is guessed in its place.
    #[error("a stored {kind} cannot be read: {reason}")]
    Corrupt { kind: Kind, reason: String },

    /// The data itself is damaged where no record can be named any more.
    #[error("the data is damaged: {0}")]
    Damaged(String),

    /// There is no room left to write. Reading still works, and so does writing once there is.
    #[error("no space is left for the data: {0}")]
    Full(String),

    /// The engine cannot answer now; nothing of what was asked may be taken as done.
    #[error("the store is unavailable: {0}")]
    Unavailable(String, #[source] Option<BoxError>),

    /// The changes that were asked for cannot be read.
    #[error(transparent)]
    Changes(#[from] ChangesError),

    /// The data directory cannot be opened as it is.
    #[error("{0}")]
    Unusable(String),
}

impl StoreError {
    pub fn unavailable(what: impl Into<String>, source: impl Into<BoxError>) -> Self {
        Self::Unavailable(what.into(), Some(source.into()))
    }

    pub fn corrupt(kind: Kind, reason: impl std::fmt::Display) -> Self {
        Self::Corrupt { kind, reason: reason.to_string() }
    }

    /// Whether the refusal came from the action at this place of the batch.
    pub fn refused_at(&self, place: usize) -> bool {
        matches!(self, Self::Refused { action, .. } if *action == place)
    }

    pub fn is_refused(&self) -> bool {
        matches!(self, Self::Refused { .. })
    }
}
