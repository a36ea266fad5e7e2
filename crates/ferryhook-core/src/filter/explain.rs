//! Explain: what every clause saw and whether it holds.
//!
//! Asks each clause by itself, so that also those have an answer that did not matter any more.

use std::fmt;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::rule::{Rule, Test};
use super::seen::{BodyKind, Seen};
use super::shape::{Check, Condition, Form, Shape, Walk, With};
use super::{Clause, EFFORT_MAX, Filter};
use crate::json::{Document, Kind, Value};
use crate::json_path::{Effort, Stop};

/// What is shown of a value, and of how many.
const SHOWN_BYTES_MAX: usize = 200;
const SHOWN_VALUES_MAX: usize = 5;
/// Elements of a list that are gone into.
const SHOWN_ITEMS_MAX: usize = 3;
/// Clauses in one explanation: a filter that goes into lists of lists has more answers than clauses.
const EXPLAINED_MAX: usize = 1_000;
/// Clauses are asked again and again: those inside of groups by each of the groups.
const EXPLAIN_EFFORT_MAX: usize = 8 * EFFORT_MAX;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FilterExplanation)]
pub struct Explanation {
    pub holds: bool,
    pub body: BodyKind,
    /// There was too much to look at, so that it does not match, or not all of it is explained.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gave_up: bool,
    pub clause: Explained,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FilterClause)]
pub struct Explained {
    /// Where it stands in the filter: a JSON pointer.
    pub at: String,
    /// `all`, `any` or `not`, and then there are clauses; or the operator.
    pub operator: String,
    /// Where it looks.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// What it wants, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// What it saw, as JSON, cut if it is long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saw: Option<Vec<String>>,
    /// How many there were, if not all are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<usize>,
    pub holds: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(no_recursion)]
    pub clauses: Vec<Explained>,
}

pub(super) fn explanation(filter: &Filter, seen: &Seen<'_>) -> Explanation {
    let verdict = filter.root.holds(seen, &Effort::new(EFFORT_MAX));
    let effort = Effort::new(EXPLAIN_EFFORT_MAX);
    let clause = Explain { seen, effort: &effort, left: EXPLAINED_MAX }.clause(&filter.root);
    Explanation {
        holds: matches!(verdict, ControlFlow::Continue(true)),
        body: seen.body_kind(),
        gave_up: verdict.is_break() || effort.is_spent(),
        clause,
    }
}

struct Explain<'s, 'a> {
    seen: &'s Seen<'a>,
    effort: &'s Effort,
    left: usize,
}

