//! Dedup: which part of a request makes it the same event as one that came before.
//!
//! A [`Rule`] is written as a path, `body.data.id`, or as a template of paths,
//! `{body.type}:{body.id}[:{body.at}]`, and turns a request into a key or into nothing. Without a
//! key an event is simply accepted: taking two different events for one would lose the second, so
//! in doubt there is no key. Asked by ingest; the ledger itself is in the store.
//!
//! The same rules read an event's type and the key that deliveries are ordered by.

mod arriving;
mod json;
mod ledger;
mod parse;
mod rule;

pub use arriving::Arriving;
pub use ledger::{Dedup, erased_key, erased_of, idempotency_key, ledger_key, ledger_source};
pub use parse::BadRule;
pub use rule::Rule;

pub use crate::providers::{event_type_of, event_type_rule, event_type_rule_of};

pub(crate) use arriving::{decoded, unescaped};
pub(crate) use json::Tree;
pub(crate) use parse::body_path;

pub const EXPRESSION_BYTES_MAX: usize = 1024;
/// A longer key is replaced by its hash.
pub const KEY_BYTES_MAX: usize = 512;
/// Paths in one rule, and names in one path.
pub const PATHS_MAX: usize = 16;
pub const STEPS_MAX: usize = 16;
/// Among the settings of a source (`config`): where its events say what type they are.
pub const EVENT_TYPE_SETTING: &str = "eventType";
/// A longer type is no type: it would be cut, and then match what it should not.
pub const EVENT_TYPE_BYTES_MAX: usize = 256;

#[cfg(test)]
mod tests;
