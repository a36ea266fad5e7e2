//! One request to the local app, and what came of it.

use std::time::Duration;

use bytes::Bytes;
use ferryhook_api::cli_sessions::{CliRequest, CliResult};
use ferryhook_api::events::HeaderLine;
use ferryhook_core::Env;
use ferryhook_core::limits::RESPONSE_CHARACTERS_KEPT;
use tokio::time::timeout;

use crate::client::{Client, Failure, Reply};

/// Of the app's answer, those that mean something to the server.
const TOLD: [&str; 2] = ["content-type", "retry-after"];

/// A result, and whether the app was not even there.
#[derive(Debug)]
pub struct Forwarded {
    pub result: CliResult,
    pub is_absent: bool,
}

/// Never fails: that it did not work is a result as well.
pub async fn forward(client: &Client, origin: &str, request: &CliRequest, env: &Env) -> Forwarded {
    let begun = env.elapsed();
    let within = Duration::from_millis(request.timeout_ms);
    let answered = timeout(within, send(client, origin, request)).await;
    let latency_ms = u32::try_from((env.elapsed() - begun).as_millis()).unwrap_or(u32::MAX);
    let result = CliResult { id: request.id, latency_ms, ..CliResult::default() };
    let failed = |error: String, is_absent| {
        let result = CliResult { error: Some(error), ..result.clone() };
        Forwarded { result, is_absent }
    };
    match answered {
        Ok(Ok(reply)) => {
            let result = CliResult {
                status: Some(reply.status.as_u16()),
                headers: told(&reply),
                body: beginning(&reply.body),
                ..result
            };
            Forwarded { result, is_absent: false }
        }
        Ok(Err(Failure::Unreachable { why, .. })) => {
            failed(format!("nothing answers at {origin}: {why}"), true)
        }
        Ok(Err(failure)) => failed(failure.to_string(), false),
        Err(_) => failed(format!("no answer within {} seconds", within.as_secs()), false),
    }
}

async fn send(client: &Client, origin: &str, request: &CliRequest) -> Result<Reply, Failure> {
    let unread = || Failure::Unsendable("the body of the event cannot be read".to_owned());
    let body = request.bytes().ok_or_else(unread)?;
    let headers = request.headers.iter().map(|line| (line.name.clone(), line.value.clone()));
    let headers: Vec<_> = headers.collect();
    let url = format!("{origin}{}", request.path);
    client.deliver(&request.method, &url, &headers, Bytes::from(body)).await
}

fn told(reply: &Reply) -> Vec<HeaderLine> {
    let line = |name: &str| {
        let value = reply.headers.get(name)?.to_str().ok()?.to_owned();
        Some(HeaderLine { name: name.to_owned(), value })
    };
    TOLD.iter().filter_map(|name| line(name)).collect()
}

fn beginning(body: &[u8]) -> Option<String> {
    // No character has more than four bytes.
    let enough = &body[..body.len().min(4 * RESPONSE_CHARACTERS_KEPT)];
    let text = String::from_utf8_lossy(enough);
    let text: String = text.chars().take(RESPONSE_CHARACTERS_KEPT).collect();
    Some(text).filter(|text| !text.is_empty())
}
