//! Whom or what an erasure is about: a filter, as connections have one, over the events and the
//! rejections of a stretch of time.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::filter::{BadFilter, Filter, Seen};
use crate::limits::{ERASURE_IDS_MAX, ERASURE_PATH_CHARACTERS_MAX, ERASURE_PATHS_MAX};
use crate::time::millis;
use crate::{Event, Id, Rejection, Source, Timestamp};

use super::What;

/// What is absent does not matter, except for the filter.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subject {
    /// As it was written; gone as soon as everything was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Where the filter looks, without what it looks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id: Option<Id<Source>>,
    /// When it came, both ends included.
    #[serde(default, with = "millis::option", skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    #[serde(default, with = "millis::option", skip_serializing_if = "Option::is_none")]
    pub to: Option<Timestamp>,
}

#[derive(Debug, thiserror::Error)]
pub enum BadErasure {
    #[error("an erasure names 1 to {ERASURE_IDS_MAX} events, not {0}")]
    Ids(usize),
    #[error("the window ends at {to}, before it begins at {from}")]
    Window { from: Timestamp, to: Timestamp },
    #[error(transparent)]
    Filter(#[from] BadFilter),
}

impl What {
    /// In the order in which they will be passed.
    pub fn events(mut ids: Vec<Id<Event>>) -> Result<Self, BadErasure> {
        ids.sort_unstable();
        ids.dedup();
        match ids.len() {
            1..=ERASURE_IDS_MAX => Ok(Self::Events { ids }),
            count => Err(BadErasure::Ids(count)),
        }
    }

    /// Of what has come until `now`.
    pub fn subject(
        filter: String,
        source_id: Option<Id<Source>>,
        from: Option<Timestamp>,
        to: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<Self, BadErasure> {
        Filter::parse(&filter)?;
        let to = to.unwrap_or(now).min(now);
        if let Some(from) = from.filter(|from| *from > to) {
            return Err(BadErasure::Window { from, to });
        }
        let paths = paths(&filter);
        let subject = Subject { filter: Some(filter), paths, source_id, from, to: Some(to) };
        Ok(Self::Subject { subject })
    }
}

impl Subject {
    /// Ready to be asked. Without a filter, which is gone after the end, nothing is meant.
    pub fn matcher(&self) -> Result<Option<Matcher>, BadFilter> {
        let filter = self.filter.as_deref().map(Filter::parse).transpose()?;
        Ok(filter.map(|filter| Matcher { filter, subject: self.clone() }))
    }
}

#[derive(Debug)]
pub struct Matcher {
    filter: Filter,
    subject: Subject,
}

impl Matcher {
    pub fn means(&self, event: &Event) -> bool {
        self.is_within(event.source_id, event.received_at) && self.filter.matches(&Seen::of(event))
    }

    pub fn means_rejection(&self, rejection: &Rejection) -> bool {
        self.is_within(rejection.source_id, rejection.rejected_at)
            && self.filter.matches(&Seen::of_rejection(rejection))
    }

    fn is_within(&self, source: Id<Source>, at: Timestamp) -> bool {
        let Subject { source_id, from, to, .. } = &self.subject;
        source_id.is_none_or(|wanted| wanted == source)
            && from.is_none_or(|from| at >= from)
            && to.is_none_or(|to| at <= to)
    }
}

/// Where a filter looks. A path may have conditions of its own, which say what for: it is cut
/// there.
fn paths(filter: &str) -> Vec<String> {
    let mut paths = Vec::new();
    if let Ok(filter) = serde_json::from_str(filter) {
        gather(&filter, "", &mut paths);
    }
    paths.sort_unstable();
    paths.dedup();
    paths.truncate(ERASURE_PATHS_MAX);
    paths
}

/// At most as deep as a filter may be written.
fn gather(value: &Value, place: &str, paths: &mut Vec<String>) {
    match value {
        Value::Object(rule) if rule.get("path").is_some_and(Value::is_string) => {
            let path = rule.get("path").and_then(Value::as_str).unwrap_or_default();
            push(path.split(['?', '\'', '"']).next().unwrap_or_default(), paths);
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                let is_group =
                    name.starts_with('$') || matches!(name.as_str(), "all" | "any" | "not");
                match (is_group, place.is_empty()) {
                    (true, _) => gather(value, place, paths),
                    (false, true) => gather(value, name, paths),
                    (false, false) => gather(value, &format!("{place}.{name}"), paths),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| gather(value, place, paths)),
        _ => push(place, paths),
    }
}

fn push(path: &str, paths: &mut Vec<String>) {
    let path: String = path.chars().take(ERASURE_PATH_CHARACTERS_MAX).collect();
    if !path.is_empty() {
        paths.push(path);
    }
}
