//! The shape that a part of an event must have: the nested form with `$` operators.
//!
//! What stands side by side must all hold, wherever it stands. A list has a shape if one of its
//! elements does; operators, and a `$not` that stands alone, look at the list itself. A field that is missing has no shape, except
//! the one that says so (`{"$exist": false}`).

mod loose;
mod reference;

use std::ops::ControlFlow;

use regex::Regex;

use super::Asked;
use crate::json::{Document, Kind, Value};
use crate::json_path::{Effort, Path, Stop};

pub(super) use reference::Reference;

/// With the place where it stands in the filter.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) at: String,
    pub(super) form: Form,
}

#[derive(Debug, Clone)]
pub(super) enum Form {
    /// A value that is this one, or a list that has it.
    Literal(Document<'static>),
    /// A list that has all of these in it.
    List(Vec<Shape>),
    Object(Vec<Condition>),
}

#[derive(Debug, Clone)]
pub(super) enum Condition {
    Field(Field),
    Or(String, Vec<Shape>),
    And(String, Vec<Shape>),
    Not(Shape),
    /// The same as another value of the same part.
    Reference(String, Reference),
    Check(Check),
}

#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: String,
    /// What the name means when it has dots in it and there is no such field.
    pub(super) path: Option<Path>,
    pub(super) shape: Shape,
    /// It may be missing.
    pub(super) is_absent: bool,
}

/// An operator and what it compares with.
#[derive(Debug, Clone)]
pub(super) struct Check {
    pub(super) at: String,
    pub(super) operator: &'static str,
    pub(super) compare: Compare,
    pub(super) with: With,
}

#[derive(Debug, Clone)]
pub(super) enum With {
    Literal(Document<'static>),
    Reference(Reference),
}

#[derive(Debug, Clone)]
pub(super) enum Compare {
    Equal,
    NotEqual,
    In,
    NotIn,
    StartsWith,
    EndsWith,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Exist,
    Regex(Regex),
}

/// What stays the same on the way down, and the places in the lists that were gone through.
pub(super) struct Walk<'w, 'd> {
    pub(super) root: Option<Value<'d>>,
    pub(super) effort: &'w Effort,
    pub(super) indexes: Vec<usize>,
}

impl Shape {
    pub(super) fn holds(&self, root: Option<Value<'_>>, effort: &Effort) -> Asked<bool> {
        Walk { root, effort, indexes: Vec::new() }.has_part(self, root)
    }
}

impl<'d> Walk<'_, 'd> {
    /// Whether a part of an event, which may not be there, has the shape.
    pub(super) fn has_part(&mut self, shape: &Shape, part: Option<Value<'d>>) -> Asked<bool> {
        match (&shape.form, part) {
            (Form::Object(conditions), _) if conditions.is_empty() => Asked::Continue(true),
            (_, None) if !shape.allows_absence() && !shape.is_only_groups() => {
                Asked::Continue(false)
            }
            _ => self.has(shape, part),
        }
    }

    /// At most as deep as the shape and the lists of the document together.
    pub(super) fn has(&mut self, shape: &Shape, value: Option<Value<'d>>) -> Asked<bool> {
        self.effort.spend(1)?;
        match &shape.form {
            Form::Literal(wanted) => self.is(wanted.root(), value),
            Form::List(wanted) => self.has_each(wanted, value),
            Form::Object(conditions) => self.meets(shape, conditions, value),
        }
    }

    fn is(&mut self, wanted: Value<'_>, value: Option<Value<'d>>) -> Asked<bool> {
        let Some(value) = value else { return Asked::Continue(false) };
        match value.kind() {
            Kind::List => {
                for item in value.items() {
                    self.effort.spend(1)?;
                    if self.is(wanted, Some(item))? {
                        return Asked::Continue(true);
                    }
                }
                Asked::Continue(false)
            }
            Kind::Object => Asked::Continue(false),
            _ => {
                self.effort.spend_text(value.weight())?;
                Asked::Continue(loose::equal(value, wanted))
            }
        }
    }

    fn has_each(&mut self, wanted: &[Shape], value: Option<Value<'d>>) -> Asked<bool> {
        let Some(list) = value.filter(|value| value.kind() == Kind::List) else {
            return Asked::Continue(false);
        };
        for shape in wanted {
            if !self.one_of(list, |walk, item| walk.has(shape, Some(item)))? {
                return Asked::Continue(false);
            }
        }
        Asked::Continue(true)
    }

    fn meets(
        &mut self,
        shape: &Shape,
        conditions: &[Condition],
        value: Option<Value<'d>>,
    ) -> Asked<bool> {
        // Alone it says what a list must not have, not what one of its elements must not be.
        if let [Condition::Not(shape)] = conditions {
            return self.has(shape, value).map_continue(|has| !has);
        }
        let list = value.filter(|value| value.kind() == Kind::List);
        let Some(list) = list else {
            // No object, so that it cannot even be an empty one.
            let is_single = value.is_none_or(|value| value.kind() != Kind::Object);
            if is_single && conditions.is_empty() {
                return Asked::Continue(false);
            }
            for condition in conditions {
                if !self.meets_one(condition, value)? {
                    return Asked::Continue(false);
                }
            }
            return Asked::Continue(true);
        };
        let mut is_for_items = conditions.is_empty();
        for condition in conditions {
            match condition {
                Condition::Check(check) => {
                    if !self.passes(check, Some(list))? {
                        return Asked::Continue(false);
                    }
                }
                _ => is_for_items = true,
            }
        }
        if !is_for_items {
            return Asked::Continue(true);
        }
        self.one_of(list, |walk, item| walk.item_has(shape, conditions, item))
    }

