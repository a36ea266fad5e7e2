//! Finds a desk to ask: the server's, or one of our own on the data that no server has open.

use anyhow::{Context, bail};
use ferryhook_core::Env;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Asked, Complaint, Desk};
use crate::config::{Config, StoreKind, Values};
use crate::control::{self, Request};
use crate::storage;

pub async fn ask<T: DeserializeOwned>(
    config: &Config,
    values: &Values,
    asked: Asked,
) -> anyhow::Result<T> {
    match ask_server(config, values, asked.clone()).await? {
        Some(answer) => Ok(answer),
        None => understood(alone(config, asked).await?),
    }
}

/// The same without opening data that no server has open: for one who asks again and again, and
/// would keep the next server out. `None` when nobody is there.
pub async fn ask_server<T: DeserializeOwned>(
    config: &Config,
    values: &Values,
    asked: Asked,
) -> anyhow::Result<Option<T>> {
    let answer = match config.store {
        StoreKind::Memory => {
            let origin = values.origin("store");
            bail!("the memory store (setting store, from {origin}) keeps nothing to look at");
        }
        StoreKind::Embedded => control::ask(&config.data, &Request::Desk(asked)).await?,
        // It is open to anyone.
        StoreKind::Dynamodb => Some(alone(config, asked).await?),
    };
    answer.map(understood).transpose()
}

fn understood<T: DeserializeOwned>(answer: Result<Value, Complaint>) -> anyhow::Result<T> {
    serde_json::from_value(answer?).context("the answer is not understood")
}

async fn alone(config: &Config, asked: Asked) -> anyhow::Result<Result<Value, Complaint>> {
    let env = Env::system();
    let storage = storage::open_existing(config, env.clone()).await?;
    Ok(Desk::alone(storage.store, env).answer(asked).await)
}
