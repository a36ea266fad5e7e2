//! Changes of a connection: read, decided, written in one commit with its line in the audit log.

use ferryhook_core::id::ConnectionId;
use ferryhook_core::{Connection, Source};
use ferryhook_store::Stored;
use ferryhook_store::repositories::Edit;

use super::ConnectionView;
use crate::apply::TRIES_MAX;
use crate::call::{ApiResult, Condition};
use crate::caller::Caller;
use crate::owned;
use crate::router::App;
use crate::settings::logged;
use crate::sources;
use crate::visit::details;

/// Makes it what `turned` says, unless that is what it is. Counters are written beside us all the
/// time; who is refused because of one looks again.
pub(super) async fn change(
    app: &App,
    caller: &Caller,
    id: ConnectionId,
    condition: &Condition,
    event_type: &str,
    turned: impl Fn(&Source, &Stored<Connection>) -> ApiResult<Connection>,
) -> ApiResult<Connection> {
    let mut tries = 1;
    loop {
        let was = owned::connection(app, caller, id).await?;
        let source = owned::source(app, caller, was.source_id).await?;
        let before = ConnectionView::from(&was.record);
        condition.allows(&before.tag())?;
        let now = turned(&source, &was)?;
        if is_same(&was, &now) {
            caller.nothing_changed();
            return Ok(was.record);
        }
        let after = ConnectionView::from(&now);
        let deed = details(Some(&logged(&before)), Some(&logged(&after)));
        let store = caller.noting(app, event_type, "connection", id.as_str(), deed);
        let edits = [Edit::ReplaceConnection(was, now.clone())];
        match store.sources().edit(&edits).await {
            Ok(()) => {
                sources::ring(app, &edits);
                return Ok(now);
            }
            Err(error) if error.is_refused() && tries < TRIES_MAX => tries += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

/// But for the time of the change.
fn is_same(was: &Connection, now: &Connection) -> bool {
    *was == Connection { updated_at: was.updated_at, ..now.clone() }
}
