//! Readmit: a request that was refused comes in after all, once what stood in its way is mended.
//!
//! Asked by people. The rules of the door are those of now, but its clock is that of then: a
//! signature with a time in it was fresh when the request came. Rate and quota do not count again.

use ferryhook_core::rejection::Cause;
use ferryhook_core::verify::doctor::Other;
use ferryhook_core::{Event, Id, Rejection};
use ferryhook_store::{Store, StoreError, Stored};

use super::letter::Letter;
use super::proof::Claimed;
use super::refusal::Refusal;
use super::{Ingest, adopted, unpack};

/// Why it stays out.
#[derive(Debug, thiserror::Error)]
pub enum NotReadmitted {
    #[error("{0} was not read to its end when it was refused, so there is nothing to take in")]
    Incomplete(Id<Rejection>),
    #[error("{0} is not there any more; it may have been let in already")]
    Gone(Id<Rejection>),
    #[error("the source of {0} is gone")]
    SourceGone(Id<Rejection>),
    #[error("{id} is refused again: {reason}")]
    Again { id: Id<Rejection>, reason: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Ingest {
    /// Why its signature does not hold, as far as the secrets and settings of now can tell. `others`
    /// are the secrets of other sources, which may have been mixed up.
    pub async fn diagnose(
        &self,
        rejection: &Rejection,
        others: &[Other<'_>],
    ) -> Result<Option<String>, StoreError> {
        let door = &self.0;
        let route = door.routes.find(rejection.source_id).await?;
        let Some(Ok(Some(verifier))) = route.as_ref().map(|route| &route.proof.verifier) else {
            return Ok(None);
        };
        let (letter, body) = (Letter::again(rejection), rejection.body.as_bytes());
        let claimed = Claimed::again(door, &letter, body, rejection);
        Ok(Some(door.diagnose(verifier, &claimed, others)))
    }

    /// Its events, those included that had come another way meanwhile. The rejection is gone then.
    /// Written with `store`, which may have something to add.
    pub async fn readmit(
        &self,
        store: &Store,
        rejection: Stored<Rejection>,
    ) -> Result<Vec<Id<Event>>, NotReadmitted> {
        let door = &self.0;
        let id = rejection.id;
        let _alone = door.readmitting.lock().await;
        let rejections = door.store.rejections();
        let found = rejections.find(rejection.source_id, rejection.rejected_at, id).await?;
        let rejection = found.ok_or(NotReadmitted::Gone(id))?;
        let is_whole =
            matches!(rejection.cause, Cause::Signature | Cause::Unparsable | Cause::Schema);
        if !is_whole || rejection.body_truncated {
            return Err(NotReadmitted::Incomplete(id));
        }
        let route = door.routes.find(rejection.source_id).await?;
        let route = route.ok_or(NotReadmitted::SourceGone(id))?;
        let again = |refusal: Refusal| NotReadmitted::Again { id, reason: refusal.reason().into() };

        let letter = Letter::again(&rejection);
        let body = rejection.body.as_bytes().clone();
        let claimed = Claimed::again(door, &letter, &body, &rejection);
        let doubt = door.prove(&route, &claimed).await.map_err(again)?;
        let now = door.env.now();
        let crowded = || again(Refusal::Crowded);
        let mut place = door.waiting.enter(body.len()).ok_or_else(crowded)?;
        let arrivals = match doubt {
            None => unpack::arrivals(door, &route, letter, body, now, &mut place).await,
            Some(reason) => {
                unpack::marked(door, &route, letter, body, now, reason).map(|one| vec![one])
            }
        };
        let arrivals = arrivals.map_err(again)?;
        let work = door.clone().store(
            route.clone(),
            arrivals,
            now,
            (place, None),
            Some(Box::new((rejection, store.clone()))),
        );
        let told = adopted::to_its_end(&door.tasks, work).await.map_err(again)?;
        Ok(told.into_iter().filter_map(|told| told.id).collect())
    }
}
