//! Listeners: who runs `ferryhook listen` against this process, and what each is asked to do.
//!
//! A registry in memory: found by the id of a session for those who read and answer it, and by
//! connection for the courier, which has something to deliver. It makes and deletes no connection;
//! the courier does that around it (`courier/listen.rs`). A session must be here before its
//! connection is in the store, so that a connection without one is known to be a leftover.

mod reader;
mod session;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ferryhook_core::cli_session::Ended;
use ferryhook_core::{CliSession, Connection, Id};

pub use reader::Reader;
pub(crate) use session::{Session, Unheard};

use crate::limits;

#[derive(Debug, Default)]
pub struct Listeners(Mutex<Registry>);

#[derive(Debug, Default)]
struct Registry {
    sessions: HashMap<Id<CliSession>, Arc<Session>>,
    connections: HashMap<Id<Connection>, Arc<Session>>,
    is_closed: bool,
}

/// Why there is no room for one more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoRoom {
    #[error("an account may listen {max} times at once", max = limits::LISTENERS_PER_ACCOUNT_MAX)]
    Account,
    #[error("too many are listening to this server; try again later")]
    Server,
    #[error("this server is stopping")]
    Stopping,
}

impl Listeners {
    pub(crate) fn open(&self, of: CliSession) -> Result<Arc<Session>, NoRoom> {
        let mut registry = self.registry();
        if registry.is_closed {
            return Err(NoRoom::Stopping);
        }
        let sessions = registry.sessions.values();
        let theirs = sessions.filter(|session| session.of.account_id == of.account_id).count();
        if theirs >= limits::LISTENERS_PER_ACCOUNT_MAX {
            return Err(NoRoom::Account);
        }
        if registry.sessions.len() >= limits::LISTENERS_MAX {
            return Err(NoRoom::Server);
        }
        let session = Arc::new(Session::new(of));
        for (_, connection) in &session.of.connections {
            registry.connections.insert(*connection, session.clone());
        }
        registry.sessions.insert(session.of.id, session.clone());
        Ok(session)
    }

    pub(crate) fn find(&self, id: Id<CliSession>) -> Option<Arc<Session>> {
        self.registry().sessions.get(&id).cloned()
    }

    /// The session that has this connection, if it is here.
    pub(crate) fn of(&self, connection: Id<Connection>) -> Option<Arc<Session>> {
        self.registry().connections.get(&connection).cloned()
    }

    /// It is over: nobody finds it any more, and who waits for its answer is told.
    pub(crate) fn end(&self, id: Id<CliSession>, why: Ended) -> Option<Arc<Session>> {
        let mut registry = self.registry();
        let session = registry.sessions.remove(&id)?;
        for (_, connection) in &session.of.connections {
            registry.connections.remove(connection);
        }
        drop(registry);
        session.end(why);
        Some(session)
    }

    /// All of them, and nobody comes in any more.
    pub(crate) fn close(&self) -> Vec<Arc<Session>> {
        let sessions: Vec<_> = {
            let mut registry = self.registry();
            registry.is_closed = true;
            registry.sessions.keys().copied().collect()
        };
        sessions.into_iter().filter_map(|id| self.end(id, Ended::Stopping)).collect()
    }

    fn registry(&self) -> MutexGuard<'_, Registry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
