//! Takes a tree apart field by field and notes everything that is wrong on the way, so that one
//! look at the complaints is enough to mend the file.

use std::cell::RefCell;
use std::fmt::Display;
use std::ops::RangeInclusive;

use ferryhook_core::{Secret, limits};
use ferryhook_net::client::Guard;
use serde_json::Value as Json;

use super::tree::{Name, Node, Place, Value};
use super::{Complaint, Dialect, Secrets};

/// What a file may refer to, and the complaints so far.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    pub(super) secrets: &'a Secrets,
    pub(super) guard: &'a Guard,
    pub(super) dialect: Dialect,
    pub(super) complaints: RefCell<Vec<Complaint>>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(secrets: &'a Secrets, guard: &'a Guard, dialect: Dialect) -> Self {
        Self { secrets, guard, dialect, complaints: RefCell::default() }
    }
}

/// How to get to a value: for people, and as a JSON pointer.
#[derive(Debug, Clone, Default)]
pub(super) struct Way {
    pub(super) path: String,
    pub(super) pointer: String,
}

impl Way {
    fn field(&self, name: &str) -> Self {
        let path = match self.path.is_empty() {
            true => name.to_owned(),
            false => format!("{}.{name}", self.path),
        };
        let escaped = name.replace('~', "~0").replace('/', "~1");
        Self { path, pointer: format!("{}/{escaped}", self.pointer) }
    }

    fn item(&self, place: usize) -> Self {
        Self {
            path: format!("{}[{place}]", self.path),
            pointer: format!("{}/{place}", self.pointer),
        }
    }
}

/// A value and the way to it.
#[derive(Debug, Clone)]
pub(super) struct At<'a> {
    pub(super) reading: &'a Reading<'a>,
    node: &'a Node,
    way: Way,
}

/// The fields of a map. A field that nobody can take is one that nobody knows.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    whole: At<'a>,
    fields: &'a [(Name, Node)],
}

impl<'a> At<'a> {
    pub(super) fn root(reading: &'a Reading<'a>, node: &'a Node) -> Self {
        Self { reading, node, way: Way::default() }
    }

    pub(super) fn complain(&self, message: impl Display) {
        self.complain_at(self.node.place, &self.way, message);
    }

    fn complain_at(&self, place: Place, way: &Way, message: impl Display) {
        self.reading.complaints.borrow_mut().push(Complaint::new(place, way, message));
    }

    fn expected(&self, what: &str) {
        self.complain(format!("must be {what}, not {}", self.node.value.sort()));
    }

