//! `ferryhook connections`: the ways from a source to its destinations, on a server.

use std::io::Write;
use std::process::ExitCode;

use ferryhook_api::connections::{ConnectionView, Tested};
use ferryhook_api::sources::SourceView;
use serde_json::{Value, json};

use super::columns::{Columns, or_dash, plain, word};
use super::sources::{rotated, say_rotated};
use super::{explain, facts, given, print_json, runtime};
use crate::cli::{
    ConnectionCreate, ConnectionDelete, ConnectionOf, ConnectionRotate, ConnectionSettings,
    ConnectionTest, ConnectionUpdate, ConnectionsCommand, ConnectionsList, With,
};
use crate::client::{Client, place};

/// Sources whose connections are listed when none is named.
const SOURCES_MAX: usize = 100;

pub fn run(command: &ConnectionsCommand) -> anyhow::Result<ExitCode> {
    runtime()?.block_on(async {
        match command {
            ConnectionsCommand::List(asked) => list(asked).await?,
            ConnectionsCommand::Get(asked) => get(asked).await?,
            ConnectionsCommand::Create(asked) => create(asked).await?,
            ConnectionsCommand::Update(asked) => update(asked).await?,
            ConnectionsCommand::Delete(asked) => return delete(asked).await,
            ConnectionsCommand::Pause(asked) => turn(asked, "pause").await?,
            ConnectionsCommand::Resume(asked) => turn(asked, "resume").await?,
            ConnectionsCommand::RotateSecret(asked) => rotate(asked).await?,
            ConnectionsCommand::Test(asked) => test(asked).await?,
        }
        Ok(ExitCode::SUCCESS)
    })
}

async fn list(asked: &ConnectionsList) -> anyhow::Result<()> {
    let client = place::client(&asked.with.server).await?;
    let mut sources = match &asked.source {
        Some(source) => vec![client.find_source(source).await?],
        None => client.list::<SourceView>("/v1/sources", SOURCES_MAX).await?.data,
    };
    sources.sort_by(|one, other| one.name.cmp(&other.name));
    let mut all = Vec::new();
    for source in &sources {
        let connections = client.connections_of(source).await?;
        all.extend(connections.into_iter().map(|one| (source.name.clone(), one)));
    }
    if asked.with.json {
        let data: Vec<_> = all.iter().map(|(_, connection)| connection).collect();
        return print_json(&json!({ "data": data, "hasMore": false }));
    }
    let mut out = std::io::stdout().lock();
    if all.is_empty() {
        writeln!(
            out,
            "no connections; ferryhook connections create SOURCE NAME --url URL makes one"
        )?;
        return Ok(());
    }
    let mut columns = Columns::new(["CONNECTION", "STATUS", "DELIVERED", "FAILED", "TO"]);
    for (source, connection) in &all {
        columns.line([
            format!("{source}/{}", connection.name),
            word(&connection.status),
            connection.delivery_count.to_string(),
            connection.failure_count.to_string(),
            match &connection.destination_config {
                Some(inbox) => format!("inbox {}", inbox.group),
                None => or_dash(connection.destination_url.as_ref()),
            },
        ]);
    }
    Ok(write!(out, "{}", columns.show())?)
}

async fn get(asked: &ConnectionOf) -> anyhow::Result<()> {
    let client = place::client(&asked.with.server).await?;
    shown(&asked.with, &client.find_connection(&asked.connection).await?)
}

async fn create(asked: &ConnectionCreate) -> anyhow::Result<()> {
    let client = place::client(&asked.with.server).await?;
    let source = client.find_source(&asked.source).await?;
    let mut body = settings(&asked.settings)?;
    body["name"] = asked.name.as_str().into();
    if let Some(url) = &asked.url {
        body["destinationUrl"] = url.as_str().into();
    }
    if let Some(group) = &asked.inbox {
        body["destinationType"] = "inbox".into();
        body["destinationConfig"]["group"] = group.as_str().into();
    }
    let path = format!("/v1/sources/{}/connections", source.source_id);
    let made: Value = client.post(&path, &body).await?;
    if asked.with.json {
        return print_json(&made);
    }
    let word = |name: &str| plain(made[name].as_str().unwrap_or_default());
    let mut out = std::io::stdout().lock();
    writeln!(out, "created {}/{} ({})", source.name, word("name"), word("connectionId"))?;
    if let Some(group) = &asked.inbox {
        writeln!(out, "  waits for    ferryhook inbox lease --group {}", plain(group))?;
        return Ok(());
    }
    writeln!(out, "  delivers to  {}", word("destinationUrl"))?;
    writeln!(out, "  signs with   {} (not shown again)", word("signingSecret"))?;
    Ok(())
}

