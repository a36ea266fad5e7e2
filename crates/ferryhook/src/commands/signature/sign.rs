//! `ferryhook signature sign`: a sample as curl or as a line for `verify`.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::path::Path;

use anyhow::{Context, bail};
use ferryhook_core::verify::Request;
use ferryhook_core::verify::line::Line;
use ferryhook_core::verify::sign::{Draft, sign};
use ferryhook_core::{Env, Headers, Map, Secret, Timestamp};

use crate::cli::SignatureSign;
use crate::commands::print_json;

const SAMPLE: &str = r#"{"id":"evt_test_1","type":"test"}"#;

pub fn run(asked: &SignatureSign) -> anyhow::Result<()> {
    let now = asked.now.map_or_else(|| Env::system().now(), Timestamp::from_seconds);
    let config: Map = match &asked.config {
        Some(text) => serde_json::from_str(text).context("--config is not a JSON object")?,
        None => Map::new(),
    };
    let mut headers = Vec::new();
    for header in &asked.header {
        let Some((name, value)) = header.split_once(':') else {
            bail!("a header is written as NAME: VALUE, not {header:?}");
        };
        headers.push((name.trim().to_owned(), value.trim().to_owned()));
    }
    let body = match &asked.body {
        Some(path) => read(path)?,
        None => SAMPLE.as_bytes().to_vec(),
    };
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        headers.push(("Content-Type".to_owned(), guess(&body).to_owned()));
    }
    let draft = Draft { method: asked.method.clone(), url: asked.url.clone(), headers, body };
    let draft = sign(&asked.provider, &Secret::new(&asked.secret), &config, draft, now)?;
    if !asked.json {
        return Ok(writeln!(std::io::stdout().lock(), "{}", curl(&draft))?);
    }
    let headers = Headers::new(draft.headers);
    let request =
        Request { method: &draft.method, url: &draft.url, headers: &headers, body: &draft.body };
    let mut line = Line::new(&asked.provider, &request, &asked.secret, now);
    line.config = asked.config.is_some().then_some(config);
    print_json(&line)
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    if path != Path::new("-") {
        return std::fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    }
    let mut body = Vec::new();
    std::io::stdin().lock().read_to_end(&mut body)?;
    Ok(body)
}

fn guess(body: &[u8]) -> &'static str {
    match body.trim_ascii_start().first() {
        Some(b'{' | b'[') | None => "application/json",
        Some(_) if body.contains(&b'=') => "application/x-www-form-urlencoded",
        Some(_) => "application/octet-stream",
    }
}

fn curl(draft: &Draft) -> String {
    let mut command = format!("curl -X {} {}", quoted(&draft.method), quoted(&draft.url));
    for (name, value) in &draft.headers {
        // Writing into a text does not fail.
        let _ = write!(command, " \\\n  -H {}", quoted(&format!("{name}: {value}")));
    }
    match std::str::from_utf8(&draft.body) {
        Ok("") => {}
        Ok(text) => {
            let _ = write!(command, " \\\n  --data-binary {}", quoted(text));
        }
        Err(_) => command.push_str(" \\\n  --data-binary @BODY"),
    }
    command
}

/// As a shell takes it for one word.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests;
