//! `ferryhook trigger`: a sample as a provider would send it, signed with the source's secret.
//!
//! The server signs, so that the secret stays there. Each sample has new ids and the present time,
//! so that it is a new event every time.

mod sample;
mod samples;

use std::io::Write;

use anyhow::{anyhow, bail};
use ferryhook_core::verify::sign::{Draft, sign};
use ferryhook_core::{Env, Map, Secret};
use serde_json::{Value, json};

use super::columns::{Columns, plain};
use super::send::{deliver, signed, told};
use super::{given, print_json, runtime};
use crate::cli::Trigger;
use crate::client::{Failure, place};
use sample::Sample;

pub fn run(asked: &Trigger) -> anyhow::Result<()> {
    match (&asked.what, &asked.source) {
        (what, _) if asked.list => list(what.as_deref(), asked.json),
        (Some(what), Some(source)) => runtime()?.block_on(trigger(asked, what, source)),
        _ => bail!("name a sample and a --source"),
    }
}

fn list(provider: Option<&str>, as_json: bool) -> anyhow::Result<()> {
    let provider = provider.map(|what| what.split(':').next().unwrap_or_default());
    let wanted = |sample: &&&Sample| provider.is_none_or(|provider| provider == sample.provider);
    let samples: Vec<_> = samples::ALL.iter().filter(|sample| wanted(&sample)).collect();
    if samples.is_empty() {
        Err(no_sample(provider.unwrap_or_default()))?;
    }
    if as_json {
        let name = |sample: &&Sample| json!({ "provider": sample.provider, "event": sample.event });
        return print_json(&samples.iter().map(name).collect::<Vec<_>>());
    }
    let mut columns = Columns::new(["SAMPLE", "WHAT"]);
    for sample in samples {
        columns.line([format!("{}:{}", sample.provider, sample.event), sample.about.to_owned()]);
    }
    Ok(write!(std::io::stdout().lock(), "{}", columns.show())?)
}

async fn trigger(asked: &Trigger, what: &str, source: &str) -> anyhow::Result<()> {
    let sample = find(what)?;
    let client = place::client(&asked.server).await?;
    let source = client.find_source(source).await?;
    let mut body = sample.body(&Env::system());
    for set in &asked.set {
        given::set(&mut body, set)?;
    }
    let draft = sample.draft(&source.ingest_url, &body, &Env::system());
    let (draft, is_signed) = match &asked.secret {
        Some(secret) => (sign_here(&source.provider, &source.config, secret, draft)?, true),
        None => signed(&client, &source, draft).await.map_err(|failure| match failure {
            Failure::Refused { .. } => anyhow!("{failure} If you have it, give it with --secret"),
            other => other.into(),
        })?,
    };
    let reply = deliver(&client, draft).await?;
    told(&reply, asked.json)?;
    let provider = plain(&source.provider);
    if !is_signed {
        eprintln!("it was not signed: the source {} has no secret", plain(&source.name));
    } else if source.provider != sample.provider {
        eprintln!("it was signed as {provider} signs, whose source it is");
    }
    Ok(())
}

/// With a secret that the person has.
fn sign_here(provider: &str, config: &Map, secret: &str, draft: Draft) -> anyhow::Result<Draft> {
    let secret = Secret::new(given::secret(secret)?);
    Ok(sign(provider, &secret, config, draft, Env::system().now())?)
}

/// `provider:event`, or the first of the provider.
fn find(what: &str) -> Result<&'static Sample, Failure> {
    let (provider, event) = match what.split_once(':') {
        Some((provider, event)) => (provider, Some(event)),
        None => (what, None),
    };
    let mut all = samples::ALL.iter().filter(|sample| sample.provider == provider);
    let found = all.find(|sample| event.is_none_or(|event| sample.event == event));
    found.ok_or_else(|| no_sample(what))
}

fn no_sample(what: &str) -> Failure {
    let provider = what.split(':').next().unwrap_or_default();
    let known = samples::ALL.iter().any(|sample| sample.provider == provider);
    let more = if known { format!("{provider} --list") } else { "--list".to_owned() };
    Failure::not_found(format!(
        "there is no sample {what:?}; `ferryhook trigger {more}` shows them"
    ))
}

/// Whether it is a form: fields on lines in its file, a query in its request.
fn form(fields: &Value) -> String {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in fields.as_object().into_iter().flatten() {
        match value {
            Value::String(text) => form.append_pair(name, text),
            other => form.append_pair(name, &other.to_string()),
        };
    }
    form.finish()
}
