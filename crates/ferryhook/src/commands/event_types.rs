//! `ferryhook event-types`: what traffic has taught about the types of events, on a server.

use std::io::Write;
use std::process::ExitCode;

use ferryhook_api::event_types::EventTypeView;
use serde_json::json;

use super::columns::{Columns, or_dash, plain, word};
use super::{print_json, runtime};
use crate::cli::{EventTypeOf, EventTypesCommand, ListAll};
use crate::client::{place, segment};

pub fn run(command: &EventTypesCommand) -> anyhow::Result<ExitCode> {
    runtime()?.block_on(async {
        match command {
            EventTypesCommand::List(asked) => list(asked).await?,
            EventTypesCommand::Show(asked) => show(asked).await?,
        }
        Ok(ExitCode::SUCCESS)
    })
}

async fn list(asked: &ListAll) -> anyhow::Result<()> {
    let client = place::client(&asked.with.server).await?;
    let page = client.list::<EventTypeView>("/v1/event-types", asked.limit.into()).await?;
    if asked.with.json {
        return print_json(&json!({ "data": page.data, "hasMore": page.has_more }));
    }
    let mut out = std::io::stdout().lock();
    if page.data.is_empty() {
        writeln!(out, "no event types; they are learned from what comes in")?;
        return Ok(());
    }
    let mut columns =
        Columns::new(["TYPE", "EVENTS", "LAST EVENT", "DRIFTS", "DECLARED", "MISMATCHES"]);
    for known in &page.data {
        columns.line([
            known.event_type.clone(),
            known.count.to_string(),
            or_dash(known.last_seen_at),
            known.drifts.len().to_string(),
            or_dash(known.declared.as_ref().map(|declared| word(&declared.mode))),
            known.mismatches.to_string(),
        ]);
    }
    write!(out, "{}", columns.show())?;
    if page.has_more {
        writeln!(out, "there are more; see --limit")?;
    }
    Ok(())
}

async fn show(asked: &EventTypeOf) -> anyhow::Result<()> {
    let client = place::client(&asked.with.server).await?;
    let path = format!("/v1/event-types/{}", segment(&asked.name));
    let known = client.get::<EventTypeView>(&path).await;
    let known = known.map_err(|failure| failure.about("event type", plain(&asked.name)))?;
    if asked.with.json {
        return print_json(&known);
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", plain(&known.event_type))?;
    writeln!(out, "  events      {}", known.count)?;
    writeln!(out, "  first       {}", or_dash(known.first_seen_at))?;
    writeln!(out, "  last        {}", or_dash(known.last_seen_at))?;
    if let Some(declared) = &known.declared {
        writeln!(out, "  declared    {} since {}", word(&declared.mode), declared.declared_at)?;
        writeln!(out, "  mismatches  {}", known.mismatches)?;
        writeln!(out, "  unchecked   {}", known.unchecked)?;
    }
    for drift in &known.drifts {
        let what = plain(&drift.to_string());
        writeln!(out, "  drift       {}  {what}  {}", drift.noted_at, drift.event_id)?;
    }
    if let Some(schema) = &known.inferred_schema {
        writeln!(out, "learned from {} samples:", known.samples)?;
        for line in serde_json::to_string_pretty(schema)?.lines() {
            writeln!(out, "{}", plain(line))?;
        }
    }
    Ok(())
}
