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
    let answer = match config.store {
        StoreKind::Memory => {
            let origin = values.origin("store");
            bail!("the memory store (setting store, from {origin}) keeps nothing to look at");
        }
        StoreKind::Embedded => {
            let request = Request::Desk(asked);
            match control::ask::<Result<Value, Complaint>>(&config.data, &request).await? {
                Some(answer) => answer,
                None => {
                    let Request::Desk(asked) = request else { bail!("nothing was asked") };
                    alone(config, asked).await?
                }
            }
        }
        StoreKind::Dynamodb => alone(config, asked).await?,
    };
    serde_json::from_value(answer?).context("the answer is not understood")
}

async fn alone(config: &Config, asked: Asked) -> anyhow::Result<Result<Value, Complaint>> {
    let env = Env::system();
    let storage = storage::open_existing(config, env.clone()).await?;
    Ok(Desk::alone(storage.store, env).answer(asked).await)
}
