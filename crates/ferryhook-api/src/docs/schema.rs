//! The shape of a body, as a table of its fields.

use std::fmt::Write;

use serde_json::Value;

use super::{escape, text};

/// How deep fields within fields are opened up. What lies deeper is named only.
const DEPTH_MAX: usize = 5;

pub(super) fn show(page: &mut String, document: &Value, schema: &Value) {
    fields(page, document, schema, 0);
}

fn fields(page: &mut String, document: &Value, schema: &Value, depth: usize) {
    let schema = resolve(document, schema);
    if depth > DEPTH_MAX {
        return;
    }
    for key in ["oneOf", "anyOf", "allOf"] {
        for one in schema[key].as_array().into_iter().flatten() {
            fields(page, document, one, depth + 1);
        }
    }
    if schema["type"] == "array" {
        return fields(page, document, &schema["items"], depth + 1);
    }
    let Some(properties) = schema["properties"].as_object() else { return };
    let required = schema["required"].as_array();
    page.push_str("<table>");
    for (name, field) in properties {
        let is_required =
            required.is_some_and(|names| names.iter().any(|one| one == name.as_str()));
        let resolved = resolve(document, field);
        let about = match field["description"].is_string() {
            true => text(&field["description"]),
            false => text(&resolved["description"]),
        };
        let _ = write!(
            page,
            "<tr><td><code>{}</code></td><td>{}{}</td><td>{about}",
            escape(name),
            kind(resolved),
            if is_required { ", required" } else { "" },
        );
        fields(page, document, field, depth + 1);
        page.push_str("</td></tr>");
    }
    page.push_str("</table>");
}

fn resolve<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let mut schema = schema;
    for _ in 0..DEPTH_MAX {
        let Some(name) = schema["$ref"].as_str() else { break };
        schema = document.pointer(name.trim_start_matches('#')).unwrap_or(&Value::Null);
    }
    schema
}

/// In one or two words.
pub(super) fn kind(schema: &Value) -> String {
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<_> =
            words.iter().map(|word| escape(word.as_str().unwrap_or("null"))).collect();
        return words.join(" | ");
    }
    match &schema["type"] {
        Value::String(kind) => escape(kind),
        Value::Array(kinds) => {
            let kinds: Vec<_> = kinds.iter().map(text).collect();
            kinds.join(" | ")
        }
        _ => String::new(),
    }
}
