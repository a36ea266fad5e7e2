//! Contexts: the servers somebody has logged in to, with the key for each, in a file that only its
//! owner may read.
//!
//! Written by `login`, `logout` and `context use`. There are keys in it and never a password.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use ferryhook_core::Secret;
use serde::{Deserialize, Serialize};

const FILE: &str = "config.toml";
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// What the file has.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Contexts {
    /// The one that counts where nobody says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    #[serde(default)]
    pub contexts: BTreeMap<String, Context>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Context {
    pub server: String,
    pub api_key: Secret,
    /// So that `logout` can revoke it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
    /// Who it is, for `context list`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
}

impl Contexts {
    /// Nothing where nothing was ever written.
    pub fn load() -> anyhow::Result<Self> {
        let Some(file) = file() else { return Ok(Self::default()) };
        let cannot = || format!("cannot read {}", file.display());
        let bytes = match std::fs::metadata(&file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            metadata => metadata.with_context(cannot)?.len(),
        };
        if bytes > FILE_BYTES_MAX {
            bail!("{}: it is larger than {FILE_BYTES_MAX} bytes", cannot());
        }
        let text = std::fs::read_to_string(&file).with_context(cannot)?;
        toml::from_str(&text).with_context(cannot)
    }

    /// Whole or not at all, and never for a moment readable by others.
    pub fn save(&self) -> anyhow::Result<PathBuf> {
        let file = file().context(
            "there is no place for the key: set HOME or XDG_CONFIG_HOME, or use FERRYHOOK_API_KEY",
        )?;
        let folder = file.parent().context("the place for contexts has no folder")?;
        let cannot = || format!("cannot write {}", file.display());
        std::fs::create_dir_all(folder).with_context(cannot)?;
        let new = file.with_extension(format!("new-{}", std::process::id()));
        let write = || {
            let options = &mut std::fs::OpenOptions::new();
            let mut open = options.write(true).create_new(true).mode(0o600).open(&new)?;
            let text = toml::to_string(self).map_err(std::io::Error::other)?;
            open.write_all(text.as_bytes())?;
            open.sync_all()?;
            std::fs::rename(&new, &file)
        };
        let written = write();
        if written.is_err() {
            let _ = std::fs::remove_file(&new);
        }
        written.with_context(cannot)?;
        Ok(file)
    }

    pub fn current(&self) -> Option<(&String, &Context)> {
        self.contexts.get_key_value(self.current.as_ref()?)
    }
}

/// Where ours are kept for this person; nowhere for one without a home.
pub fn folder() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let base = match (variable("XDG_CONFIG_HOME"), variable("HOME")) {
        (Some(base), _) => PathBuf::from(base),
        (None, Some(home)) => PathBuf::from(home).join(".config"),
        (None, None) => return None,
    };
    Some(base.join("ferryhook"))
}

fn file() -> Option<PathBuf> {
    Some(folder()?.join(FILE))
}
