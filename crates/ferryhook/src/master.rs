//! Where the master key comes from, and how it is exchanged for another.
//!
//! Whoever runs a server gives it (`masterKey`, `masterKeyFile`). Where nobody does, the embedded
//! store has one of its own, in a file beside the data: that keeps secrets out of a copied log or
//! table, and is no protection from someone who has the whole directory.

mod file;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use ferryhook_core::Env;
use ferryhook_core::data_key::INSTALLATION;
use ferryhook_core::sealing::{MasterKey, NotAMasterKey};
use ferryhook_store::vault::Rotated;
use ferryhook_store::{MasterKeys, Store, Vault};
use serde::{Deserialize, Serialize};

use crate::config::{Config, MasterKeySetting};

pub use file::KeyFile;

/// Keys in a setting: the current one, and perhaps former ones.
const KEYS_MAX: usize = 8;
const FILE_BYTES_MAX: u64 = 4096;

/// An open vault, and the file that its key lies in if nobody gave one.
#[derive(Debug, Clone)]
pub struct Keys {
    pub vault: Arc<Vault>,
    pub file: Option<KeyFile>,
}

impl Keys {
    /// With the keys that were given, or else with those of the file, which is made where the store
    /// has no secrets yet.
    pub async fn of_embedded(config: &Config, store: &Store, env: &Env) -> anyhow::Result<Self> {
        if let Some(given) = given(config)? {
            let vault = open(store, given, &said(config)).await?;
            return Ok(Self { vault, file: None });
        }
        let file = KeyFile::of(&config.data);
        let keys = match file.read()? {
            Some(keys) => keys,
            None if store.data_keys().find(INSTALLATION).await?.is_none() => file.create(env)?,
            None => bail!(
                "{path} is missing, and without it the secrets in {data} cannot be read: put the \
                 file back, or give the master key as FERRYHOOK_MASTER_KEY",
                path = file.path().display(),
                data = config.data.display()
            ),
        };
        let vault = open(store, keys, &file.path().display().to_string()).await?;
        Ok(Self { vault, file: Some(file) })
    }

    /// Gone with the process, as the store is.
    pub async fn of_memory(store: &Store, env: &Env) -> anyhow::Result<Self> {
        let keys = MasterKeys { current: MasterKey::generate(env), former: Vec::new() };
        Ok(Self { vault: open(store, keys, "memory").await?, file: None })
    }

    /// On a store that several servers share somebody has to give the key.
    #[cfg(feature = "aws")]
    pub async fn of_shared(config: &Config, store: &Store) -> anyhow::Result<Self> {
        match given(config)? {
            Some(given) => Ok(Self { vault: open(store, given, &said(config)).await?, file: None }),
            None => Err(needed()),
        }
    }

    /// Exchanges the master key for this one; without one, for a new one of the key file's, or for
    /// the first of several that were given.
    pub async fn rotate(
        &self,
        new: Option<MasterKey>,
        env: &Env,
        progress: impl FnMut(Rotated),
    ) -> anyhow::Result<Rotation> {
        let former = self.vault.master_id();
        let (new, own) = match (new, &self.file) {
            (Some(new), _) => (Some(new), None),
            (None, Some(file)) => (Some(file.begin_rotation(env)?), Some(file)),
            (None, None) if self.vault.has_former() => (None, None),
            (None, None) => bail!(
                "there is nothing to rotate to: make a key with `openssl rand -base64 32` and name \
                 it with --new-key-file or FERRYHOOK_NEW_MASTER_KEY"
            ),
        };
        let Rotated { rewrapped, already } = self.vault.rotate(new, progress).await?;
        let master_id = self.vault.master_id();
        let file = own.map(|file| file.path().display().to_string());
        let retired = own.map(KeyFile::end_rotation).transpose()?.flatten();
        let retired = retired.map(|path| path.display().to_string());
        Ok(Rotation { former_id: former, master_id, rewrapped, already, file, retired })
    }
}

/// What a rotation did.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rotation {
    pub former_id: String,
    pub master_id: String,
    pub rewrapped: u64,
    pub already: u64,
    /// Where the new key lies, if it is our own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Where the one before it lies now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired: Option<String>,
}

/// Refuses before anything is opened.
#[cfg(feature = "aws")]
pub fn require_given(config: &Config) -> anyhow::Result<()> {
    match config.master_key {
        MasterKeySetting::Own => Err(needed()),
        _ => Ok(()),
    }
}

#[cfg(feature = "aws")]
fn needed() -> anyhow::Error {
    anyhow::anyhow!(
        "the DynamoDB store needs a master key, which the secrets in it are sealed with: make one \
         with `openssl rand -base64 32`, and give every server the same as FERRYHOOK_MASTER_KEY, or \
         in a file that FERRYHOOK_MASTER_KEY_FILE names"
    )
}

/// The current key first, then former ones, with commas or white space between them.
pub fn parse(text: &str) -> Result<MasterKeys, NotAMasterKey> {
    let words = text.split([',', ' ', '\t', '\r', '\n']).filter(|word| !word.is_empty());
    let mut keys = words.take(KEYS_MAX).map(MasterKey::parse).collect::<Result<Vec<_>, _>>()?;
    match keys.is_empty() {
        true => Err(NotAMasterKey),
        false => Ok(MasterKeys { current: keys.remove(0), former: keys }),
    }
}

pub fn read(path: &Path) -> anyhow::Result<MasterKeys> {
    let name = path.display();
    let size = std::fs::metadata(path).with_context(|| format!("cannot read {name}"))?.len();
    if size > FILE_BYTES_MAX {
        bail!("{name} is no master key: it is larger than {FILE_BYTES_MAX} bytes");
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
    parse(&text).with_context(|| format!("{name} is no master key"))
}

fn given(config: &Config) -> anyhow::Result<Option<MasterKeys>> {
    match &config.master_key {
        MasterKeySetting::Own => Ok(None),
        MasterKeySetting::Text(text) => {
            Ok(Some(parse(text.expose()).context("masterKey cannot be used")?))
        }
        MasterKeySetting::File(path) => read(path).map(Some),
    }
}

/// Where the keys were given, for people.
fn said(config: &Config) -> String {
    match &config.master_key {
        MasterKeySetting::File(path) => path.display().to_string(),
        _ => "setting masterKey".to_owned(),
    }
}

async fn open(store: &Store, keys: MasterKeys, from: &str) -> anyhow::Result<Arc<Vault>> {
    let vault = Vault::open(store, keys).await.map_err(|error| match error {
        ferryhook_store::VaultError::Store(error) => anyhow::Error::from(error),
        error => anyhow::anyhow!("{error} (master key from {from})"),
    });
    vault.map(Arc::new)
}

#[cfg(test)]
mod tests;
