//! Rejections: what was refused, kept for the owner of the source to see.
//!
//! A few for each source and minute, gathered in memory and written with the next flush. The rest
//! of a flood is only counted: nobody reads the ten-thousandth, and writing it would be the
//! attack's success.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ferryhook_core::rejection::Cause;
use ferryhook_core::{Id, Rejection, Source};
use ferryhook_store::Store;

use super::limits;
use super::rate::WINDOW;
use crate::shards::{SHARDS, Shards};
use crate::writes::{self, Write};

#[derive(Debug, Default)]
pub(super) struct Rejections {
    kept: Shards<HashMap<Id<Source>, Kept>>,
    waiting: Mutex<Waiting>,
}

/// How many of a minute were kept.
#[derive(Debug, Default)]
struct Kept {
    minute: u64,
    whole: u32,
    others: u32,
}

#[derive(Debug, Default)]
struct Waiting {
    rejections: Vec<Rejection>,
    bytes: usize,
}

impl Rejections {
    /// Keeps what `make` makes, if the source has not had its share of this minute.
    pub(super) fn keep(
        &self,
        of: Id<Source>,
        cause: Cause,
        now: Duration,
        make: impl FnOnce() -> Rejection,
    ) {
        if !self.allows(of, cause, now) {
            return;
        }
        let rejection = make();
        let bytes = weight(&rejection);
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = waiting.rejections.len() < limits::REJECTIONS_MAX
            && waiting.bytes + bytes <= limits::REJECTIONS_BYTES_MAX;
        if fits {
            waiting.bytes += bytes;
            waiting.rejections.push(rejection);
        }
    }

    fn allows(&self, of: Id<Source>, cause: Cause, now: Duration) -> bool {
        let minute = now.as_secs() / WINDOW.as_secs();
        let mut kept = self.kept.of(of);
        if kept.len() >= limits::WINDOWS_MAX / SHARDS && !kept.contains_key(&of) {
            kept.retain(|_, kept| kept.minute == minute);
            if kept.len() >= limits::WINDOWS_MAX / SHARDS {
                return false;
            }
        }
        let kept = kept.entry(of).or_default();
        if kept.minute != minute {
            *kept = Kept { minute, ..Kept::default() };
        }
        let (count, most) = match cause {
            Cause::Signature | Cause::Unparsable | Cause::Schema => {
                (&mut kept.whole, limits::REJECTIONS_WHOLE_PER_MINUTE)
            }
            Cause::TooLarge | Cause::Rate | Cause::Quota => {
                (&mut kept.others, limits::REJECTIONS_PER_MINUTE)
            }
        };
        *count = count.saturating_add(1);
        *count <= most
    }

    pub(super) async fn flush(&self, store: &Store) {
        let waiting =
            std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        let writes = waiting.rejections.into_iter().map(|rejection| {
            let store = store.clone();
            Box::pin(async move { store.rejections().record(&rejection).await }) as Write
        });
        let writes: Vec<_> = writes.collect();
        if let Some((failed, error)) = writes::all(writes).await {
            tracing::warn!(%error, failed, "some rejections were not stored and are lost");
        }
    }
}

fn weight(rejection: &Rejection) -> usize {
    let headers = rejection.headers.iter().map(|(name, value)| name.len() + value.len());
    rejection.body.len() + headers.sum::<usize>()
}
