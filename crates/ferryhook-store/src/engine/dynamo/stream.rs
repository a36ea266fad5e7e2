//! Changes: the stream that DynamoDB keeps of a table, for a day.
//!
//! It comes in shards, of which those are read whose parents have been read ([`lineage`]). A place
//! says how far each of them was ([`checkpoint`]). All who read share what was read of a shard
//! ([`shelf`]), because it may be asked only a few times a second. Removals by the expiry of the
//! table are no changes. Nothing here is kept over a restart: a place is all it takes to go on.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::time::Duration;

use ferryhook_core::Env;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use tokio::sync::Mutex;

use crate::StoreError;
use crate::changes::{Change, Changes, ChangesError, Place, Start, Wanted};
use crate::schema::Names;
use crate::tables::Table;
use checkpoint::{Checkpoint, Spot, Spots};
use lineage::Gone;
use requests::{Described, Refusal, Requests};
use shelf::{End, Shelf};
use told::Told;

mod checkpoint;
mod lineage;
pub(super) mod requests;
mod shelf;
mod told;

/// How long who listens waits, and for how long an answer that had nothing does for others.
const POLL_EVERY: Duration = Duration::from_millis(500);
/// New shards are looked for this often, and more often when one has ended.
const DESCRIBE_EVERY: Duration = Duration::from_secs(30);
const DESCRIBE_AGAIN: Duration = Duration::from_secs(1);
/// How often shards are asked for one page of changes.
const ROUNDS_MAX: usize = 8;
const SHARDS_AT_ONCE: usize = 8;
/// Where a shard ended is remembered for whoever begins to listen.
const TIP_KEPT: Duration = Duration::from_secs(60);
/// Answers that are read in search of a moment, before others have their turn.
const PASSED_OVER_MAX: usize = 16;
/// By how much a record may be younger than it says: clocks differ, and some servers round to
/// the minute.
const ROUNDING_SECONDS: i64 = 65;

/// Somewhat less than a day, for which the server keeps records.
const FOUND_AGAIN_MILLIS: i64 = 23 * 60 * 60 * 1000;

#[derive(Debug)]
pub(super) struct Stream {
    requests: Requests,
    table: Table,
    name: String,
    env: Env,
    /// The server's limits and the age of its answers are of this world, also where a test has
    /// stopped the clock.
    time: Env,
    described: Mutex<Option<(Arc<Described>, Duration)>>,
    shelves: StdMutex<HashMap<String, Arc<Mutex<Shelf>>>>,
}

/// What follows a spot.
enum Next {
    Told(Vec<Arc<Told>>),
    Nothing,
    Over,
    /// It would take another request.
    NotKnown,
}

/// Why a shard cannot be read on.
enum Unread {
    Lost(Refusal),
    Error(StoreError),
}

impl From<StoreError> for Unread {
    fn from(error: StoreError) -> Self {
        Self::Error(error)
    }
}

impl From<Gone> for Unread {
    fn from(_: Gone) -> Self {
        Self::Lost(Refusal::Trimmed)
    }
}

impl Stream {
    pub(super) fn new(
        tables: aws_sdk_dynamodb::Client,
        streams: aws_sdk_dynamodbstreams::Client,
        names: &Names,
        env: Env,
        is_aws: bool,
    ) -> Self {
        let table = Table::Events;
        Self {
            requests: Requests { tables, streams, env: env.clone(), is_aws },
            table,
            name: names.of(table),
            env,
            time: Env::system(),
            described: Mutex::new(None),
            shelves: StdMutex::default(),
        }
    }

    pub(super) async fn changes(&self, wanted: &Wanted) -> Result<Changes, StoreError> {
        wanted.check()?;
        if wanted.kind.table() != self.table {
            return Err(ChangesError::NotKept.into());
        }
        Box::pin(self.page(wanted)).await.map_err(|unread| match unread {
            Unread::Error(error) => error,
            Unread::Lost(refusal) => {
                let place = match &wanted.start {
                    Start::After(place) => place.clone(),
                    Start::Oldest | Start::Now => Place::new("the beginning"),
                };
                match refusal {
                    Refusal::Unknown => ChangesError::Unknown(place).into(),
                    Refusal::Trimmed => ChangesError::TooOld(place).into(),
                    Refusal::Expired => {
                        let what = "DynamoDB takes no iterator of a stream, not even a new one";
                        StoreError::Unavailable(what.into(), None)
                    }
                }
            }
        })
    }