async fn update(asked: &ConnectionUpdate) -> anyhow::Result<()> {
    let client = place::client(&asked.with.server).await?;
    let mut body = settings(&asked.settings)?;
    if let Some(name) = &asked.name {
        body["name"] = name.as_str().into();
    }
    if let Some(url) = &asked.url {
        body["destinationUrl"] = url.as_str().into();
    }
    let path = path(&client, &asked.connection).await?;
    let connection: ConnectionView = client.patch(&path, &body).await?;
    shown(&asked.with, &connection)
}

fn settings(given: &ConnectionSettings) -> anyhow::Result<Value> {
    let mut body = json!({});
    if !given.event_types.is_empty() {
        body["eventTypes"] = json!(given.event_types);
    }
    if let Some(secret) = &given.secret {
        body["signingSecret"] = given::secret(secret)?.into();
    }
    for set in &given.set {
        given::set(&mut body, set)?;
    }
    Ok(body)
}

async fn delete(asked: &ConnectionDelete) -> anyhow::Result<ExitCode> {
    let client = place::client(&asked.with.server).await?;
    let connection = client.find_connection(&asked.connection).await?;
    let what = format!("delete the connection {:?}", connection.name);
    if !asked.yes && !given::agreed(&what)? {
        return Ok(ExitCode::FAILURE);
    }
    client.delete(&format!("/v1/connections/{}", connection.connection_id)).await?;
    match asked.with.json {
        true => print_json(&json!({ "deleted": connection.connection_id }))?,
        false => writeln!(std::io::stdout(), "deleted {}", plain(&connection.name))?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn turn(asked: &ConnectionOf, way: &str) -> anyhow::Result<()> {
    let client = place::client(&asked.with.server).await?;
    let path = path(&client, &asked.connection).await?;
    let connection: ConnectionView = client.post(&format!("{path}/{way}"), &json!({})).await?;
    let (name, status) = (plain(&connection.name), word(&connection.status));
    match asked.with.json {
        true => print_json(&connection),
        false => Ok(writeln!(std::io::stdout(), "{name} is {status}")?),
    }
}

async fn rotate(asked: &ConnectionRotate) -> anyhow::Result<()> {
    let client = place::client(&asked.with.server).await?;
    let path = path(&client, &asked.connection).await?;
    say_rotated(&asked.with, &rotated(&client, &path, asked.secret.as_deref()).await?)
}

async fn test(asked: &ConnectionTest) -> anyhow::Result<()> {
    let client = place::client(&asked.with.server).await?;
    let path = path(&client, &asked.connection).await?;
    let mut order = json!({ "deliver": asked.deliver });
    if let Some(event) = asked.event {
        order["eventId"] = json!(event);
    }
    if let Some(event_type) = &asked.event_type {
        order["sample"]["eventType"] = event_type.as_str().into();
    }
    if let Some(data) = &asked.data {
        let data = String::from_utf8_lossy(&given::data(data)?).into_owned();
        order["sample"]["body"] = serde_json::from_str(&data).unwrap_or_else(|_| data.into());
    }
    let tested: Tested = client.post(&format!("{path}/test"), &order).await?;
    if asked.with.json {
        return print_json(&tested);
    }
    let mut out = std::io::stdout().lock();
    write!(out, "{}", explain::told(&tested.explained).trim_start())?;
    if let Some(body) = &tested.body {
        writeln!(out, "  sends     {}", plain(body))?;
    }
    match &tested.attempt {
        Some(attempt) => {
            let answer = match (attempt.status_code, &attempt.error) {
                (0, error) => error.clone().unwrap_or_default(),
                (code, _) => code.to_string(),
            };
            writeln!(out, "  answered  {} in {} ms", plain(&answer), attempt.latency_ms)?;
        }
        None if asked.deliver => writeln!(out, "  nothing was sent")?,
        None => writeln!(out, "  nothing was sent; --deliver sends it")?,
    }
    Ok(())
}

async fn path(client: &Client, text: &str) -> anyhow::Result<String> {
    Ok(format!("/v1/connections/{}", client.find_connection(text).await?.connection_id))
}

fn shown(with: &With, connection: &ConnectionView) -> anyhow::Result<()> {
    match with.json {
        true => print_json(connection),
        false => Ok(write!(std::io::stdout().lock(), "{}", facts::show(connection)?)?),
    }
}
