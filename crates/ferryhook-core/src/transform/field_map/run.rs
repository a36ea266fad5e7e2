//! One run of a field map over one event.

use std::borrow::Cow;
use std::mem;

use super::{Made, Otherwise, Rename, Rules};
use crate::Event;
use crate::transform::json::Json;
use crate::transform::limits::{COPIED_BYTES_MAX, OUTPUT_BYTES_MAX, WORK_MAX};
use crate::transform::path::{Fact, Source, Step};
use crate::transform::template::{Piece, Template};
use crate::transform::{Fault, incoming};

pub(super) struct Run<'a> {
    event: &'a Event,
    body: Json<'a>,
    budget: Budget,
}

/// The element that an `each` is at.
struct Item<'a> {
    value: Json<'a>,
    index: usize,
}

impl<'a> Run<'a> {
    pub(super) fn new(event: &'a Event, body: Json<'a>) -> Self {
        Self { event, body, budget: Budget { work: WORK_MAX, bytes: COPIED_BYTES_MAX } }
    }

    pub(super) fn headers(
        &mut self,
        headers: &[(String, Option<Template>)],
    ) -> Result<Vec<(String, Option<String>)>, Fault> {
        let mut set = Vec::with_capacity(headers.len());
        for (name, template) in headers {
            let value = template.as_ref().map(|template| self.text(template, None)).transpose()?;
            set.push((name.clone(), value));
        }
        Ok(set)
    }

    pub(super) fn step(&mut self, rules: &'a Rules) -> Result<(), Fault> {
        if let Some(map) = &rules.map {
            let mut made = match rules.keep {
                true => self.budget.copy(&self.body)?,
                false => Json::empty(),
            };
            self.map(map, &mut made, &mut None)?;
            self.body = made;
        }
        for rename in &rules.rename {
            self.rename(rename)?;
        }
        for path in &rules.remove {
            remove(&mut self.body, path, &mut self.budget)?;
        }
        for (target, value) in &rules.add {
            self.budget.spend(1, value.len())?;
            if find(&mut self.body, target, &mut self.budget)?.is_none() {
                set(&mut self.body, target, Json::Text(value.into()))?;
            }
        }
        for (target, value) in &rules.constant {
            self.budget.spend(1, value.len())?;
            set(&mut self.body, target, Json::Text(value.into()))?;
        }
        for (target, template) in &rules.template {
            let text = self.text(template, None)?;
            set(&mut self.body, target, Json::string(&text))?;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<String, Fault> {
        match self.body.size() > OUTPUT_BYTES_MAX {
            true => Err(Fault::TooLarge),
            false => Ok(self.body.to_string()),
        }
    }

    fn map(
        &mut self,
        map: &'a [(Vec<Step>, Made)],
        into: &mut Json<'a>,
        item: &mut Option<Item<'a>>,
    ) -> Result<(), Fault> {
        for (target, made) in map {
            if let Some(value) = self.made(made, item)? {
                set(into, target, value)?;
            }
        }
        Ok(())
    }

    fn made(
        &mut self,
        made: &'a Made,
        item: &mut Option<Item<'a>>,
    ) -> Result<Option<Json<'a>>, Fault> {
        match made {
            Made::Constant(text) => {
                self.budget.spend(1, text.len())?;
                Ok(Some(Json::Text(text.into())))
            }
            Made::Template(template) => {
                self.text(template, item.as_mut()).map(|text| Some(Json::string(&text)))
            }
            Made::From { source, otherwise } => match self.value(source, item.as_mut())? {
                Some(value) => Ok(Some(value)),
                None => match otherwise {
                    Otherwise::Nothing => Ok(None),
                    Otherwise::Constant(text) => Ok(Some(Json::Text(text.into()))),
                    Otherwise::Fail(path) => Err(Fault::Missing { path: path.clone() }),
                },
            },
            Made::Each { source, map } => {
                let Some(mut list) = self.value(source, item.as_mut())? else { return Ok(None) };
                let Some(list) = list.as_list() else {
                    return Err(Fault::Shape("each needs a list, and there is none".to_owned()));
                };
                let mut made = Vec::with_capacity(list.len());
                for (index, value) in mem::take(list).into_iter().enumerate() {
                    let mut element = Json::empty();
                    self.map(map, &mut element, &mut Some(Item { value, index }))?;
                    made.push(element);
                }
                Ok(Some(Json::List(made)))
            }
        }
    }

    /// What a path leads to. `null` is a value.
    fn value(
        &mut self,
        source: &Source,
        item: Option<&mut Item<'a>>,
    ) -> Result<Option<Json<'a>>, Fault> {
        let event = self.event;
        let text = |text: Option<&str>| text.map(Json::string);
        let value = match source {
            Source::Body(steps) => return find(&mut self.body, steps, &mut self.budget),
            Source::Item(steps) => match item {
                None => None,
                Some(item) => return find(&mut item.value, steps, &mut self.budget),
            },
            Source::Index => item.map(|item| Json::Text(item.index.to_string().into())),
            Source::Header(name) => text(event.headers.find(name)),
            Source::Query(name) => {
                let mut pairs = incoming::pairs(event.query.as_deref().unwrap_or_default());
                pairs.find(|(own, _)| own == name).map(|(_, value)| Json::string(&value))
            }
            Source::Path => text(event.path.as_deref()),
            Source::Method => text(event.method.as_deref()),
            Source::Event(Fact::Id) => text(Some(event.id.as_str())),
            Source::Event(Fact::Type) => text(event.event_type.as_deref()),
            Source::Event(Fact::ReceivedAt) => text(Some(&event.received_at.to_string())),
            Source::Event(Fact::SourceId) => text(Some(event.source_id.as_str())),
        };
        self.budget.spend(1, value.as_ref().map_or(0, Json::size))?;
        Ok(value)
    }

