//! `ferryhook backup`: asks the server that has the data open, or opens it when nobody does.

use std::path::Path;

use anyhow::{Context, ensure};
use ferryhook_core::Env;
use ferryhook_store::engine::embedded::{Embedded, EmbeddedConfig};

use super::{require_embedded, runtime};
use crate::cli::Backup;
use crate::config::Config;
use crate::control::{self, Request};
use crate::copied::Copied;

pub fn run(asked: &Backup) -> anyhow::Result<()> {
    let (config, values) = Config::load(&asked.flags.0)?;
    require_embedded(&config, &values)?;
    // The server may have another working directory.
    let target = std::path::absolute(&asked.directory).context("cannot name the directory")?;
    let data = std::path::absolute(&config.data).context("cannot name the data directory")?;
    ensure!(
        !target.starts_with(&data),
        "{} is inside the data directory; a backup belongs somewhere else",
        target.display()
    );
    let copied = runtime()?.block_on(backup(&config.data, &target))?;
    copied.print("backed up to", &target, asked.json)
}

async fn backup(data: &Path, target: &Path) -> anyhow::Result<Copied> {
    match control::ask(data, &Request::Backup(target.to_owned())).await? {
        Some(copied) => Ok(copied),
        None => backup_closed(data, target).await,
    }
}

async fn backup_closed(data: &Path, target: &Path) -> anyhow::Result<Copied> {
    let config = EmbeddedConfig { create: false, ..EmbeddedConfig::new(data) };
    let engine = Embedded::open(config, Env::system())?;
    let summary = engine.backup(target).await?;
    Ok(Copied { files: summary.files, bytes: summary.bytes })
}
