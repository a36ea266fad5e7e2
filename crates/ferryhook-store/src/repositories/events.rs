//! Events: accepted once, found by where they came from, by whom they concern and by what they
//! still need.

use std::collections::HashMap;

use ferryhook_core::event::{Standing, Status};
use ferryhook_core::{Account, Claim, Delivery, Event, Id, Rejection, Source, Timestamp, dedup};
use futures_util::future::try_join_all;

use super::{Slice, TRIES_MAX, Window, only};
use crate::batch::{Batch, Patch};
use crate::query::{Page, Query};
use crate::record::{Kind, Record, Stored};
use crate::records::{Shard, claim, delivery, digits, event, source};
use crate::tables::Index;
use crate::{Store, StoreError};

mod changes;
mod erase;

pub use changes::{EventChange, EventChanges, ToldChange};

#[derive(Debug, Clone, Copy)]
pub struct Events<'a>(pub(crate) &'a Store);

/// An event at the door, with the claim that lets it in only once.
#[derive(Debug, Clone)]
pub struct Arrival {
    pub event: Event,
    pub claim: Option<Claim>,
    /// Where it is to be fetched from, if that is all that is to become of it: then it is planned
    /// at once.
    pub items: Vec<Delivery>,
}

impl Arrival {
    /// How many actions of a batch it takes.
    pub fn actions(&self) -> usize {
        1 + usize::from(self.claim.is_some()) + self.items.len()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Accepted {
    New,
    /// It was here before. The first one is unknown where the claim was not made for an event.
    Duplicate {
        first: Option<Id<Event>>,
    },
}

impl Events<'_> {
    /// Stores each event together with its claim, or recognises it; says which, in order. Durable
    /// when it returns.
    ///
    /// All that is new goes into one commit, so the whole must fit into one: fifty events that
    /// have claims. Nothing is read unless something turns out to be a duplicate.
    pub async fn accept(&self, arrivals: &[Arrival]) -> Result<Vec<Accepted>, StoreError> {
        self.admit(arrivals, None, vec![None; arrivals.len()]).await
    }

    /// The same at a source of which events were erased, whose copies are duplicates too; see
    /// [`Ledger::erased_until`](super::Ledger::erased_until).
    pub async fn accept_after_erasures(
        &self,
        arrivals: &[Arrival],
    ) -> Result<Vec<Accepted>, StoreError> {
        let told = self.recognise_erased(arrivals).await?;
        self.admit(arrivals, None, told).await
    }

    /// The same for a request that was refused before: the rejection goes in the same commit, so
    /// that it can be let in only once. Refused when it is gone already.
    pub async fn readmit(
        &self,
        arrivals: &[Arrival],
        rejection: &Stored<Rejection>,
    ) -> Result<Vec<Accepted>, StoreError> {
        let told = self.recognise_erased(arrivals).await?;
        self.admit(arrivals, Some(rejection), told).await
    }

    /// One that was marked turns out to be what it says: it counts like any other from now on, and
    /// claims its key in the same commit. Where another has come with that key it stays as it was.
    pub async fn verify(
        &self,
        was: &Stored<Event>,
        genuine: &Arrival,
    ) -> Result<Accepted, StoreError> {
        let one = std::slice::from_ref(genuine);
        if let Some(Some(erased)) = self.recognise_erased(one).await?.pop() {
            return Ok(erased);
        }
        let batch = Batch::new().replace(was, &genuine.event);
        let batch = match &genuine.claim {
            Some(claim) => batch.insert(claim),
            None => batch,
        };
        match self.0.commit(batch).await {
            Ok(()) => Ok(Accepted::New),
            Err(error) if error.is_refused() => {
                let recognised = self.recognise(one, &[0]).await?.pop();
                recognised.map(|(_, accepted)| accepted).ok_or(error)
            }
            Err(error) => Err(error),
        }
    }

    async fn admit(
        &self,
        arrivals: &[Arrival],
        rejection: Option<&Stored<Rejection>>,
        mut told: Vec<Option<Accepted>>,
    ) -> Result<Vec<Accepted>, StoreError> {
        let firsts = among_themselves(arrivals);
        let mut tries = 0;
        loop {
            let open: Vec<_> = (0..arrivals.len())
                .filter(|place| told[*place].is_none() && firsts[*place] == *place)
                .collect();
            if open.is_empty() && rejection.is_none() {
                break;
            }
            let mut batch = Batch::new();
            if let Some(rejection) = rejection {
                batch = batch.delete(rejection).erasing(rejection.rejected_at);
            }
            for arrival in open.iter().map(|place| &arrivals[*place]) {
                if let Some(claim) = &arrival.claim {
                    batch = batch.insert(claim);
                }
                batch = batch.insert(&arrival.event);
                batch = arrival.items.iter().fold(batch, Batch::insert);
            }
            let refusal = match self.0.commit(batch).await {
                Ok(()) => break,
                Err(error) if error.is_refused() => error,
                Err(error) => return Err(error),
            };
            tries += 1;
            let recognised = self.recognise(arrivals, &open).await?;
            // Someone's claim may have ended between the refusal and the look at it.
            let is_claims = matches!(&refusal, StoreError::Refused { key, .. }
                if key.table == Kind::Claim.table());
            if tries == TRIES_MAX || (recognised.is_empty() && !is_claims) {
                return Err(refusal);
            }
            for (place, accepted) in recognised {
                told[place] = Some(accepted);
            }
        }
        let answer = |(place, first): (usize, usize)| match told[first].clone() {
            Some(duplicate @ Accepted::Duplicate { .. }) => duplicate,
            _ if first == place => Accepted::New,
            _ => Accepted::Duplicate { first: Some(arrivals[first].event.id) },
        };
        Ok(firsts.into_iter().enumerate().map(answer).collect())
    }

    /// Those of the open arrivals whose claim is in the ledger already.
    async fn recognise(
        &self,
        arrivals: &[Arrival],
        open: &[usize],
    ) -> Result<Vec<(usize, Accepted)>, StoreError> {
        let looks = open.iter().filter_map(|place| {
            let Arrival { event, claim, .. } = &arrivals[*place];
            let key = claim::key(&claim.as_ref()?.key);
            Some(async move {
                let found = self.0.find::<Claim>(&key).await?;
                Ok::<_, StoreError>(found.map(|found| match found.event_id {
                    // An earlier try got through and only its answer was lost.
                    Some(first) if first == event.id => (*place, Accepted::New),
                    first => (*place, Accepted::Duplicate { first }),
                }))
            })
        });
        Ok(try_join_all(looks).await?.into_iter().flatten().collect())
    }

    /// Those that are copies of what was erased.
    async fn recognise_erased(
        &self,
        arrivals: &[Arrival],
    ) -> Result<Vec<Option<Accepted>>, StoreError> {
        let looks = arrivals.iter().map(|arrival| async {
            let Some(claim) = &arrival.claim else { return Ok(None) };
            let erased = self.0.find::<Claim>(&claim::key(&dedup::erased_key(&claim.key))).await?;
            Ok::<_, StoreError>(erased.map(|_| Accepted::Duplicate { first: None }))
        });
        try_join_all(looks).await
    }

    /// Through an index: on DynamoDB an event may take a moment to be found.
    pub async fn find(&self, id: Id<Event>) -> Result<Option<Stored<Event>>, StoreError> {
        self.0.find_by(event::by_id(id)).await
    }

    /// By its key, and so as it was last written.
    pub async fn find_of(
        &self,
        source: Id<Source>,
        received_at: Timestamp,
        id: Id<Event>,
    ) -> Result<Option<Stored<Event>>, StoreError> {
        self.0.find(&event::key(source, received_at, id)).await
    }

    pub async fn list_by_source(
        &self,
        source: Id<Source>,
        window: Window,
        slice: Slice,
    ) -> Result<Page<Stored<Event>>, StoreError> {
        let query = Query::table(Kind::Event, source::partition(source));
        let query = window.texts(query, event::PREFIX, digits);
        self.0.list(slice.of(query)).await
    }

    /// The account's inbox.
    pub async fn list_by_account(
        &self,
        account: Id<Account>,
        window: Window,
        slice: Slice,
    ) -> Result<Page<Stored<Event>>, StoreError> {
        let query = Query::index(Kind::Event, Index::Inbox, account.as_str());
        let query = window.texts(query, "", Timestamp::to_micros_text);
        self.0.list(slice.of(query)).await
    }

    /// Exactly this type, not those that begin with it.
    pub async fn list_by_type(
        &self,
        account: Id<Account>,
        event_type: &str,
        window: Window,
        slice: Slice,
    ) -> Result<Page<Stored<Event>>, StoreError> {
        let query = Query::index(Kind::Event, Index::EventType, account.as_str());
        let prefix = format!("{event_type}#");
        let query = window.texts(query, &prefix, Timestamp::to_micros_text);
        let page = self.0.list(slice.of(query)).await?;
        // A type may have the separator in its name, and then lies within the range of another.
        let wanted = |event: &Event| event.event_type.as_deref() == Some(event_type);
        Ok(only(page, wanted))
    }

    /// By status and time, but not every event: the index is sparse, because each entry costs a
    /// write. Triggered events are in it whatever their status; webhooks and synced events only
    /// while they are failed, retrying, held or of a bad signature. For any other status this
    /// gives the triggered ones alone, and no error. To see all, list the inbox or the source and
    /// look at each event's status.
    pub async fn list_by_status(
        &self,
        account: Id<Account>,
        status: Status,
        window: Window,
        slice: Slice,
    ) -> Result<Page<Stored<Event>>, StoreError> {
        let query = Query::index(Kind::Event, Index::EventStatus, account.as_str());
        let query = window.texts(query, &format!("{status}#"), Timestamp::to_micros_text);
        self.0.list(slice.of(query)).await
    }

    /// Events that could not be processed and were given up: failed, and without a delivery. They
    /// are found among all that failed, so a page may be short or empty and still have a next one.
    pub async fn list_dead_letters(
        &self,
        account: Id<Account>,
        window: Window,
        slice: Slice,
    ) -> Result<Page<Stored<Event>>, StoreError> {
        let page = self.list_by_status(account, Status::Failed, window, slice).await?;
        let mut page = only(page, |event| event.processing_error.is_some());
        // One that was planned after all may still tell what went wrong before.
        let planned = page.rows.iter().map(|event| async {
            let deliveries = Query::table(Kind::Delivery, event::partition(event.id));
            let deliveries = deliveries.prefix(delivery::PREFIX).limit(1);
            self.some::<Delivery>(deliveries).await.map(|(some, _)| !some.is_empty())
        });
        let mut planned = try_join_all(planned).await?.into_iter();
        page.rows.retain(|_| !planned.next().unwrap_or(false));
        Ok(page)
    }

    /// Gives one that could not be processed another chance: it is pending again.
    pub async fn redrive(&self, was: &Stored<Event>) -> Result<Stored<Event>, StoreError> {
        self.0.replace(was, was.redriven(self.0.now())).await
    }

    /// Events whose deliveries nobody has planned yet, by when they began to wait.
    pub async fn list_pending(
        &self,
        shard: Shard,
        window: Window,
        slice: Slice,
    ) -> Result<Page<Stored<Event>>, StoreError> {
        let query = Query::index(Kind::Event, Index::Pending, shard.partition());
        let query = window.numbers(query, Timestamp::as_millis);
        self.0.list(slice.of(query)).await
    }

    /// Events that came while their source was paused and that nobody has planned since, by when
    /// they came. Those whose deliveries are held for another reason are not among them.
    pub async fn list_held(
        &self,
        source: Id<Source>,
        window: Window,
        slice: Slice,
    ) -> Result<Page<Stored<Event>>, StoreError> {
        let query = Query::index(Kind::Event, Index::Pending, event::held(source));
        let query = window.numbers(query, Timestamp::as_millis);
        self.0.list(slice.of(query)).await
    }

    /// Moves an event on, without what it carries. A crash may undo it.
    pub async fn progress(
        &self,
        event: &Event,
        was: &Stored<Standing>,
        now: Standing,
    ) -> Result<Stored<Standing>, StoreError> {
        let Some(patch) = event::progress(event, was, &now) else { return Ok(was.clone()) };
        self.0.commit_buffered(Batch::new().patch(patch)).await?;
        Ok(was.followed_by(now))
    }

    /// Moves an event on. What it carries cannot change.
    pub async fn replace(
        &self,
        was: &Stored<Event>,
        now: Event,
    ) -> Result<Stored<Event>, StoreError> {
        self.0.replace(was, now).await
    }

    /// Counts that it came again. A crash may forget the last few.
    pub async fn count_duplicates(
        &self,
        source: Id<Source>,
        received_at: Timestamp,
        id: Id<Event>,
        times: u32,
    ) -> Result<(), StoreError> {
        let key = event::key(source, received_at, id);
        let patch = Patch::of(Kind::Event, key).add("duplicateCount", times.into());
        self.0.commit_buffered(Batch::new().patch(patch)).await
    }

    /// The event alone; its deliveries and attempts stay until they expire.
    pub async fn delete(&self, was: &Stored<Event>) -> Result<(), StoreError> {
        self.0.delete(was).await
    }

    /// The first rows of a list, at least one if there is any, and whether there may be more.
    pub(super) async fn some<T: Record>(
        &self,
        mut query: Query,
    ) -> Result<(Vec<Stored<T>>, bool), StoreError> {
        loop {
            let page = self.0.list(query.clone()).await?;
            if page.next.is_none() || !page.rows.is_empty() {
                return Ok((page.rows, page.next.is_some()));
            }
            query.after = page.next;
        }
    }
}

/// For each arrival the place of the first that has the same claim: mostly its own.
fn among_themselves(arrivals: &[Arrival]) -> Vec<usize> {
    let mut firsts = HashMap::new();
    let first = |(place, arrival): (usize, &Arrival)| match &arrival.claim {
        Some(claim) => *firsts.entry(claim.key.clone()).or_insert(place),
        None => place,
    };
    arrivals.iter().enumerate().map(first).collect()
}
