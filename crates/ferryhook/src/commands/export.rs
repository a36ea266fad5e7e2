//! `ferryhook export`: prints what `ferryhook apply` would make it so with.

use std::io::Write;

use ferryhook_api::export;
use ferryhook_core::Env;

use super::runtime;
use crate::config::{Config, FlagsOf, StoreKind, StoreScope};
use crate::control::{self, Request};
use crate::storage;

pub fn run(flags: &FlagsOf<StoreScope>) -> anyhow::Result<()> {
    let (config, _) = Config::load(&flags.0)?;
    let text = runtime()?.block_on(export(&config))?;
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

async fn export(config: &Config) -> anyhow::Result<String> {
    if config.store == StoreKind::Embedded
        && let Some(text) = control::ask(&config.data, &Request::Export).await?
    {
        return Ok(text);
    }
    let storage = storage::open(config, Env::system()).await?;
    Ok(export::run(&storage.store).await?)
}
