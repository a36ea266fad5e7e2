//! When two values are the same, and how one is shown.

use std::cmp::Ordering;

use super::{Decimal, Kind, Value};

impl Value<'_> {
    /// The same kind and the same content. Numbers are equal by what they are worth (`1` and
    /// `1.0`), objects whatever the order of their names.
    pub fn equals(self, other: Value<'_>) -> bool {
        if self.kind() != other.kind() {
            return false;
        }
        match self.kind() {
            Kind::Null => true,
            Kind::Bool => self.is_true() == other.is_true(),
            Kind::Number => self.compare_numbers(other) == Some(Ordering::Equal),
            Kind::Text => self.as_text() == other.as_text(),
            // At most as deep as both documents are.
            Kind::List => {
                let (mut mine, mut theirs) = (self.items(), other.items());
                loop {
                    match (mine.next(), theirs.next()) {
                        (None, None) => return true,
                        (Some(mine), Some(theirs)) if mine.equals(theirs) => {}
                        _ => return false,
                    }
                }
            }
            Kind::Object => {
                let (mine, mut theirs) = (self.members(), other.members());
                if mine.len() != theirs.len() {
                    return false;
                }
                theirs.sort_by(|a, b| a.0.cmp(&b.0));
                mine.iter().all(|(name, value)| {
                    let at = theirs.binary_search_by(|(own, _)| own.cmp(name));
                    at.is_ok_and(|at| value.equals(theirs[at].1))
                })
            }
        }
    }

    /// Of two numbers.
    pub fn compare_numbers(self, other: Value<'_>) -> Option<Ordering> {
        let (mine, theirs) = (self.as_number()?, other.as_number()?);
        if mine == theirs {
            return Some(Ordering::Equal);
        }
        Some(Decimal::read(mine)?.compare(&Decimal::read(theirs)?))
    }

    /// As JSON, and never more than about so many bytes: what is cut ends in `…`.
    pub fn shown(self, bytes_max: usize) -> String {
        let mut text = String::new();
        if !self.show(&mut text, bytes_max) {
            let cut = text.floor_char_boundary(bytes_max);
            text.truncate(cut);
            text.push('…');
        }
        text
    }

    /// False if it went over.
    fn show(self, into: &mut String, bytes_max: usize) -> bool {
        match self.kind() {
            Kind::List => {
                into.push('[');
                for (index, item) in self.items().enumerate() {
                    if index > 0 {
                        into.push(',');
                    }
                    if !item.show(into, bytes_max) {
                        return false;
                    }
                }
                into.push(']');
            }
            Kind::Object => {
                into.push('{');
                for (index, (name, value)) in self.members().iter().enumerate() {
                    if index > 0 {
                        into.push(',');
                    }
                    into.push_str(&quoted(name, bytes_max));
                    into.push(':');
                    if !value.show(into, bytes_max) {
                        return false;
                    }
                }
                into.push('}');
            }
            Kind::Text => into.push_str(&quoted(&self.as_text().unwrap_or_default(), bytes_max)),
            Kind::Null => into.push_str("null"),
            Kind::Bool => into.push_str(if self.is_true() { "true" } else { "false" }),
            Kind::Number => {
                let number = self.as_number().unwrap_or_default();
                into.push_str(&number[..number.len().min(bytes_max + 1)]);
            }
        }
        into.len() <= bytes_max
    }
}

/// Not more of a long text than can be shown anyway.
fn quoted(text: &str, bytes_max: usize) -> String {
    let text = &text[..text.floor_char_boundary(bytes_max + 1)];
    serde_json::Value::from(text).to_string()
}
