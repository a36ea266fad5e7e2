//! The key file of the embedded store, `master.key` in the data directory.
//!
//! It is there at every moment from its making on: a rotation links it to `master.key.old` before
//! the new one takes its name. While both are there, both are used, so that a rotation may end
//! anywhere and begin again. The old one is kept in the end, for backups that need it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use ferryhook_core::Env;
use ferryhook_core::sealing::MasterKey;
use ferryhook_store::MasterKeys;

use super::read;

const NAME: &str = "master.key";
const OLD: &str = "master.key.old";
const NEW: &str = "master.key.new";

#[derive(Debug, Clone)]
pub struct KeyFile {
    directory: PathBuf,
}

impl KeyFile {
    pub fn of(directory: &Path) -> Self {
        Self { directory: directory.to_owned() }
    }

    pub fn path(&self) -> PathBuf {
        self.directory.join(NAME)
    }

    /// `None` if there is no file.
    pub fn read(&self) -> anyhow::Result<Option<MasterKeys>> {
        if !self.path().try_exists().context("cannot look for the master key")? {
            return Ok(None);
        }
        let mut keys = read(&self.path())?;
        if self.is_rotating() {
            let old = read(&self.directory.join(OLD))?;
            keys.former.push(old.current);
            keys.former.extend(old.former);
        }
        Ok(Some(keys))
    }

    pub fn create(&self, env: &Env) -> anyhow::Result<MasterKeys> {
        let current = MasterKey::generate(env);
        self.install(&current).context("cannot write the master key")?;
        let path = self.path();
        tracing::info!(file = %path.display(), "made a master key");
        Ok(MasterKeys { current, former: Vec::new() })
    }

    /// The key to rotate to, on disk already. One that was begun before and not ended goes on.
    pub fn begin_rotation(&self, env: &Env) -> anyhow::Result<MasterKey> {
        let old = self.directory.join(OLD);
        let current = read(&self.path())?.current;
        match self.is_rotating() {
            // Cut short before the new one took its name.
            true if read(&old)?.current.id() == current.id() => {}
            true => return Ok(current),
            false => fs::hard_link(self.path(), &old).context("cannot keep the old master key")?,
        }
        let new = MasterKey::generate(env);
        self.install(&new).context("cannot write the new master key")?;
        Ok(new)
    }

    /// Where the old key is now; `None` if there was none.
    pub fn end_rotation(&self) -> anyhow::Result<Option<PathBuf>> {
        if !self.is_rotating() {
            return Ok(None);
        }
        let old = self.directory.join(OLD);
        let id = read(&old)?.current.id().to_owned();
        let retired = self.directory.join(format!("{NAME}.retired-{id}"));
        fs::rename(&old, &retired)
            .and_then(|()| sync(&self.directory))
            .context("cannot put the old master key aside")?;
        Ok(Some(retired))
    }

    /// Copies the key, and the one before it while a rotation is under way. Tells whether there was
    /// one.
    pub fn copy_to(&self, directory: &Path) -> io::Result<bool> {
        let target = Self::of(directory);
        if self.is_rotating() {
            write(&target.directory.join(OLD), &fs::read(self.directory.join(OLD))?)?;
        }
        match fs::read(self.path()) {
            Ok(text) => write(&target.path(), &text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        }
        sync(directory).map(|()| true)
    }

    fn is_rotating(&self) -> bool {
        self.directory.join(OLD).exists()
    }

    /// In place of the one that is there, in one step.
    fn install(&self, key: &MasterKey) -> io::Result<()> {
        let new = self.directory.join(NEW);
        write(&new, format!("{}\n", key.text().expose()).as_bytes())?;
        fs::rename(&new, self.path())?;
        sync(&self.directory)
    }
}

/// A file that only its owner reads, on disk when this returns.
fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(text)?;
    file.sync_all()
}

fn sync(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}
