//! Why an event went where it went: what the ledger said, what each connection's rules see in it,
//! and what came of every attempt.

use ferryhook_core::{Event, Id};
use ferryhook_flow::explain;

use super::orders::Shown;
use super::view::{Explanation, Ledger, LedgerVerdict};
use super::{Complaint, Desk};

impl Desk {
    pub(super) async fn explain(&self, id: Id<Event>) -> Result<Explanation, Complaint> {
        let event = self.event(id).await?;
        let story = self.show_event(Shown { event: id, with_body: false }).await?;
        let mut connections = Vec::new();
        // Those of a source that is gone are gone with it.
        if let Some(route) = self.routes.find(event.source_id).await? {
            for way in &route.ways {
                connections.push(explain::explain(&event, way, &self.scripts).await);
            }
        }
        let ledger = self.ledger(&event).await?;
        Ok(Explanation { story, ledger, connections })
    }

    async fn ledger(&self, event: &Event) -> Result<Ledger, Complaint> {
        let Some(key) = event.dedup_key.clone() else {
            return Ok(Ledger { verdict: LedgerVerdict::NoKey, remembered_until: None });
        };
        let claim = self.store.ledger().find(&key).await?;
        let first = claim.as_ref().and_then(|claim| claim.event_id);
        let verdict = match first {
            Some(first) if first == event.id => LedgerVerdict::First,
            Some(first) => LedgerVerdict::Other { first },
            None => LedgerVerdict::Forgotten,
        };
        Ok(Ledger { verdict, remembered_until: claim.map(|claim| claim.expires_at) })
    }
}
