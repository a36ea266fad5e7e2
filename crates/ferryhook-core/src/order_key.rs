//! Order key: what the deliveries of a connection that must keep their order agree in.
//!
//! Read from the event as it arrived, by the same paths that de-duplication uses. An event without
//! one waits for nobody.

use crate::dedup::{Arriving, BadRule, Rule};
use crate::{Body, Event};

/// A connection's `ordering_key`, compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderKey(Rule);

impl OrderKey {
    pub fn parse(expression: &str) -> Result<Self, BadRule> {
        Rule::parse(expression).map(Self)
    }

    /// Bounded; a long one stands there as its hash.
    pub fn of(&self, event: &Event) -> Option<String> {
        let arriving = Arriving::of(event);
        match &event.payload {
            // What an app triggered has no body of its own.
            Some(payload) if event.body.is_empty() => {
                let body = Body::from(serde_json::to_vec(payload).ok()?);
                self.0.key(&Arriving { body: &body, ..arriving })
            }
            _ => self.0.key(&arriving),
        }
    }
}

#[cfg(test)]
mod tests;
