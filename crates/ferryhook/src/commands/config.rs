//! `ferryhook config check`: what would `serve` run with, and why.

use std::io::Write;

use crate::config::{Config, Flags};
use crate::roots;

pub fn check(flags: &Flags) -> anyhow::Result<()> {
    let (config, values) = Config::load(flags)?;
    roots::of(&config)?;
    let mut out = std::io::stdout().lock();
    for (key, value, origin) in values.rows() {
        writeln!(out, "{key:<28} {:<28} {origin}", value.unwrap_or("-"))?;
    }
    Ok(())
}
