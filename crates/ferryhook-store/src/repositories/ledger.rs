//! The ledger: what has been seen before, and who is working on it.
//!
//! Ingest makes its claims together with its events, in [`Events::accept`](super::Events::accept).
//! What is here serves those who keep no events: [`Ledger::mark`] says whether a key is new, and
//! a consumer who must do something only once claims the key, works, and completes it or gives it
//! back. The fencing token grows from holder to holder, so that whatever the consumer writes to
//! can refuse one whose lease ended while it slept.

use std::time::Duration;

use ferryhook_core::claim::State;
use ferryhook_core::{Claim, Id, Source, Timestamp, dedup};

use super::TRIES_MAX;
use crate::batch::Batch;
use crate::record::Stored;
use crate::records::claim;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Ledger<'a>(pub(crate) &'a Store);

#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    New,
    Duplicate(Claim),
}

/// What one who asks for a key is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claiming {
    /// Theirs until the lease ends.
    Yours { token: u64, until: Timestamp },
    /// Someone else's; worth asking again then.
    Busy { until: Timestamp },
    /// Nobody need do it again.
    Done,
}

/// What one who ends their work is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Ended,
    /// The key belongs to someone else by now, or to nobody.
    Lost,
}

impl Ledger<'_> {
    pub async fn find(&self, key: &str) -> Result<Option<Stored<Claim>>, StoreError> {
        self.0.find(&claim::key(key)).await
    }

    /// Until when copies of erased events have to be looked for at this source, if at all.
    pub async fn erased_until(&self, source: Id<Source>) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.find(&dedup::erased_of(source)).await?.map(|said| said.expires_at))
    }

    /// New, and from now on seen; or seen before. An entry that has expired is as good as none.
    pub async fn mark(&self, entry: &Claim) -> Result<Mark, StoreError> {
        let mut tries = 0;
        loop {
            let refusal = match self.0.insert(entry).await {
                Ok(()) => return Ok(Mark::New),
                Err(error) if error.is_refused() => error,
                Err(error) => return Err(error),
            };
            if let Some(found) = self.find(&entry.key).await? {
                return Ok(Mark::Duplicate(found.record));
            }
            tries += 1; // it ended in between
            if tries == TRIES_MAX {
                return Err(refusal);
            }
        }
    }

    /// Asks to be the one who works on a key for as long as `lease`. The ledger remembers the key
    /// for as long as `keep`.
    pub async fn claim(
        &self,
        key: &str,
        lease: Duration,
        keep: Duration,
    ) -> Result<Claiming, StoreError> {
        let mut tries = 1;
        loop {
            match self.try_claim(key, lease, keep).await {
                Err(error) if error.is_refused() && tries < TRIES_MAX => tries += 1,
                other => return other,
            }
        }
    }

    /// Refused when someone else wrote between the look and the claim.
    async fn try_claim(
        &self,
        key: &str,
        lease: Duration,
        keep: Duration,
    ) -> Result<Claiming, StoreError> {
        let now = self.0.now();
        let found = self.find(key).await?;
        match &found {
            Some(held) if held.state == Some(State::Leased) => {
                let until = held.lease_until.unwrap_or(now);
                if now < until {
                    return Ok(Claiming::Busy { until });
                }
            }
            Some(held) if held.state == Some(State::Released) => {}
            // Completed, or seen by someone who never meant to lease it.
            Some(_) => return Ok(Claiming::Done),
            None => {}
        }
        // The clock, so that tokens also grow past the end of an entry that had some.
        let first = now.as_millis().max(1).unsigned_abs();
        let before = found.as_ref().and_then(|held| held.fencing_token);
        let token = before.map_or(first, |before| first.max(before.saturating_add(1)));
        let until = now + lease;
        let leased = Claim {
            key: key.to_owned(),
            seen_at: found.as_ref().map_or(now, |held| held.seen_at),
            expires_at: now + keep.max(lease),
            source: None,
            notes: None,
            event_id: None,
            state: Some(State::Leased),
            fencing_token: Some(token),
            lease_until: Some(until),
        };
        let batch = match &found {
            None => Batch::new().insert(&leased),
            Some(held) => Batch::new().replace(held, &leased),
        };
        self.0.commit(batch).await?;
        Ok(Claiming::Yours { token, until })
    }

    /// The work is done, for good. Also accepted after the lease if nobody else has begun.
    pub async fn complete(&self, key: &str, token: u64) -> Result<Ending, StoreError> {
        self.end(key, token, State::Completed).await
    }

    /// The work is not done: the next one to ask gets the key at once.
    pub async fn release(&self, key: &str, token: u64) -> Result<Ending, StoreError> {
        self.end(key, token, State::Released).await
    }

    async fn end(&self, key: &str, token: u64, state: State) -> Result<Ending, StoreError> {
        let mut tries = 1;
        loop {
            match self.try_end(key, token, state).await {
                Err(error) if error.is_refused() && tries < TRIES_MAX => tries += 1,
                other => return other,
            }
        }
    }

    async fn try_end(&self, key: &str, token: u64, state: State) -> Result<Ending, StoreError> {
        let Some(held) = self.find(key).await? else {
            return Ok(Ending::Lost);
        };
        if held.fencing_token != Some(token) {
            return Ok(Ending::Lost);
        }
        match held.state {
            Some(ended) if ended == state => return Ok(Ending::Ended),
            Some(State::Leased) => {}
            _ => return Ok(Ending::Lost),
        }
        let ended = Claim { state: Some(state), lease_until: None, ..held.record.clone() };
        self.0.replace(&held, ended).await?;
        Ok(Ending::Ended)
    }
}
