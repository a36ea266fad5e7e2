//! The port to where sessions live: in the memory of the server that delivers.
//!
//! Whoever calls has made sure that the session is the caller's. Connections are made and deleted
//! on this side, with their line in the audit log; a session that nobody reads any more is deleted
//! on the other.

use ferryhook_core::cli_session::{Report, Told};
use ferryhook_core::{CliSession, Id, Timestamp};
use futures_util::stream::BoxStream;

use crate::works::{Nobody, Refusal};

pub trait Listening: Send + Sync {
    /// Makes room for a session. Only then may its connections be stored.
    fn open(&self, session: CliSession) -> Result<(), Refusal>;

    /// Until when a new session counts as being there, for its connections.
    fn lease(&self) -> Timestamp;

    fn find(&self, id: Id<CliSession>) -> Option<CliSession>;

    /// What it is to do, from behind this errand on; nothing where it is over.
    fn read(&self, id: Id<CliSession>, after: u64) -> Option<BoxStream<'static, Told>>;

    /// Whether somebody waited for it.
    fn report(&self, id: Id<CliSession>, report: Report) -> bool;

    /// Its connections are deleted, or never were.
    fn close(&self, id: Id<CliSession>);
}

/// Where nothing is delivered nobody can listen.
impl Listening for Nobody {
    fn open(&self, _: CliSession) -> Result<(), Refusal> {
        let reason = "this server only answers questions; listen to one that also delivers";
        Err(Refusal::Unavailable(reason.to_owned()))
    }

    fn lease(&self) -> Timestamp {
        Timestamp::default()
    }

    fn find(&self, _: Id<CliSession>) -> Option<CliSession> {
        None
    }

    fn read(&self, _: Id<CliSession>, _: u64) -> Option<BoxStream<'static, Told>> {
        None
    }

    fn report(&self, _: Id<CliSession>, _: Report) -> bool {
        false
    }

    fn close(&self, _: Id<CliSession>) {}
}
