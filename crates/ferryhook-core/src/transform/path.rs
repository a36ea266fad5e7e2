//! Paths in a field map: where a value comes from, and where it goes.
//!
//! ```text
//! source = ( "$" | "body" | "item" ) { step } | "headers." name | "query." name
//!        | "path" | "method" | "index" | "event.id" | "event.type" | "event.received_at" | "event.source_id"
//! step   = "." name | "[" number "]" | "['" name "']" | "[*]"
//! target = [ "$." ] name { step }
//! ```

use super::limits::{PATH_STEPS_MAX, PATH_TEXT_BYTES_MAX};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    Body(Vec<Step>),
    /// The element that an `each` is at; `index` is its place.
    Item(Vec<Step>),
    Index,
    Header(String),
    Query(String),
    Path,
    Method,
    Event(Fact),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fact {
    Id,
    Type,
    ReceivedAt,
    SourceId,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Name(String),
    Place(usize),
    All,
}

/// What a path begins with, for the message when it begins with something else.
const ROOTS: &str = "$ or body (the body), item and index (inside of each), headers.NAME, \
                     query.NAME, path, method or event.id, .type, .received_at, .source_id";

impl Source {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let text = checked(text)?;
        let (root, rest) = text.split_at(text.find(['.', '[']).unwrap_or(text.len()));
        let named = || match rest.strip_prefix('.') {
            Some(name) if !name.is_empty() => Ok(name.to_owned()),
            _ => Err(format!("{root} needs a name: {root}.NAME")),
        };
        let whole = |source| match rest {
            "" => Ok(source),
            _ => Err(format!("nothing can follow {root}, but {rest:?} does")),
        };
        match root {
            "$" | "body" => steps(rest).map(Self::Body),
            "item" => steps(rest).map(Self::Item),
            "index" => whole(Self::Index),
            "headers" => named().map(Self::Header),
            "query" => named().map(Self::Query),
            "path" => whole(Self::Path),
            "method" => whole(Self::Method),
            "event" => match rest {
                ".id" => Ok(Self::Event(Fact::Id)),
                ".type" => Ok(Self::Event(Fact::Type)),
                ".received_at" => Ok(Self::Event(Fact::ReceivedAt)),
                ".source_id" => Ok(Self::Event(Fact::SourceId)),
                _ => Err(format!(
                    "of the event there are .id, .type, .received_at and .source_id; a field of \
                     the body that is called event is $.event{rest}"
                )),
            },
            _ => Err(format!("a path begins with {ROOTS}; a field of the body is $.{text}")),
        }
    }

    /// Whether it means something only inside of an `each`.
    pub(super) fn is_inside_each(&self) -> bool {
        matches!(self, Self::Item(_) | Self::Index)
    }
}

/// A path into the body, with or without `$.` in front. No steps are the whole body.
pub(super) fn target(text: &str) -> Result<Vec<Step>, String> {
    let text = checked(text)?;
    match text.strip_prefix('$') {
        Some(rest) if rest.is_empty() || rest.starts_with(['.', '[']) => steps(rest),
        _ if text.starts_with('[') => steps(text),
        _ => steps(&format!(".{text}")),
    }
}

fn checked(text: &str) -> Result<&str, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("a path must not be empty".to_owned());
    }
    if text.len() > PATH_TEXT_BYTES_MAX {
        return Err(format!("a path has at most {PATH_TEXT_BYTES_MAX} bytes"));
    }
    Ok(text)
}

fn steps(mut rest: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if steps.len() == PATH_STEPS_MAX {
            return Err(format!("a path has at most {PATH_STEPS_MAX} steps"));
        }
        let (step, behind) = match rest.strip_prefix('.') {
            Some(behind) => {
                let end = behind.find(['.', '[']).unwrap_or(behind.len());
                if end == 0 {
                    return Err(format!("a name is missing in front of {behind:?}"));
                }
                (Step::Name(behind[..end].to_owned()), &behind[end..])
            }
            None => bracket(rest)?,
        };
        steps.push(step);
        rest = behind;
    }
    Ok(steps)
}

fn bracket(text: &str) -> Result<(Step, &str), String> {
    let expected = || format!("expected .name, [0], [*] or ['name'] at {text:?}");
    let inside = text.strip_prefix('[').ok_or_else(expected)?;
    if let Some(quote) = inside.chars().next().filter(|first| ['\'', '"'].contains(first)) {
        let (name, behind) = inside[1..].split_once(quote).ok_or_else(expected)?;
        let behind = behind.strip_prefix(']').ok_or_else(expected)?;
        return Ok((Step::Name(name.to_owned()), behind));
    }
    let (inside, behind) = inside.split_once(']').ok_or_else(expected)?;
    let step = match inside.trim() {
        "*" => Step::All,
        number => Step::Place(number.parse().map_err(|_| expected())?),
    };
    Ok((step, behind))
}
