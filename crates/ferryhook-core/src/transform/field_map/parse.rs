//! Reads a field map as it is written, and says where it is wrong.

use serde_json::{Map, Value};

use super::{FieldMap, Made, Otherwise, Rename, Rules};
use crate::transform::error::{BadTransform, below, only};
use crate::transform::leaving::check_header;
use crate::transform::limits::{EACH_DEPTH_MAX, RULES_MAX, STEPS_MAX};
use crate::transform::path::{self, Source, Step};
use crate::transform::template::Template;

type Fields = Map<String, Value>;

const SECTIONS: [&str; 7] = ["map", "keep", "rename", "remove", "add", "constant", "template"];

impl FieldMap {
    pub(in crate::transform) fn parse(fields: &Fields) -> Result<Self, BadTransform> {
        let mut reader = Reader { rules: 0 };
        let steps = match fields.get("steps") {
            None => {
                let known = [&["type", "headers", "steps"][..], &SECTIONS[..]].concat();
                only(fields, "", &known)?;
                vec![reader.rules(fields, "")?]
            }
            Some(steps) => {
                only(fields, "", &["type", "headers", "steps"])?;
                let steps = list(steps, "/steps")?;
                if steps.len() > STEPS_MAX {
                    let message = format!("at most {STEPS_MAX} steps, not {}", steps.len());
                    return Err(BadTransform::new("/steps", message));
                }
                let steps = steps.iter().enumerate().map(|(place, step)| {
                    let pointer = format!("/steps/{place}");
                    let fields = object(step, &pointer)?;
                    only(fields, &pointer, &SECTIONS)?;
                    reader.rules(fields, &pointer)
                });
                steps.collect::<Result<_, _>>()?
            }
        };
        let headers = reader.headers(fields.get("headers"))?;
        Ok(Self { steps, headers })
    }
}

/// Counts rules while it reads them.
struct Reader {
    rules: usize,
}

impl Reader {
    fn rules(&mut self, fields: &Fields, at: &str) -> Result<Rules, BadTransform> {
        let map = fields.get("map").map(|map| self.map(map, &below(at, "map"), 0)).transpose()?;
        let keep = match fields.get("keep") {
            None => false,
            Some(Value::Bool(_)) if map.is_none() => {
                return Err(BadTransform::new(below(at, "keep"), "means nothing without map"));
            }
            Some(Value::Bool(keep)) => *keep,
            Some(_) => return Err(BadTransform::new(below(at, "keep"), "must be true or false")),
        };
        let rename = self.section(fields, "rename", at, |from, to| {
            let to = to.as_str().ok_or("must be a path in quotes")?;
            rename(&path::target(from)?, &path::target(to)?)
        })?;
        let constant = |target: &str, value: &Value| Ok((made_target(target)?, value.to_string()));
        Ok(Rules {
            map,
            keep,
            rename,
            remove: self.remove(fields.get("remove"), &below(at, "remove"))?,
            add: self.section(fields, "add", at, constant)?,
            constant: self.section(fields, "constant", at, constant)?,
            template: self.section(fields, "template", at, |target, value| {
                Ok((made_target(target)?, outside_each(template(value)?)?))
            })?,
        })
    }

    /// An object whose names are targets.
    fn section<T>(
        &mut self,
        fields: &Fields,
        name: &str,
        at: &str,
        read: impl Fn(&str, &Value) -> Result<T, String>,
    ) -> Result<Vec<T>, BadTransform> {
        let Some(section) = fields.get(name) else { return Ok(Vec::new()) };
        let pointer = below(at, name);
        let entries = object(section, &pointer)?.iter().map(|(target, value)| {
            let pointer = below(&pointer, target);
            self.count(&pointer)?;
            read(target, value).map_err(|message| BadTransform::new(pointer, message))
        });
        entries.collect()
    }

    fn remove(&mut self, list: Option<&Value>, at: &str) -> Result<Vec<Vec<Step>>, BadTransform> {
        let Some(value) = list else { return Ok(Vec::new()) };
        let paths = self::list(value, at)?.iter().enumerate().map(|(place, path)| {
            let pointer = format!("{at}/{place}");
            self.count(&pointer)?;
            let bad = |message: String| BadTransform::new(pointer.clone(), message);
            let text = path.as_str().ok_or_else(|| bad("must be a path in quotes".to_owned()))?;
            let steps = path::target(text).map_err(bad)?;
            match steps.is_empty() {
                true => Err(bad("the whole body cannot be removed".to_owned())),
                false => Ok(steps),
            }
        });
        paths.collect()
    }

    fn map(
        &mut self,
        map: &Value,
        at: &str,
        depth: usize,
    ) -> Result<Vec<(Vec<Step>, Made)>, BadTransform> {
        let entries = object(map, at)?.iter().map(|(target, value)| {
            let pointer = below(at, target);
            self.count(&pointer)?;
            let steps = match target.trim() {
                "$" => Vec::new(),
                other => made_target(other)
                    .map_err(|message| BadTransform::new(pointer.clone(), message))?,
            };
            Ok((steps, self.made(value, &pointer, depth)?))
        });
        entries.collect()
    }

