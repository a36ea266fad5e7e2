//! Opens the store that the configuration names.

use std::sync::Arc;

use ferryhook_core::Env;
use ferryhook_store::engine::embedded::{Embedded, EmbeddedConfig};
use ferryhook_store::engine::memory::Memory;
use ferryhook_store::{Store, StoreError};

use crate::config::{Config, StoreKind};

#[cfg(feature = "aws")]
pub mod dynamo;

/// Clones share the store; it is closed when the last one goes.
#[derive(Debug, Clone)]
pub struct Storage {
    pub store: Store,
    /// For what only this engine can do.
    pub embedded: Option<Arc<Embedded>>,
}

pub async fn open(config: &Config, env: Env) -> anyhow::Result<Storage> {
    match config.store {
        StoreKind::Embedded => open_embedded(config, env),
        StoreKind::Memory => Ok(open_memory(env)),
        #[cfg(feature = "aws")]
        StoreKind::Dynamodb => dynamo::open(&config.dynamo, env).await,
        #[cfg(not(feature = "aws"))]
        StoreKind::Dynamodb => Err(no_dynamo()),
    }
}

/// The same for a command that has nothing to do where nothing is: it makes no data directory.
pub async fn open_existing(config: &Config, env: Env) -> anyhow::Result<Storage> {
    if config.store != StoreKind::Embedded {
        return open(config, env).await;
    }
    let config = EmbeddedConfig { create: false, ..EmbeddedConfig::new(&config.data) };
    let engine = Arc::new(Embedded::open(config, env.clone())?);
    Ok(Storage { store: Store::new(engine.clone(), env), embedded: Some(engine) })
}

#[cfg(not(feature = "aws"))]
pub fn no_dynamo() -> anyhow::Error {
    anyhow::anyhow!("this build has no DynamoDB support; build with --features aws")
}

fn open_embedded(config: &Config, env: Env) -> anyhow::Result<Storage> {
    let engine = Arc::new(Embedded::open(EmbeddedConfig::new(&config.data), env.clone())?);
    Ok(Storage { store: Store::new(engine.clone(), env), embedded: Some(engine) })
}

fn open_memory(env: Env) -> Storage {
    tracing::warn!("the memory store KEEPS NOTHING: all data is gone when this process stops");
    let engine = Arc::new(Memory::new(env.clone()));
    Storage { store: Store::new(engine, env), embedded: None }
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
