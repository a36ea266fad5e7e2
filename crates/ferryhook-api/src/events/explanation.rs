//! Why an event went where it went: what the ledger said, what each connection's rules see in it,
//! and what came of every attempt.

use ferryhook_core::explained::Explained;
use ferryhook_core::id::EventId;
use ferryhook_core::source::Status;
use ferryhook_core::{Event, Timestamp};
use ferryhook_store::{Store, StoreError};
use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

use super::story;
use super::view::EventStory;
use crate::apply;
use crate::works::{Refusal, Works};

/// An event, and why it went where it went.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(as = EventExplanation)]
pub struct Explanation {
    #[serde(flatten)]
    pub story: EventStory,
    pub ledger: Ledger,
    /// What the rules of each connection see in it now.
    pub connections: Vec<Explained>,
}

/// What the ledger knows of the event's key now.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LedgerState)]
pub struct Ledger {
    #[serde(flatten)]
    pub verdict: LedgerVerdict,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remembered_until: Option<Timestamp>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum LedgerVerdict {
    /// Nothing tells it from another, so it is not looked for in the ledger.
    NoKey,
    /// It was the first with its key.
    First,
    /// The key was forgotten in between and is another event's now.
    Other {
        first: EventId,
    },
    Forgotten,
}

/// As one object: whoever reads it need not know which word comes with an event.
impl PartialSchema for LedgerVerdict {
    fn schema() -> RefOr<Schema> {
        let words = ["no_key", "first", "other", "forgotten"];
        let verdict = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words));
        ObjectBuilder::new()
            .property("verdict", verdict)
            .required("verdict")
            .property("first", Ref::from_schema_name(EventId::name()))
            .into()
    }
}

impl ToSchema for LedgerVerdict {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((EventId::name().into(), EventId::schema()));
    }
}

/// What the rules of now see in the event.
pub async fn explain(
    store: &Store,
    works: &dyn Works,
    event: &Event,
) -> Result<Explanation, Refusal> {
    let story = story::tell(store, event, 0).await?;
    let ledger = ledger(store, event).await?;
    let mut connections = Vec::new();
    // Those of a source that is gone are gone with it.
    let source = store.sources().find(event.source_id).await?;
    if source.is_some_and(|source| source.status != Status::Deleted) {
        for connection in apply::connections_of(store, event.source_id).await? {
            connections.push(works.explain(&connection, event).await?);
        }
    }
    Ok(Explanation { story, ledger, connections })
}

async fn ledger(store: &Store, event: &Event) -> Result<Ledger, StoreError> {
    let Some(key) = &event.dedup_key else {
        return Ok(Ledger { verdict: LedgerVerdict::NoKey, remembered_until: None });
    };
    let claim = store.ledger().find(key).await?;
    let first = claim.as_ref().and_then(|claim| claim.event_id);
    let verdict = match first {
        Some(first) if first == event.id => LedgerVerdict::First,
        Some(first) => LedgerVerdict::Other { first },
        None => LedgerVerdict::Forgotten,
    };
    Ok(Ledger { verdict, remembered_until: claim.map(|claim| claim.expires_at) })
}
