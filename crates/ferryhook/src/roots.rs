//! Whose certificates are believed when a destination shows one: the public authorities, and those
//! of the operator.

use anyhow::{Context, ensure};
use ferryhook_net::client::Roots;

use crate::config::Config;

const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

pub fn of(config: &Config) -> anyhow::Result<Roots> {
    let Some(file) = &config.destinations_ca_file else { return Ok(Roots::public()) };
    let read = || {
        let bytes = std::fs::metadata(file)?.len();
        ensure!(bytes <= FILE_BYTES_MAX, "it is larger than {FILE_BYTES_MAX} bytes");
        Ok(Roots::public().with_pem(&std::fs::read(file)?)?)
    };
    read().with_context(|| format!("cannot use destinations.caFile {}", file.display()))
}
