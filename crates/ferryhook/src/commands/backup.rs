//! `ferryhook backup`: asks the server that has the data open, or opens it when nobody does.

use std::path::Path;

use anyhow::{Context, ensure};
use ferryhook_core::Env;
use ferryhook_store::engine::embedded::{Embedded, EmbeddedConfig};

use super::{require_embedded, runtime};
use crate::cli::Backup;
use crate::config::{Config, MasterKeySetting};
use crate::control::{self, Request};
use crate::copied::Copied;
use crate::master::KeyFile;

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
    copied.print("backed up to", &target, asked.json)?;
    let said = copy_key(asked, &config, &target)?;
    eprintln!("{said}");
    Ok(())
}

/// The key file goes along unless it is unwanted: a backup that cannot be used is none. A key that
/// was given lies elsewhere, and stays there. Tells which it was.
fn copy_key(asked: &Backup, config: &Config, target: &Path) -> anyhow::Result<String> {
    let elsewhere = match &config.master_key {
        MasterKeySetting::Own => None,
        MasterKeySetting::Text(_) => Some("masterKey".to_owned()),
        MasterKeySetting::File(path) => Some(path.display().to_string()),
    };
    let file = KeyFile::of(&config.data);
    let path = file.path();
    if let Some(place) = elsewhere {
        return Ok(format!(
            "the master key ({place}) is not in it: keep it elsewhere, nothing reads the secrets \
             without it"
        ));
    }
    if asked.without_master_key {
        return Ok(format!(
            "the master key is not in it: keep {} elsewhere, nothing reads the secrets without it",
            path.display()
        ));
    }
    match file.copy_to(target).context("cannot copy the master key")? {
        true => Ok("the master key is in it: whoever has this backup can read its secrets".into()),
        false => Ok("no secret in it is sealed: there is no master key yet".into()),
    }
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
