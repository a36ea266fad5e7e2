//! How much a backup or a restore has copied, for people and for programs.

use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copied {
    pub files: usize,
    pub bytes: u64,
}

impl Copied {
    pub fn print(&self, what: &str, directory: &Path, json: bool) -> anyhow::Result<()> {
        let Self { files, bytes } = *self;
        let mut out = std::io::stdout().lock();
        if json {
            let directory = directory.to_string_lossy();
            let line =
                serde_json::json!({ "directory": directory, "files": files, "bytes": bytes });
            writeln!(out, "{line}")?;
        } else {
            writeln!(out, "{what} {}: {files} files, {}", directory.display(), in_units(bytes))?;
        }
        Ok(())
    }
}

fn in_units(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut size = bytes as f64;
    let mut unit = "bytes";
    for larger in UNITS {
        if size < 1024.0 {
            break;
        }
        size /= 1024.0;
        unit = larger;
    }
    match unit {
        "bytes" => format!("{bytes} bytes"),
        unit => format!("{size:.1} {unit}"),
    }
}

#[cfg(test)]
mod tests;
