//! Opens the store that the configuration names, with the vault that seals its secrets.

use std::sync::Arc;

use ferryhook_core::Env;
use ferryhook_store::engine::embedded::{Embedded, EmbeddedConfig};
use ferryhook_store::engine::memory::Memory;
use ferryhook_store::{Store, StoreError};

use crate::config::{Config, StoreKind};
use crate::master::Keys;

#[cfg(feature = "aws")]
pub mod dynamo;

/// Clones share the store; it is closed when the last one goes.
#[derive(Debug, Clone)]
pub struct Storage {
    pub store: Store,
    /// For what only this engine can do.
    pub embedded: Option<Arc<Embedded>>,
    pub keys: Keys,
}

pub async fn open(config: &Config, env: Env) -> anyhow::Result<Storage> {
    match config.store {
        StoreKind::Embedded => open_embedded(config, embedded(config), env).await,
        StoreKind::Memory => open_memory(env).await,
        #[cfg(feature = "aws")]
        StoreKind::Dynamodb => dynamo::open(config, env).await,
        #[cfg(not(feature = "aws"))]
        StoreKind::Dynamodb => Err(no_dynamo()),
    }
}

/// The same for a command that has nothing to do where nothing is: it makes no data directory.
pub async fn open_existing(config: &Config, env: Env) -> anyhow::Result<Storage> {
    if config.store != StoreKind::Embedded {
        return open(config, env).await;
    }
    let existing = EmbeddedConfig { create: false, ..embedded(config) };
    open_embedded(config, existing, env).await
}

fn embedded(config: &Config) -> EmbeddedConfig {
    EmbeddedConfig { changes_kept: config.changes_kept, ..EmbeddedConfig::new(&config.data) }
}

#[cfg(not(feature = "aws"))]
pub fn no_dynamo() -> anyhow::Error {
    anyhow::anyhow!("this build has no DynamoDB support; build with --features aws")
}

async fn open_embedded(
    config: &Config,
    embedded: EmbeddedConfig,
    env: Env,
) -> anyhow::Result<Storage> {
    let engine = Arc::new(Embedded::open(embedded, env.clone())?);
    let store = Store::new(engine.clone(), env.clone());
    let keys = Keys::of_embedded(config, &store, &env).await?;
    Ok(Storage { store: store.sealed_by(keys.vault.clone()), embedded: Some(engine), keys })
}

async fn open_memory(env: Env) -> anyhow::Result<Storage> {
    tracing::warn!("the memory store KEEPS NOTHING: all data is gone when this process stops");
    let store = Store::new(Arc::new(Memory::new(env.clone())), env.clone());
    let keys = Keys::of_memory(&store, &env).await?;
    Ok(Storage { store: store.sealed_by(keys.vault.clone()), embedded: None, keys })
}

impl Storage {
    /// Whether reads answer and commits can be expected to succeed.
    pub async fn check(&self) -> Result<(), StoreError> {
        if let Some(engine) = &self.embedded {
            engine.check()?;
        }
        // Any key will do, also of a plan that the operator has deleted.
        self.store.plans().find("free").await.map(drop)
    }
}
