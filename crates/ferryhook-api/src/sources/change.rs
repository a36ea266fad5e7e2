//! Changes of a source: read, decided, written in one commit with its line in the audit log.
//!
//! Counters are written beside us all the time; who is refused because of one looks again.

use ferryhook_core::id::SourceId;
use ferryhook_core::{Map, Source, limits};
use ferryhook_store::repositories::{Edit, RoomError};
use ferryhook_store::{Store, StoreError, Stored};

use super::{SourceView, existing, require_types};
use crate::address::Address;
use crate::apply::{self, TRIES_MAX};
use crate::call::{ApiResult, Condition};
use crate::caller::Caller;
use crate::owned;
use crate::problem::{Code, Problem};
use crate::router::App;
use crate::settings::logged;
use crate::visit::details;

/// Makes it what `turned` says, unless that is what it is.
pub(crate) async fn change(
    app: &App,
    caller: &Caller,
    id: SourceId,
    condition: &Condition,
    event_type: &str,
    turned: impl Fn(&Stored<Source>) -> ApiResult<Source>,
) -> ApiResult<Source> {
    let mut tries = 1;
    loop {
        let was = owned::source(app, caller, id).await?;
        let before = SourceView::new(&was, &Address::default());
        condition.allows(&before.tag())?;
        let now = turned(&was)?;
        if is_same(&was, &now) {
            caller.nothing_changed();
            return Ok(was.record);
        }
        require_types(app, &now).await?;
        let after = SourceView::new(&now, &Address::default());
        let deed = details(Some(&logged(&before)), Some(&logged(&after)));
        let store = caller.noting(app, event_type, "source", id.as_str(), deed);
        let edits = [Edit::ReplaceSource(was, now.clone())];
        match store.sources().edit(&edits).await {
            Ok(()) => {
                ring(app, &edits);
                return Ok(now);
            }
            Err(error) if error.is_refused() && tries < TRIES_MAX => tries += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

/// But for the time of the change.
fn is_same(was: &Source, now: &Source) -> bool {
    *was == Source { updated_at: was.updated_at, ..now.clone() }
}

/// Its connections first: a deleted source is not found again, and they would be left over.
pub(super) async fn delete(
    app: &App,
    caller: &Caller,
    id: SourceId,
    condition: &Condition,
) -> ApiResult<()> {
    let mut tries = 1;
    'again: loop {
        let was = owned::source(app, caller, id).await?;
        if was.is_built_in() {
            let said = "This source belongs to the account itself and stays; it can be paused.";
            return Err(Problem::new(Code::Conflict, said));
        }
        let view = SourceView::new(&was, &Address::default());
        condition.allows(&view.tag())?;
        let edits = apply::removal_edits(&existing(app, was).await?, &app.env);
        let deed = details(Some(&logged(&view)), None::<&Map>);
        let store = caller.noting(app, "source_deleted", "source", id.as_str(), deed);
        // One commit, unless there is more than fits into one.
        for edits in edits.chunks(limits::EDITS_MAX) {
            match store.sources().edit(edits).await {
                Ok(()) => ring(app, edits),
                Err(error) if error.is_refused() && tries < TRIES_MAX => {
                    tries += 1;
                    continue 'again;
                }
                Err(error) => return Err(error.into()),
            }
        }
        return Ok(());
    }
}

/// So that whoever remembers them looks again.
pub(crate) fn ring(app: &App, edits: &[Edit]) {
    if let Some(changed) = apply::changed(edits) {
        let (source, connections) = (changed.source, changed.connections.len());
        tracing::info!(source.id = %source, connections, "configuration changed");
        (app.bell)(changed);
    }
}

/// Changes sources, if the plan has room for those that are new. The count is part of the commit, so
/// that two who come at once do not both get the last place, wherever they come.
pub(crate) async fn edit(
    app: &App,
    caller: &Caller,
    store: &Store,
    edits: &[Edit],
) -> Result<(), Unwritten> {
    let plan = app.store.plan_counts().plan_of(caller.account()).await?;
    let most = plan.as_ref().and_then(|plan| plan.limits.sources);
    match store.sources().edit_within(edits, most).await {
        Ok(()) => Ok(()),
        Err(RoomError::Store(error)) => Err(Unwritten::Store(error)),
        Err(RoomError::Full { most }) => {
            let name = plan.map_or_else(String::new, |plan| format!(" {}", plan.name));
            let said = format!("The plan{name} has room for {most} sources.");
            Err(Unwritten::Refused(Box::new(Problem::new(Code::PlanLimitReached, said))))
        }
    }
}

/// Why a change was not written.
pub(crate) enum Unwritten {
    Store(StoreError),
    Refused(Box<Problem>),
}

impl From<StoreError> for Unwritten {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Unwritten> for Problem {
    fn from(unwritten: Unwritten) -> Self {
        match unwritten {
            Unwritten::Store(error) => error.into(),
            Unwritten::Refused(problem) => *problem,
        }
    }
}
