//! Which events are meant: those in a list, or those that a filter lets through.

use serde::{Deserialize, Serialize};

use crate::event::Status;
use crate::event_types::{BadPattern, EventTypes};
use crate::limits::{REPLAY_CONNECTIONS_MAX, REPLAY_IDS_MAX, REPLAY_RATE_MAX};
use crate::time::millis;
use crate::{Event, Id, Source, Timestamp};

/// Stored flat: the word under `selection`, and beside it the list or the filter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "selection", rename_all = "snake_case")]
pub enum Selection {
    /// Sorted, each once.
    Ids {
        ids: Vec<Id<Event>>,
    },
    Filter {
        filter: Filter,
    },
}

/// What is absent does not matter.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Filter {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id: Option<Id<Source>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// With wildcards, such as `order.*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    /// When it came, both ends included.
    #[serde(default, with = "millis::option", skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    #[serde(default, with = "millis::option", skip_serializing_if = "Option::is_none")]
    pub to: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSelection {
    #[error("a replay names 1 to {REPLAY_IDS_MAX} events, not {0}")]
    Ids(usize),
    #[error("a replay names at most {REPLAY_CONNECTIONS_MAX} connections, not {0}")]
    Connections(usize),
    #[error("a replay takes 1 to {REPLAY_RATE_MAX} events a second, not {0}")]
    Rate(u32),
    #[error("the window ends at {to}, before it begins at {from}")]
    Window { from: Timestamp, to: Timestamp },
    #[error(transparent)]
    EventType(#[from] BadPattern),
}

impl Selection {
    /// In the order in which they will be passed.
    pub fn ids(mut ids: Vec<Id<Event>>) -> Result<Self, BadSelection> {
        ids.sort_unstable();
        ids.dedup();
        match ids.len() {
            1..=REPLAY_IDS_MAX => Ok(Self::Ids { ids }),
            count => Err(BadSelection::Ids(count)),
        }
    }

    /// Of what has come until `now`: what comes later is delivered anyway, and a replay of
    /// everything would else never end.
    pub fn filter(filter: Filter, now: Timestamp) -> Result<Self, BadSelection> {
        filter.matcher()?;
        let to = filter.to.unwrap_or(now).min(now);
        if let Some(from) = filter.from.filter(|from| *from > to) {
            return Err(BadSelection::Window { from, to });
        }
        Ok(Self::Filter { filter: Filter { to: Some(to), ..filter } })
    }
}

impl Filter {
    /// Ready to be asked.
    pub fn matcher(&self) -> Result<Matcher, BadPattern> {
        let types = EventTypes::compile(self.event_type.as_slice())?;
        Ok(Matcher { filter: self.clone(), types })
    }
}

#[derive(Debug, Clone)]
pub struct Matcher {
    filter: Filter,
    types: EventTypes,
}

impl Matcher {
    pub fn lets_through(&self, event: &Event) -> bool {
        let Filter { source_id, status, from, to, .. } = &self.filter;
        source_id.is_none_or(|source| event.source_id == source)
            && status.is_none_or(|status| event.status == status)
            && from.is_none_or(|from| event.received_at >= from)
            && to.is_none_or(|to| event.received_at <= to)
            && self.types.wants(event.event_type.as_deref())
    }
}
