//! What the server does when it is asked through its control socket.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use ferryhook_api::apply::{self, Asked, Changed};
use ferryhook_api::export;
use ferryhook_core::sealing::MasterKey;
use ferryhook_core::{Env, Secret};
use ferryhook_net::client::Guard;
use ferryhook_store::Store;
use ferryhook_store::engine::embedded::Embedded;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::Semaphore;

use super::{Request, local};
use crate::client::local::Local;
use crate::copied::Copied;
use crate::desk::Desk;
use crate::master::Keys;

/// Rung after each commit that changed the configuration.
pub type Bell = Arc<dyn Fn(Changed) + Send + Sync>;

/// What the requests need.
pub struct Handlers {
    pub store: Store,
    pub env: Env,
    pub engine: Arc<Embedded>,
    pub keys: Keys,
    pub guard: Guard,
    pub bell: Bell,
    pub turns: Turns,
    pub desk: Arc<Desk>,
    /// Where we listen, as this machine reaches it.
    pub url: String,
}

/// For what must not be done twice at the same time.
#[derive(Debug)]
pub struct Turns {
    /// Two would only fight over the disk.
    backup: Semaphore,
    /// Two could both find a name missing and both create it.
    apply: Semaphore,
    /// Two to different keys would undo each other's work.
    rotation: Semaphore,
}

impl Default for Turns {
    fn default() -> Self {
        Self { backup: Semaphore::new(1), apply: Semaphore::new(1), rotation: Semaphore::new(1) }
    }
}

/// What is sent back, or a sentence about why there is nothing.
type Answered = Result<Value, String>;

impl Handlers {
    pub(super) async fn handle(&self, request: Request) -> Answered {
        match request {
            Request::Backup(target) => self.backup(&target).await,
            Request::Apply(asked) => self.apply(&asked).await,
            Request::Export => self.export().await,
            Request::RotateMaster(new) => self.rotate_master(new.as_ref()).await,
            Request::Local => self.local().await,
            Request::Desk(asked) => done(&self.desk.answer(asked).await),
        }
    }

    async fn backup(&self, target: &Path) -> Answered {
        if !target.is_absolute() {
            return Err("a backup needs an absolute path".into());
        }
        let _turn = self.turns.backup.acquire().await;
        match self.engine.backup(target).await {
            Ok(summary) => {
                let (files, bytes) = (summary.files, summary.bytes);
                tracing::info!(directory = %target.display(), files, bytes, "backed up");
                done(&Copied { files, bytes })
            }
            Err(error) => {
                tracing::warn!(directory = %target.display(), %error, "a backup failed");
                Err(error.to_string())
            }
        }
    }

    async fn apply(&self, asked: &Asked) -> Answered {
        let _turn = self.turns.apply.acquire().await;
        let bell = |changed| (self.bell)(changed);
        match apply::run(&self.store, &self.env, &self.guard, asked, &bell).await {
            Ok(outcome) => done(&outcome),
            Err(error) => Err(error.to_string()),
        }
    }

    async fn rotate_master(&self, new: Option<&Secret>) -> Answered {
        let new = new.map(|text| MasterKey::parse(text.expose())).transpose();
        let new = new.map_err(|error| error.to_string())?;
        let _turn = self.turns.rotation.acquire().await;
        match self.keys.rotate(new, &self.env, |_| {}).await {
            Ok(rotation) => {
                let (rewrapped, id) = (rotation.rewrapped, &rotation.master_id);
                tracing::info!(rewrapped, master.id = %id, "rotated the master key");
                done(&rotation)
            }
            Err(error) => {
                tracing::warn!(%error, "a rotation of the master key failed");
                Err(format!("{error:#}"))
            }
        }
    }

    /// Whoever can ask us here can read the data and its master key as well.
    async fn local(&self) -> Answered {
        match local::key(&self.store, &self.env, &self.keys.vault).await {
            Ok(key) => done(&Local { url: self.url.clone(), key: Secret::new(key.expose()) }),
            Err(error) => Err(error.to_string()),
        }
    }

    async fn export(&self) -> Answered {
        match export::run(&self.store).await {
            Ok(text) => done(&text),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn done(answer: &impl Serialize) -> Answered {
    serde_json::to_value(answer).map_err(|error| error.to_string())
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers").field("guard", &self.guard).finish_non_exhaustive()
    }
}
