//! What asks or changes a DynamoDB server.

use std::io::{self, Write};
use std::process::ExitCode;

use ferryhook_store::schema::{self, Change, Plan, Step};
use serde_json::{Value, json};

use crate::cli::SchemaPlan;
use crate::commands::runtime;
use crate::config::{Config, FlagsOf, TablesScope};
use crate::storage::dynamo::settings;

const CHANGES: u8 = 2;

pub fn plan(asked: &SchemaPlan) -> anyhow::Result<ExitCode> {
    let (config, _) = Config::load(&asked.flags.0)?;
    let plan = runtime()?.block_on(Box::pin(schema::plan(&settings(&config.dynamo))))?;
    let mut out = io::stdout().lock();
    match asked.json {
        true => writeln!(out, "{}", as_json(&plan))?,
        false => write!(out, "{plan}")?,
    }
    Ok(match (plan.problems.is_empty(), plan.steps.is_empty()) {
        (false, _) => ExitCode::FAILURE,
        (true, false) => ExitCode::from(CHANGES),
        (true, true) => ExitCode::SUCCESS,
    })
}

pub fn apply(flags: &FlagsOf<TablesScope>) -> anyhow::Result<ExitCode> {
    let (config, _) = Config::load(&flags.0)?;
    // Who no longer reads the progress still wants the tables.
    let mut tell = |line: &str| drop(writeln!(io::stdout(), "{line}"));
    let settings = settings(&config.dynamo);
    let plan = runtime()?.block_on(Box::pin(schema::apply(&settings, &mut tell)))?;
    match plan.steps.len() {
        0 => tell("every table is as declared"),
        steps => tell(&format!("done: {steps} changes")),
    }
    Ok(ExitCode::SUCCESS)
}

fn as_json(plan: &Plan) -> Value {
    json!({
        "steps": plan.steps.iter().map(step_as_json).collect::<Vec<_>>(),
        "problems": plan.problems,
        "notes": plan.notes,
    })
}

/// `change` is one word; `detail` is the same line that people get.
fn step_as_json(step: &Step) -> Value {
    let change = match step.change {
        Change::Create => "create",
        Change::AddIndex(_) => "addIndex",
        Change::SetCapacity(_) => "setCapacity",
        Change::StartStream => "startStream",
        Change::Encrypt => "encrypt",
        Change::Expire(_) => "expire",
        Change::Recover => "recover",
    };
    json!({ "table": step.name, "change": change, "detail": step.to_string() })
}
