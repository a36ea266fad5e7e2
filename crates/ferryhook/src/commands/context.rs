//! `ferryhook context` and `ferryhook logout`: the servers somebody has logged in to.

use std::io::Write;

use serde_json::json;

use super::columns::{Columns, or_dash};
use super::{print_json, runtime};
use crate::cli::{ContextCommand, Logout};
use crate::client::contexts::{Context, Contexts};
use crate::client::{Client, Failure};

pub fn run(command: &ContextCommand) -> anyhow::Result<()> {
    match command {
        ContextCommand::List { json } => list(*json),
        ContextCommand::Use { name } => make_current(name),
    }
}

fn list(as_json: bool) -> anyhow::Result<()> {
    let contexts = Contexts::load()?;
    let is_current = |name: &String| contexts.current.as_ref() == Some(name);
    if as_json {
        let line = |(name, context): (&String, &Context)| {
            json!({
                "name": name,
                "server": context.server,
                "account": context.account,
                "isCurrent": is_current(name),
            })
        };
        return print_json(&contexts.contexts.iter().map(line).collect::<Vec<_>>());
    }
    let mut out = std::io::stdout().lock();
    if contexts.contexts.is_empty() {
        writeln!(out, "no logins; ferryhook login URL makes one")?;
        return Ok(());
    }
    let mut columns = Columns::new(["", "NAME", "SERVER", "ACCOUNT"]);
    for (name, context) in &contexts.contexts {
        let mark = if is_current(name) { "*" } else { "" };
        columns.line([
            mark.to_owned(),
            name.clone(),
            context.server.clone(),
            or_dash(context.account.as_ref()),
        ]);
    }
    Ok(write!(out, "{}", columns.show())?)
}

fn make_current(name: &str) -> anyhow::Result<()> {
    let mut contexts = Contexts::load()?;
    let server = contexts.contexts.get(name).ok_or_else(|| unknown(name))?.server.clone();
    contexts.current = Some(name.to_owned());
    contexts.save()?;
    Ok(writeln!(std::io::stdout(), "{name} ({server}) is the current login")?)
}

/// Revokes the key where `login` has made it, and forgets it.
pub fn log_out(asked: &Logout) -> anyhow::Result<()> {
    let mut contexts = Contexts::load()?;
    let name = asked.name.clone().or_else(|| contexts.current.clone());
    let Some(name) = name else {
        return Ok(writeln!(std::io::stdout(), "nobody is logged in")?);
    };
    let context = contexts.contexts.remove(&name).ok_or_else(|| unknown(&name))?;
    if contexts.current.as_ref() == Some(&name) {
        contexts.current = None;
    }
    let revoked = match &context.key_id {
        Some(id) => runtime()?.block_on(revoke(&context, id)),
        None => Ok(()),
    };
    contexts.save()?;
    if let Err(failure) = revoked {
        eprintln!("the key could not be revoked on the server: {failure}");
    }
    Ok(writeln!(std::io::stdout(), "logged out of {} ({name})", context.server)?)
}

async fn revoke(context: &Context, id: &str) -> Result<(), Failure> {
    let client = Client::new(&context.server, Some(context.api_key.clone()))?;
    match client.delete(&format!("/v1/api-keys/{id}")).await {
        // It is revoked already, or expired.
        Err(Failure::NotProven { .. } | Failure::NotFound { .. }) => Ok(()),
        other => other,
    }
}

fn unknown(name: &str) -> Failure {
    Failure::not_found(format!("there is no login {name:?}; `ferryhook context list` shows them"))
}
