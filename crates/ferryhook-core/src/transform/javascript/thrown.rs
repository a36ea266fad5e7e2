//! What went wrong in a script, in words for the one who wrote it: with the lines of the script,
//! and without those of the sandbox around it.

use rquickjs::{CaughtError, Ctx, Error, Object, Value};

use super::FILE;
use super::watch::Watch;
use crate::transform::Fault;
use crate::transform::limits::{ERROR_CHARACTERS_MAX, STACK_FRAMES_MAX};

/// Why a script does not compile, and where.
pub(super) fn refusal(error: &CaughtError<'_>) -> (String, Option<(u32, u32)>) {
    match error {
        CaughtError::Exception(exception) => {
            let object = exception.as_object();
            let frames = frames(&property(object, "stack").unwrap_or_default());
            let position = frames.first().and_then(|frame| place(frame));
            (described(object), position)
        }
        CaughtError::Value(_) => ("the script is too large or nested too deeply".to_owned(), None),
        CaughtError::Error(error) => (error.to_string(), None),
    }
}

pub(super) fn fault(ctx: &Ctx<'_>, error: Error, watch: &Watch) -> Fault {
    let thrown = match error {
        Error::Exception => Some(ctx.catch()),
        _ => None,
    };
    if watch.is_over() {
        return Fault::Time(watch.allowed());
    }
    let Some(thrown) = thrown else {
        return match error {
            Error::Allocation => Fault::Memory,
            Error::Utf8(_) => Fault::Shape(HALF_A_CHARACTER.to_owned()),
            other => Fault::Shape(cut(&other.to_string())),
        };
    };
    let fault = read(ctx, &thrown);
    match watch.is_over() {
        true => Fault::Time(watch.allowed()),
        false => fault,
    }
}

pub(super) const HALF_A_CHARACTER: &str =
    "the script made text with half of a character (an unpaired surrogate) in it";

fn read<'js>(ctx: &Ctx<'js>, thrown: &Value<'js>) -> Fault {
    let Some(object) = thrown.as_object().filter(|_| thrown.is_error()) else {
        // What the engine throws when there is no room left for an error.
        if thrown.is_null() {
            return Fault::Memory;
        }
        return Fault::Thrown { message: value(ctx, thrown), position: None, stack: Vec::new() };
    };
    let message = described(object);
    match message.as_str() {
        "InternalError: out of memory" => return Fault::Memory,
        "RangeError: Maximum call stack size exceeded" | "InternalError: stack overflow" => {
            return Fault::Stack;
        }
        _ => {}
    }
    let stack = frames(&property(object, "stack").unwrap_or_default());
    let position = stack.first().and_then(|frame| place(frame));
    Fault::Thrown { message, position, stack }
}

/// `TypeError: x is not a function`.
fn described(object: &Object<'_>) -> String {
    let name = property(object, "name").unwrap_or_else(|| "Error".to_owned());
    match property(object, "message").as_deref() {
        None | Some("") => cut(&name),
        Some(message) => cut(&format!("{name}: {message}")),
    }
}

/// What was thrown and is no error.
fn value<'js>(ctx: &Ctx<'js>, thrown: &Value<'js>) -> String {
    if let Some(text) = thrown.as_string() {
        return cut(&text.to_string().unwrap_or_default());
    }
    if thrown.is_null() {
        return "null (what the engine throws as well when there is no room for an error)"
            .to_owned();
    }
    let text = ctx.json_stringify(thrown.clone()).ok().flatten();
    let text = text.and_then(|text| text.to_string().ok());
    cut(&text.unwrap_or_else(|| format!("a value of type {}", thrown.type_name())))
}

fn property(object: &Object<'_>, name: &str) -> Option<String> {
    object.get::<_, Value<'_>>(name).ok()?.as_string()?.to_string().ok()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(ERROR_CHARACTERS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// The lines of a stack that are in the script, as `handler (transform.js:3:10)`.
fn frames(stack: &str) -> Vec<String> {
    let own = stack.lines().map(|line| line.trim().trim_start_matches("at "));
    own.filter(|line| line.contains(FILE)).take(STACK_FRAMES_MAX).map(cut).collect()
}

/// Line and column of a frame.
fn place(frame: &str) -> Option<(u32, u32)> {
    let (_, behind) = frame.rsplit_once(FILE)?;
    let mut numbers = behind.trim_start_matches(':').trim_end_matches(')').split(':');
    let line = numbers.next()?.parse().ok()?;
    Some((line, numbers.next().and_then(|column| column.parse().ok()).unwrap_or(1)))
}
