//! The hash of a line: SHA-256 over everything it says, its number and the hash before it.
//!
//! What is hashed is a text of our own and no library's: it must come out the same in ten years,
//! on every engine, after being stored and read. Each part carries its length, so that nothing can
//! be moved from one into the next, and what is absent differs from what is empty. The first part
//! names the form; another form would have another name.

use std::fmt::Write;

use aws_lc_rs::digest;
use serde_json::{Number, Value};

use crate::Activity;

const FORM: &str = "ferryhook-audit-1";

/// Where a line stands.
#[derive(Debug, Clone, Copy)]
pub struct Link<'a> {
    pub number: u64,
    /// The hash of the line before it.
    pub previous: Option<&'a str>,
}

/// In hex.
pub fn hash(line: &Activity, link: Link<'_>) -> String {
    let digest = digest::digest(&digest::SHA256, form(line, link).as_bytes());
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What is hashed: one line of text for each part.
pub fn form(line: &Activity, link: Link<'_>) -> String {
    let mut text = String::with_capacity(512);
    let mut part = |name: &str, value: Option<&str>| {
        // Writing to a text cannot fail.
        let _ = match value {
            Some(value) => writeln!(text, "{name}:{}:{value}", value.len()),
            None => writeln!(text, "{name}:-"),
        };
    };
    part("form", Some(FORM));
    part("number", Some(&link.number.to_string()));
    part("previous", link.previous);
    part("account", Some(line.account_id.as_str()));
    part("id", Some(line.id.as_str()));
    part("at", Some(&line.at.as_seconds().to_string()));
    part("user", line.user_id.as_ref().map(|id| id.as_str()));
    part("type", Some(&line.event_type));
    part("resource", Some(&line.resource));
    part("resourceId", line.resource_id.as_deref());
    part("action", Some(&line.action));
    let details = line.details.as_ref().map(|details| {
        let mut text = String::new();
        write_map(&mut text, details);
        text
    });
    part("details", details.as_deref());
    part("ip", line.ip_address.as_deref());
    part("agent", line.user_agent.as_deref());
    text
}

/// JSON with the names in order and each number in one spelling: a store keeps neither the order
/// nor the difference between `3.0` and `3`.
fn write_value(text: &mut String, value: &Value) {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => text.push_str(&value.to_string()),
        Value::Number(number) => text.push_str(&spelled(number)),
        Value::Array(values) => {
            text.push('[');
            for (place, value) in values.iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                write_value(text, value);
            }
            text.push(']');
        }
        Value::Object(map) => write_map(text, map),
    }
}

fn write_map(text: &mut String, map: &crate::Map) {
    let mut fields: Vec<_> = map.iter().collect();
    fields.sort_unstable_by_key(|(name, _)| *name);
    text.push('{');
    for (place, (name, value)) in fields.into_iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        text.push_str(&Value::from(name.as_str()).to_string());
        text.push(':');
        write_value(text, value);
    }
    text.push('}');
}

fn spelled(number: &Number) -> String {
    /// Up to here a float that is whole is one integer and no other.
    const EXACT: f64 = (1u64 << 53) as f64;
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() <= EXACT => {
            (float as i64).to_string()
        }
        Some(float) if number.is_f64() => format!("{float:e}"),
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests;
