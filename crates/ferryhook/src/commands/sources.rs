//! `ferryhook sources`: the addresses that senders post to, on a server.

use std::io::Write;
use std::process::ExitCode;

use ferryhook_api::sources::SourceView;
use ferryhook_core::{Env, Secret};
use serde_json::{Value, json};

use super::columns::{Columns, or_dash, word};
use super::{facts, given, print_json, runtime};
use crate::cli::{
    ListAll, SourceCreate, SourceDelete, SourceOf, SourceRotate, SourceSettings, SourceUpdate,
    SourcesCommand, With,
};
use crate::client::{Client, place};

pub fn run(command: &SourcesCommand) -> anyhow::Result<ExitCode> {
    runtime()?.block_on(async {
        match command {
            SourcesCommand::List(asked) => list(asked).await?,
            SourcesCommand::Get(asked) => get(asked).await?,
            SourcesCommand::Create(asked) => create(asked).await?,
            SourcesCommand::Update(asked) => update(asked).await?,
            SourcesCommand::Delete(asked) => return delete(asked).await,
            SourcesCommand::Pause(asked) => turn(asked, "pause").await?,
            SourcesCommand::Resume(asked) => turn(asked, "resume").await?,
            SourcesCommand::RotateSecret(asked) => rotate(asked).await?,
        }
        Ok(ExitCode::SUCCESS)
    })
}

async fn list(asked: &ListAll) -> anyhow::Result<()> {
    let client = place::client(&asked.with.server).await?;
    let mut page = client.list::<SourceView>("/v1/sources", asked.limit.into()).await?;
    page.data.sort_by(|one, other| one.name.cmp(&other.name));
    if asked.with.json {
        return print_json(&json!({ "data": page.data, "hasMore": page.has_more }));
    }
    let mut out = std::io::stdout().lock();
    if page.data.is_empty() {
        writeln!(out, "no sources; ferryhook sources create NAME makes one")?;
        return Ok(());
    }
    let mut columns = Columns::new(["NAME", "PROVIDER", "STATUS", "EVENTS", "LAST EVENT", "URL"]);
    for source in &page.data {
        columns.line([
            source.name.clone(),
            source.provider.clone(),
            word(&source.status),
            source.event_count.to_string(),
            or_dash(source.last_event_at),
            source.ingest_url.clone(),
        ]);
    }
    write!(out, "{}", columns.show())?;
    if page.has_more {
        writeln!(out, "there are more; see --limit")?;
    }
    Ok(())
}

async fn get(asked: &SourceOf) -> anyhow::Result<()> {
    let client = place::client(&asked.with.server).await?;
    shown(&asked.with, &client.find_source(&asked.source).await?)
}

async fn create(asked: &SourceCreate) -> anyhow::Result<()> {
    let client = place::client(&asked.with.server).await?;
    let mut body = settings(&asked.settings)?;
    body["name"] = asked.name.as_str().into();
    let secret = asked.new_secret.then(|| Secret::generate(&Env::system()));
    if let Some(secret) = &secret {
        body["signingSecret"] = secret.expose().into();
    }
    let source: SourceView = client.post("/v1/sources", &body).await?;
    if asked.with.json {
        let mut source = json!(source);
        if let Some(secret) = &secret {
            source["signingSecret"] = secret.expose().into();
        }
        return print_json(&source);
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "created {} ({})", source.name, source.source_id)?;
    writeln!(out, "  send to  {}", source.ingest_url)?;
    if let Some(secret) = &secret {
        writeln!(out, "  secret   {} (not shown again)", secret.expose())?;
    }
    Ok(())
}

async fn update(asked: &SourceUpdate) -> anyhow::Result<()> {
    let client = place::client(&asked.with.server).await?;
    let mut body = settings(&asked.settings)?;
    if let Some(name) = &asked.name {
        body["name"] = name.as_str().into();
    }
    let path = path(&client, &asked.source).await?;
    let source: SourceView = client.patch(&path, &body).await?;
    shown(&asked.with, &source)
}

fn settings(given: &SourceSettings) -> anyhow::Result<Value> {
    let mut body = json!({});
    if let Some(provider) = &given.provider {
        body["provider"] = provider.as_str().into();
    }
    if let Some(secret) = &given.secret {
        body["signingSecret"] = given::secret(secret)?.into();
    }
    if let Some(event_type) = &given.event_type {
        body["eventType"] = event_type.as_str().into();
    }
    for set in &given.set {
        given::set(&mut body, set)?;
    }
    Ok(body)
}

async fn delete(asked: &SourceDelete) -> anyhow::Result<ExitCode> {
    let client = place::client(&asked.with.server).await?;
    let source = client.find_source(&asked.source).await?;
    let what = format!("delete the source {:?} with its connections", source.name);
    if !asked.yes && !given::agreed(&what)? {
        return Ok(ExitCode::FAILURE);
    }
    client.delete(&format!("/v1/sources/{}", source.source_id)).await?;
    match asked.with.json {
        true => print_json(&json!({ "deleted": source.source_id }))?,
        false => writeln!(std::io::stdout(), "deleted {}", source.name)?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn turn(asked: &SourceOf, way: &str) -> anyhow::Result<()> {
    let client = place::client(&asked.with.server).await?;
    let path = path(&client, &asked.source).await?;
    let source: SourceView = client.post(&format!("{path}/{way}"), &json!({})).await?;
    match asked.with.json {
        true => print_json(&source),
        false => Ok(writeln!(std::io::stdout(), "{} is {}", source.name, word(&source.status))?),
    }
}

async fn rotate(asked: &SourceRotate) -> anyhow::Result<()> {
    let client = place::client(&asked.with.server).await?;
    let path = path(&client, &asked.source).await?;
    let rotated = rotated(&client, &path, asked.secret.as_deref()).await?;
    say_rotated(&asked.with, &rotated)
}

/// For sources and connections alike.
pub async fn rotated(client: &Client, path: &str, secret: Option<&str>) -> anyhow::Result<Value> {
    let body = match secret {
        Some(secret) => json!({ "signingSecret": given::secret(secret)? }),
        None => json!({}),
    };
    Ok(client.post(&format!("{path}/rotate-secret"), &body).await?)
}

pub fn say_rotated(with: &With, rotated: &Value) -> anyhow::Result<()> {
    if with.json {
        return print_json(rotated);
    }
    let mut out = std::io::stdout().lock();
    let secret = rotated["signingSecret"].as_str().unwrap_or_default();
    writeln!(out, "the secret is {secret} (not shown again)")?;
    if let Some(until) = rotated["previousValidUntil"].as_str() {
        writeln!(out, "the one before counts until {until}")?;
    }
    Ok(())
}

async fn path(client: &Client, text: &str) -> anyhow::Result<String> {
    Ok(format!("/v1/sources/{}", client.find_source(text).await?.source_id))
}

fn shown(with: &With, source: &SourceView) -> anyhow::Result<()> {
    match with.json {
        true => print_json(source),
        false => Ok(write!(std::io::stdout().lock(), "{}", facts::show(source)?)?),
    }
}
