//! A handshake with its expressions read.

use super::kind::{Handshake, When};
use super::rule;
use crate::dedup::{Arriving, Rule};

#[derive(Debug, Clone)]
pub(super) struct Compiled {
    pub(super) handshake: &'static Handshake,
    conditions: Vec<Condition>,
}

#[derive(Debug, Clone)]
struct Condition {
    rule: Rule,
    wanted: Wanted,
    /// A word that a body must have in it for this to hold; `None` for a condition on the head.
    word: Option<&'static str>,
}

#[derive(Debug, Clone, Copy)]
enum Wanted {
    Something,
    Nothing,
    Just(&'static str),
}

impl Compiled {
    pub(super) fn of(handshake: &'static Handshake) -> Option<Self> {
        let conditions = handshake.when.iter().map(Condition::of).collect::<Option<_>>()?;
        Some(Self { handshake, conditions })
    }

    /// As far as the head can tell.
    pub(super) fn may_be(&self, method: &str, head: &Arriving<'_>) -> bool {
        let is_method = self.handshake.methods.contains(&method);
        is_method && self.on_head().all(|condition| condition.holds(head))
    }

    /// Reads the body only if the words that it must have are in it.
    pub(super) fn is(&self, method: &str, seen: &Arriving<'_>) -> bool {
        let body = seen.body.as_text().unwrap_or_default();
        let words = self.on_body().filter(|own| !matches!(own.wanted, Wanted::Nothing));
        let is_likely = words.filter_map(|own| own.word).all(|word| body.contains(word));
        self.may_be(method, seen) && is_likely && self.on_body().all(|own| own.holds(seen))
    }

    fn on_head(&self) -> impl Iterator<Item = &Condition> {
        self.conditions.iter().filter(|condition| condition.word.is_none())
    }

    fn on_body(&self) -> impl Iterator<Item = &Condition> {
        self.conditions.iter().filter(|condition| condition.word.is_some())
    }
}

impl Condition {
    fn of(when: &When) -> Option<Self> {
        let (place, wanted) = match *when {
            When::Has(place) => (place, Wanted::Something),
            When::Lacks(place) => (place, Wanted::Nothing),
            When::Is(place, value) => (place, Wanted::Just(value)),
        };
        let word = place.starts_with("body").then(|| match wanted {
            Wanted::Just(value) => value,
            // The name that the path ends with; the alternatives of a place share it.
            _ => place.rsplit(['.', ']']).next().unwrap_or_default(),
        });
        Some(Self { rule: rule(place)?, wanted, word })
    }

    fn holds(&self, seen: &Arriving<'_>) -> bool {
        let found = self.rule.whole(seen);
        match self.wanted {
            Wanted::Something => found.is_some(),
            Wanted::Nothing => found.is_none(),
            Wanted::Just(value) => found.as_deref() == Some(value),
        }
    }
}