    /// The server rings no bell.
    pub(super) async fn changed(&self) -> Result<(), StoreError> {
        tokio::time::sleep(POLL_EVERY).await;
        Ok(())
    }

    async fn page(&self, wanted: &Wanted) -> Result<Changes, Unread> {
        let mut described = self.describe(DESCRIBE_EVERY).await?;
        let checkpoint = match &wanted.start {
            Start::Now => return self.now(&described).await,
            Start::Oldest => Checkpoint::Spots(Spots::new()),
            Start::After(place) => {
                checkpoint::parse(place.as_str()).ok_or(Unread::Lost(Refusal::Unknown))?
            }
        };
        let settled = settle(&described, &checkpoint);
        // Others may know of shards that this server has not heard of yet.
        if !matches!(&settled, Ok(spots) if !lineage::is_waiting(spots)) {
            described = self.describe(DESCRIBE_AGAIN).await?;
        }
        let mut spots = settle(&described, &checkpoint)?;
        let now = self.env.now().as_seconds();
        let mut changes = Vec::new();
        for _ in 0..ROUNDS_MAX {
            // Whoever has something to tell does not wait for more.
            let may_ask = changes.is_empty();
            let round = self.round(&described, &spots, may_ask).await?;
            let has_told = !round.told.is_empty();
            for (shard, told) in merge(round.told) {
                spots.insert(shard, Spot::After(told.number.clone()));
                let Some((key, what)) = told.wanted(wanted, now)? else { continue };
                let (sequence, place) = (told.sequence.clone(), place_of(&described, &spots));
                changes.push(Change { key, what, sequence, place });
                if changes.len() == wanted.limit {
                    return Ok(Changes {
                        changes,
                        next: place_of(&described, &spots),
                        is_end: false,
                    });
                }
            }
            let has_ended = !round.over.is_empty();
            if has_ended {
                spots.extend(round.over.into_iter().map(|shard| (shard, Spot::Over)));
                let known = lineage::settle(&described.shards, spots.clone())?;
                if lineage::is_waiting(&known) {
                    described = self.describe(DESCRIBE_AGAIN).await?;
                }
                spots = lineage::settle(&described.shards, spots)?;
            }
            if round.is_cut_short || !(has_told || has_ended) {
                let is_end = !round.is_cut_short;
                return Ok(Changes { changes, next: place_of(&described, &spots), is_end });
            }
        }
        Ok(Changes { changes, next: place_of(&described, &spots), is_end: false })
    }

    /// What follows in every shard that is being read.
    async fn round(
        &self,
        described: &Described,
        spots: &Spots,
        may_ask: bool,
    ) -> Result<Round, Unread> {
        let open: Vec<_> = spots.iter().filter(|(_, spot)| **spot != Spot::Over).collect();
        let reads = open.into_iter().map(|(shard, spot)| {
            let read = self.read(described, shard, spot, Asking::of(may_ask));
            Box::pin(async move { read.await.map(|next| (shard.clone(), next)) })
        });
        let reads: Vec<_> = reads.collect();
        let answers: Vec<_> = stream::iter(reads).buffered(SHARDS_AT_ONCE).try_collect().await?;
        let mut round = Round::default();
        for (shard, next) in answers {
            match next {
                Next::Told(told) => {
                    round.told.insert(shard, told);
                }
                Next::Over => round.over.push(shard),
                Next::NotKnown => round.is_cut_short = true,
                Next::Nothing => {}
            }
        }
        Ok(round)
    }

    async fn now(&self, described: &Described) -> Result<Changes, Unread> {
        let mut spots = Spots::new();
        for shard in lineage::youngest(&described.shards) {
            let spot = match shard.last {
                Some(_) => Spot::Over,
                None => self.tip(described, &shard.name).await?,
            };
            spots.insert(shard.name.clone(), spot);
        }
        Ok(Changes { changes: Vec::new(), next: place_of(described, &spots), is_end: true })
    }

