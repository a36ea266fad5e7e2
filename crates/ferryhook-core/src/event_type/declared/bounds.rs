//! How much work a schema can make, found out before it is compiled.
//!
//! Walks everything that is a schema, following references as often as a check would. Because none
//! leads back to itself, no part is asked more often about a value than it is met here.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{BadSchema, built};
use crate::event_type::json_schema::DIALECT;
use crate::limits;

/// The dialects that are understood.
const DIALECTS: [&str; 3] =
    [DIALECT, "http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-07/schema"];

/// What has a schema behind it, or a list of them.
const ONE: [&str; 12] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
const SEVERAL: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// What has schemas by name.
const NAMED: [&str; 6] =
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];

/// What reads a text or a name to its end.
const READING: [&str; 12] = [
    "additionalProperties",
    "const",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "enum",
    "maxLength",
    "minLength",
    "properties",
    "required",
    "unevaluatedProperties",
    "uniqueItems",
];

/// What would make it depend on where it is asked from, or on somewhere else.
const REFUSED: [&str; 6] = [
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
    "$vocabulary",
];

/// What it takes to ask all of it, in steps.
#[derive(Debug)]
pub(super) struct Work {
    /// About any value.
    pub(super) of_a_value: usize,
    /// For every so many bytes of a text or a name, see [`limits::SCHEMA_TEXT_BYTES_PER_STEP`].
    pub(super) of_a_text: usize,
}

pub(super) fn work(schema: &Value) -> Result<Work, BadSchema> {
    let bytes = schema.to_string().len();
    if bytes > limits::SCHEMA_BYTES_MAX {
        let most = limits::SCHEMA_BYTES_MAX;
        return Err(wrong("", format!("it has {bytes} bytes, and may have {most}")));
    }
    if !schema.is_object() && !schema.is_boolean() {
        return Err(wrong("", "a schema is an object".to_owned()));
    }
    let mut walk = Walk {
        root: schema,
        followed: Vec::new(),
        parts: 0,
        compared: 0,
        readings: 0,
        weighed: HashMap::new(),
    };
    walk.visit(schema, "", 0)?;
    let of_a_value = walk.parts + walk.compared / limits::SCHEMA_COMPARED_BYTES_PER_STEP;
    Ok(Work { of_a_value, of_a_text: walk.readings })
}

struct Walk<'s> {
    root: &'s Value,
    /// The references that led here.
    followed: Vec<&'s str>,
    /// How many of them look at a value at most.
    parts: usize,
    /// Bytes of what a value is compared with: `enum`, `required`.
    compared: usize,
    /// How often a text is read to its end, where a pattern counts by its weight.
    readings: usize,
    weighed: HashMap<&'s str, usize>,
}

impl<'s> Walk<'s> {
    fn visit(&mut self, schema: &'s Value, at: &str, depth: usize) -> Result<(), BadSchema> {
        self.parts += 1;
        if self.parts > limits::SCHEMA_STEPS_MAX {
            let most = limits::SCHEMA_STEPS_MAX;
            let said = format!("with all references followed it has more than {most} parts");
            return Err(wrong("", said));
        }
        if depth > limits::SCHEMA_DEPTH_MAX {
            let most = limits::SCHEMA_DEPTH_MAX;
            return Err(wrong(at, format!("it is nested deeper than {most} levels")));
        }
        // Whatever else is no schema is found by the compiler, who knows better what it should be.
        let Some(keywords) = schema.as_object() else { return Ok(()) };
        for (keyword, value) in keywords {
            let at = format!("{at}/{}", keyword.replace('~', "~0").replace('/', "~1"));
            self.keyword(keyword, value, &at, depth)?;
        }
        Ok(())
    }

    fn keyword(
        &mut self,
        keyword: &str,
        value: &'s Value,
        at: &str,
        depth: usize,
    ) -> Result<(), BadSchema> {
        self.readings += usize::from(READING.contains(&keyword));
        match keyword {
            "$ref" => self.follow(value, at, depth),
            "$schema" if depth > 0 => Err(wrong(at, "only the whole has a dialect".to_owned())),
            "$schema" if !value.as_str().is_some_and(|named| DIALECTS.contains(&named)) => {
                let said = format!("the dialects are {DIALECT} and draft-07");
                Err(wrong(at, said))
            }
            "$id" if depth > 0 => Err(wrong(at, "only the whole has an id".to_owned())),
            word if REFUSED.contains(&word) => {
                Err(wrong(at, format!("{word} is not understood; $ref and $defs are")))
            }
            word if ONE.contains(&word) || SEVERAL.contains(&word) => match value {
                Value::Array(schemas) => {
                    for (place, schema) in schemas.iter().enumerate() {
                        self.visit(schema, &format!("{at}/{place}"), depth + 1)?;
                    }
                    Ok(())
                }
                schema => self.visit(schema, at, depth + 1),
            },
            word if NAMED.contains(&word) => {
                for (name, schema) in value.as_object().into_iter().flatten() {
                    if word == "patternProperties" {
                        self.weigh(name);
                    }
                    let name = name.replace('~', "~0").replace('/', "~1");
                    self.visit(schema, &format!("{at}/{name}"), depth + 1)?;
                }
                Ok(())
            }
            "pattern" => {
                if let Some(pattern) = value.as_str() {
                    self.weigh(pattern);
                }
                Ok(())
            }
            _ => {
                if value.is_array() || value.is_object() {
                    self.compared += value.to_string().len();
                }
                Ok(())
            }
        }
    }

    /// The larger what a pattern becomes, the longer it can look at each byte.
    fn weigh(&mut self, pattern: &'s str) {
        let weight = self.weighed.entry(pattern).or_insert_with(|| {
            let alone = json!({ "pattern": pattern });
            let fits = |bytes: &usize| built(&alone, *bytes).is_ok();
            let bytes = limits::SCHEMA_PATTERN_SIZES.into_iter().find(fits);
            bytes.unwrap_or(limits::SCHEMA_PATTERN_BYTES_MAX) / 1024
        });
        self.readings += *weight;
    }

    fn follow(&mut self, value: &'s Value, at: &str, depth: usize) -> Result<(), BadSchema> {
        let Some(reference) = value.as_str() else {
            return Err(wrong(at, "a reference is a text".to_owned()));
        };
        let Some(pointer) = reference.strip_prefix('#') else {
            return Err(wrong(at, "nothing is fetched: a reference begins with #/".to_owned()));
        };
        if pointer.is_empty() || self.followed.contains(&reference) {
            return Err(wrong(at, "it comes back to itself".to_owned()));
        }
        if pointer.contains('%') || !pointer.starts_with('/') {
            return Err(wrong(at, "a reference is # with a plain JSON pointer".to_owned()));
        }
        let Some(target) = self.root.pointer(pointer) else {
            return Err(wrong(at, format!("there is nothing at {reference}")));
        };
        self.followed.push(reference);
        let visited = self.visit(target, pointer, depth + 1);
        self.followed.pop();
        visited
    }
}

fn wrong(at: &str, reason: String) -> BadSchema {
    BadSchema { pointer: at.to_owned(), reason }
}
