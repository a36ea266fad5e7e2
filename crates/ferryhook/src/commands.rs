//! One file per command.

mod config;
mod serve;

use crate::cli::{Cli, Command, ConfigCommand};

pub fn run(cli: Cli) -> anyhow::Result<()> {
    match cli.command {
        Command::Serve(flags) => serve::run(&flags),
        Command::Config(ConfigCommand::Check(flags)) => config::check(&flags),
    }
}
