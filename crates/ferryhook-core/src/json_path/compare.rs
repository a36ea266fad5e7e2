//! The conditions of a path: what `[?…]` asks of a value.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::ControlFlow;

use super::select::Walk;
use super::{Comparison, Condition, Match, Operand, Pattern, Stop, regular};
use crate::json::{Decimal, Kind, Value};

/// A pattern that comes with the document is compiled each time, and costs accordingly.
const FOUND_PATTERN_STEPS: usize = 20_000;

/// What an operand comes to.
enum Found<'v> {
    Nothing,
    Value(Value<'v>),
    Count(usize),
}

type Asked<T> = ControlFlow<Stop, T>;

impl<'d> Walk<'_, 'd> {
    pub(super) fn holds(&self, condition: &Condition, here: Value<'d>) -> Asked<bool> {
        self.effort.spend(1)?;
        Asked::Continue(match condition {
            Condition::Any(conditions) => {
                for condition in conditions {
                    if self.holds(condition, here)? {
                        return Asked::Continue(true);
                    }
                }
                false
            }
            Condition::All(conditions) => {
                for condition in conditions {
                    if !self.holds(condition, here)? {
                        return Asked::Continue(false);
                    }
                }
                true
            }
            Condition::Not(condition) => !self.holds(condition, here)?,
            Condition::Exists(query) => {
                match self.query(query, here, &mut |_| ControlFlow::Break(Stop::Enough)) {
                    ControlFlow::Break(Stop::Enough) => true,
                    ControlFlow::Break(Stop::TooMuch) => return Asked::Break(Stop::TooMuch),
                    ControlFlow::Continue(()) => false,
                }
            }
            Condition::Compare(left, comparison, right) => {
                let (left, right) = (self.found(left, here)?, self.found(right, here)?);
                self.spend_on(&left)?;
                left.compares(*comparison, &right)
            }
            Condition::Matches(found) => self.matches(found, here)?,
        })
    }

    fn found<'o>(&self, operand: &'o Operand, here: Value<'d>) -> Asked<Found<'o>>
    where
        'd: 'o,
    {
        Asked::Continue(match operand {
            Operand::Literal(literal) => Found::Value(literal.root()),
            Operand::Single(query) | Operand::Value(query) => {
                let mut only = None;
                let mut count = 0_usize;
                self.query(query, here, &mut |value| {
                    count += 1;
                    only = Some(value);
                    ControlFlow::Continue(())
                })?;
                only.filter(|_| count == 1).map_or(Found::Nothing, Found::Value)
            }
            Operand::Count(query) => {
                let mut count = 0;
                self.query(query, here, &mut |_| {
                    count += 1;
                    ControlFlow::Continue(())
                })?;
                Found::Count(count)
            }
            Operand::Length(operand) => match self.found(operand, here)? {
                Found::Value(value) => {
                    self.spend_on(&Found::Value(value))?;
                    value.size().map_or(Found::Nothing, Found::Count)
                }
                _ => Found::Nothing,
            },
        })
    }

    /// Comparing looks at all of a value.
    fn spend_on(&self, found: &Found<'_>) -> Asked<()> {
        match found {
            Found::Value(value) => self.effort.spend_text(value.weight()),
            _ => Asked::Continue(()),
        }
    }

    fn matches(&self, found: &Match, here: Value<'d>) -> Asked<bool> {
        let text = self.found(&found.text, here)?;
        let Some(text) = text.text() else { return Asked::Continue(false) };
        self.effort.spend_text(text.len())?;
        let regex = match &found.pattern {
            Pattern::Never => None,
            Pattern::Known(regex) => Some(Cow::Borrowed(regex)),
            Pattern::Found(operand) => {
                let pattern = self.found(operand, here)?;
                match pattern.text() {
                    None => None,
                    Some(pattern) => {
                        self.effort.spend(FOUND_PATTERN_STEPS)?;
                        regular::of_path(&pattern, found.is_whole).map(Cow::Owned)
                    }
                }
            }
        };
        Asked::Continue(regex.is_some_and(|regex| regex.is_match(&text)))
    }
}

impl<'v> Found<'v> {
    fn text(&self) -> Option<Cow<'v, str>> {
        match self {
            Found::Value(value) => value.as_text(),
            _ => None,
        }
    }

    fn compares(&self, comparison: Comparison, other: &Found<'_>) -> bool {
        match comparison {
            Comparison::Equal => self.equals(other),
            Comparison::NotEqual => !self.equals(other),
            Comparison::Less => self.order(other) == Some(Ordering::Less),
            Comparison::Greater => self.order(other) == Some(Ordering::Greater),
            Comparison::LessOrEqual => {
                self.order(other) == Some(Ordering::Less) || self.equals(other)
            }
            Comparison::GreaterOrEqual => {
                self.order(other) == Some(Ordering::Greater) || self.equals(other)
            }
        }
    }

    fn equals(&self, other: &Found<'_>) -> bool {
        match (self, other) {
            (Found::Nothing, Found::Nothing) => true,
            (Found::Nothing, _) | (_, Found::Nothing) => false,
            (Found::Value(mine), Found::Value(theirs)) => mine.equals(*theirs),
            _ => self.order(other) == Some(Ordering::Equal),
        }
    }

    /// Of numbers and of texts, and of nothing else.
    fn order(&self, other: &Found<'_>) -> Option<Ordering> {
        if let (Some(mine), Some(theirs)) = (self.number(), other.number()) {
            return Some(Decimal::read(&mine)?.compare(&Decimal::read(&theirs)?));
        }
        Some(self.text()?.cmp(&other.text()?))
    }

    fn number(&self) -> Option<Cow<'v, str>> {
        match self {
            Found::Nothing => None,
            Found::Count(count) => Some(count.to_string().into()),
            Found::Value(value) if value.kind() == Kind::Number => value.as_number().map(Cow::from),
            Found::Value(_) => None,
        }
    }
}
