//! `{"path", "operator", "value"}`, and groups of them.

use std::cmp::Ordering;

use super::super::part::Place;
use super::super::rule::{Operator, Rule, Test};
use super::{At, BadFilter, Clause, Parser, names_only_parts};
use crate::json::{Kind, Value};

/// Also if it is a rule gone wrong: better to say so than to take it for a shape.
pub(super) fn looks_like_rules(value: Value<'_>) -> bool {
    let members = value.members();
    let has = |name: &str| members.iter().any(|(own, _)| own == name);
    let is_group = members.len() == 1 && (has("all") || has("any") || has("not"));
    is_group || has("operator") || (has("path") && (has("op") || has("value")))
}

impl Parser {
    pub(super) fn rules(&mut self, at: &At<'_>) -> Result<Vec<Clause>, BadFilter> {
        self.nested(at, |parser| at.items().iter().map(|item| parser.rule_or_group(item)).collect())
    }

    pub(super) fn rule_or_group(&mut self, at: &At<'_>) -> Result<Clause, BadFilter> {
        if at.value.kind() != Kind::Object {
            return Err(at.bad("expected a rule: an object with path, operator and value"));
        }
        let fields = at.fields()?;
        // A path alone is a rule that somebody did not finish.
        let is_path = matches!(&fields[..], [(name, _)] if name == "path");
        if names_only_parts(at.value) && !is_path {
            return self.parts(at);
        }
        let group = fields.iter().find(|(name, _)| matches!(&**name, "all" | "any" | "not"));
        let Some((name, inside)) = group else { return self.rule(at, &fields).map(Clause::Rule) };
        if let Some((_, other)) = fields.iter().find(|(other, _)| other != name) {
            return Err(other.bad(&format!("nothing may stand beside {name:?}")));
        }
        self.count_clause(at)?;
        let pointer = inside.pointer.clone();
        if name == "not" {
            let inner = match inside.value.kind() {
                // None of these.
                Kind::List => Clause::Any(pointer.clone(), self.group(inside)?),
                _ => self.nested(inside, |parser| parser.rule_or_group(inside))?,
            };
            return Ok(Clause::Not(pointer, Box::new(inner)));
        }
        let rules = self.group(inside)?;
        Ok(if name == "all" { Clause::All(pointer, rules) } else { Clause::Any(pointer, rules) })
    }

    fn group(&mut self, at: &At<'_>) -> Result<Vec<Clause>, BadFilter> {
        match at.value.kind() {
            Kind::List if at.value.items().next().is_none() => {
                Err(at.bad("a group needs at least one rule"))
            }
            Kind::List => self.rules(at),
            _ => Err(at.bad("expected a list of rules")),
        }
    }

    fn rule(&mut self, at: &At<'_>, fields: &[(String, At<'_>)]) -> Result<Rule, BadFilter> {
        self.count_clause(at)?;
        let known = ["path", "operator", "value"];
        if let Some((name, field)) = fields.iter().find(|(name, _)| !known.contains(&&**name)) {
            return Err(field.bad(&format!("a rule has path, operator and value, not {name:?}")));
        }
        let find = |wanted: &str| fields.iter().find(|(name, _)| name == wanted).map(|(_, at)| at);
        let path = find("path").ok_or_else(|| at.bad("the rule has no \"path\""))?;
        let Some(written) = path.value.as_text() else {
            return Err(path.bad("a path is a text, such as \"$.data.id\""));
        };
        let place = Place::parse(&written).map_err(|error| path.bad(&error.to_string()))?;
        let operator = find("operator").ok_or_else(|| at.bad("the rule has no \"operator\""))?;
        let operator = read_operator(operator)?;
        let (test, value) = match operator {
            Operator::Exists | Operator::NotExists => (Test::Exists, find("value")),
            _ => {
                let missing = || at.bad(&format!("{:?} needs a \"value\"", operator.name()));
                let value = find("value").ok_or_else(missing)?;
                (self.test(operator, value)?, None)
            }
        };
        // `exists` may be followed by whether it should.
        let is_turned = match value.map(|value| (value, value.value.as_bool())) {
            None | Some((_, Some(true))) => false,
            Some((_, Some(false))) => true,
            Some((value, None)) => return Err(value.bad("expected true, false or no value")),
        };
        let is_negated = operator.is_negation() != is_turned;
        Ok(Rule { at: at.pointer.clone(), place, operator, test, is_negated })
    }

    fn test(&mut self, operator: Operator, at: &At<'_>) -> Result<Test, BadFilter> {
        use Ordering::{Equal, Greater, Less};
        Ok(match operator {
            Operator::Equals | Operator::NotEquals => Test::Equals(at.value.detached()),
            Operator::Contains | Operator::NotContains => Test::Contains(at.value.detached()),
            Operator::Exists | Operator::NotExists => Test::Exists,
            Operator::Regex => Test::Regex(self.regex(at)?),
            Operator::Gt => ordered(at, &[Greater])?,
            Operator::Lt => ordered(at, &[Less])?,
            Operator::Gte => ordered(at, &[Greater, Equal])?,
            Operator::Lte => ordered(at, &[Less, Equal])?,
            Operator::In | Operator::NotIn => match at.value.kind() {
                Kind::List => Test::In(at.value.detached()),
                _ => return Err(at.bad("expected a list of values")),
            },
            Operator::StartsWith => Test::StartsWith(texts(at)?),
            Operator::EndsWith => Test::EndsWith(texts(at)?),
        })
    }
}

fn read_operator(at: &At<'_>) -> Result<Operator, BadFilter> {
    let written = at.value.as_text().unwrap_or_default();
    let known = Operator::ALL.iter().find(|(name, _)| *name == written);
    known.map(|(_, operator)| *operator).ok_or_else(|| {
        let names: Vec<_> = Operator::ALL.iter().map(|(name, _)| *name).collect();
        at.bad(&format!("no such operator; there are {}", names.join(", ")))
    })
}

fn ordered(at: &At<'_>, orders: &'static [Ordering]) -> Result<Test, BadFilter> {
    match at.value.kind() {
        Kind::Number | Kind::Text => Ok(Test::Ordered(at.value.detached(), orders)),
        _ => Err(at.bad("only numbers and texts are greater or less than others")),
    }
}

/// One text, or a list of which one will do.
fn texts(at: &At<'_>) -> Result<Vec<String>, BadFilter> {
    if let Some(text) = at.value.as_text() {
        return Ok(vec![text.into_owned()]);
    }
    if at.value.kind() != Kind::List {
        return Err(at.bad("expected a text, or a list of texts"));
    }
    let items = at.items();
    let texts = items.iter().map(|item| {
        item.value
            .as_text()
            .map(|text| text.into_owned())
            .ok_or_else(|| item.bad("expected a text"))
    });
    texts.collect()
}
