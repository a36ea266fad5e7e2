use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use super::Sketch;
use crate::router::{description, routes};

const WRITE: &str = "FERRYHOOK_WRITE_DOCS";

/// What clients were promised changes only on purpose: whoever changes it writes it anew with
/// `FERRYHOOK_WRITE_DOCS=1 cargo test -p ferryhook-api the_documents`.
fn committed(file: &str, now: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(file);
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, now).unwrap();
    }
    let was = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(was == now, "docs/{file} is not what the code says; write it anew with {WRITE}=1");
}

#[test]
fn the_documents_say_what_the_code_does() {
    committed("openapi.json", description());
    committed("access.md", &super::super::route::access_table(&routes()));
}

#[test]
fn every_operation_has_its_own_name() {
    let mut seen = HashMap::new();
    for route in routes() {
        assert!(seen.insert(route.operation, route.path).is_none(), "{}", route.operation);
        assert!(route.summary.ends_with('.'), "{}: the summary is a sentence", route.operation);
    }
}

/// A name in the document stands for one shape.
#[test]
fn no_two_shapes_share_a_name() {
    let mut seen: HashMap<String, (Value, &str)> = HashMap::new();
    for route in routes() {
        let mut sketch = Sketch::new(&route);
        (route.describe)(&mut sketch);
        for (name, schema) in sketch.schemas() {
            let schema = serde_json::to_value(schema).unwrap();
            let (first, by) = seen.entry(name.clone()).or_insert((schema.clone(), route.operation));
            assert_eq!(*first, schema, "{name} of {by} and of {}", route.operation);
        }
    }
}

#[test]
fn every_reference_leads_somewhere() {
    let document: Value = serde_json::from_str(description()).unwrap();
    assert_eq!(document["openapi"], "3.1.0");
    let mut open = vec![&document];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(fields) => {
                if let Some(Value::String(target)) = fields.get("$ref") {
                    let found = document.pointer(target.trim_start_matches('#'));
                    assert!(found.is_some(), "{target} is not there");
                }
                open.extend(fields.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
}

/// Every name in a path is described, with what it looks like.
#[test]
fn every_path_parameter_is_described() {
    let document: Value = serde_json::from_str(description()).unwrap();
    for route in routes() {
        let method = route.method.as_str().to_lowercase();
        let operation = &document["paths"][route.path][&method];
        let described = operation["parameters"].as_array().into_iter().flatten();
        let described: Vec<_> = described
            .filter(|parameter| parameter["in"] == "path")
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect();
        let named: Vec<_> = route
            .path
            .split('/')
            .filter_map(|part| part.strip_prefix('{').and_then(|part| part.strip_suffix('}')))
            .collect();
        assert_eq!(described, named, "{}", route.operation);
    }
}
