//! The manifest: the file in which somebody writes down the sources and connections they want.
//!
//! Reading it is pure. What comes out is checked to the last field and can be stored as it is;
//! what does not come out is a list of complaints with line, column and path. Comparing it with
//! what is stored, and writing, is left to [`apply`](crate::apply).

mod auth;
mod connection;
mod reader;
mod rules;
mod source;
mod tree;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use ferryhook_core::{Map, Secret, limits};
use ferryhook_net::client::Guard;

use reader::{At, Reading, Way};
use tree::{Node, Place, Value};

#[cfg(test)]
pub(crate) use connection::FIELDS as CONNECTION_FIELDS;
pub(crate) use connection::NOT_PAUSED;
pub use connection::{ConnectionSpec, Destination};
pub use rules::Rules;
#[cfg(test)]
pub(crate) use source::FIELDS as SOURCE_FIELDS;
pub use source::SourceSpec;
pub(crate) use source::says_types;

const SECRET: &str = "$secret";
/// Of JSON that came by itself: what a file has room for inside of a source.
const DEPTH_MAX: usize = limits::MANIFEST_DEPTH_MAX - 4;

/// Values of the variables that a manifest refers to, by name.
pub type Secrets = BTreeMap<String, Secret>;

/// What is wanted, valid.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    pub sources: Vec<SourceSpec>,
}

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    pub line: u64,
    pub column: u64,
    /// Such as `sources[0].name`; empty where the file is not even YAML.
    pub path: String,
    /// The same as a JSON pointer (RFC 6901), for those who sent JSON.
    pub pointer: String,
    pub message: String,
}

impl Complaint {
    fn new(place: Place, path: &Way, message: impl fmt::Display) -> Self {
        let Place { line, column } = place;
        let Way { path, pointer } = path.clone();
        Self { line, column, path, pointer, message: message.to_string() }
    }
}

impl Complaint {
    /// The same about a part of a body, which stands there.
    pub(crate) fn under(self, pointer: &str) -> Self {
        Self { pointer: format!("{pointer}{}", self.pointer), ..self }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, path, message, .. } = self;
        match path.is_empty() {
            true => write!(f, "{line}:{column}: {message}"),
            false => write!(f, "{line}:{column}: {path}: {message}"),
        }
    }
}

/// Whose words are used: two fields of a connection have a longer name in the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    File,
    Api,
}

impl Dialect {
    /// What a field of a connection is called.
    pub(crate) fn connection_field(self, name: &'static str) -> &'static str {
        match (self, name) {
            (Self::Api, "url") => "destinationUrl",
            (Self::Api, "retry") => "retryConfig",
            (_, same) => same,
        }
    }
}

impl SourceSpec {
    /// What was sent as JSON. A secret stands there itself; there is no environment to refer to.
    pub(crate) fn from_json(body: &Map, guard: &Guard) -> Result<Self, Vec<Complaint>> {
        from_json(body, guard, source::read)
    }
}

impl ConnectionSpec {
    /// The same.
    pub(crate) fn from_json(body: &Map, guard: &Guard) -> Result<Self, Vec<Complaint>> {
        from_json(body, guard, connection::read)
    }
}

impl Rules {
    /// The same.
    pub(crate) fn from_json(body: &Map, guard: &Guard) -> Result<Self, Vec<Complaint>> {
        from_json(body, guard, rules::read_whole)
    }
}

fn from_json<T>(
    body: &Map,
    guard: &Guard,
    read: impl FnOnce(&At<'_>) -> Option<T>,
) -> Result<T, Vec<Complaint>> {
    let node = Node::of_fields(body);
    let secrets = Secrets::new();
    let reading = Reading::new(&secrets, guard, Dialect::Api);
    let root = At::root(&reading, &node);
    if node.depth() > DEPTH_MAX {
        root.complain(format!("nests at most {DEPTH_MAX} levels deep"));
    }
    let spec = read(&root);
    match (spec, reading.complaints.into_inner()) {
        (Some(spec), complaints) if complaints.is_empty() => Ok(spec),
        (_, complaints) => Err(complaints),
    }
}

impl Manifest {
    /// All complaints at once, in the order of the file.
    pub fn parse(text: &str, secrets: &Secrets, guard: &Guard) -> Result<Self, Vec<Complaint>> {
        let node = tree::read(text).map_err(|complaint| vec![complaint])?;
        let reading = Reading::new(secrets, guard, Dialect::File);
        let sources = sources(&At::root(&reading, &node)).unwrap_or_default();
        let mut complaints = reading.complaints.into_inner();
        complaints.sort_by_key(|complaint| (complaint.line, complaint.column));
        match complaints.is_empty() {
            true => Ok(Self { sources }),
            false => Err(complaints),
        }
    }
}

fn sources(root: &At<'_>) -> Option<Vec<SourceSpec>> {
    let fields = root.fields("a manifest", &["sources"])?;
    let items = fields.required("sources")?.list();
    let sources: Vec<_> = items.iter().map(|item| (item, source::read(item))).collect();
    let named = sources.iter().map(|(item, spec)| (*item, spec.as_ref().map(|s| &*s.name)));
    require_unique_names(named, "source");
    sources.into_iter().map(|(_, spec)| spec).collect()
}

/// A name is how the next run finds the same thing again.
fn require_unique_names<'a>(
    named: impl Iterator<Item = (&'a At<'a>, Option<&'a str>)>,
    what: &str,
) {
    let mut seen = HashMap::new();
    for (place, (item, name)) in named.enumerate() {
        let Some(name) = name else { continue };
        if let Some(first) = seen.insert(name, place) {
            item.complain(format!("{what} {first} is called {name:?} too"));
        }
    }
}

/// Something that people call a source or a connection by.
fn name(at: &At<'_>) -> Option<String> {
    let name = at.text()?;
    let characters = name.chars().count();
    let max = limits::NAME_CHARACTERS_MAX;
    if characters == 0 || characters > max {
        at.complain(format!("must have 1 to {max} characters, not {characters}"));
        return None;
    }
    if name.contains(char::is_control) || name.trim() != name {
        at.complain("must not have line breaks, or spaces around it");
        return None;
    }
    Some(name)
}

/// The variables that a manifest refers to. Whoever has them passes them to [`Manifest::parse`],
/// which complains about those that are missing; and about a file that cannot be read.
pub fn variables(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    if let Ok(node) = tree::read(text) {
        gather(&node, &mut names);
    }
    names
}

/// As deep as the tree, which has a bound.
fn gather(node: &Node, names: &mut BTreeSet<String>) {
    match &node.value {
        Value::List(nodes) => nodes.iter().for_each(|node| gather(node, names)),
        Value::Map(fields) => {
            for (name, node) in fields {
                match &node.value {
                    Value::Text(text) if name.text == SECRET => {
                        names.extend(variable(text).map(str::to_owned));
                    }
                    _ => gather(node, names),
                }
            }
        }
        _ => {}
    }
}

fn variable(reference: &str) -> Option<&str> {
    reference.strip_prefix("env:").filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests;
