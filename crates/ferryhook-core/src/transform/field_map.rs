//! Field map: moves, makes and removes fields of a JSON body, without a program.
//!
//! ```text
//! {"type": "field_map",
//!  "map":      {"customer.mail": "$.data.email", "lines": {"each": "$.items", "map": {…}}},
//!  "keep":     false,                  map lays its fields over the body instead of a new one
//!  "rename":   {"old.path": "new.path"},
//!  "remove":   ["card.number", "items[*].secret"],
//!  "add":      {"currency": "EUR"},    where there is no such field
//!  "constant": {"origin": "shop"},     whatever there was
//!  "template": {"title": "Order {{ $.id }}"},
//!  "headers":  {"X-Order": "{{ $.id }}", "X-Old": null}}
//! ```
//! One run goes through them in this order. `"steps": […]` is a list of such objects, each of
//! which works on what the one before it made; headers are always made from what arrived.

mod parse;
mod run;

use std::borrow::Cow;

use super::json::Json;
use super::leaving::{Changes, with_headers};
use super::path::{Source, Step};
use super::template::Template;
use super::{Fault, Outcome, incoming};
use crate::Event;
use run::Run;

#[derive(Debug, Clone)]
pub(super) struct FieldMap {
    steps: Vec<Rules>,
    /// Without a template the header is removed.
    headers: Vec<(String, Option<Template>)>,
}

/// What is done in one step. Constants are JSON text.
#[derive(Debug, Clone, Default)]
struct Rules {
    map: Option<Vec<(Vec<Step>, Made)>>,
    keep: bool,
    rename: Vec<Rename>,
    remove: Vec<Vec<Step>>,
    add: Vec<(Vec<Step>, String)>,
    constant: Vec<(Vec<Step>, String)>,
    template: Vec<(Vec<Step>, Template)>,
}

/// Where a mapped value comes from.
#[derive(Debug, Clone)]
enum Made {
    From { source: Source, otherwise: Otherwise },
    Constant(String),
    Template(Template),
    Each { source: Source, map: Vec<(Vec<Step>, Made)> },
}

/// What happens where there is no value.
#[derive(Debug, Clone)]
enum Otherwise {
    Nothing,
    Constant(String),
    /// The run fails and names this path.
    Fail(String),
}

/// From and to, below each place that the head leads to.
#[derive(Debug, Clone)]
struct Rename {
    head: Vec<Step>,
    from: Vec<Step>,
    to: Vec<Step>,
}

impl FieldMap {
    pub(super) fn apply(&self, event: &Event) -> Result<Outcome, Fault> {
        let text = incoming::text(event);
        let body = match read(event, text.as_deref()) {
            // Whoever only sets headers need not understand the body.
            Err(_) if !self.makes_body() => Json::NULL,
            body => body?,
        };
        let mut run = Run::new(event, body);
        let headers = run.headers(&self.headers)?;
        let mut changes = Changes::default();
        if self.makes_body() {
            for rules in &self.steps {
                run.step(rules)?;
            }
            let made = run.finish()?;
            if text.is_none_or(|text| made != text.trim()) {
                changes = Changes::json(event, made)?;
            }
        }
        if !headers.is_empty() {
            changes.set_headers(with_headers(&event.headers, &headers)?, &headers);
        }
        Ok(changes.of(event))
    }

    fn makes_body(&self) -> bool {
        self.steps.iter().any(|rules| !rules.is_empty())
    }
}

impl Rules {
    fn is_empty(&self) -> bool {
        let Self { map, keep: _, rename, remove, add, constant, template } = self;
        map.is_none()
            && rename.is_empty()
            && remove.is_empty()
            && add.is_empty()
            && constant.is_empty()
            && template.is_empty()
    }
}

/// The body as a document. A form is an object of its fields; no body is an empty object.
fn read<'a>(event: &Event, text: Option<&'a str>) -> Result<Json<'a>, Fault> {
    let Some(text) = text else { return Err(Fault::Body("it is not text".to_owned())) };
    if text.trim().is_empty() {
        return Ok(Json::empty());
    }
    if incoming::is_form(event) {
        let mut fields: Vec<(Cow<'a, str>, Json<'a>)> = Vec::new();
        let mut names = std::collections::HashSet::new();
        for (name, value) in incoming::pairs(text) {
            if names.insert(name.clone()) {
                fields.push((name, Json::string(&value)));
            }
        }
        return Ok(Json::Object(fields));
    }
    Json::read(text).map_err(|error| Fault::Body(format!("it is not JSON: {error}")))
}

#[cfg(test)]
mod tests;
