//! One rule: where it looks, and what it wants to see there.
//!
//! A path may lead to several values, and a rule holds if one of them will do. The operators that
//! say *not* hold if none of them would: also where there is nothing at all.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use regex::Regex;

use super::part::Place;
use super::{Asked, Seen};
use crate::json::{Decimal, Document, Kind, Value};
use crate::json_path::{Effort, Stop};

#[derive(Debug, Clone)]
pub(super) struct Rule {
    /// Where it stands in the filter.
    pub(super) at: String,
    pub(super) place: Place,
    pub(super) operator: Operator,
    pub(super) test: Test,
    pub(super) is_negated: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Equals,
    NotEquals,
    Contains,
    NotContains,
    Exists,
    NotExists,
    Regex,
    Gt,
    Lt,
    Gte,
    Lte,
    In,
    NotIn,
    StartsWith,
    EndsWith,
}

impl Operator {
    pub(super) const ALL: [(&'static str, Operator); 15] = [
        ("equals", Operator::Equals),
        ("not_equals", Operator::NotEquals),
        ("contains", Operator::Contains),
        ("not_contains", Operator::NotContains),
        ("exists", Operator::Exists),
        ("not_exists", Operator::NotExists),
        ("regex", Operator::Regex),
        ("gt", Operator::Gt),
        ("lt", Operator::Lt),
        ("gte", Operator::Gte),
        ("lte", Operator::Lte),
        ("in", Operator::In),
        ("not_in", Operator::NotIn),
        ("starts_with", Operator::StartsWith),
        ("ends_with", Operator::EndsWith),
    ];

    pub(super) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, own)| *own == self).map_or("", |(name, _)| name)
    }

    pub(super) fn is_negation(self) -> bool {
        use Operator::{NotContains, NotEquals, NotExists, NotIn};
        matches!(self, NotEquals | NotContains | NotExists | NotIn)
    }
}

#[derive(Debug, Clone)]
pub(super) enum Test {
    Equals(Document<'static>),
    /// Of a text, some text; of a list, an element.
    Contains(Document<'static>),
    Exists,
    Regex(Regex),
    Ordered(Document<'static>, &'static [Ordering]),
    In(Document<'static>),
    StartsWith(Vec<String>),
    EndsWith(Vec<String>),
}

impl Rule {
    pub(super) fn holds(&self, seen: &Seen<'_>, effort: &Effort) -> Asked<bool> {
        let flow = self.place.select(seen, effort, &mut |value, is_text| {
            if self.test.passes(value, is_text, effort)? {
                return ControlFlow::Break(Stop::Enough);
            }
            ControlFlow::Continue(())
        });
        match flow {
            ControlFlow::Continue(()) => Asked::Continue(self.is_negated),
            ControlFlow::Break(Stop::Enough) => Asked::Continue(!self.is_negated),
            ControlFlow::Break(Stop::TooMuch) => Asked::Break(Stop::TooMuch),
        }
    }
}

impl Test {
    /// Whether one value will do. `is_text` says that the value can only be a text, so that a
    /// number is looked for in how it reads.
    fn passes(&self, value: Value<'_>, is_text: bool, effort: &Effort) -> Asked<bool> {
        if let Test::Exists = self {
            return Asked::Continue(true);
        }
        effort.spend_text(value.weight())?;
        Asked::Continue(match self {
            Test::Exists => true,
            Test::Equals(wanted) => equals(value, wanted.root(), is_text),
            Test::In(wanted) => wanted.root().items().any(|wanted| equals(value, wanted, is_text)),
            Test::Contains(wanted) => contains(value, wanted.root(), is_text),
            Test::Regex(regex) => value.as_text().is_some_and(|text| regex.is_match(&text)),
            Test::Ordered(wanted, orders) => {
                order(value, wanted.root(), is_text).is_some_and(|order| orders.contains(&order))
            }
            Test::StartsWith(starts) => value
                .as_text()
                .is_some_and(|text| starts.iter().any(|start| text.starts_with(start.as_str()))),
            Test::EndsWith(ends) => value
                .as_text()
                .is_some_and(|text| ends.iter().any(|end| text.ends_with(end.as_str()))),
        })
    }
}

fn equals(value: Value<'_>, wanted: Value<'_>, is_text: bool) -> bool {
    if value.equals(wanted) {
        return true;
    }
    if !is_text {
        return false;
    }
    match wanted.kind() {
        Kind::Number => order(value, wanted, is_text) == Some(Ordering::Equal),
        Kind::Bool => {
            value.as_text().as_deref() == Some(if wanted.is_true() { "true" } else { "false" })
        }
        _ => false,
    }
}

fn contains(value: Value<'_>, wanted: Value<'_>, is_text: bool) -> bool {
    match value.kind() {
        Kind::Text => match (value.as_text(), wanted.as_text()) {
            (Some(text), Some(wanted)) => text.contains(&*wanted),
            _ => false,
        },
        Kind::List => value.items().any(|item| equals(item, wanted, is_text)),
        _ => false,
    }
}

/// Of two numbers or two texts.
fn order(value: Value<'_>, wanted: Value<'_>, is_text: bool) -> Option<Ordering> {
    match wanted.kind() {
        Kind::Number if is_text => {
            let text = value.as_text()?;
            let read = Decimal::read(text.trim())?;
            Some(read.compare(&Decimal::read(wanted.as_number()?)?))
        }
        Kind::Number => value.compare_numbers(wanted),
        _ => Some(value.as_text()?.cmp(&wanted.as_text()?)),
    }
}
