//! The desk: what the data plane does for those who ask, and what the command line is told.
//!
//! It stands in the server, for the API and for whoever asks through the control socket, and in
//! the command itself where no server runs on the data. There it can write an order down, and the
//! next server carries it out.
//!
//! The API has found what it speaks of before it comes here ([`Works`]). The command line speaks
//! for the owner of the installation, so that it too reaches nothing without an account.

mod ask;
mod audit;
mod erasures;
mod fetching;
mod listening;
mod names;
pub mod orders;
mod plans;
mod questions;
mod work;

use std::fmt;

use ferryhook_api::events::list::ListError;
use ferryhook_api::works::{Refusal, Works};
use ferryhook_core::Env;
use ferryhook_core::replay::BadSelection;
use ferryhook_flow::scripts::Scripts;
use ferryhook_flow::{Courier, Ingest, Routes};
use ferryhook_net::Tasks;
use ferryhook_store::search::CountError;
use ferryhook_store::{Store, StoreError};
use serde::{Deserialize, Serialize};

pub use ask::{ask, ask_server};
pub use audit::{Log, Logs};
pub use orders::Asked;
pub use plans::{Assigned, PlanOrder};

pub struct Desk {
    store: Store,
    env: Env,
    routes: Routes,
    /// Who carries out what is ordered, if anyone does.
    courier: Option<Courier>,
    ingest: Option<Ingest>,
    scripts: Scripts,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
pub enum Complaint {
    #[error("{0}")]
    NotFound(String),
    #[error("{0}")]
    Refused(String),
}

impl Desk {
    /// In a server.
    pub fn of(courier: Courier, ingest: Ingest, store: Store, env: Env, routes: Routes) -> Self {
        // Of its own: what people try out must not take the turns of what is delivered.
        let scripts = Scripts::default();
        Self { store, env, routes, courier: Some(courier), ingest: Some(ingest), scripts }
    }

    /// Where none runs.
    pub fn alone(store: Store, env: Env) -> Self {
        let routes = Routes::new(store.clone(), env.clone(), Tasks::new());
        let scripts = Scripts::default();
        Self { store, env, routes, courier: None, ingest: None, scripts }
    }

    fn works(&self) -> &dyn Works {
        self
    }
}

impl From<StoreError> for Complaint {
    fn from(error: StoreError) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<Refusal> for Complaint {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotFound(reason) => Self::NotFound(reason),
            refusal => Self::Refused(refusal.to_string()),
        }
    }
}

impl From<ListError> for Complaint {
    fn from(error: ListError) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<CountError> for Complaint {
    fn from(error: CountError) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<BadSelection> for Complaint {
    fn from(error: BadSelection) -> Self {
        Self::Refused(error.to_string())
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("alone", &self.courier.is_none()).finish_non_exhaustive()
    }
}