    fn text(
        &mut self,
        template: &Template,
        mut item: Option<&mut Item<'a>>,
    ) -> Result<String, Fault> {
        let mut text = String::new();
        for piece in &template.0 {
            match piece {
                Piece::Text(literal) => text.push_str(literal),
                Piece::Value { source, otherwise } => {
                    match self.value(source, item.as_deref_mut())?.map(|value| value.plain()) {
                        Some(plain) if !plain.is_empty() => text.push_str(&plain),
                        _ => text.push_str(otherwise),
                    }
                }
            }
        }
        self.budget.spend(1, text.len())?;
        Ok(text)
    }

    fn rename(&mut self, rename: &'a Rename) -> Result<(), Fault> {
        let Rename { head, from, to } = rename;
        let Self { body, budget, .. } = self;
        walk(body, head, budget, &mut |place, budget| {
            budget.spend(1, 0)?;
            let (Some((Step::Name(old), parent)), Some((Step::Name(new), new_parent))) =
                (from.split_last(), to.split_last())
            else {
                return Ok(());
            };
            let Some(fields) = object_at(place, parent) else { return Ok(()) };
            let Some(at) = fields.iter().position(|(name, _)| name == old) else { return Ok(()) };
            if parent == new_parent {
                if old != new {
                    // Keeps its place among its neighbours.
                    fields[at].0 = Cow::Borrowed(new);
                    let mut place = 0;
                    fields.retain(|(name, _)| {
                        place += 1;
                        place - 1 == at || name != new
                    });
                }
                return Ok(());
            }
            let (_, value) = fields.remove(at);
            set(place, to, value)
        })
    }
}

/// How much one run may still do.
struct Budget {
    work: usize,
    bytes: usize,
}

impl Budget {
    fn spend(&mut self, work: usize, bytes: usize) -> Result<(), Fault> {
        let too_much = |what: String| move || Fault::TooMuch(what);
        let work = self.work.checked_sub(work);
        self.work = work.ok_or_else(too_much(format!("more than {WORK_MAX} rules and fields")))?;
        let bytes = self.bytes.checked_sub(bytes);
        self.bytes =
            bytes.ok_or_else(too_much(format!("more than {COPIED_BYTES_MAX} bytes copied")))?;
        Ok(())
    }

