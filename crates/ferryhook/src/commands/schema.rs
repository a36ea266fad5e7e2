//! `ferryhook schema`: the tables of the DynamoDB store, compared, made or printed.

use std::io::Write;
use std::process::ExitCode;

use ferryhook_store::schema::{self, Names};

use crate::cli::SchemaCommand;
use crate::config::{Config, FlagsOf, TablesScope};

#[cfg(feature = "aws")]
mod live;

pub fn run(command: SchemaCommand) -> anyhow::Result<ExitCode> {
    match command {
        SchemaCommand::Terraform(flags) => terraform(&flags),
        #[cfg(feature = "aws")]
        SchemaCommand::Plan(asked) => live::plan(&asked),
        #[cfg(feature = "aws")]
        SchemaCommand::Apply(flags) => live::apply(&flags),
        #[cfg(not(feature = "aws"))]
        SchemaCommand::Plan(_) | SchemaCommand::Apply(_) => Err(crate::storage::no_dynamo()),
    }
}

/// Needs no server, and no build that could talk to one.
fn terraform(flags: &FlagsOf<TablesScope>) -> anyhow::Result<ExitCode> {
    let (config, _) = Config::load(&flags.0)?;
    let names = Names { prefix: config.dynamo.table_prefix, ledger: config.dynamo.ledger_table };
    writeln!(std::io::stdout(), "{}", schema::terraform(&names).trim_end())?;
    Ok(ExitCode::SUCCESS)
}
