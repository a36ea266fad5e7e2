//! The DynamoDB store, in builds that have it.

use std::sync::Arc;

use ferryhook_core::Env;
use ferryhook_store::Store;
use ferryhook_store::engine::dynamo::{Dynamo, DynamoConfig};

use super::Storage;
use crate::config::{self, Config};
use crate::master::{self, Keys};

pub async fn open(config: &Config, env: Env) -> anyhow::Result<Storage> {
    master::require_given(config)?;
    let engine = Arc::new(Dynamo::open(settings(&config.dynamo), env.clone()).await?);
    let store = Store::new(engine, env);
    let keys = Keys::of_shared(config, &store).await?;
    Ok(Storage { store: store.sealed_by(keys.vault.clone()), embedded: None, keys })
}

pub fn settings(config: &config::Dynamo) -> DynamoConfig {
    DynamoConfig {
        endpoint: config.endpoint.clone(),
        region: config.region.clone(),
        table_prefix: config.table_prefix.clone(),
        ledger_table: config.ledger_table.clone(),
    }
}
