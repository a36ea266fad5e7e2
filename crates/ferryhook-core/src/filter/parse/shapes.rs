//! The nested form: parts with their shapes, or the shape of the body alone.

use super::super::part::Part;
use super::super::shape::{Check, Compare, Condition, Field, Form, Reference, Shape, With};
use super::{At, BadFilter, Clause, Parser, names_only_parts};
use crate::json::{Kind, Value};
use crate::json_path::Path;

/// What others call it, or how it is easily mistyped, and what it is called here. Any other name
/// with a dollar sign is the name of a field: there are payloads that have them.
const MISTAKEN: [(&str, &str); 14] = [
    ("$ne", "$neq"),
    ("$not_eq", "$neq"),
    ("$equals", "$eq"),
    ("$exists", "$exist"),
    ("$notin", "$nin"),
    ("$not_in", "$nin"),
    ("$regexp", "$regex"),
    ("$match", "$regex"),
    ("$contains", "$in"),
    ("$starts_with", "$startsWith"),
    ("$ends_with", "$endsWith"),
    ("$any", "$or"),
    ("$all", "$and"),
    ("$nor", "$not"),
];

const OPERATORS: [(&str, Compare); 11] = [
    ("$eq", Compare::Equal),
    ("$neq", Compare::NotEqual),
    ("$in", Compare::In),
    ("$nin", Compare::NotIn),
    ("$startsWith", Compare::StartsWith),
    ("$endsWith", Compare::EndsWith),
    ("$gt", Compare::Greater),
    ("$gte", Compare::GreaterOrEqual),
    ("$lt", Compare::Less),
    ("$lte", Compare::LessOrEqual),
    ("$exist", Compare::Exist),
];

impl Parser {
    /// `{"body": …, "headers": …}` and groups of that, or else the shape of the body.
    pub(super) fn parts(&mut self, at: &At<'_>) -> Result<Clause, BadFilter> {
        if !names_only_parts(at.value) {
            return self.shape(at).map(|shape| Clause::Part(Part::Body, shape));
        }
        let mut clauses = Vec::new();
        for (name, inside) in at.fields()? {
            self.count_clause(&inside)?;
            let pointer = inside.pointer.clone();
            clauses.push(match &*name {
                "$or" => Clause::Any(pointer, self.list_of_parts(&inside)?),
                "$and" => Clause::All(pointer, self.list_of_parts(&inside)?),
                "$not" => {
                    let inner = self.nested(&inside, |parser| parser.parts(&inside))?;
                    Clause::Not(pointer, Box::new(inner))
                }
                name => {
                    let part = Part::named(name).unwrap_or(Part::Body);
                    let mut shape = self.shape(&inside)?;
                    if part == Part::Headers {
                        lower_names(&mut shape);
                    }
                    Clause::Part(part, shape)
                }
            });
        }
        match clauses.pop() {
            Some(only) if clauses.is_empty() => Ok(only),
            last => {
                clauses.extend(last);
                Ok(Clause::All(at.pointer.clone(), clauses))
            }
        }
    }

    fn list_of_parts(&mut self, at: &At<'_>) -> Result<Vec<Clause>, BadFilter> {
        self.nested(at, |parser| at.items().iter().map(|item| parser.parts(item)).collect())
    }

    fn shape(&mut self, at: &At<'_>) -> Result<Shape, BadFilter> {
        self.count_clause(at)?;
        self.nested(at, |parser| parser.form(at)).map(|form| Shape { at: at.pointer.clone(), form })
    }

    fn form(&mut self, at: &At<'_>) -> Result<Form, BadFilter> {
        Ok(match at.value.kind() {
            Kind::List => Form::List(self.shapes(at)?),
            Kind::Object => {
                let fields = at.fields()?;
                let conditions = fields.iter().map(|(name, inside)| self.condition(name, inside));
                Form::Object(conditions.collect::<Result<_, _>>()?)
            }
            _ => Form::Literal(at.value.detached()),
        })
    }

    fn shapes(&mut self, at: &At<'_>) -> Result<Vec<Shape>, BadFilter> {
        at.items().iter().map(|item| self.shape(item)).collect()
    }

