//! Whose hand writes: the operator's, who is at the machine, or that of a caller of the API.
//!
//! A caller leaves a line in the audit log with each commit and keeps to what the plan allows.

use ferryhook_core::Map;
use ferryhook_store::repositories::Edit;
use ferryhook_store::{Store, StoreError};
use serde_json::json;
use tokio::sync::MutexGuard;

use super::{ApplyError, Difference, changed};
use crate::caller::Caller;
use crate::problem::Problem;
use crate::router::App;
use crate::sources;

#[derive(Clone, Copy)]
pub(super) enum Hand<'a> {
    Operator(&'a Store),
    Caller(&'a App, &'a Caller),
}

/// Why one source was not written.
pub(super) enum Unwritten {
    Store(StoreError),
    Refused(Box<Problem>),
}

impl Hand<'_> {
    pub(super) fn store(&self) -> &Store {
        match self {
            Self::Operator(store) => store,
            Self::Caller(app, _) => &app.store,
        }
    }

    /// Held until it is written.
    pub(super) async fn room_for(
        &self,
        difference: &Difference,
    ) -> Result<Option<MutexGuard<'_, ()>>, Unwritten> {
        let is_new = |edit: &Edit| matches!(edit, Edit::CreateSource(_));
        match self {
            Self::Caller(app, caller) if difference.edits.iter().any(is_new) => {
                let room = sources::require_room(app, caller).await;
                room.map_err(|problem| Unwritten::Refused(Box::new(problem)))
            }
            _ => Ok(None),
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

impl Unwritten {
    /// The same, with how far the run had come.
    pub(super) fn at(self, name: &str, done: usize) -> ApplyError {
        let name = name.to_owned();
        match self {
            Self::Store(cause) => ApplyError::Stopped { name, done, cause },
            Self::Refused(problem) => ApplyError::Refused { name, problem },
        }
    }
}

impl From<StoreError> for Unwritten {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
