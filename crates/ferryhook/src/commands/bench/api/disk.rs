//! The least that a durable write takes here: a few kilobytes appended to a file, and synced.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use ferryhook_core::Env;

/// About what one change of a setting and its line in the audit log come to.
const WRITE_BYTES: usize = 4 * 1024;

/// One after the other, each with the time it took.
pub async fn sync(directory: &Path, count: usize, env: &Env) -> anyhow::Result<Vec<Duration>> {
    let (path, env) = (directory.join("disk"), env.clone());
    let times = tokio::task::spawn_blocking(move || {
        let mut file = File::options().create(true).append(true).open(path)?;
        let mut times = Vec::with_capacity(count);
        for _ in 0..count {
            let began = env.elapsed();
            file.write_all(&[b'x'; WRITE_BYTES])?;
            file.sync_data()?;
            times.push(env.elapsed() - began);
        }
        Ok::<_, std::io::Error>(times)
    });
    times.await?.context("cannot write beside the data")
}
