//! Reads a filter as it is written, and refuses what could not mean anything, with its place.

mod rules;
mod shapes;

use crate::json::{Document, Kind, NotJson, Value};

use super::part::Part;
use super::{CLAUSES_MAX, Clause, DEPTH_MAX, FILTER_BYTES_MAX, REGEXES_MAX};

/// What is wrong, and where: a JSON pointer into the filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadFilter {
    pub pointer: String,
    pub message: String,
}

impl std::error::Error for BadFilter {}

impl std::fmt::Display for BadFilter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &*self.pointer {
            "" => f.write_str(&self.message),
            pointer => write!(f, "at {pointer}: {}", self.message),
        }
    }
}

pub(super) fn filter(text: &str) -> Result<Clause, BadFilter> {
    let whole = |message: String| BadFilter { pointer: String::new(), message };
    if text.len() > FILTER_BYTES_MAX {
        return Err(whole(format!(
            "a filter has at most {FILTER_BYTES_MAX} bytes, not {}",
            text.len()
        )));
    }
    let document = Document::read(text).map_err(|error| match error {
        NotJson::TooDeep => whole(format!("a filter nests at most {DEPTH_MAX} levels deep")),
        error => whole(format!("a filter is JSON: {error}")),
    })?;
    let mut parser = Parser::default();
    let root = At { value: document.root(), pointer: String::new() };
    match root.value.kind() {
        Kind::List => parser.rules(&root).map(|rules| Clause::All(String::new(), rules)),
        Kind::Object if rules::looks_like_rules(root.value) => parser.rule_or_group(&root),
        Kind::Object => parser.parts(&root),
        _ => Err(root.bad("a filter is a list of rules, or an object")),
    }
}

/// Counts what a filter is made of.
#[derive(Default)]
struct Parser {
    depth: usize,
    clauses: usize,
    regexes: usize,
}

/// A value of the filter and where it stands.
struct At<'d> {
    value: Value<'d>,
    pointer: String,
}

impl Parser {
    /// The only way in which this calls itself.
    fn nested<T>(
        &mut self,
        at: &At<'_>,
        parse: impl FnOnce(&mut Self) -> Result<T, BadFilter>,
    ) -> Result<T, BadFilter> {
        if self.depth == DEPTH_MAX {
            return Err(at.bad(&format!("a filter nests at most {DEPTH_MAX} levels deep")));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn count_clause(&mut self, at: &At<'_>) -> Result<(), BadFilter> {
        self.clauses += 1;
        if self.clauses > CLAUSES_MAX {
            return Err(at.bad(&format!("a filter has at most {CLAUSES_MAX} clauses")));
        }
        Ok(())
    }

    fn regex(&mut self, at: &At<'_>) -> Result<regex::Regex, BadFilter> {
        let Some(pattern) = at.value.as_text() else {
            return Err(at.bad("a regular expression is a text"));
        };
        self.regexes += 1;
        if self.regexes > REGEXES_MAX {
            return Err(at.bad(&format!("a filter has at most {REGEXES_MAX} regular expressions")));
        }
        crate::json_path::compile(&pattern).map_err(|error| at.bad(&error.to_string()))
    }
}

impl<'d> At<'d> {
    fn bad(&self, message: &str) -> BadFilter {
        BadFilter { pointer: self.pointer.clone(), message: message.to_owned() }
    }

    /// The names of an object, none of them twice.
    fn fields(&self) -> Result<Vec<(String, At<'d>)>, BadFilter> {
        if let Some(name) = self.value.repeated_name() {
            return Err(self.inside(&name, self.value).bad("this name comes twice"));
        }
        let members = self.value.members().into_iter();
        Ok(members.map(|(name, value)| (name.to_string(), self.inside(&name, value))).collect())
    }

    fn items(&self) -> Vec<At<'d>> {
        let items = self.value.items().enumerate();
        items.map(|(index, item)| self.inside(&index.to_string(), item)).collect()
    }

    fn inside(&self, name: &str, value: Value<'d>) -> At<'d> {
        let name = name.replace('~', "~0").replace('/', "~1");
        At { value, pointer: format!("{}/{name}", self.pointer) }
    }
}

/// Each name is a part of an event, or a group of such.
fn names_only_parts(value: Value<'_>) -> bool {
    let members = value.members();
    !members.is_empty()
        && members.iter().all(|(name, value)| match &**name {
            "$or" | "$and" => value.items().all(names_only_parts),
            "$not" => names_only_parts(*value),
            name => Part::named(name).is_some(),
        })
}
