//! The caller: somebody who has proved who they are and that they may act in one account.
//!
//! Only the gate makes one, and a tenant's data is reached only with one in hand.

mod person;
mod proof;
mod standing;

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use ferryhook_core::member::Role;
use ferryhook_core::{Account, Id, Key, Map, User, permission};
use ferryhook_store::Store;

use crate::call::Describes;
use crate::openapi::Sketch;
use crate::problem::Problem;
use crate::router::App;
use crate::visit::{Deed, Visit};

pub use person::Person;
pub(crate) use proof::{Proof, prove};
pub use standing::Standing;
pub(crate) use standing::of_key;

#[derive(Debug, Clone)]
pub struct Caller {
    pub(crate) account: Id<Account>,
    pub(crate) owner: Id<User>,
    pub(crate) standing: Standing,
    pub(crate) who: Who,
    /// The key that was used, which they cannot hand out more than.
    pub(crate) limits: Option<Arc<Key>>,
    pub(crate) visit: Visit,
}

/// How they proved it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    User(Id<User>),
    /// A key, with the user who made it.
    Key(Id<Key>, Id<User>),
}

impl Caller {
    /// The account they act in.
    pub fn account(&self) -> Id<Account> {
        self.account
    }

    /// The user who owns that account, under whom its sources and keys are kept.
    pub fn owner(&self) -> Id<User> {
        self.owner
    }

    pub fn role(&self) -> Role {
        self.standing.role
    }

    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    pub fn who(&self) -> Who {
        self.who
    }

    /// The person behind it: the one who signed in, or who made the key.
    pub fn user(&self) -> Id<User> {
        match self.who {
            Who::User(id) | Who::Key(_, id) => id,
        }
    }

    pub fn key(&self) -> Option<Id<Key>> {
        match self.who {
            Who::Key(id, _) => Some(id),
            Who::User(_) => None,
        }
    }

    /// The key that was used, as it was when the request came.
    pub fn used_key(&self) -> Option<&Key> {
        self.limits.as_deref()
    }

    /// Whether they may do this operation, as the gate would decide it.
    pub fn may(&self, needed: Role, operation: &str) -> bool {
        let by_key = self.used_key().is_none_or(|key| permission::key_may(key, needed, operation));
        by_key && permission::may(self.role(), &self.standing.permissions, needed, operation)
    }

    pub fn visit(&self) -> &Visit {
        &self.visit
    }

    /// A store whose next commit also writes down that this caller did this.
    pub fn noting(
        &self,
        app: &App,
        event_type: &str,
        resource: &str,
        id: &str,
        mut details: Map,
    ) -> Store {
        if let Some(key) = self.key() {
            details.insert("keyId".to_owned(), key.as_str().into());
        }
        let deed = Deed { event_type, resource, id, details };
        self.visit.noting(app, self.account, Some(self.user()), deed)
    }

    /// See [`Visit::not_for_the_log`].
    pub fn not_for_the_log(&self) {
        self.visit.not_for_the_log();
    }

    /// See [`Visit::nothing_changed`].
    pub fn nothing_changed(&self) {
        self.visit.nothing_changed();
    }
}

impl FromRequestParts<App> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        // Missing only if a public route asked for one, which no request can make right.
        parts.extensions.get::<Self>().cloned().ok_or_else(Problem::internal)
    }
}

impl Describes for Caller {
    fn describe(_: &mut Sketch) {}
}
