//! `ferryhook apply`: makes sources and connections what a file says.
//!
//! The server that has the data open does it, so that its caches hear of it; without one, and on
//! DynamoDB, this command does it itself.

mod table;

use std::io::{Read, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use ferryhook_api::apply::{self, Asked, ManifestOrder, Outcome};
use ferryhook_api::manifest::{self, Secrets};
use ferryhook_core::{Env, Secret, limits};
use ferryhook_net::client::Guard;

use super::runtime;
use crate::cli::{Apply, Diff};
use crate::client::place::{self, Whom};
use crate::config::{Config, StoreKind, Values};
use crate::control::{self, Request};
use crate::storage;

/// As `diff` and `schema plan` do.
const SOMETHING_TO_CHANGE: u8 = 2;

pub fn run(command: &Apply) -> anyhow::Result<ExitCode> {
    let runtime = runtime()?;
    let whom = runtime.block_on(place::whom(&command.flags))?;
    let text = read(&command.file)?;
    let asked = Asked {
        file: match is_stdin(&command.file) {
            true => "stdin".to_owned(),
            false => command.file.display().to_string(),
        },
        secrets: secrets(&text),
        text,
        dry_run: command.dry_run,
        prune: command.prune,
    };
    let outcome = runtime.block_on(apply(&whom, asked))?;
    let mut out = std::io::stdout().lock();
    match command.json {
        true => writeln!(out, "{}", serde_json::to_string(&outcome)?)?,
        false => write!(out, "{}", table::show(&outcome))?,
    }
    Ok(match outcome.dry_run && !outcome.changes.is_empty() {
        true => ExitCode::from(SOMETHING_TO_CHANGE),
        false => ExitCode::SUCCESS,
    })
}

/// `ferryhook diff`: the same without doing it.
pub fn diff(asked: Diff) -> anyhow::Result<ExitCode> {
    let Diff { file, prune, json, flags } = asked;
    run(&Apply { file, dry_run: true, prune, json, flags })
}

async fn apply(whom: &Whom, asked: Asked) -> anyhow::Result<Outcome> {
    match whom {
        Whom::Server(client) => {
            let order = ManifestOrder {
                manifest: asked.text,
                file: Some(asked.file),
                secrets: asked.secrets,
                dry_run: asked.dry_run,
                prune: asked.prune,
            };
            Ok(client.post("/v1/apply", &order).await?)
        }
        Whom::Data(data) => apply_here(&data.0, &data.1, asked).await,
    }
}

async fn apply_here(config: &Config, values: &Values, asked: Asked) -> anyhow::Result<Outcome> {
    if config.store == StoreKind::Memory {
        let origin = values.origin("store");
        bail!("the memory store (setting store, from {origin}) keeps nothing to apply to");
    }
    let request = Request::Apply(asked.clone());
    if config.store == StoreKind::Embedded
        && let Some(outcome) = control::ask(&config.data, &request).await?
    {
        return Ok(outcome);
    }
    let env = Env::system();
    let storage = storage::open(config, env.clone()).await?;
    let guard = Guard::new(config.destinations_allow.0.clone());
    Ok(apply::run(&storage.store, &env, &guard, &asked, &|_| {}).await?)
}

fn read(file: &Path) -> anyhow::Result<String> {
    let most = limits::MANIFEST_BYTES_MAX as u64;
    let mut text = Vec::new();
    let read = match is_stdin(file) {
        true => std::io::stdin().take(most + 1).read_to_end(&mut text),
        false => {
            std::fs::File::open(file).and_then(|open| open.take(most + 1).read_to_end(&mut text))
        }
    };
    read.with_context(|| format!("cannot read {}", file.display()))?;
    ensure!(text.len() as u64 <= most, "{} is larger than {most} bytes", file.display());
    String::from_utf8(text).with_context(|| format!("{} is not text", file.display()))
}

fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}

/// From our environment, and only those that the file refers to: the server's is not ours.
fn secrets(text: &str) -> Secrets {
    let value = |name: String| Some((name.clone(), Secret::new(std::env::var(name).ok()?)));
    manifest::variables(text).into_iter().filter_map(value).collect()
}
