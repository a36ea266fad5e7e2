//! The desk: answers questions about events, and takes orders to repeat them.
//!
//! It stands in the server, for whoever asks through the control socket, and in the command itself
//! where no server runs on the data. There it can write an order down, and the next server carries
//! it out.

mod ask;
mod dead_letters;
mod events;
mod names;
pub mod orders;
mod replays;
pub mod view;

use std::fmt;

use ferryhook_api::owner;
use ferryhook_core::{Account, Env, Id};
use ferryhook_flow::{Courier, ReplayError, Routes};
use ferryhook_net::Tasks;
use ferryhook_store::{Store, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use ask::{ask, ask_server};
pub use orders::Asked;

pub struct Desk {
    store: Store,
    env: Env,
    routes: Routes,
    /// Who carries out what is ordered, if anyone does.
    courier: Option<Courier>,
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
    pub fn of(courier: Courier, store: Store, env: Env, routes: Routes) -> Self {
        Self { store, env, routes, courier: Some(courier) }
    }

    /// Where none runs.
    pub fn alone(store: Store, env: Env) -> Self {
        let routes = Routes::new(store.clone(), env.clone(), Tasks::new());
        Self { store, env, routes, courier: None }
    }

    pub async fn answer(&self, asked: Asked) -> Result<Value, Complaint> {
        match asked {
            Asked::ListEvents(wanted) => said(self.list_events(&wanted).await?),
            Asked::ShowEvent(wanted) => said(self.show_event(wanted).await?),
            Asked::Replay(order) => said(self.replay(&order).await?),
            Asked::CountReplay(order, after) => said(self.count_replay(&order, after).await?),
            Asked::ReplayMany(order) => said(self.replay_many(&order).await?),
            Asked::ListReplays { limit } => said(self.list_replays(limit).await?),
            Asked::ShowReplay(id) => said(self.show_replay(id).await?),
            Asked::CancelReplay(id) => said(self.cancel_replay(id).await?),
            Asked::ListDeadLetters { limit } => said(self.list_dead_letters(limit).await?),
            Asked::ListFailures { limit } => said(self.list_failures(limit).await?),
            Asked::Redrive(ids) => said(self.redrive(ids).await?),
        }
    }

    /// Everything here belongs to one account, as long as nobody can sign up. Nothing, if nothing
    /// has needed an owner yet.
    async fn account(&self) -> Result<Option<Id<Account>>, Complaint> {
        Ok(owner::find(&self.store).await?.map(|owner| owner.account))
    }
}

fn said(answer: impl Serialize) -> Result<Value, Complaint> {
    serde_json::to_value(answer).map_err(|error| Complaint::Refused(error.to_string()))
}

impl From<StoreError> for Complaint {
    fn from(error: StoreError) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<ReplayError> for Complaint {
    fn from(error: ReplayError) -> Self {
        match error.is_not_found() {
            true => Self::NotFound(error.to_string()),
            false => Self::Refused(error.to_string()),
        }
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("alone", &self.courier.is_none()).finish_non_exhaustive()
    }
}
