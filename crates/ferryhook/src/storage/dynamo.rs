//! The DynamoDB store, in builds that have it.

use std::sync::Arc;

use ferryhook_core::Env;
use ferryhook_store::Store;
use ferryhook_store::engine::dynamo::{Dynamo, DynamoConfig};

use super::Storage;
use crate::config;

pub async fn open(config: &config::Dynamo, env: Env) -> anyhow::Result<Storage> {
    let engine = Arc::new(Dynamo::open(settings(config), env.clone()).await?);
    Ok(Storage { store: Store::new(engine, env), embedded: None })
}

pub fn settings(config: &config::Dynamo) -> DynamoConfig {
    DynamoConfig {
        endpoint: config.endpoint.clone(),
        region: config.region.clone(),
        table_prefix: config.table_prefix.clone(),
        ledger_table: config.ledger_table.clone(),
    }
}