    fn condition(&mut self, name: &str, at: &At<'_>) -> Result<Condition, BadFilter> {
        let is_list = at.value.kind() == Kind::List;
        let pointer = at.pointer.clone();
        match name {
            "$or" if is_list => Ok(Condition::Or(pointer, self.shapes(at)?)),
            "$and" if is_list => Ok(Condition::And(pointer, self.shapes(at)?)),
            "$or" | "$and" => Err(at.bad("expected a list of conditions")),
            "$not" => self.shape(at).map(Condition::Not),
            "$ref" => reference(at).map(|found| Condition::Reference(pointer, found)),
            "$regex" => {
                let compare = Compare::Regex(self.regex(at)?);
                let with = With::Literal(at.value.detached());
                Ok(Condition::Check(Check { at: pointer, operator: "$regex", compare, with }))
            }
            _ => match OPERATORS.iter().find(|(own, _)| *own == name) {
                Some((operator, compare)) => {
                    self.count_clause(at)?;
                    check(operator, compare, at).map(Condition::Check)
                }
                None => self.field(name, at).map(Condition::Field),
            },
        }
    }

    fn field(&mut self, name: &str, at: &At<'_>) -> Result<Field, BadFilter> {
        let known = OPERATORS.iter().map(|(known, _)| (*known, *known));
        let groups = ["$or", "$and", "$not", "$ref", "$regex"].map(|known| (known, known));
        let mut meant = MISTAKEN.into_iter().chain(known).chain(groups);
        if name.starts_with('$')
            && let Some((_, meant)) = meant.find(|(other, _)| other.eq_ignore_ascii_case(name))
        {
            return Err(at.bad(&format!("there is no {name}; write {meant}")));
        }
        let shape = self.shape(at)?;
        let is_absent = shape.allows_absence();
        Ok(Field { name: name.to_owned(), path: dotted(name), shape, is_absent })
    }
}

/// `data.items.$.id`: from field to field, and `$` for any element of a list.
fn dotted(name: &str) -> Option<Path> {
    if !name.contains('.') {
        return None;
    }
    let steps: String = name
        .split('.')
        .filter(|step| !step.is_empty())
        .map(|step| if step == "$" { "[*]".to_owned() } else { format!(".{step}") })
        .collect();
    Path::parse_steps(&steps).ok()
}

fn reference(at: &At<'_>) -> Result<Reference, BadFilter> {
    let Some(written) = at.value.as_text() else {
        return Err(at.bad("a reference is a path, such as \"data.id\""));
    };
    Reference::parse(&written).map_err(|error| at.bad(&error.to_string()))
}

fn check(operator: &'static str, compare: &Compare, at: &At<'_>) -> Result<Check, BadFilter> {
    let own = at.value.members();
    let with = match &own[..] {
        [(name, to)] if name == "$ref" => With::Reference(reference(&at.inside(name, *to))?),
        _ => {
            fits(compare, at)?;
            With::Literal(at.value.detached())
        }
    };
    Ok(Check { at: at.pointer.clone(), operator, compare: compare.clone(), with })
}

/// What an operator could never hold for is refused.
fn fits(compare: &Compare, at: &At<'_>) -> Result<(), BadFilter> {
    let kind = at.value.kind();
    let is_list_of = |kinds: &[Kind]| {
        kind == Kind::List && at.value.items().all(|item: Value<'_>| kinds.contains(&item.kind()))
    };
    let (fits, expected) = match compare {
        Compare::Equal | Compare::NotEqual | Compare::Regex(_) => (true, ""),
        Compare::Exist => (kind == Kind::Bool, "true or false"),
        Compare::In | Compare::NotIn => (
            matches!(kind, Kind::Text | Kind::Number) || is_list_of(&[Kind::Text, Kind::Number]),
            "a text, a number, or a list of them",
        ),
        Compare::StartsWith | Compare::EndsWith => {
            (kind == Kind::Text || is_list_of(&[Kind::Text]), "a text, or a list of texts")
        }
        _ => (matches!(kind, Kind::Text | Kind::Number), "a number or a text"),
    };
    if fits { Ok(()) } else { Err(at.bad(&format!("expected {expected}"))) }
}

/// Header names are lower case here, however they were written there.
fn lower_names(shape: &mut Shape) {
    let Form::Object(conditions) = &mut shape.form else { return };
    for condition in conditions {
        match condition {
            Condition::Field(field) => field.name.make_ascii_lowercase(),
            Condition::Or(_, shapes) | Condition::And(_, shapes) => {
                shapes.iter_mut().for_each(lower_names);
            }
            Condition::Not(shape) => lower_names(shape),
            Condition::Reference(..) | Condition::Check(_) => {}
        }
    }
}
