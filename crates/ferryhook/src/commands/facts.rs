//! One thing for people: a line for each of its fields, as the server names them.

use serde::Serialize;
use serde_json::Value;

use super::columns::plain;

/// Whatever fields there are, so that a new one is shown without a word here.
pub fn show(thing: &impl Serialize) -> anyhow::Result<String> {
    let Value::Object(fields) = serde_json::to_value(thing)? else { return Ok(String::new()) };
    let width = fields.keys().map(|name| name.chars().count()).max().unwrap_or(0);
    let line = |(name, value): (&String, &Value)| {
        let value = match value {
            Value::String(text) => plain(text),
            other => plain(&other.to_string()),
        };
        format!("{name:<width$}  {value}\n")
    };
    Ok(fields.iter().filter(|(_, value)| !value.is_null()).map(line).collect())
}
