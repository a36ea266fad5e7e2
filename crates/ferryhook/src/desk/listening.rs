//! Where sessions of `ferryhook listen` live: with the courier of this server.

use ferryhook_api::cli_sessions::Listening;
use ferryhook_api::works::{Nobody, Refusal};
use ferryhook_core::cli_session::{Report, Told};
use ferryhook_core::{CliSession, Id, Timestamp};
use ferryhook_flow::NoRoom;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;

use super::Desk;

impl Listening for Desk {
    fn open(&self, session: CliSession) -> Result<(), Refusal> {
        let Some(courier) = &self.courier else { return Nobody.open(session) };
        courier.open_session(session).map_err(|error| match error {
            NoRoom::Account => Refusal::Conflict(error.to_string()),
            NoRoom::Server | NoRoom::Stopping => Refusal::Unavailable(error.to_string()),
        })
    }

    fn lease(&self) -> Timestamp {
        self.courier.as_ref().map_or_else(Timestamp::default, |courier| courier.session_lease())
    }

    fn find(&self, id: Id<CliSession>) -> Option<CliSession> {
        self.courier.as_ref()?.find_session(id)
    }

    fn read(&self, id: Id<CliSession>, after: u64) -> Option<BoxStream<'static, Told>> {
        Some(self.courier.as_ref()?.read_session(id, after)?.boxed())
    }

    fn report(&self, id: Id<CliSession>, report: Report) -> bool {
        self.courier.as_ref().is_some_and(|courier| courier.report(id, report))
    }

    fn close(&self, id: Id<CliSession>) {
        if let Some(courier) = &self.courier {
            courier.close_session(id);
        }
    }
}