    fn made(&mut self, value: &Value, at: &str, depth: usize) -> Result<Made, BadTransform> {
        let bad = |name: &str| {
            let pointer = if name.is_empty() { at.to_owned() } else { below(at, name) };
            move |message: String| BadTransform::new(pointer, message)
        };
        let fields = match value {
            Value::String(path) => {
                let source = source(path, depth).map_err(bad(""))?;
                return Ok(Made::From { source, otherwise: Otherwise::Nothing });
            }
            Value::Object(fields) => fields,
            _ => {
                let message = "must be a path in quotes, or an object with from, constant, \
                               template or each";
                return Err(BadTransform::new(at, message));
            }
        };
        let text = |name: &str| match fields.get(name).and_then(Value::as_str) {
            Some(text) => Ok(text),
            None => Err(bad(name)("must be a path in quotes".to_owned())),
        };
        if fields.contains_key("from") {
            only(fields, at, &["from", "default", "required"])?;
            let path = text("from")?;
            let otherwise = match (fields.get("default"), fields.get("required")) {
                (None, None | Some(Value::Bool(false))) => Otherwise::Nothing,
                (Some(value), None | Some(Value::Bool(false))) => {
                    Otherwise::Constant(value.to_string())
                }
                (None, Some(Value::Bool(true))) => Otherwise::Fail(path.to_owned()),
                (Some(_), Some(Value::Bool(true))) => {
                    return Err(bad("required")("a default makes it needless".to_owned()));
                }
                _ => return Err(bad("required")("must be true or false".to_owned())),
            };
            return Ok(Made::From { source: source(path, depth).map_err(bad("from"))?, otherwise });
        }
        if fields.contains_key("each") {
            only(fields, at, &["each", "map"])?;
            let source = source(text("each")?, depth).map_err(bad("each"))?;
            if depth == EACH_DEPTH_MAX {
                return Err(bad("each")(format!("at most {EACH_DEPTH_MAX} inside of each other")));
            }
            let map = fields.get("map").ok_or_else(|| {
                bad("")("each needs a map of what becomes of an element".to_owned())
            })?;
            return Ok(Made::Each { source, map: self.map(map, &below(at, "map"), depth + 1)? });
        }
        match (fields.get("constant"), fields.get("template")) {
            (Some(value), None) => {
                only(fields, at, &["constant"])?;
                Ok(Made::Constant(value.to_string()))
            }
            (None, Some(value)) => {
                only(fields, at, &["template"])?;
                let template = template(value).map_err(bad("template"))?;
                let template = if depth == 0 { outside_each(template) } else { Ok(template) };
                Ok(Made::Template(template.map_err(bad("template"))?))
            }
            _ => Err(bad("")("needs one of from, constant, template and each".to_owned())),
        }
    }

    fn headers(
        &mut self,
        headers: Option<&Value>,
    ) -> Result<Vec<(String, Option<Template>)>, BadTransform> {
        let Some(headers) = headers else { return Ok(Vec::new()) };
        let entries = object(headers, "/headers")?.iter().map(|(name, value)| {
            let pointer = below("/headers", name);
            self.count(&pointer)?;
            let bad = |message: String| BadTransform::new(pointer.clone(), message);
            if value.is_null() {
                return Ok((name.clone(), None));
            }
            check_header(name, "").map_err(|error| bad(error.to_string()))?;
            let template = template(value).and_then(outside_each).map_err(bad)?;
            Ok((name.clone(), Some(template)))
        });
        entries.collect()
    }

    fn count(&mut self, at: &str) -> Result<(), BadTransform> {
        self.rules += 1;
        match self.rules > RULES_MAX {
            true => {
                Err(BadTransform::new(at, format!("a field map has at most {RULES_MAX} rules")))
            }
            false => Ok(()),
        }
    }
}

fn object<'v>(value: &'v Value, at: &str) -> Result<&'v Fields, BadTransform> {
    value.as_object().ok_or_else(|| BadTransform::new(at, "must be an object"))
}

fn list<'v>(value: &'v Value, at: &str) -> Result<&'v Vec<Value>, BadTransform> {
    value.as_array().ok_or_else(|| BadTransform::new(at, "must be a list"))
}

fn source(path: &str, depth: usize) -> Result<Source, String> {
    let source = Source::parse(path)?;
    match depth == 0 && source.is_inside_each() {
        true => Err(inside_each()),
        false => Ok(source),
    }
}

fn template(value: &Value) -> Result<Template, String> {
    Template::parse(value.as_str().ok_or("must be a text in quotes")?)
}

fn outside_each(template: Template) -> Result<Template, String> {
    let is_inside = template.sources().any(Source::is_inside_each);
    match is_inside {
        true => Err(inside_each()),
        false => Ok(template),
    }
}

fn inside_each() -> String {
    "item and index mean something only inside of each; a field of the body begins with $."
        .to_owned()
}

/// Where something is put: names only, because a place in a list need not be there.
fn made_target(text: &str) -> Result<Vec<Step>, String> {
    let steps = path::target(text)?;
    match steps.iter().all(|step| matches!(step, Step::Name(_))) && !steps.is_empty() {
        true => Ok(steps),
        false => Err("a new field is named by names only, such as customer.mail".to_owned()),
    }
}

/// `items[*].a` can become `items[*].b`, but not `list[*].a`.
fn rename(from: &[Step], to: &[Step]) -> Result<Rename, String> {
    let behind =
        |steps: &[Step]| steps.iter().rposition(|step| *step == Step::All).map_or(0, |at| at + 1);
    let (head, from_tail) = from.split_at(behind(from));
    let (to_head, to_tail) = to.split_at(behind(to));
    if head != to_head {
        return Err("both paths must be the same up to their last [*]".to_owned());
    }
    let names = |steps: &[Step]| steps.iter().all(|step| matches!(step, Step::Name(_)));
    if from_tail.is_empty() || to_tail.is_empty() || !names(from_tail) || !names(to_tail) {
        return Err("a field is renamed from names to names, such as a.b to a.c".to_owned());
    }
    if to_tail.starts_with(from_tail) && to_tail.len() > from_tail.len() {
        return Err("a field cannot be moved into itself".to_owned());
    }
    Ok(Rename { head: head.to_vec(), from: from_tail.to_vec(), to: to_tail.to_vec() })
}
