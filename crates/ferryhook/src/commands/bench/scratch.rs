//! A directory for the time of the benchmark.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use ferryhook_core::Env;

/// Removed, with all that is in it, when it is dropped.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Inside `parent`, whose disk is the one that is measured.
    pub fn make(parent: &Path, env: &Env) -> anyhow::Result<Self> {
        let mut name = String::from("ferryhook-bench-");
        let mut random = [0; 6];
        env.fill(&mut random);
        for byte in random {
            let _ = write!(name, "{byte:02x}");
        }
        let parent = std::path::absolute(parent).context("cannot name the directory")?;
        let path = parent.join(name);
        std::fs::create_dir(&path)
            .with_context(|| format!("cannot make a directory in {}", parent.display()))?;
        Ok(Self(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// What the files of one of its directories come to.
    pub fn bytes_in(&self, directory: &str) -> anyhow::Result<u64> {
        bytes_under(&self.0.join(directory)).context("cannot look at what was written")
    }
}

/// As deep as directories go, which here is what the store has made.
fn bytes_under(directory: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let about = entry.metadata()?;
        bytes += if about.is_dir() { bytes_under(&entry.path())? } else { about.len() };
    }
    Ok(bytes)
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
