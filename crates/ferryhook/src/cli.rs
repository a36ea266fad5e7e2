//! What can be typed. Each command lives in its own file under `commands/`.

use clap::{Parser, Subcommand};

use crate::config::Flags;

/// The event gateway in one binary.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the server until it is told to stop.
    Serve(Flags),
    /// Look at the configuration.
    #[command(subcommand)]
    Config(ConfigCommand),
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Check every setting and show which value counts, and where it comes from.
    Check(Flags),
}
