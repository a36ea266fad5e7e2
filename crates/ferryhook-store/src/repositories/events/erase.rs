//! Erasing an event: the one verb that needs several commits, and that others may write beside.
//!
//! The event goes with the last commit, so that one who was interrupted finds it and begins again.
//! Whoever carries a delivery of it meanwhile writes on condition that the delivery, or the event,
//! is still as they know it, and so brings nothing back.

use std::time::Duration;

use ferryhook_core::{Attempt, Claim, Delivery, Event, Timestamp, dedup, limits};

use super::Events;
use crate::StoreError;
use crate::batch::Batch;
use crate::query::Query;
use crate::record::{Kind, Stored};
use crate::records::{attempt, claim, delivery, event};
use crate::repositories::TRIES_MAX;

/// Of deliveries and of attempts; with the event, its claim, what is left of that, a line in the audit
/// log and its head they still fit into one batch.
const ERASED_AT_ONCE: usize = (limits::batch::ACTIONS_MAX - 5) / 2;
/// That there are erased events of a source is said for this much longer than needed, so that it
/// need not be said again with every one.
const SAID_LONGER: Duration = Duration::from_secs(24 * 60 * 60);

impl Events<'_> {
    /// The event and everything that was ever tried with it. Its claim leaves an entry behind that
    /// goes on keeping copies out, for as long as the claim would have, without its key.
    ///
    /// Nothing of it can be read any more when this returns; it is really gone with the next
    /// [`Store::scrub`](crate::Store::scrub).
    pub async fn erase(&self, was: &Stored<Event>) -> Result<(), StoreError> {
        let mut tries = 0;
        let mut found = Some(was.clone());
        while let Some(was) = found {
            match self.try_erase(&was).await {
                // It moved on, or one of its deliveries did.
                Err(error) if error.is_refused() && tries < TRIES_MAX => tries += 1,
                Err(error) => return Err(error),
                Ok(()) => break,
            }
            found = self.find_of(was.source_id, was.received_at, was.id).await?;
        }
        Ok(())
    }

    async fn try_erase(&self, was: &Stored<Event>) -> Result<(), StoreError> {
        let claim = self.claim_of(was).await?;
        if let Some(claim) = &claim {
            self.say_erased(was, claim.expires_at).await?;
        }
        let story = |kind, prefix| {
            let query = Query::table(kind, event::partition(was.id));
            query.prefix(prefix).limit(ERASED_AT_ONCE)
        };
        loop {
            let deliveries = story(Kind::Delivery, delivery::PREFIX);
            let (deliveries, more_deliveries) = self.some::<Delivery>(deliveries).await?;
            let attempts = story(Kind::Attempt, attempt::PREFIX);
            let (attempts, more_attempts) = self.some::<Attempt>(attempts).await?;
            let batch = Batch::new().erasing(was.received_at);
            let batch = deliveries.iter().fold(batch, Batch::delete);
            let mut batch = attempts.iter().fold(batch, Batch::delete);
            if more_deliveries || more_attempts {
                self.0.commit(batch).await?;
                continue;
            }
            if let Some(claim) = &claim {
                batch = batch.delete(claim).insert(&erased(claim));
            }
            return self.0.commit(batch.delete(was)).await;
        }
    }

    /// The claim that let it in, unless another has taken that over.
    async fn claim_of(&self, event: &Event) -> Result<Option<Stored<Claim>>, StoreError> {
        let Some(key) = &event.dedup_key else { return Ok(None) };
        let found = self.0.find::<Claim>(&claim::key(key)).await?;
        Ok(found.filter(|claim| claim.event_id == Some(event.id)))
    }

    /// Before the claim goes, so that no copy comes in between.
    async fn say_erased(&self, event: &Event, until: Timestamp) -> Result<(), StoreError> {
        let key = dedup::erased_of(event.source_id);
        let found = self.0.find::<Claim>(&claim::key(&key)).await?;
        if found.as_ref().is_some_and(|said| said.expires_at >= until) {
            return Ok(());
        }
        let said = Claim {
            key,
            seen_at: self.0.now(),
            expires_at: until + SAID_LONGER,
            source: None,
            notes: None,
            event_id: None,
            state: None,
            fencing_token: None,
            lease_until: None,
        };
        let batch = match &found {
            Some(was) => Batch::new().replace(was, &said),
            None => Batch::new().insert(&said),
        };
        // Not durable before the next commit, which is.
        self.0.commit_buffered(batch).await
    }
}

/// What stays of a claim.
fn erased(claim: &Claim) -> Claim {
    Claim {
        key: dedup::erased_key(&claim.key),
        seen_at: claim.seen_at,
        expires_at: claim.expires_at,
        source: claim.source.clone(),
        notes: None,
        event_id: None,
        state: None,
        fencing_token: None,
        lease_until: None,
    }
}