    /// `what` is the noun, for the complaint about fields that it does not have.
    pub(super) fn fields(&self, what: &str, known: &[&str]) -> Option<Fields<'a>> {
        let Value::Map(fields) = &self.node.value else {
            self.expected("a map");
            return None;
        };
        for (name, _) in fields.iter().filter(|(name, _)| !known.contains(&&*name.text)) {
            let known = known.join(", ");
            let message = format!("no such field; {what} has {known}");
            self.complain_at(name.place, &self.way.field(&name.text), message);
        }
        Some(Fields { whole: self.clone(), fields })
    }

    /// The fields of a map whose names are the user's.
    pub(super) fn entries(&self) -> Vec<(&'a str, At<'a>)> {
        let Value::Map(fields) = &self.node.value else {
            self.expected("a map");
            return Vec::new();
        };
        fields.iter().map(|(name, node)| (&*name.text, self.field(&name.text, node))).collect()
    }

    pub(super) fn list(&self) -> Vec<At<'a>> {
        let Value::List(nodes) = &self.node.value else {
            self.expected("a list");
            return Vec::new();
        };
        let item = |(place, node)| At { reading: self.reading, node, way: self.way.item(place) };
        nodes.iter().enumerate().map(item).collect()
    }

    pub(super) fn text(&self) -> Option<String> {
        match &self.node.value {
            Value::Text(text) => Some(text.clone()),
            Value::Number(_) | Value::Bool(_) => {
                self.expected("text (put it in quotes)");
                None
            }
            _ => {
                self.expected("text");
                None
            }
        }
    }

    /// Text with this many bytes at most, and at least one.
    pub(super) fn short_text(&self, bytes_max: usize) -> Option<String> {
        let text = self.text()?;
        if text.is_empty() || text.len() > bytes_max {
            self.complain(format!("must have 1 to {bytes_max} bytes, not {}", text.len()));
            return None;
        }
        Some(text)
    }

    pub(super) fn number<T>(&self, allowed: RangeInclusive<T>) -> Option<T>
    where
        T: TryFrom<u64> + PartialOrd + Display,
    {
        let number = match &self.node.value {
            Value::Number(number) => number.as_u64().and_then(|number| T::try_from(number).ok()),
            _ => {
                self.expected("a number");
                return None;
            }
        };
        let number = number.filter(|number| allowed.contains(number));
        if number.is_none() {
            let (least, most) = (allowed.start(), allowed.end());
            self.complain(format!("must be a whole number from {least} to {most}"));
        }
        number
    }

    pub(super) fn one_of<T: Copy>(&self, words: &[(&str, T)]) -> Option<T> {
        let known = || words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        let Value::Text(text) = &self.node.value else {
            self.expected(&format!("one of {}", known()));
            return None;
        };
        let found = words.iter().find(|(word, _)| word == text).map(|(_, meaning)| *meaning);
        if found.is_none() {
            self.complain(format!("must be one of {}, not {text:?}", known()));
        }
        found
    }

    /// Written out, or `{"$secret": "env:NAME"}`.
    pub(super) fn secret(&self) -> Option<Secret> {
        self.secret_within(limits::SECRET_BYTES_MAX)
    }

    /// The same with another bound.
    fn secret_within(&self, bytes_max: usize) -> Option<Secret> {
        let secret = match &self.node.value {
            Value::Map(_) => {
                let fields = self.fields("a reference to a secret", &[super::SECRET])?;
                let reference = fields.required(super::SECRET)?;
                let text = reference.text()?;
                let Some(name) = super::variable(&text) else {
                    reference.complain("must be env: and the name of a variable");
                    return None;
                };
                let Some(secret) = self.reading.secrets.get(name) else {
                    reference.complain(format!("the environment has no variable {name}"));
                    return None;
                };
                secret.clone()
            }
            _ => Secret::new(self.text()?),
        };
        let bytes = secret.expose().len();
        if bytes == 0 || bytes > bytes_max {
            self.complain(format!("must have 1 to {bytes_max} bytes, not {bytes}"));
            return None;
        }
        Some(secret)
    }

    pub(super) fn json(&self) -> Json {
        self.node.value.to_json()
    }

    /// The same with secrets in place of what refers to them. As deep as the tree, which has a
    /// bound.
    pub(super) fn resolved(&self, bytes_max: usize) -> Option<Json> {
        let fields = match &self.node.value {
            Value::Map(fields) => fields,
            Value::List(_) => {
                let items: Vec<_> = self.list().iter().map(|at| at.resolved(bytes_max)).collect();
                return items.into_iter().collect::<Option<_>>().map(Json::Array);
            }
            _ => return Some(self.json()),
        };
        if fields.iter().any(|(name, _)| name.text == super::SECRET) {
            return Some(self.secret_within(bytes_max)?.expose().into());
        }
        let fields = fields.iter().map(|(name, node)| {
            let value = self.field(&name.text, node).resolved(bytes_max);
            (name.text.clone(), value)
        });
        let fields: Vec<_> = fields.collect(); // all of them, for the complaints
        let fields = fields.into_iter().map(|(name, value)| Some((name, value?)));
        fields.collect::<Option<_>>().map(Json::Object)
    }

    /// What is there under a path such as `clientCertificate.privateKey`, as far as it leads; and
    /// the rest of the path.
    pub(super) fn within<'p>(&self, path: &'p str) -> (At<'a>, &'p str) {
        let (mut at, mut rest) = (self.clone(), path);
        while let Value::Map(fields) = &at.node.value {
            let (name, behind) = rest.split_once('.').unwrap_or((rest, ""));
            let Some((_, node)) = fields.iter().find(|(field, _)| field.text == name) else {
                break;
            };
            (at, rest) = (at.field(name, node), behind);
        }
        (at, rest)
    }

    /// What a rule of the domain says about a value; its error is the complaint.
    pub(super) fn accept<T>(&self, checked: Result<T, impl Display>) -> Option<T> {
        checked.map_err(|error| self.complain(error)).ok()
    }

    fn is_nothing(&self) -> bool {
        matches!(self.node.value, Value::Null)
    }

    fn field(&self, name: &str, node: &'a Node) -> At<'a> {
        At { reading: self.reading, node, way: self.way.field(name) }
    }
}

impl<'a> Fields<'a> {
    /// A field without a value counts as one that is not there.
    pub(super) fn get(&self, name: &str) -> Option<At<'a>> {
        let (_, node) = self.fields.iter().find(|(field, _)| field.text == name)?;
        Some(self.whole.field(name, node)).filter(|field| !field.is_nothing())
    }

    pub(super) fn required(&self, name: &str) -> Option<At<'a>> {
        let field = self.get(name);
        if field.is_none() {
            let Way { path, .. } = self.whole.way.clone();
            let Way { pointer, .. } = self.whole.way.field(name);
            let message = format!("{name} is missing");
            self.whole.complain_at(self.whole.node.place, &Way { path, pointer }, message);
        }
        field
    }
}
