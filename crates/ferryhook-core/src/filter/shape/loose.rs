//! The operators of the nested form, which compare as JavaScript does: `"5"` is `5`, `true` is `1`.
//!
//! What cannot be compared does not hold, whichever way it was asked: a list is neither `$in` nor
//! `$nin` anything. Numbers are exact here, however long.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::Compare;
use crate::json::{Decimal, Kind, Value};

/// Of two values that are neither lists nor objects.
pub(super) fn equal(value: Value<'_>, wanted: Value<'_>) -> bool {
    match (value.kind(), wanted.kind()) {
        (Kind::Null, Kind::Null) => true,
        (Kind::Null, _) | (_, Kind::Null) => false,
        (Kind::Text, Kind::Text) => value.as_text() == wanted.as_text(),
        (mine, theirs) if is_container(mine) || is_container(theirs) => false,
        _ => order_of_numbers(value, wanted) == Some(Ordering::Equal),
    }
}

/// `None` stands for what is not there.
pub(super) fn holds(compare: &Compare, value: Option<Value<'_>>, with: Option<Value<'_>>) -> bool {
    match compare {
        Compare::Exist => match with.and_then(Value::as_bool) {
            Some(wanted) => value.is_some() == wanted,
            None => false,
        },
        Compare::Equal => same(value, with),
        Compare::NotEqual => !same(value, with),
        Compare::In => is_in(value, with) == Some(true),
        Compare::NotIn => is_in(value, with) == Some(false),
        Compare::StartsWith => affix(value, with, |text, start| text.starts_with(start)),
        Compare::EndsWith => affix(value, with, |text, end| text.ends_with(end)),
        Compare::Regex(regex) => {
            value.and_then(Value::as_text).is_some_and(|text| regex.is_match(&text))
        }
        Compare::Greater => order(value, with) == Some(Ordering::Greater),
        Compare::Less => order(value, with) == Some(Ordering::Less),
        Compare::GreaterOrEqual => {
            matches!(order(value, with), Some(Ordering::Greater | Ordering::Equal))
        }
        Compare::LessOrEqual => {
            matches!(order(value, with), Some(Ordering::Less | Ordering::Equal))
        }
    }
}

/// What is not there, and a reference that leads nowhere, are like `null`.
fn same(value: Option<Value<'_>>, with: Option<Value<'_>>) -> bool {
    match (value, with) {
        (Some(value), Some(with)) if is_container(value.kind()) => value.equals(with),
        (Some(value), Some(with)) => equal(value, with),
        (Some(one), None) | (None, Some(one)) => one.kind() == Kind::Null,
        (None, None) => true,
    }
}

fn is_in(value: Option<Value<'_>>, with: Option<Value<'_>>) -> Option<bool> {
    let (value, with) = (value?, with?);
    if is_container(value.kind()) {
        return None;
    }
    match with.kind() {
        // Here nothing is loose.
        Kind::List => {
            let mut items = with.items();
            let fits = items.clone().all(|item| matches!(item.kind(), Kind::Number | Kind::Text));
            fits.then(|| items.any(|item| item.equals(value)))
        }
        Kind::Text => Some(value.as_text()?.contains(&*with.as_text()?)),
        Kind::Number => Some(value.as_text()?.contains(with.as_number()?)),
        _ => None,
    }
}

fn affix(
    value: Option<Value<'_>>,
    with: Option<Value<'_>>,
    has: impl Fn(&str, &str) -> bool,
) -> bool {
    let Some((text, with)) = value.and_then(Value::as_text).zip(with) else { return false };
    if let Some(one) = with.as_text() {
        return has(&text, &one);
    }
    let texts: Option<Vec<_>> = with.items().map(Value::as_text).collect();
    with.kind() == Kind::List && texts.is_some_and(|texts| texts.iter().any(|one| has(&text, one)))
}

/// Two texts by their code units, anything else by what it is worth.
fn order(value: Option<Value<'_>>, with: Option<Value<'_>>) -> Option<Ordering> {
    let (value, with) = (value?, with?);
    match (value.kind(), with.kind()) {
        (Kind::Text, Kind::Text) => {
            let (mine, theirs) = (value.as_text()?, with.as_text()?);
            Some(mine.encode_utf16().cmp(theirs.encode_utf16()))
        }
        (Kind::Text | Kind::Number, Kind::Text | Kind::Number) => order_of_numbers(value, with),
        _ => None,
    }
}

fn order_of_numbers(value: Value<'_>, with: Value<'_>) -> Option<Ordering> {
    let (mine, theirs) = (worth(value)?, worth(with)?);
    match (infinity(&mine), infinity(&theirs)) {
        (0, 0) => Some(Decimal::read(&mine)?.compare(&Decimal::read(&theirs)?)),
        (mine, theirs) => Some(mine.cmp(&theirs)),
    }
}

/// As a decimal number, or an infinity.
fn worth(value: Value<'_>) -> Option<Cow<'_, str>> {
    match value.kind() {
        Kind::Number => value.as_number().map(Cow::Borrowed),
        Kind::Bool => Some(if value.is_true() { "1".into() } else { "0".into() }),
        Kind::Text => worth_of_text(&value.as_text()?).map(Cow::Owned),
        _ => None,
    }
}

/// What JavaScript's `Number` reads.
fn worth_of_text(text: &str) -> Option<String> {
    let is_space = |c: char| (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}';
    let text = text.trim_matches(is_space);
    if text.is_empty() {
        return Some("0".to_owned());
    }
    if infinity(text) != 0 {
        return Some(text.to_owned());
    }
    let radix = match text.get(..2) {
        Some("0x" | "0X") => 16,
        Some("0o" | "0O") => 8,
        Some("0b" | "0B") => 2,
        _ => return Decimal::read(text).map(|_| text.to_owned()),
    };
    let digits = text[2..].bytes().all(|byte| byte.is_ascii_alphanumeric());
    let number = digits.then(|| u128::from_str_radix(&text[2..], radix).ok())?;
    number.map(|number| number.to_string())
}

fn infinity(worth: &str) -> i8 {
    match worth {
        "Infinity" | "+Infinity" => 1,
        "-Infinity" => -1,
        _ => 0,
    }
}

fn is_container(kind: Kind) -> bool {
    matches!(kind, Kind::List | Kind::Object)
}
