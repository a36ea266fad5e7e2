//! How the requests of one source are read: what makes two of them the same event, which of them
//! hold several, and where they say what they are. Compiled once for a route.

use ferryhook_core::Source;
use ferryhook_core::dedup::{Dedup, EVENT_TYPE_SETTING, Rule, event_type_rule, event_type_rule_of};
use ferryhook_core::split::Split;

#[derive(Debug, Clone)]
pub struct Reading {
    pub dedup: Dedup,
    pub split: Split,
    pub event_type: Option<Rule>,
}

impl Reading {
    /// What nobody understands is left out rather than refused: better an event twice, or several
    /// as one, than none.
    pub(crate) fn new(source: &Source) -> Self {
        let dedup = Dedup::of(source).or_else(|error| {
            tracing::warn!(%error, source.id = %source.id, "dedupExpression does not count");
            Dedup::of(&Source { dedup_expression: None, ..source.clone() })
        });
        let split = Split::of(source).or_else(|error| {
            tracing::warn!(%error, source.id = %source.id, "requests are not split");
            let mut whole = source.clone();
            whole.config.insert("split".to_owned(), false.into());
            Split::of(&whole)
        });
        let event_type = event_type_rule_of(source).unwrap_or_else(|error| {
            tracing::warn!(%error, source.id = %source.id, "eventType does not count");
            event_type_rule(&source.provider)
        });
        match (dedup, split) {
            (Ok(dedup), Ok(split)) => Self { dedup, split, event_type },
            _ => unreachable!("without what the source says there is nothing to misunderstand"),
        }
    }

    /// Whether the one reads as the other.
    pub(super) fn is_same(one: &Source, other: &Source) -> bool {
        one.dedup_expression == other.dedup_expression
            && one.provider == other.provider
            && one.config.get("split") == other.config.get("split")
            && one.config.get(EVENT_TYPE_SETTING) == other.config.get(EVENT_TYPE_SETTING)
    }
}