    fn copy<'a>(&mut self, value: &Json<'a>) -> Result<Json<'a>, Fault> {
        let size = value.size();
        // What is opened is copied piece by piece, each of which is at least two bytes of size.
        self.spend(1, size)?;
        Ok(value.clone())
    }
}

/// A copy of what the path leads to; with `[*]` in it a list of all that it leads to.
fn find<'a>(
    json: &mut Json<'a>,
    steps: &[Step],
    budget: &mut Budget,
) -> Result<Option<Json<'a>>, Fault> {
    let is_list = steps.contains(&Step::All);
    let mut found = Vec::new();
    walk(json, steps, budget, &mut |value, budget| {
        found.push(budget.copy(value)?);
        Ok(())
    })?;
    Ok(if is_list { Some(Json::List(found)) } else { found.pop() })
}

/// Every place that the path leads to. As deep as the path is long.
fn walk<'a>(
    json: &mut Json<'a>,
    steps: &[Step],
    budget: &mut Budget,
    then: &mut dyn FnMut(&mut Json<'a>, &mut Budget) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let Some((first, rest)) = steps.split_first() else { return then(json, budget) };
    budget.spend(1, 0)?;
    match first {
        Step::Name(name) => match json.child(name) {
            Some(child) => walk(child, rest, budget, then),
            None => Ok(()),
        },
        Step::Place(place) => match json.as_list().and_then(|list| list.get_mut(*place)) {
            Some(child) => walk(child, rest, budget, then),
            None => Ok(()),
        },
        Step::All => {
            if let Some(list) = json.as_list() {
                list.iter_mut().try_for_each(|child| walk(child, rest, budget, then))?;
            } else if let Some(fields) = json.as_object() {
                fields.iter_mut().try_for_each(|(_, child)| walk(child, rest, budget, then))?;
            }
            Ok(())
        }
    }
}

fn remove(json: &mut Json<'_>, path: &[Step], budget: &mut Budget) -> Result<(), Fault> {
    let Some((last, parent)) = path.split_last() else { return Ok(()) };
    walk(json, parent, budget, &mut |place, budget| {
        budget.spend(1, 0)?;
        match last {
            Step::Name(name) => {
                if let Some(fields) = place.as_object() {
                    fields.retain(|(own, _)| own != name);
                }
            }
            Step::Place(at) => {
                if let Some(list) = place.as_list().filter(|list| *at < list.len()) {
                    list.remove(*at);
                }
            }
            Step::All => {
                if let Some(list) = place.as_list() {
                    list.clear();
                } else if let Some(fields) = place.as_object() {
                    fields.clear();
                }
            }
        }
        Ok(())
    })
}

fn object_at<'j, 'a>(
    json: &'j mut Json<'a>,
    path: &[Step],
) -> Option<&'j mut Vec<(Cow<'a, str>, Json<'a>)>> {
    let place = path.iter().try_fold(json, |place, step| match step {
        Step::Name(name) => place.child(name),
        Step::Place(_) | Step::All => None,
    });
    place?.as_object()
}

/// Makes the objects on the way. What is there and no object is in the way, unless it is `null`.
fn set<'a>(json: &mut Json<'a>, target: &'a [Step], value: Json<'a>) -> Result<(), Fault> {
    let mut place = json;
    for (depth, step) in target.iter().enumerate() {
        let Step::Name(name) = step else { continue };
        if matches!(place, Json::Text(text) if text == "null") {
            *place = Json::empty();
        }
        let Some(fields) = place.as_object() else {
            let parents = target[..depth].iter().filter_map(|step| match step {
                Step::Name(name) => Some(name.as_str()),
                _ => None,
            });
            let parents = parents.collect::<Vec<_>>().join(".");
            let what = if parents.is_empty() { "the body".to_owned() } else { parents };
            return Err(Fault::Shape(format!("{name} cannot be set: {what} is not an object")));
        };
        let at = match fields.iter().position(|(own, _)| own == name) {
            Some(at) => at,
            None => {
                fields.push((Cow::Borrowed(name), Json::empty()));
                fields.len() - 1
            }
        };
        place = &mut fields[at].1;
    }
    *place = value;
    Ok(())
}
