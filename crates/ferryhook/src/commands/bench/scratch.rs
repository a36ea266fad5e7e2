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
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
