//! The server on this machine: no login is needed where the same person could read its data.
//!
//! A server with an embedded store answers on its control socket, which only its owner can open,
//! where it listens and which key to use. The key is never in a file: it is derived from the
//! store's master key. `dev` also leaves a note where its data is, so that commands find it from
//! other directories.

use std::path::{Path, PathBuf};

use ferryhook_core::Secret;
use serde::{Deserialize, Serialize};

use super::contexts;
use crate::control::{self, Request};

const NOTE: &str = "dev";

/// What a server tells its owner.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Local {
    pub url: String,
    pub key: Secret,
}

/// Asks whoever has this directory open, if anyone has.
pub async fn ask(data: &Path) -> anyhow::Result<Option<Local>> {
    control::ask(data, &Request::Local).await
}

/// The directory of the last `ferryhook dev` of this person.
pub fn noted() -> Option<PathBuf> {
    let text = std::fs::read_to_string(contexts::folder()?.join(NOTE)).ok()?;
    Some(PathBuf::from(text.trim_end_matches('\n'))).filter(|path| path.is_absolute())
}

/// Leaves the note. Who has no home is found in the working directory only.
pub fn note(data: &Path) {
    let Some(folder) = contexts::folder() else { return };
    let Ok(data) = data.canonicalize() else { return };
    let written = std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(folder.join(NOTE), format!("{}\n", data.display())));
    if let Err(error) = written {
        tracing::debug!(%error, "other directories will not find this server by themselves");
    }
}
