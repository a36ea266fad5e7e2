//! `ferryhook restore`: makes a data directory from a backup, and opens it once to prove it.

use anyhow::Context;
use ferryhook_core::Env;
use ferryhook_store::engine::embedded::{self, Embedded, EmbeddedConfig};

use super::require_embedded;
use crate::cli::Restore;
use crate::config::{Config, MasterKeySetting};
use crate::copied::Copied;
use crate::master::KeyFile;

pub fn run(asked: &Restore) -> anyhow::Result<()> {
    let (config, values) = Config::load(&asked.flags.0)?;
    require_embedded(&config, &values)?;
    let summary = embedded::restore(&asked.directory, &config.data)?;
    let has_key = KeyFile::of(&asked.directory)
        .copy_to(&config.data)
        .context("the data is restored, but its master key cannot be copied")?;
    let proof = EmbeddedConfig { create: false, ..EmbeddedConfig::new(&config.data) };
    Embedded::open(proof, Env::system()).with_context(|| {
        format!("every file is in {}, but it cannot be opened", config.data.display())
    })?;
    let copied = Copied { files: summary.files, bytes: summary.bytes };
    copied.print("restored to", &config.data, asked.json)?;
    if !has_key && config.master_key == MasterKeySetting::Own {
        let path = KeyFile::of(&config.data).path();
        eprintln!(
            "the backup has no master key: unless it is older than sealed secrets, put its key \
             into {} before the next start",
            path.display()
        );
    }
    Ok(())
}
