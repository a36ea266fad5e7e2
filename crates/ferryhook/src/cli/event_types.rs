//! What can be typed about event types.

use clap::{Args, Subcommand};

use super::resources::{ListAll, With};

#[derive(Debug, Subcommand)]
pub enum EventTypesCommand {
    /// List the types of all events that came, by name.
    List(ListAll),
    /// Show a type: how often and since when, what its events have in common as JSON Schema, what was
    /// different about some, and what is declared.
    #[command(visible_alias = "get")]
    Show(EventTypeOf),
}

#[derive(Debug, Args)]
pub struct EventTypeOf {
    #[arg(value_name = "TYPE")]
    pub name: String,
    #[command(flatten)]
    pub with: With,
}
