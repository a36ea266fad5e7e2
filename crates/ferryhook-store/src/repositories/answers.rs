//! Answers to requests with an `Idempotency-Key`: begun by one, finished once, heard by all who
//! repeat the request.
//!
//! A request that failed is abandoned, so that its repetition may succeed. One who died on the way
//! is replaced once their lease has ended; should they live after all, they are told that the key
//! is no longer theirs.

use std::time::Duration;

use ferryhook_core::answer::{Reply, State};
use ferryhook_core::{Account, Answer, Id, limits};

use super::{Ending, TRIES_MAX};
use crate::batch::{Batch, Condition};
use crate::record::Stored;
use crate::records::answer;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Answers<'a>(pub(crate) &'a Store);

/// A request, as its repetition is known by.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    pub caller: &'a str,
    /// SHA-256 of the key, in hex.
    pub key_hash: &'a str,
    pub account: Option<Id<Account>>,
    /// SHA-256 of method, address and body, in hex.
    pub fingerprint: &'a str,
}

/// What one who begins is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Answering {
    /// It is theirs to do; what is here is needed to finish or abandon it.
    First(Answer),
    /// Someone else is at it.
    Running,
    Finished(Reply),
    /// The key was used for something else.
    OtherRequest,
}

impl Answers<'_> {
    /// Asks whether the request is to be done, by one who will be done within `lease`.
    pub async fn begin(&self, asked: Asked<'_>, lease: Duration) -> Result<Answering, StoreError> {
        let mut tries = 1;
        loop {
            match self.try_begin(asked, lease).await {
                Err(error) if error.is_refused() && tries < TRIES_MAX => tries += 1,
                other => return other,
            }
        }
    }

    /// Refused when someone else wrote between the look and the beginning.
    async fn try_begin(&self, asked: Asked<'_>, lease: Duration) -> Result<Answering, StoreError> {
        let now = self.0.now();
        let found = self.0.find::<Answer>(&answer::key(asked.caller, asked.key_hash)).await?;
        if let Some(found) = &found {
            if found.fingerprint != asked.fingerprint {
                return Ok(Answering::OtherRequest);
            }
            match &found.state {
                State::Done { reply } => return Ok(Answering::Finished(reply.clone())),
                State::Running { lease_until } if now < *lease_until => {
                    return Ok(Answering::Running);
                }
                State::Running { .. } => {}
            }
        }
        let begun = Answer {
            caller: asked.caller.to_owned(),
            key_hash: asked.key_hash.to_owned(),
            account_id: asked.account,
            fingerprint: asked.fingerprint.to_owned(),
            token: self.token(),
            state: State::Running { lease_until: now + lease },
            created_at: now,
            expires_at: now + limits::ANSWER_KEPT,
        };
        let batch = match &found {
            None => Batch::new().insert(&begun),
            Some(found) => Batch::new().replace_when(found, &begun, held_by(&found.token)),
        };
        self.0.commit(batch).await?;
        Ok(Answering::First(begun))
    }

    /// Keeps the answer for a day. One that is too large is not kept: its repetition is done
    /// again.
    pub async fn finish(&self, begun: &Answer, reply: Reply) -> Result<Ending, StoreError> {
        if !reply.fits() {
            return self.abandon(begun).await;
        }
        let done = Answer { state: State::Done { reply }, ..begun.clone() };
        // Which revision it has does not matter: the token is asked for.
        let was = Stored { record: begun.clone(), revision: 0 };
        let batch = Batch::new().replace_when(&was, &done, held_by(&begun.token));
        ended(self.0.commit(batch).await)
    }

    /// It did not work out: whoever repeats the request does it anew.
    pub async fn abandon(&self, begun: &Answer) -> Result<Ending, StoreError> {
        let batch = Batch::new().delete_when(begun, held_by(&begun.token));
        ended(self.0.commit(batch).await)
    }

    fn token(&self) -> String {
        let mut bytes = [0; 16];
        self.0.env().fill(&mut bytes);
        format!("{:032x}", u128::from_be_bytes(bytes))
    }
}

fn held_by(token: &str) -> Condition {
    Condition::Is("token".into(), token.into())
}

fn ended(committed: Result<(), StoreError>) -> Result<Ending, StoreError> {
    match committed {
        Ok(()) => Ok(Ending::Ended),
        Err(error) if error.is_refused() => Ok(Ending::Lost),
        Err(error) => Err(error),
    }
}
