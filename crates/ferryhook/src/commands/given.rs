//! What somebody gave on the command line: a text, or where the text is; a field and its value.

use std::io::{IsTerminal, Read, Write};
use std::path::Path;

use anyhow::{Context, bail, ensure};
use ferryhook_core::Map;
use serde_json::Value;

/// As large as an event may be.
const DATA_BYTES_MAX: u64 = 10 * 1024 * 1024;

/// The text itself; `@FILE` and `-` say where it is instead.
pub fn data(given: &str) -> anyhow::Result<Vec<u8>> {
    let file = match given.strip_prefix('@') {
        Some(file) => file,
        None if given == "-" => given,
        None => return Ok(given.as_bytes().to_vec()),
    };
    let mut data = Vec::new();
    let read = match file == "-" {
        true => std::io::stdin().take(DATA_BYTES_MAX + 1).read_to_end(&mut data),
        false => std::fs::File::open(Path::new(file))
            .and_then(|open| open.take(DATA_BYTES_MAX + 1).read_to_end(&mut data)),
    };
    read.with_context(|| format!("cannot read {file}"))?;
    ensure!(data.len() as u64 <= DATA_BYTES_MAX, "{file} is larger than {DATA_BYTES_MAX} bytes");
    Ok(data)
}

/// The same for a secret: without the line end that files have.
pub fn secret(given: &str) -> anyhow::Result<String> {
    if !given.starts_with('@') && given != "-" {
        return Ok(given.to_owned());
    }
    let text = String::from_utf8(data(given)?).context("the secret is not text")?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

pub fn header(given: &str) -> anyhow::Result<(String, String)> {
    let Some((name, value)) = given.split_once(':') else {
        bail!("a header is written as NAME: VALUE, not {given:?}");
    };
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// Puts `VALUE` where `PATH` leads: through objects by name and lists by number. The value is JSON
/// where it reads as JSON, and text otherwise.
pub fn set(target: &mut Value, given: &str) -> anyhow::Result<()> {
    let Some((path, value)) = given.split_once('=') else {
        bail!("--set wants PATH=VALUE, not {given:?}");
    };
    let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
    let mut place = target;
    for step in path.split('.') {
        ensure!(!step.is_empty(), "--set {given}: the path has an empty step");
        place = match (place, step.parse::<usize>()) {
            (Value::Array(list), Ok(index)) => {
                let count = list.len();
                let missing = || format!("--set {given}: the list there has {count} entries");
                list.get_mut(index).with_context(missing)?
            }
            (place, _) => {
                if !place.is_object() {
                    *place = Value::Object(Map::new());
                }
                place.as_object_mut().context("an object")?.entry(step).or_insert(Value::Null)
            }
        };
    }
    *place = value;
    Ok(())
}

/// Nothing goes by a slip of the hand.
pub fn agreed(what: &str) -> anyhow::Result<bool> {
    let stdin = std::io::stdin();
    ensure!(stdin.is_terminal(), "nobody is here to ask whether to {what}; --yes does it without");
    write!(std::io::stderr(), "Really {what}? [y/N] ")?;
    let mut line = String::new();
    stdin.read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

#[cfg(test)]
mod tests;