impl<'s> Explain<'s, '_> {
    fn clause(&mut self, clause: &Clause) -> Explained {
        self.left = self.left.saturating_sub(1);
        let holds = clause.holds(self.seen, self.effort);
        let holds = matches!(holds, ControlFlow::Continue(true));
        match clause {
            Clause::All(at, clauses) => group(at, "all", holds, self.clauses(clauses)),
            Clause::Any(at, clauses) => group(at, "any", holds, self.clauses(clauses)),
            Clause::Not(at, clause) => group(at, "not", holds, vec![self.clause(clause)]),
            Clause::Rule(rule) => self.rule(rule, holds),
            Clause::Part(part, shape) => {
                let root = self.seen.part(*part);
                let mut walk = Walk { root, effort: self.effort, indexes: Vec::new() };
                let mut explained = self.shape(shape, part.name(), root, &mut walk);
                explained.holds = holds;
                explained
            }
        }
    }

    fn clauses(&mut self, clauses: &[Clause]) -> Vec<Explained> {
        clauses.iter().map(|clause| self.clause(clause)).collect()
    }

    fn rule(&self, rule: &Rule, holds: bool) -> Explained {
        let (mut saw, mut found) = (Vec::new(), 0);
        let _ = rule.place.select(self.seen, self.effort, &mut |value, _| {
            found += 1;
            if saw.len() < SHOWN_VALUES_MAX {
                saw.push(value.shown(SHOWN_BYTES_MAX));
            }
            ControlFlow::Continue(())
        });
        let value = match &rule.test {
            Test::Equals(wanted) | Test::Contains(wanted) | Test::In(wanted) => Some(show(wanted)),
            Test::Ordered(wanted, _) => Some(show(wanted)),
            Test::Regex(regex) => Some(quoted(regex.as_str())),
            Test::StartsWith(texts) | Test::EndsWith(texts) => {
                let texts: Vec<_> = texts.iter().map(|text| quoted(text)).collect();
                Some(texts.join(" or "))
            }
            Test::Exists => None,
        };
        let found = (found > saw.len()).then_some(found);
        Explained {
            at: rule.at.clone(),
            operator: rule.operator.name().to_owned(),
            path: rule.place.written.clone(),
            value,
            saw: Some(saw),
            found,
            holds,
            clauses: Vec::new(),
        }
    }

    fn shape(
        &mut self,
        shape: &Shape,
        path: &str,
        value: Option<Value<'s>>,
        walk: &mut Walk<'_, 's>,
    ) -> Explained {
        self.left = self.left.saturating_sub(1);
        let holds = matches!(walk.has(shape, value), ControlFlow::Continue(true));
        let is_list = value.is_some_and(|value| value.kind() == Kind::List);
        match &shape.form {
            _ if self.left == 0 => group(&shape.at, "…", holds, Vec::new()),
            Form::Literal(wanted) => leaf(&shape.at, "is", path, Some(show(wanted)), value, holds),
            Form::List(shapes) => {
                let inside = shapes.iter().map(|one| self.shape(one, path, value, walk)).collect();
                Explained { path: path.to_owned(), ..group(&shape.at, "all", holds, inside) }
            }
            Form::Object(conditions) if is_list && !is_about_lists(conditions) => {
                let items = value.into_iter().flat_map(Value::items).enumerate();
                let mut inside = Vec::new();
                let mut found = 0;
                for (index, item) in items {
                    found += 1;
                    walk.indexes.push(index);
                    let will_do =
                        matches!(walk.has(shape, Some(item)), ControlFlow::Continue(true));
                    // Those that show why it holds, or some that show why not.
                    if (will_do || !holds) && inside.len() < SHOWN_ITEMS_MAX {
                        inside.push(self.shape(
                            shape,
                            &format!("{path}[{index}]"),
                            Some(item),
                            walk,
                        ));
                    }
                    walk.indexes.pop();
                    if inside.len() == SHOWN_ITEMS_MAX {
                        found = value.map_or(0, |value| value.items().count());
                        break;
                    }
                }
                let shown = inside.len();
                Explained {
                    path: path.to_owned(),
                    found: (found > shown).then_some(found),
                    ..group(&shape.at, "any", holds, inside)
                }
            }
            Form::Object(conditions) => match &conditions[..] {
                [only] => Explained { holds, ..self.condition(only, path, value, walk) },
                _ => {
                    let all = conditions.iter().map(|one| self.condition(one, path, value, walk));
                    let all = all.collect();
                    Explained { path: path.to_owned(), ..group(&shape.at, "all", holds, all) }
                }
            },
        }
    }

    fn condition(
        &mut self,
        condition: &Condition,
        path: &str,
        value: Option<Value<'s>>,
        walk: &mut Walk<'_, 's>,
    ) -> Explained {
        let holds = matches!(walk.meets_one(condition, value), ControlFlow::Continue(true));
        match condition {
            Condition::Field(field) => {
                let mut found = None;
                // One that fits, or the first.
                let _ = value.map(|value| {
                    field.select(value, walk.effort, &mut |one| {
                        let fits = walk.has(&field.shape, Some(one))?;
                        found = if fits { Some(one) } else { found.or(Some(one)) };
                        if fits {
                            ControlFlow::Break(Stop::Enough)
                        } else {
                            ControlFlow::Continue(())
                        }
                    })
                });
                let path = format!("{path}.{}", field.name);
                Explained { holds, ..self.shape(&field.shape, &path, found, walk) }
            }
            Condition::Or(at, shapes) => {
                let inside = shapes.iter().map(|one| self.shape(one, path, value, walk)).collect();
                group(at, "any", holds, inside)
            }
            Condition::And(at, shapes) => {
                let inside = shapes.iter().map(|one| self.shape(one, path, value, walk)).collect();
                group(at, "all", holds, inside)
            }
            Condition::Not(shape) => {
                let inside = vec![self.shape(shape, path, value, walk)];
                group(&shape.at, "not", holds, inside)
            }
            Condition::Reference(at, reference) => {
                let wanted = match walk.resolve(reference) {
                    ControlFlow::Continue(Some(wanted)) => wanted.shown(SHOWN_BYTES_MAX),
                    _ => "null".to_owned(),
                };
                let wanted = format!("{wanted} of {}", reference.written);
                leaf(at, "$ref", path, Some(wanted), value, holds)
            }
            Condition::Check(check) => {
                leaf(&check.at, check.operator, path, Some(wanted_by(check)), value, holds)
            }
        }
    }
}

fn wanted_by(check: &Check) -> String {
    match &check.with {
        With::Literal(wanted) => show(wanted),
        With::Reference(reference) => format!("the value of {}", reference.written),
    }
}

/// Nothing in it goes from element to element.
fn is_about_lists(conditions: &[Condition]) -> bool {
    let is_check = |one: &Condition| matches!(one, Condition::Check(_));
    match conditions {
        [] => false,
        [Condition::Not(_)] => true,
        _ => conditions.iter().all(is_check),
    }
}

fn group(at: &str, operator: &str, holds: bool, clauses: Vec<Explained>) -> Explained {
    let (at, operator) = (at.to_owned(), operator.to_owned());
    Explained { at, operator, holds, clauses, ..Explained::default() }
}

fn leaf(
    at: &str,
    operator: &str,
    path: &str,
    wanted: Option<String>,
    value: Option<Value<'_>>,
    holds: bool,
) -> Explained {
    let saw = value.map(|value| value.shown(SHOWN_BYTES_MAX)).into_iter().collect();
    Explained {
        path: path.to_owned(),
        value: wanted,
        saw: Some(saw),
        ..group(at, operator, holds, Vec::new())
    }
}

fn show(document: &Document<'_>) -> String {
    document.root().shown(SHOWN_BYTES_MAX)
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// One line for each clause, for a terminal.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.gave_up {
            writeln!(f, "no   too much to look at")?;
        }
        self.clause.write(f, 0)
    }
}

impl Explained {
    fn write(&self, f: &mut fmt::Formatter<'_>, indent: usize) -> fmt::Result {
        let verdict = if self.holds { "yes" } else { "no " };
        write!(f, "{verdict}  {:indent$}", "")?;
        match &self.saw {
            None => {
                write!(f, "{}", self.operator)?;
                if !self.path.is_empty() {
                    write!(f, " of {}", self.path)?;
                }
            }
            Some(saw) => {
                write!(f, "{} {}", self.path, self.operator)?;
                if let Some(value) = &self.value {
                    write!(f, " {value}")?;
                }
                match &saw[..] {
                    [] => write!(f, "; saw nothing")?,
                    saw => write!(f, "; saw {}", saw.join(", "))?,
                }
            }
        }
        if let Some(found) = self.found {
            write!(f, " ({found} in all)")?;
        }
        writeln!(f)?;
        self.clauses.iter().try_for_each(|clause| clause.write(f, indent + 2))
    }
}
