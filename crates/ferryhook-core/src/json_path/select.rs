//! Walks a document along a path.
//!
//! It calls itself once for each step down in the document, whose depth has a bound, and once for
//! each filter that stands in a filter.

use std::cell::Cell;
use std::ops::ControlFlow;

use super::{Path, Query, Segment, Selector};
use crate::json::{Kind, Value};

/// How much may still be looked at. Shared by everything that one decision needs, so that a rule
/// cannot make an event expensive, nor an event a rule.
#[derive(Debug)]
pub struct Effort(Cell<usize>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The caller has seen what it wanted.
    Enough,
    /// The effort is used up.
    TooMuch,
}

pub type Flow = ControlFlow<Stop>;

const GO_ON: Flow = Flow::Continue(());

impl Effort {
    pub fn new(steps: usize) -> Self {
        Self(Cell::new(steps))
    }

    pub fn spend(&self, steps: usize) -> Flow {
        match self.0.get().checked_sub(steps) {
            Some(left) => {
                self.0.set(left);
                GO_ON
            }
            None => {
                self.0.set(0);
                Flow::Break(Stop::TooMuch)
            }
        }
    }

    /// To look through a text once.
    pub fn spend_text(&self, bytes: usize) -> Flow {
        self.spend(1 + bytes / 16)
    }

    pub fn is_spent(&self) -> bool {
        self.0.get() == 0
    }
}

type Visit<'v, 'd> = &'v mut dyn FnMut(Value<'d>) -> Flow;

/// What stays the same on the way.
#[derive(Clone, Copy)]
pub(super) struct Walk<'w, 'd> {
    pub(super) root: Value<'d>,
    pub(super) effort: &'w Effort,
}

impl Path {
    /// Hands out each value that the path leads to, in the order of the standard.
    pub fn select<'d>(&self, root: Value<'d>, effort: &Effort, visit: Visit<'_, 'd>) -> Flow {
        Walk { root, effort }.along(&self.segments, root, visit)
    }
}

impl<'d> Walk<'_, 'd> {
    pub(super) fn query(&self, query: &Query, here: Value<'d>, visit: Visit<'_, 'd>) -> Flow {
        let start = if query.is_relative { here } else { self.root };
        self.along(&query.segments, start, visit)
    }

    fn along(&self, segments: &[Segment], here: Value<'d>, visit: Visit<'_, 'd>) -> Flow {
        let Some((first, rest)) = segments.split_first() else { return visit(here) };
        if first.is_descendant {
            return self.below(first, rest, here, visit);
        }
        self.through(first, here, &mut |value| self.along(rest, value, visit))
    }

    /// From here, then from everything inside of it.
    fn below(
        &self,
        first: &Segment,
        rest: &[Segment],
        here: Value<'d>,
        visit: Visit<'_, 'd>,
    ) -> Flow {
        self.through(first, here, &mut |value| self.along(rest, value, visit))?;
        self.children(here, &mut |child| match child.kind() {
            Kind::List | Kind::Object => self.below(first, rest, child, visit),
            _ => GO_ON,
        })
    }

    fn through(&self, segment: &Segment, here: Value<'d>, visit: Visit<'_, 'd>) -> Flow {
        segment.selectors.iter().try_for_each(|selector| self.by(selector, here, visit))
    }

    fn by(&self, selector: &Selector, here: Value<'d>, visit: Visit<'_, 'd>) -> Flow {
        self.effort.spend(1)?;
        match (selector, here.kind()) {
            (Selector::Name(name) | Selector::NameOrIndex(name, _), Kind::Object) => {
                let mut looked = 0;
                let found = here.get_counting(name, &mut looked);
                self.effort.spend(looked / 4)?;
                found.map_or(GO_ON, visit)
            }
            (Selector::Index(index) | Selector::NameOrIndex(_, index), Kind::List) => {
                self.item(here, *index)?.map_or(GO_ON, visit)
            }
            (Selector::Wildcard, _) => self.children(here, visit),
            (Selector::Slice { start, end, step }, Kind::List) => {
                self.slice(here, (*start, *end, *step), visit)
            }
            (Selector::Filter(condition), _) => self.children(here, &mut |child| {
                if self.holds(condition, child)? { visit(child) } else { GO_ON }
            }),
            _ => GO_ON,
        }
    }

    fn children(&self, here: Value<'d>, visit: Visit<'_, 'd>) -> Flow {
        let mut each = |child| {
            self.effort.spend(1)?;
            visit(child)
        };
        match here.kind() {
            Kind::List => here.items().try_for_each(each),
            Kind::Object => here.members().into_iter().try_for_each(|(_, value)| each(value)),
            _ => GO_ON,
        }
    }

    fn item(&self, list: Value<'d>, index: i64) -> ControlFlow<Stop, Option<Value<'d>>> {
        let index = match usize::try_from(index) {
            Ok(index) => Some(index),
            Err(_) => {
                let length = list.items().count();
                self.effort.spend(length)?;
                usize::try_from(index.unsigned_abs()).ok().and_then(|back| length.checked_sub(back))
            }
        };
        // Also for what is not there, all that comes before it was looked at.
        let mut looked = 0;
        let found = index.and_then(|index| list.items().inspect(|_| looked += 1).nth(index));
        self.effort.spend(looked)?;
        ControlFlow::Continue(found)
    }

    /// As the standard computes the bounds.
    fn slice(
        &self,
        list: Value<'d>,
        (start, end, step): (Option<i64>, Option<i64>, i64),
        visit: Visit<'_, 'd>,
    ) -> Flow {
        let items: Vec<Value<'d>> = list.items().collect();
        self.effort.spend(items.len())?;
        let length = items.len() as i64;
        let from_start = |at: i64| if at < 0 { length + at } else { at };
        let mut visit_at = |at: i64| match usize::try_from(at).ok().and_then(|at| items.get(at)) {
            Some(item) => {
                self.effort.spend(1)?;
                visit(*item)
            }
            None => GO_ON,
        };
        if step > 0 {
            let lower = from_start(start.unwrap_or(0)).clamp(0, length);
            let upper = from_start(end.unwrap_or(length)).clamp(0, length);
            let mut at = lower;
            while at < upper {
                visit_at(at)?;
                at += step;
            }
        } else if step < 0 {
            let upper = from_start(start.unwrap_or(length - 1)).clamp(-1, length - 1);
            let lower = from_start(end.unwrap_or(-length - 1)).clamp(-1, length - 1);
            let mut at = upper;
            while at > lower {
                visit_at(at)?;
                at += step;
            }
        }
        GO_ON
    }
}
