//! A person who has signed in, whatever account they act in.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use ferryhook_core::{Account, Id, Map, Session, User};
use ferryhook_store::{Store, Stored};

use crate::call::Describes;
use crate::openapi::Sketch;
use crate::problem::Problem;
use crate::router::App;
use crate::visit::{Deed, Visit};

#[derive(Debug, Clone)]
pub struct Person {
    /// As they were when the request came.
    pub user: Stored<User>,
    /// The one they signed in with.
    pub session: Stored<Session>,
    /// See [`crate::home`].
    pub home: Option<Id<Account>>,
    pub visit: Visit,
}

impl Person {
    pub fn id(&self) -> Id<User> {
        self.user.id
    }

    /// What a person does about themselves is written down where they are at home, if anywhere.
    pub fn noting(
        &self,
        app: &App,
        event_type: &str,
        resource: &str,
        id: &str,
        details: Map,
    ) -> Store {
        let Some(home) = self.home else {
            self.visit.not_for_the_log();
            return app.store.clone();
        };
        let deed = Deed { event_type, resource, id, details };
        self.visit.noting(app, home, Some(self.user.id), deed)
    }

    pub fn nothing_changed(&self) {
        self.visit.nothing_changed();
    }
}

impl FromRequestParts<App> for Person {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        parts.extensions.get::<Self>().cloned().ok_or_else(Problem::internal)
    }
}

impl Describes for Person {
    fn describe(_: &mut Sketch) {}
}
