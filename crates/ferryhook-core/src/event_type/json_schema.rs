//! What was learned, as JSON Schema (2020-12): every sample is valid against it, as far as it was
//! looked at.

use serde_json::{Map, Value, json};

use super::JsonType;
use super::learned::{ELEMENT, Field, Learned, ROOT, unescaped};

pub(super) const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

impl Learned {
    /// Nothing before the first sample.
    pub fn json_schema(&self) -> Option<Value> {
        let root = self.fields.get(ROOT)?;
        let mut schema = Map::new();
        schema.insert("$schema".to_owned(), DIALECT.into());
        schema.extend(self.schema_of(ROOT, root));
        Some(schema.into())
    }

    /// Recurses as deep as paths were learned.
    fn schema_of(&self, path: &str, field: &Field) -> Map<String, Value> {
        let mut schema = Map::new();
        let types = field.shown_types();
        match &types[..] {
            [] => {}
            [one] => drop(schema.insert("type".to_owned(), json!(one))),
            several => drop(schema.insert("type".to_owned(), json!(several))),
        }
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for (name, child) in self.children(path) {
            let beneath = self.schema_of(&format!("{path}/{name}"), child);
            if name == ELEMENT {
                schema.insert("items".to_owned(), beneath.into());
                continue;
            }
            let name = unescaped(name);
            if child.is_required() {
                required.push(Value::from(name.clone()));
            }
            properties.insert(name, beneath.into());
        }
        if types.contains(&JsonType::Object) && !field.is_open() && !properties.is_empty() {
            schema.insert("properties".to_owned(), properties.into());
        }
        if !required.is_empty() {
            schema.insert("required".to_owned(), required.into());
        }
        schema
    }
}
