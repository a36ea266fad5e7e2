//! Files that a command is given to read.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, ensure};

/// The whole text of a file, or of the standard input where it is called `-`.
pub fn text(file: &Path, bytes_max: u64) -> anyhow::Result<String> {
    let mut text = String::new();
    let read = match file == Path::new("-") {
        true => std::io::stdin().take(bytes_max + 1).read_to_string(&mut text),
        false => {
            File::open(file).and_then(|open| open.take(bytes_max + 1).read_to_string(&mut text))
        }
    };
    read.with_context(|| format!("cannot read {}", file.display()))?;
    let is_small = text.len() as u64 <= bytes_max;
    ensure!(is_small, "{} is larger than {bytes_max} bytes", file.display());
    Ok(text)
}
