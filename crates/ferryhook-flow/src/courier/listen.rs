//! Sessions of `ferryhook listen`, from the first reader to the last of their connections.
//!
//! A session that is over takes its connections with it, and what waits for those is cancelled
//! like with every deleted connection. Where several processes share a store, the one that has the
//! session delivers to it: the others put what they meet back into the queue, where it looks every
//! second, and leave the connection alone for as long as it says that it is there.

use std::sync::Arc;
use std::time::Duration;

use ferryhook_core::cli_session::{Ended, Report};
use ferryhook_core::connection::Status;
use ferryhook_core::delivery::Lane;
use ferryhook_core::{CliSession, Connection, Delivery, Id, Source, Timestamp};
use ferryhook_store::StoreError;

use super::settle::Outcomes;
use super::{Courier, Inner, lane_of};
use crate::lanes::LaneOf;
use crate::limits;
use crate::listeners::{NoRoom, Reader, Session};
use crate::routes::Way;

impl Courier {
    /// Makes room for a session. Its connections may be stored from now on, and not before.
    pub fn open_session(&self, session: CliSession) -> Result<(), NoRoom> {
        let session = self.0.listeners.open(session)?;
        let courier = self.clone();
        self.0.tasks.spawn("listen", async move { courier.keep(session).await });
        Ok(())
    }

    pub fn find_session(&self, id: Id<CliSession>) -> Option<CliSession> {
        self.0.listeners.find(id).map(|session| session.of.clone())
    }

    /// What it is to do from behind this errand on. Whoever read it before hears no more of it.
    pub fn read_session(&self, id: Id<CliSession>, after: u64) -> Option<Reader> {
        self.0.listeners.find(id).map(|session| session.read(after))
    }

    /// Whether somebody waited for it.
    pub fn report(&self, id: Id<CliSession>, report: Report) -> bool {
        self.0.listeners.find(id).is_some_and(|session| session.answer(report))
    }

    /// Its connections are deleted, or never were.
    pub fn close_session(&self, id: Id<CliSession>) {
        self.0.listeners.end(id, Ended::Closed);
    }

    /// The process is to stop: every session is over, and those who read them can go.
    pub fn hang_up(&self) {
        for session in self.0.listeners.close() {
            let courier = self.clone();
            self.0.tasks.spawn("hang up", async move { courier.delete_all(&session).await });
        }
    }

    /// Until when a session is taken to be there that begins, or is there, now.
    pub fn session_lease(&self) -> Timestamp {
        self.0.now().wall + limits::LISTENER_LEASE
    }

    /// Looks after a session until it is over.
    async fn keep(&self, session: Arc<Session>) {
        tokio::select! {
            () = session.is_over(limits::LISTENER_GRACE) => {}
            () = self.stay(&session), if self.0.shared => {}
            () = self.0.tasks.stopping() => {}
        }
        // Whoever closed it has deleted its connections.
        if self.0.listeners.end(session.of.id, Ended::Silent).is_some() {
            self.delete_all(&session).await;
        }
    }

    /// Says again and again that the session is here, and looks for what others have left for it.
    async fn stay(&self, session: &Session) {
        let mut said = Duration::ZERO;
        loop {
            tokio::time::sleep(limits::LISTENER_LOOK_EVERY).await;
            said += limits::LISTENER_LOOK_EVERY;
            let is_time = said >= limits::LISTENER_RENEW_EVERY;
            if is_time {
                said = Duration::ZERO;
            }
            for (source, connection) in &session.of.connections {
                if is_time && let Err(error) = self.0.renew(*source, *connection).await {
                    tracing::warn!(%error, connection.id = %connection, "a listener is not renewed");
                }
                let Ok(Some(route)) = self.0.routes.find(*source).await else { continue };
                let way = route.ways.iter().find(|way| way.connection.id == *connection);
                for way in way.into_iter().filter(|way| way.hold().is_none()) {
                    self.note(lane_of(way, Lane::Live));
                    self.note(lane_of(way, Lane::Replay));
                }
            }
        }
    }

    async fn delete_all(&self, session: &Session) {
        for (source, connection) in &session.of.connections {
            self.delete_listened(*source, *connection).await;
        }
    }

    async fn delete_listened(&self, source: Id<Source>, id: Id<Connection>) {
        let deleted = self.0.until_stored(|| self.0.delete_listened(source, id)).await;
        if deleted == Some(true) {
            self.changed(Some(source)).await;
        }
    }

    /// Whether this is for a session that another process has, or that is over.
    pub(super) fn is_elsewhere(&self, way: &Way) -> bool {
        let connection = &way.connection;
        self.0.shared && connection.is_listened_to() && !self.0.is_heard(connection)
    }

    /// Whether it is left to another process, which has its session. What an earlier run of this
    /// one has left, or one that is no more, is deleted.
    pub(crate) fn is_anothers(&self, connection: &Connection) -> bool {
        let is_open = connection.status != Status::Deleted && connection.is_listened_to();
        if !is_open || self.0.is_heard(connection) {
            return false;
        }
        let until = connection.listens_until().filter(|_| self.0.shared);
        if until.is_some_and(|until| self.0.now().wall < until) {
            return true;
        }
        let (courier, source, id) = (self.clone(), connection.source_id, connection.id);
        let delete = async move { courier.delete_listened(source, id).await };
        self.0.tasks.spawn("delete what a listener left", delete);
        false
    }

    /// Nobody has tried: it keeps its attempts. Elsewhere somebody may want it at once.
    pub(super) fn not_heard(&self, of: &LaneOf, delivery: &Delivery, way: &Way) -> Outcomes {
        let pause = match self.is_anothers(&way.connection) {
            true => Duration::ZERO,
            false => limits::LISTENER_PAUSE,
        };
        let said = "nobody listens here at the moment".to_owned();
        let next = |now| Delivery { last_error: Some(said), ..delivery.put_off(now + pause, now) };
        self.without_attempt(of, delivery.event_id, next)
    }
}

impl Inner {
    fn is_heard(&self, connection: &Connection) -> bool {
        self.listeners.of(connection.id).is_some()
    }

    async fn renew(&self, source: Id<Source>, id: Id<Connection>) -> Result<(), StoreError> {
        let connections = self.store.connections();
        let Some(was) = connections.find_of(source, id).await? else { return Ok(()) };
        if was.status == Status::Deleted {
            return Ok(());
        }
        let now = was.listening_until(self.now().wall + limits::LISTENER_LEASE);
        match connections.replace(&was, now).await {
            Err(error) if error.is_refused() => Ok(()), // a counter came before; there is time
            other => other.map(drop),
        }
    }

    /// Whether it was there.
    async fn delete_listened(
        &self,
        source: Id<Source>,
        id: Id<Connection>,
    ) -> Result<bool, StoreError> {
        let connections = self.store.connections();
        for _ in 0..limits::CONFLICT_TRIES_MAX {
            let found = connections.find_of(source, id).await?;
            let Some(was) = found.filter(|found| found.status != Status::Deleted) else {
                return Ok(false);
            };
            match connections.replace(&was, was.hung_up(self.now().wall)).await {
                Err(error) if error.is_refused() => {}
                other => return other.map(|_| true),
            }
        }
        Ok(false)
    }
}
