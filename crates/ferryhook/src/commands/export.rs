//! `ferryhook export`: prints what `ferryhook apply` would make it so with.

use std::io::Write;

use ferryhook_api::export::{self, ExportedManifest};
use ferryhook_core::Env;

use super::runtime;
use crate::cli::WhereFlags;
use crate::client::place::{self, Whom};
use crate::config::{Config, StoreKind};
use crate::control::{self, Request};
use crate::storage;

pub fn run(flags: &WhereFlags) -> anyhow::Result<()> {
    let text = runtime()?.block_on(async {
        match place::whom(flags).await? {
            Whom::Server(client) => {
                let exported: ExportedManifest = client.get("/v1/export").await?;
                Ok(exported.manifest)
            }
            Whom::Data(data) => export(&data.0).await,
        }
    });
    let text: String = text?;
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
