//! Why an event is not replayed, in words for whoever asked.

use ferryhook_core::{Connection, Event, Id};
use ferryhook_store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error("there is no event {0}; if there was one, it has expired")]
    Unknown(Id<Event>),
    #[error("event {0} is still being processed; its deliveries are not planned yet")]
    Pending(Id<Event>),
    #[error("event {0} is held because its source is paused; it goes out when that is resumed")]
    SourcePaused(Id<Event>),
    #[error(
        "event {0} came with a bad signature, and what is not verified is not delivered; replay it by itself to have it checked again"
    )]
    Unverified(Id<Event>),
    #[error("event {0} came from a source that has been deleted since")]
    SourceGone(Id<Event>),
    #[error("there is no connection {0}")]
    UnknownConnection(Id<Connection>),
    #[error("connection {0} has been deleted")]
    ConnectionDeleted(Id<Connection>),
    #[error("connection {connection} belongs to another source than event {event}")]
    ForeignConnection { event: Id<Event>, connection: Id<Connection> },
    #[error("connection {connection} cannot tell whether it wants the event: {reason}")]
    Undecided { connection: Id<Connection>, reason: String },
    #[error("event {0} has been processed; only one that could not be is driven again")]
    NotDead(Id<Event>),
    #[error("event {0} keeps changing; try again")]
    Busy(Id<Event>),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ReplayError {
    /// Something that was named is not there.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Unknown(_) | Self::UnknownConnection(_) | Self::ConnectionDeleted(_))
    }
}
