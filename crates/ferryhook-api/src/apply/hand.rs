//! Whose hand writes: the operator's, who is at the machine, or that of a caller of the API.
//!
//! A caller leaves a line in the audit log with each commit and keeps to what the plan allows.

use ferryhook_core::Map;
use ferryhook_store::Store;
use ferryhook_store::repositories::Edit;
use serde_json::json;

use super::{ApplyError, Difference, changed};
use crate::caller::Caller;
use crate::router::App;
use crate::sources::{self, Unwritten};

#[derive(Clone, Copy)]
pub(super) enum Hand<'a> {
    Operator(&'a Store),
    Caller(&'a App, &'a Caller),
}

impl Hand<'_> {
    pub(super) fn store(&self) -> &Store {
        match self {
            Self::Operator(store) => store,
            Self::Caller(app, _) => &app.store,
        }
    }

    /// Within what the plan has room for. The operator has room for everything.
    pub(super) async fn edit(&self, store: &Store, edits: &[Edit]) -> Result<(), Unwritten> {
        match self {
            Self::Operator(_) => Ok(store.sources().edit(edits).await?),
            Self::Caller(app, caller) => sources::edit(app, caller, store, edits).await,
        }
    }

    /// A store whose next commit says who did this, where that is to be said.
    pub(super) fn noting(&self, difference: &Difference) -> Store {
        let (Self::Caller(app, caller), Some(changed)) = (self, changed(&difference.edits)) else {
            return self.store().clone();
        };
        let changes = difference.changes.iter().map(
            |change| json!({ "what": change.what, "thing": change.thing, "fields": change.fields }),
        );
        let details = Map::from_iter([("changes".to_owned(), changes.collect())]);
        caller.noting(app, "source_applied", "source", changed.source.as_str(), details)
    }
}

/// The same, with how far the run had come.
pub(super) fn stopped(unwritten: Unwritten, name: &str, done: usize) -> ApplyError {
    let name = name.to_owned();
    match unwritten {
        Unwritten::Store(cause) => ApplyError::Stopped { name, done, cause },
        Unwritten::Refused(problem) => ApplyError::Refused { name, problem },
    }
}