    /// The end of a shard: one that someone knows, or a new one.
    async fn tip(&self, described: &Described, shard: &str) -> Result<Spot, Unread> {
        let began = self.time.elapsed();
        let shelf = self.shelf(shard);
        let known = shelf.lock().await.tip(began.saturating_sub(TIP_KEPT)).cloned();
        if let Some(mut spot) = known {
            for _ in 0..ROUNDS_MAX {
                match self.read(described, shard, &spot, Asking::Since(began)).await? {
                    Next::Told(told) => {
                        let last = told.last().map(|told| Spot::After(told.number.clone()));
                        spot = last.unwrap_or(spot);
                    }
                    Next::Nothing | Next::NotKnown => return Ok(spot),
                    Next::Over => return Ok(Spot::Over),
                }
            }
        }
        let id = described.id(shard).ok_or(Gone)?;
        let iterator = self.requests.iterator(&self.name, &described.arn, id, None).await?;
        let iterator = iterator.map_err(Unread::Lost)?;
        let mut shelf = shelf.lock().await;
        let mut moment = self.time.now().as_millis();
        // Two who begin at once have read differently far.
        while shelf.has(&Spot::Since(moment)) {
            moment += 1;
        }
        let spot = Spot::Since(moment);
        shelf.put_tip(spot.clone(), iterator, self.time.elapsed());
        drop(shelf);
        self.read(described, shard, &spot, Asking::Since(began)).await?;
        Ok(spot)
    }

    async fn read(
        &self,
        described: &Described,
        shard: &str,
        spot: &Spot,
        asking: Asking,
    ) -> Result<Next, Unread> {
        let shelf = self.shelf(shard);
        for _ in 0..PASSED_OVER_MAX {
            let mut shelf = loop {
                let mut shelf = shelf.lock().await;
                if let Some(told) = shelf.behind(spot) {
                    return Ok(Next::Told(told));
                }
                let now = self.time.elapsed();
                match shelf.end(spot) {
                    Some(end) if end.is_over => return Ok(Next::Over),
                    Some(End { asked_at: Some(at), .. }) if asking.is_content(*at, now) => {
                        return Ok(Next::Nothing);
                    }
                    _ if asking == Asking::Never => return Ok(Next::NotKnown),
                    _ => {}
                }
                match shelf.may_ask(now) {
                    Ok(()) => break shelf,
                    Err(wait) => {
                        drop(shelf);
                        tokio::time::sleep(wait).await;
                    }
                }
            };
            let at = self.time.elapsed();
            let (told, next) = self.fetch(described, shard, spot, &mut shelf).await?;
            let count = told.len();
            let told: Vec<_> = told.into_iter().filter(|told| is_behind(spot, told)).collect();
            let has_passed_over = told.is_empty() && count > 0;
            shelf.put(spot, told, next, at);
            if has_passed_over {
                // Further on in search of the moment.
                shelf.search_on(spot);
            }
        }
        Ok(Next::NotKnown)
    }

    /// One request for records, with an iterator that is there or a new one.
    async fn fetch(
        &self,
        described: &Described,
        shard: &str,
        spot: &Spot,
        shelf: &mut Shelf,
    ) -> Result<(Vec<Arc<Told>>, Option<String>), Unread> {
        let kept = shelf.end(spot).and_then(|end| end.iterator.clone());
        let answer = match &kept {
            Some(iterator) => self.requests.records(&self.name, iterator).await?,
            None => Err(Refusal::Expired),
        };
        let answer = match answer {
            Err(refusal) if self.is_worth_another(spot, refusal) => {
                shelf.forget_end(spot);
                let id = described.id(shard).ok_or(Gone)?;
                let iterator = self.requests.iterator(&self.name, &described.arn, id, Some(spot));
                let iterator = iterator.await?.map_err(Unread::Lost)?;
                self.requests.records(&self.name, &iterator).await?
            }
            answer => answer,
        };
        let (records, next) = answer.map_err(Unread::Lost)?;
        let told = records.into_iter().map(|record| Told::of(record, self.table).map(Arc::new));
        Ok((told.collect::<Result<_, _>>()?, next))
    }