    /// Operators have been asked about the list already.
    fn item_has(
        &mut self,
        shape: &Shape,
        conditions: &[Condition],
        item: Value<'d>,
    ) -> Asked<bool> {
        let is_mixed = conditions.iter().any(|condition| matches!(condition, Condition::Check(_)));
        if !is_mixed {
            return self.has(shape, Some(item));
        }
        for condition in conditions.iter().filter(|one| !matches!(one, Condition::Check(_))) {
            if !self.meets_one(condition, Some(item))? {
                return Asked::Continue(false);
            }
        }
        Asked::Continue(true)
    }

    /// Whether one element will do.
    fn one_of(
        &mut self,
        list: Value<'d>,
        mut will_do: impl FnMut(&mut Self, Value<'d>) -> Asked<bool>,
    ) -> Asked<bool> {
        for (index, item) in list.items().enumerate() {
            self.effort.spend(1)?;
            self.indexes.push(index);
            let asked = will_do(self, item);
            self.indexes.pop();
            if asked? {
                return Asked::Continue(true);
            }
        }
        Asked::Continue(false)
    }

    pub(super) fn meets_one(
        &mut self,
        condition: &Condition,
        value: Option<Value<'d>>,
    ) -> Asked<bool> {
        match condition {
            Condition::Field(field) => match value {
                // Only an object can have a field, or be without it.
                Some(value) if value.kind() == Kind::Object => self.has_field(field, value),
                _ => Asked::Continue(false),
            },
            Condition::Or(_, shapes) => {
                for shape in shapes {
                    if self.has(shape, value)? {
                        return Asked::Continue(true);
                    }
                }
                Asked::Continue(false)
            }
            Condition::And(_, shapes) => {
                for shape in shapes {
                    if !self.has(shape, value)? {
                        return Asked::Continue(false);
                    }
                }
                Asked::Continue(true)
            }
            Condition::Not(shape) => self.has(shape, value).map_continue(|has| !has),
            Condition::Reference(_, reference) => {
                let wanted = self.resolve(reference)?;
                self.is_same(wanted, value)
            }
            Condition::Check(check) => self.passes(check, value),
        }
    }

    fn has_field(&mut self, field: &Field, value: Value<'d>) -> Asked<bool> {
        let mut is_there = false;
        let mut fits = false;
        let effort = self.effort;
        let flow = field.select(value, effort, &mut |found| {
            is_there = true;
            fits = self.has(&field.shape, Some(found))?;
            if fits { ControlFlow::Break(Stop::Enough) } else { ControlFlow::Continue(()) }
        });
        match flow {
            ControlFlow::Break(Stop::TooMuch) => Asked::Break(Stop::TooMuch),
            _ if !is_there && field.is_absent => self.has(&field.shape, None),
            _ => Asked::Continue(fits),
        }
    }

    /// A reference to a list or an object wants an equal one; to anything else, what a literal
    /// would want. One that leads nowhere is `null`.
    fn is_same(&mut self, wanted: Option<Value<'d>>, value: Option<Value<'d>>) -> Asked<bool> {
        match (wanted, value) {
            (_, None) => Asked::Continue(false),
            (Some(wanted), Some(value)) => match wanted.kind() {
                Kind::List | Kind::Object => {
                    self.effort.spend_text(value.weight().min(wanted.weight()))?;
                    Asked::Continue(value.equals(wanted))
                }
                _ => self.is(wanted, Some(value)),
            },
            (None, Some(value)) => Asked::Continue(value.kind() == Kind::Null),
        }
    }

    pub(super) fn resolve(&self, reference: &Reference) -> Asked<Option<Value<'d>>> {
        reference.resolve(self.root, &self.indexes, self.effort)
    }

    pub(super) fn passes(&mut self, check: &Check, value: Option<Value<'d>>) -> Asked<bool> {
        let with = match &check.with {
            With::Literal(literal) => Some(literal.root()),
            With::Reference(reference) => self.resolve(reference)?,
        };
        self.effort.spend_text(value.map_or(0, |value| value.weight()))?;
        Asked::Continue(loose::holds(&check.compare, value, with))
    }
}

impl Field {
    /// The field of this name or, if there is none, all that the dots in the name lead to.
    pub(super) fn select<'d>(
        &self,
        from: Value<'d>,
        effort: &Effort,
        visit: &mut dyn FnMut(Value<'d>) -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop> {
        let mut looked = 0;
        let found = from.get_counting(&self.name, &mut looked);
        effort.spend(looked / 4)?;
        match (found, &self.path) {
            (Some(found), _) => visit(found),
            (None, Some(path)) => path.select(from, effort, visit),
            (None, None) => ControlFlow::Continue(()),
        }
    }
}

impl Shape {
    /// Says of itself that it is missing.
    pub(super) fn allows_absence(&self) -> bool {
        let Form::Object(conditions) = &self.form else { return false };
        conditions.iter().any(|condition| match condition {
            Condition::Check(Check { compare: Compare::Exist, with, .. }) => {
                matches!(with, With::Literal(wanted) if wanted.root().as_bool() == Some(false))
            }
            _ => false,
        })
    }

    /// Asks nothing itself, so that it can be asked about what is not there.
    fn is_only_groups(&self) -> bool {
        let Form::Object(conditions) = &self.form else { return false };
        conditions.iter().all(|condition| {
            matches!(condition, Condition::Or(..) | Condition::And(..) | Condition::Not(_))
        })
    }
}
