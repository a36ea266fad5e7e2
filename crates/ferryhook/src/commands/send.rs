//! `ferryhook send`: one request to a source, as a sender would make it.

use std::io::Write;

use anyhow::bail;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ferryhook_api::events::HeaderLine;
use ferryhook_api::sources::{SampleRequest, SignedSample, SourceView};
use ferryhook_core::verify::sign::Draft;
use serde_json::{Value, json};

use super::columns::plain;
use super::{given, print_json, runtime};
use crate::cli::Send;
use crate::client::{Client, Failure, Reply, place};

pub fn run(asked: &Send) -> anyhow::Result<()> {
    runtime()?.block_on(send(asked))
}

async fn send(asked: &Send) -> anyhow::Result<()> {
    let body = given::data(&asked.data)?;
    let mut headers =
        asked.header.iter().map(|header| given::header(header)).collect::<Result<Vec<_>, _>>()?;
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        headers.push(("content-type".to_owned(), guess(&body).to_owned()));
    }
    let draft = |url: &str| {
        let url = match &asked.path {
            Some(path) => format!("{url}/{}", path.trim_start_matches('/')),
            None => url.to_owned(),
        };
        Draft { method: asked.method.clone(), url, headers, body }
    };
    if asked.source.starts_with("http://") || asked.source.starts_with("https://") {
        if asked.sign {
            bail!("--sign needs a source's name: its secret is looked up there");
        }
        // Whoever has the address may send; who we are does not matter.
        let client = Client::new(&asked.source, None)?;
        return told(
            &deliver(&client, draft(asked.source.trim_end_matches('/'))).await?,
            asked.json,
        );
    }
    let client = place::client(&asked.server).await?;
    let source = client.find_source(&asked.source).await?;
    let mut draft = draft(&source.ingest_url);
    if asked.sign {
        (draft, _) = signed(&client, &source, draft).await?;
    }
    told(&deliver(&client, draft).await?, asked.json)
}

/// As the source's provider would sign it, by the server, which has the secret. Also says whether
/// there was one.
pub async fn signed(
    client: &Client,
    source: &SourceView,
    draft: Draft,
) -> Result<(Draft, bool), Failure> {
    let line = |(name, value)| HeaderLine { name, value };
    let sample = SampleRequest {
        method: draft.method,
        url: draft.url,
        headers: draft.headers.into_iter().map(line).collect(),
        body_base64: STANDARD.encode(&draft.body),
    };
    let path = format!("/v1/sources/{}/sign", source.source_id);
    let signed: SignedSample = client.post(&path, &sample).await?;
    let body = STANDARD.decode(&signed.body_base64);
    let body = body.map_err(|_| Failure::Strange { server: client.server().to_owned() })?;
    let pair = |header: HeaderLine| (header.name, header.value);
    let headers = signed.headers.into_iter().map(pair).collect();
    let draft = Draft { method: signed.method, url: signed.url, headers, body };
    Ok((draft, signed.is_signed))
}

pub async fn deliver(client: &Client, draft: Draft) -> Result<Reply, Failure> {
    let Draft { method, url, headers, body } = draft;
    client.deliver(&method, &url, &headers, body.into()).await
}

/// What the door said.
pub fn told(reply: &Reply, as_json: bool) -> anyhow::Result<()> {
    let answer: Option<Value> = serde_json::from_slice(&reply.body).ok();
    let word = |name: &str| answer.as_ref().and_then(|answer| answer[name].as_str()).map(plain);
    if !reply.status.is_success() {
        let why = word("detail").unwrap_or_else(|| reply.status.to_string());
        bail!("it was refused with {}: {why}", reply.status.as_u16());
    }
    if as_json {
        let text = || String::from_utf8_lossy(&reply.body).into_owned();
        let answer = answer.unwrap_or_else(|| text().into());
        return print_json(&json!({ "statusCode": reply.status.as_u16(), "answer": answer }));
    }
    let mut out = std::io::stdout().lock();
    match (word("id"), word("status")) {
        (Some(id), Some(status)) => writeln!(out, "{id} {status}")?,
        // Sources can have an answer of their own, and some providers want theirs.
        _ => writeln!(out, "taken: {}", plain(&String::from_utf8_lossy(&reply.body)))?,
    }
    Ok(())
}

fn guess(body: &[u8]) -> &'static str {
    match body.trim_ascii_start().first() {
        Some(b'{' | b'[') | None => "application/json",
        Some(_) if body.contains(&b'=') => "application/x-www-form-urlencoded",
        Some(_) => "text/plain; charset=utf-8",
    }
}