    /// Whether a new iterator helps where one was refused.
    fn is_worth_another(&self, spot: &Spot, refusal: Refusal) -> bool {
        let now = self.time.now().as_millis();
        match (spot, refusal) {
            // It can be found again for as long as nothing behind it is gone.
            (Spot::Since(moment), _) => now.saturating_sub(*moment) < FOUND_AGAIN_MILLIS,
            (_, Refusal::Expired) => true,
            // DynamoDB Local counts all tables as one, and takes the beginning of an empty shard
            // for trimmed as soon as it has something.
            (Spot::Start, Refusal::Trimmed) => !self.requests.is_aws,
            _ => false,
        }
    }

    /// Which shards there are, as the server said no longer ago than this.
    async fn describe(&self, age: Duration) -> Result<Arc<Described>, StoreError> {
        let mut kept = self.described.lock().await;
        let now = self.time.elapsed();
        if let Some((described, at)) = &*kept
            && now.saturating_sub(*at) < age
        {
            return Ok(described.clone());
        }
        let described = Arc::new(self.requests.describe(&self.name).await?);
        *kept = Some((described.clone(), now));
        let mut shelves = self.shelves.lock().unwrap_or_else(PoisonError::into_inner);
        shelves.retain(|shard, _| described.id(shard).is_some());
        Ok(described)
    }

    fn shelf(&self, shard: &str) -> Arc<Mutex<Shelf>> {
        let mut shelves = self.shelves.lock().unwrap_or_else(PoisonError::into_inner);
        shelves.entry(shard.to_owned()).or_default().clone()
    }
}

/// Whether to send a request where nothing is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asking {
    Never,
    /// Unless someone has just done so.
    Lately,
    /// Unless someone has done so since then.
    Since(Duration),
}

impl Asking {
    fn of(may_ask: bool) -> Self {
        if may_ask { Self::Lately } else { Self::Never }
    }

    /// With an empty answer from this moment.
    fn is_content(self, at: Duration, now: Duration) -> bool {
        match self {
            Self::Never | Self::Lately => now.saturating_sub(at) < POLL_EVERY / 2,
            Self::Since(moment) => at >= moment,
        }
    }
}

#[derive(Debug, Default)]
struct Round {
    told: BTreeMap<String, Vec<Arc<Told>>>,
    over: Vec<String>,
    /// There may be more that was not asked for.
    is_cut_short: bool,
}

fn settle(described: &Described, checkpoint: &Checkpoint) -> Result<Spots, Gone> {
    match checkpoint {
        Checkpoint::Number(number) => lineage::behind(&described.shards, number),
        Checkpoint::Spots(spots) => lineage::settle(&described.shards, spots.clone()),
    }
}

fn place_of(described: &Described, spots: &Spots) -> Place {
    Place::new(checkpoint::text(spots, described.shards.len() == 1))
}

/// Whoever began at a moment and has lost the iterator reads the shard again, up to there; rather
/// something twice than not at all.
fn is_behind(spot: &Spot, told: &Told) -> bool {
    match (spot, told.created) {
        (Spot::Since(moment), Some(created)) => created + ROUNDING_SECONDS > moment / 1000,
        _ => true,
    }
}

/// What several shards tell, the smallest number first. Each shard's own order stays as it is.
fn merge(told: BTreeMap<String, Vec<Arc<Told>>>) -> Vec<(String, Arc<Told>)> {
    let mut waiting: Vec<_> =
        told.into_iter().map(|(shard, told)| (shard, told.into_iter().peekable())).collect();
    let mut merged = Vec::new();
    loop {
        let heads = waiting
            .iter_mut()
            .enumerate()
            .filter_map(|(place, (_, told))| told.peek().map(|told| (told.number.clone(), place)));
        let Some((_, place)) = heads.min() else { return merged };
        let next =
            waiting.get_mut(place).and_then(|(shard, told)| Some((shard.clone(), told.next()?)));
        merged.extend(next);
    }
}

#[cfg(test)]
mod tests;
