//! The parts of an event, and how a rule says where it looks.

use std::cell::Cell;
use std::ops::ControlFlow;

use super::seen::Seen;
use crate::json::Value;
use crate::json_path::{BadPath, Effort, Path, Stop};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Body,
    Headers,
    Query,
    Path,
}

impl Part {
    pub(super) const ALL: [(&'static str, Part); 4] = [
        ("body", Part::Body),
        ("headers", Part::Headers),
        ("query", Part::Query),
        ("path", Part::Path),
    ];

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(own, _)| *own == name).map(|(_, part)| *part)
    }

    pub(super) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, part)| *part == self).map_or("", |(name, _)| name)
    }

    /// Has no numbers, only texts that may read like some.
    pub(super) fn is_only_text(self) -> bool {
        self != Part::Body
    }
}

/// Where a rule looks.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) written: String,
    first: (Part, Path),
    /// `$.headers.x` is a field of the body if there is one, and else the header.
    otherwise: Option<(Part, Path)>,
}

impl Place {
    pub(super) fn parse(written: &str) -> Result<Self, BadPath> {
        let (first, otherwise) = parse(written)?;
        Ok(Self { written: written.to_owned(), first, otherwise })
    }

    /// Hands out every value that is there, and says whether it can only be text.
    pub(super) fn select<'s>(
        &self,
        seen: &'s Seen<'_>,
        effort: &Effort,
        visit: &mut dyn FnMut(Value<'s>, bool) -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop> {
        let is_there = Cell::new(false);
        let mut look = |(part, path): &(Part, Path)| match seen.part(*part) {
            None => ControlFlow::Continue(()),
            Some(root) => {
                let is_text = part.is_only_text() || seen.is_form();
                path.select(root, effort, &mut |value| {
                    is_there.set(true);
                    visit(value, is_text)
                })
            }
        };
        look(&self.first)?;
        match &self.otherwise {
            Some(otherwise) if !is_there.get() => look(otherwise),
            _ => ControlFlow::Continue(()),
        }
    }
}

type Parsed = ((Part, Path), Option<(Part, Path)>);

fn parse(written: &str) -> Result<Parsed, BadPath> {
    if let Some(steps) = written.strip_prefix('$') {
        // Names that the standard wants in brackets are plain enough behind a dot.
        let path =
            Path::parse(written).or_else(|error| Path::parse_steps(steps).map_err(|_| error))?;
        let part = path.first_name().and_then(Part::named);
        let otherwise = part.map(|part| (part, adapted(part, path.behind_first())));
        return Ok(((Part::Body, path), otherwise));
    }
    for (name, part) in Part::ALL {
        let Some(rest) = written.strip_prefix(name) else { continue };
        if rest.is_empty() || rest.starts_with(['.', '[']) {
            return Ok(((part, in_part(part, name, rest)?), None));
        }
    }
    if !written.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        let message = "a path starts with $, body, headers, query or path, such as $.data.id";
        return Err(BadPath { at: 0, message: message.to_owned() });
    }
    Ok(((Part::Body, Path::parse_steps(&format!(".{written}"))?), None))
}

fn in_part(part: Part, name: &str, rest: &str) -> Result<Path, BadPath> {
    let moved = |error: BadPath| BadPath { at: error.at + name.len(), ..error };
    match part {
        Part::Body => Path::parse_steps(rest).map_err(moved),
        Part::Path if !rest.is_empty() => {
            let message = "the path is one text and has nothing in it".to_owned();
            Err(BadPath { at: name.len(), message })
        }
        // Dots belong to the name, of which there is only one.
        _ => match rest.strip_prefix('.').filter(|name| !name.is_empty() && !name.contains('[')) {
            Some(only) => Ok(adapted(part, Path::of_name(only))),
            None => Ok(adapted(part, Path::parse_steps(rest).map_err(moved)?)),
        },
    }
}

/// Header names are lower case here, however they were written there.
fn adapted(part: Part, path: Path) -> Path {
    if part == Part::Headers { path.with_lower_case_start() } else { path }
}
