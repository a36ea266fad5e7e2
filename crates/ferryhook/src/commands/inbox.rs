//! `ferryhook inbox`: what waits to be fetched, on a server.

use std::io::Write;
use std::process::ExitCode;

use ferryhook_api::inbox::{InboxItem, Leases, Replies, ReplyResult};
use serde_json::{Value, json};

use super::columns::{Columns, or_dash, plain, word};
use super::{print_json, runtime};
use crate::cli::{InboxCommand, InboxLease, InboxList, With};
use crate::client::{place, with_query};

pub fn run(command: &InboxCommand) -> anyhow::Result<ExitCode> {
    runtime()?.block_on(async {
        match command {
            InboxCommand::List(asked) => list(asked).await.map(|()| ExitCode::SUCCESS),
            InboxCommand::Lease(asked) => lease(asked).await.map(|()| ExitCode::SUCCESS),
            InboxCommand::Ack(asked) => {
                reply(&asked.with, "ack", json!({ "tokens": asked.tokens })).await
            }
            InboxCommand::Nack(asked) => {
                let (delay, reason) = (&asked.delay, &asked.reason);
                let body = json!({ "tokens": asked.tokens, "delay": delay, "reason": reason });
                reply(&asked.with, "nack", body).await
            }
            InboxCommand::Extend(asked) => {
                let body = json!({ "tokens": asked.tokens, "visibility": asked.visibility });
                reply(&asked.with, "extend", body).await
            }
        }
    })
}

async fn list(asked: &InboxList) -> anyhow::Result<()> {
    let client = place::client(&asked.with.server).await?;
    let path = with_query(
        "/v1/inbox",
        [
            ("group", asked.group.clone()),
            ("status", asked.status.map(|status| status.to_string())),
            ("type", asked.event_type.clone()),
            ("since", asked.since.clone()),
            ("until", asked.until.clone()),
            ("order", asked.oldest_first.then(|| "asc".to_owned())),
            ("wait", asked.wait.clone()),
        ],
    );
    let page = client.list::<InboxItem>(&path, asked.limit.into()).await?;
    if asked.with.json {
        return print_json(&json!({ "data": page.data, "hasMore": page.has_more }));
    }
    let mut out = std::io::stdout().lock();
    if page.data.is_empty() {
        writeln!(out, "nothing in the inbox")?;
        return Ok(());
    }
    let mut columns =
        Columns::new(["EVENT", "RECEIVED", "TYPE", "STATUS", "RETRIES", "LEASED UNTIL"]);
    for item in &page.data {
        let dead = if item.is_dead { " (given up)" } else { "" };
        columns.line([
            item.event.event_id.to_string(),
            item.event.received_at.to_string(),
            or_dash(item.event.event_type.as_ref()),
            format!("{}{dead}", word(&item.status)),
            item.retry_count.to_string(),
            or_dash(item.lease_until),
        ]);
    }
    write!(out, "{}", columns.show())?;
    if page.has_more {
        writeln!(out, "there are more; see --limit")?;
    }
    Ok(())
}

async fn lease(asked: &InboxLease) -> anyhow::Result<()> {
    let client = place::client(&asked.with.server).await?;
    let mut body = json!({ "count": asked.count, "types": asked.event_types });
    let spoken =
        [("visibility", &asked.visibility), ("group", &asked.group), ("wait", &asked.wait)];
    for (name, value) in spoken {
        if let Some(value) = value {
            body[name] = value.as_str().into();
        }
    }
    let leases: Leases = client.post("/v1/inbox/lease", &body).await?;
    if asked.with.json {
        return print_json(&leases);
    }
    let mut out = std::io::stdout().lock();
    if leases.data.is_empty() {
        writeln!(out, "nothing to lease")?;
    }
    for item in &leases.data {
        let event = &item.event;
        let kind = or_dash(event.event_type.as_ref());
        writeln!(out, "{}  {}  until {}", event.event_id, plain(&kind), item.lease_until)?;
        writeln!(out, "  token  {}", item.token)?;
        let content = match (&event.payload, &event.body) {
            (Some(payload), _) => serde_json::to_string(payload)?,
            (None, Some(body)) => body.clone(),
            (None, None) => continue,
        };
        writeln!(out, "  {}", plain(&content))?;
    }
    Ok(())
}

/// Ends with 1 where one of them did not count.
async fn reply(with: &With, what: &str, body: Value) -> anyhow::Result<ExitCode> {
    let client = place::client(&with.server).await?;
    let replies: Replies = client.post(&format!("/v1/inbox/{what}"), &body).await?;
    if with.json {
        print_json(&replies)?;
    } else {
        let mut out = std::io::stdout().lock();
        for line in &replies.data {
            let stands = match (line.result, line.status, line.lease_until) {
                (ReplyResult::Done, _, Some(until)) => format!("yours until {until}"),
                (ReplyResult::Done, status, None) => or_dash(status),
                (ReplyResult::Stale, ..) => "too late: the lease is over".to_owned(),
                (ReplyResult::Unknown, ..) => "not in the inbox".to_owned(),
            };
            writeln!(out, "{}  {stands}", line.event_id)?;
        }
    }
    let all = replies.data.iter().all(|line| line.result == ReplyResult::Done);
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
