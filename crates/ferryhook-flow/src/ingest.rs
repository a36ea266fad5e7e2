//! Ingest: takes events in at `/in/{source_id}`, and says yes only when they are durable.
//!
//! Woken by requests, through the front of the server. It knows the rules of the door (size, rate,
//! quota, copies) and nothing of what comes behind it: an event that is stored is handed over and
//! forgotten. When the hand-over is lost, the marker that is stored with the event finds it again.

pub mod address;
mod adopted;
mod answer;
mod body;
mod declared;
mod fetched;
mod letter;
pub mod limits;
mod meters;
mod names;
mod outside;
mod posted;
mod proof;
mod public_url;
mod quota;
mod rate;
mod readmit;
mod refusal;
mod rejections;
mod reverify;
mod room;
mod span;
mod unpack;

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use ferryhook_core::event_type::Mode;
use ferryhook_core::event_type::declared::Mismatch;
use ferryhook_core::hops::{self, Hops};
use ferryhook_core::{
    Account, Delivery, Env, Event, Headers, Id, Rejection, Source, Timestamp, account, event,
};
use ferryhook_net::problem::RequestId;
use ferryhook_net::{Peer, Tasks, Trusted};
use ferryhook_store::repositories::{Accepted, Arrival};
use ferryhook_store::{Store, StoreError, Stored};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use hyper::body::Body;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Request};

use crate::routes::{Route, Routes};
use crate::tally::Tally;
use crate::trace::Sink;
use answer::Told;
use letter::Letter;
use meters::{Meters, Outcome};
use names::Names;
use outside::Fetched;
use proof::Claimed;
use quota::{Grant, Quotas};
use rate::Rates;
use refusal::Refusal;
use rejections::Rejections;
use room::{Place, Room};
use span::{Begun, LetIn};

pub use answer::Answer;
pub use outside::Outside;
pub use posted::{Declined, Filed};
pub use readmit::NotReadmitted;
pub use reverify::NotVerified;

/// Who gets the events that were just stored. Called after the commit and before the sender's
/// answer, so it must be quick and must not fail: what it loses is found by the sweep.
pub trait HandOver: Send + Sync {
    fn take(&self, event: Stored<Event>, route: Arc<Route>);

    /// Where more of this route waits than is good although its destinations are quick: ends when
    /// there may be room again.
    fn crowd(&self, _route: &Route) -> Option<BoxFuture<'static, ()>> {
        None
    }

    /// Told of every event first, copies and those that nobody takes included.
    fn heard(&self, _event: &Event, _route: &Route, _is_duplicate: bool) {}

    /// An event that was stored without a proof turned out to be genuine.
    fn proved(&self, _event: &Event, _route: &Route) {}

    /// An event was refused because it is not as its type is declared.
    fn mismatched(&self, _account: Id<Account>, _name: &str, _mode: Mode, _wrong: Mismatch) {}

    /// So much of what its plan has for a month is spoken for.
    fn counted(&self, _account: Id<Account>, _used: u64, _limit: u64) {}

    /// These were stored for those who fetch, and there is nothing else to do about their event.
    fn lies(&self, _items: &[Delivery]) {}

    /// An event was stored as held for its source, which may have been resumed meanwhile: then
    /// nobody else would let it go on.
    fn hold(&self, _source: Id<Source>) {}
}

/// What the operator decides about the door.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Whose `X-Forwarded-For` counts.
    pub trusted: Trusted,
    /// Where senders reach this server, if not at the name they call it by.
    pub public_url: Option<String>,
    /// Whom the door may call. Without it, providers that sign with a certificate are not
    /// understood.
    pub outside: Option<Outside>,
    /// How long the ledger remembers an event.
    pub remember: Duration,
    /// How long a sender may take for a body.
    pub body_within: Duration,
    /// Who keeps a span of each request, if anybody does.
    pub traces: Option<Sink>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            trusted: Trusted::default(),
            public_url: None,
            outside: None,
            remember: Duration::from_secs(14 * 24 * 60 * 60),
            body_within: limits::BODY,
            traces: None,
        }
    }
}

/// Cheap to clone: clones are the same door.
#[derive(Clone)]
pub struct Ingest(Arc<Door>);

struct Door {
    store: Store,
    env: Env,
    tasks: Tasks,
    routes: Routes,
    hand_over: Arc<dyn HandOver>,
    settings: Settings,
    names: Names,
    rates: Rates,
    quotas: Quotas,
    tally: Tally,
    rejections: Rejections,
    fetched: Fetched,
    /// A list of many events is let in by several commits, which two must not do at once.
    readmitting: tokio::sync::Mutex<()>,
    /// Checks against declared schemas that take a while.
    checking: Arc<tokio::sync::Semaphore>,
    /// Bodies that are not whole yet.
    reading: Room,
    /// Events that are not durable yet.
    waiting: Room,
    meters: Meters,
    /// In which second it was last said that the store is away.
    complained_at: AtomicU64,
}

impl Ingest {
    /// Counts are written by one of `tasks` every few seconds, and once more when they end.
    pub fn new(
        store: Store,
        env: Env,
        tasks: &Tasks,
        routes: Routes,
        hand_over: Arc<dyn HandOver>,
        tally: &Tally,
        settings: Settings,
    ) -> Self {
        let fetched = Fetched::new(settings.outside.clone(), env.clone());
        let ingest = Self(Arc::new(Door {
            store,
            env,
            tasks: tasks.clone(),
            routes,
            hand_over,
            fetched,
            readmitting: tokio::sync::Mutex::default(),
            checking: Arc::new(tokio::sync::Semaphore::new(limits::CHECKS_AT_ONCE)),
            settings,
            names: Names::default(),
            rates: Rates::default(),
            quotas: Quotas::default(),
            tally: tally.clone(),
            rejections: Rejections::default(),
            reading: Room::new(usize::MAX, limits::READING_BYTES_MAX),
            waiting: Room::new(limits::WAITING_MAX, limits::WAITING_BYTES_MAX),
            meters: Meters::new(),
            complained_at: AtomicU64::new(u64::MAX),
        }));
        tasks.spawn("count", ingest.clone().flush_until(tasks.stopping()));
        ingest
    }

    pub async fn answer<B>(self, request: Request<B>) -> Answer
    where
        B: Body<Data = Bytes> + Send,
    {
        let door = &self.0;
        let (began, id) = (door.env.elapsed(), RequestId::new(&door.env));
        let version = request.version();
        let traces = door.settings.traces.as_ref();
        let begun = traces.and_then(|sink| Begun::of(&request, sink, door.env.now()));
        let (head, body) = request.into_parts();
        let (answer, outcome, let_in) = match door.receive(&head, body).await {
            Ok(taken) => (taken.answer, taken.outcome, Some(taken.let_in)),
            Err(refusal) => {
                let answer = answer::refused(&refusal, id, version, door.env.now());
                (answer, Outcome::from(&refusal), None)
            }
        };
        let took = door.env.elapsed().saturating_sub(began);
        door.meters.note(outcome, took);
        if let Some(begun) = begun {
            begun.end(answer.status(), let_in.as_ref(), took, &door.env);
        }
        answer::named(answer, id)
    }

    /// Writes what was counted and what was refused. Nothing when there is nothing.
    pub async fn flush(&self) {
        self.write(false).await;
    }

    async fn write(&self, is_last: bool) {
        let door = &self.0;
        match is_last {
            true => door.tally.flush(&door.store).await,
            false => door.tally.flush_some(&door.store).await,
        }
        door.rejections.flush(&door.store).await;
        door.quotas.flush(&door.store, &door.env, is_last).await;
        for (account, used, limit) in door.quotas.counted(&door.store, &door.env).await {
            door.hand_over.counted(account, used, limit);
        }
    }

    async fn flush_until(self, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        loop {
            tokio::select! {
                () = tokio::time::sleep(limits::FLUSH_EVERY) => self.flush().await,
                () = stop.as_mut() => return self.write(true).await,
            }
        }
    }
}

/// A request that was taken in.
struct Taken {
    answer: Answer,
    outcome: Outcome,
    let_in: LetIn,
}

impl Door {
    async fn receive<B>(self: &Arc<Self>, head: &Parts, body: B) -> Result<Taken, Refusal>
    where
        B: Body<Data = Bytes> + Send,
    {
        let (id, suffix) = address::parse(head.uri.path()).ok_or(Refusal::UnknownSource)?;
        let route = self.routes.find(id).await.map_err(|error| self.store_away(&error))?;
        // What apps post comes through the API, where it is known who they are, and what Ferryhook
        // itself says, nobody else can say.
        let route = route.filter(|route| !route.source.is_built_in());
        let route = route.ok_or(Refusal::UnknownSource)?;
        let taken = AssertUnwindSafe(self.take_in(&route, head, suffix, body)).catch_unwind();
        let taken = taken.await.unwrap_or_else(|_| {
            tracing::error!(source.id = %id, "taking in a request panicked");
            Err(Refusal::Panicked)
        });
        if let Err(refusal) = &taken {
            self.keep_refusal(&route, head, suffix, refusal);
        }
        taken
    }

    /// The rules of the door, the cheap ones first.
    async fn take_in<B>(
        self: &Arc<Self>,
        route: &Arc<Route>,
        head: &Parts,
        suffix: &str,
        body: B,
    ) -> Result<Taken, Refusal>
    where
        B: Body<Data = Bytes> + Send,
    {
        if route.account_status != account::Status::Active {
            return Err(Refusal::Suspended);
        }
        if is_circle(&head.headers) {
            return Err(Refusal::Loop);
        }
        self.within_rate(route)?;
        let letter = Letter::new(head, suffix, self.sender(head));
        let handshakes = &route.proof.handshakes;
        let may_be_handshake =
            handshakes.may_answer(&letter.method, letter.query.as_deref(), &letter.headers);
        let mut grant = match may_be_handshake {
            true => None,
            false => self.within_quota(route, 1).await?,
        };

        let bytes_max = body_bytes_max(route);
        let bounds =
            body::Bounds { bytes_max, within: self.settings.body_within, room: &self.reading };
        let body = body::read(body, bounds).await?;
        let place = self.waiting.enter(body.len());
        let mut place = place.ok_or(Refusal::Crowded)?;
        let mut doubt = None;
        if may_be_handshake || route.proof.is_needed() {
            let claimed = Claimed::new(self, head, &letter, &body);
            if may_be_handshake {
                if let Some(answered) = self.shake_hands(route, &claimed).await? {
                    return Ok(answered);
                }
                grant = self.within_quota(route, 1).await?;
            }
            doubt = self.prove(route, &claimed).await?;
        }
        let (bytes, now) = (body.len(), self.env.now());
        let arrivals = match doubt {
            None => unpack::arrivals(self, route, letter, body, now, &mut place).await?,
            Some(reason) => vec![unpack::marked(self, route, letter, body, now, reason)?],
        };
        if route.plan.events_per_minute.is_some() {
            self.rates.add(route.source.id, arrivals.len() as u64 - 1);
        }
        if let (Some(grant), 2..) = (&mut grant, arrivals.len()) {
            let more = self.within_quota(route, arrivals.len() as u64 - 1).await?;
            more.into_iter().for_each(|more| grant.join(more));
        }
        let work = self.clone().store(route.clone(), arrivals, now, (place, grant), None);
        let told = adopted::to_its_end(&self.tasks, work).await?;
        if told.iter().any(|told| !told.is_duplicate && told.status == event::Status::Received) {
            self.let_others_go_first(route).await;
        }
        self.meters.note_bytes(bytes);
        Ok(taken(route, told))
    }

    /// Where deliveries fall behind because the machine is busy, answers wait for them a little. A
    /// destination that is slow by itself delays nobody.
    async fn let_others_go_first(&self, route: &Route) {
        let Some(mut room) = self.hand_over.crowd(route) else { return };
        let all = async {
            loop {
                room.await;
                match self.hand_over.crowd(route) {
                    Some(still) => room = still,
                    None => return,
                }
            }
        };
        let _ = tokio::time::timeout(crate::limits::PATIENCE, all).await;
    }

    fn within_rate(&self, route: &Route) -> Result<(), Refusal> {
        let Some(limit) = route.plan.events_per_minute else { return Ok(()) };
        self.rates.take(route.source.id, limit, self.env.elapsed()).map_err(Refusal::OverRate)
    }

    /// Leave for this many events, where the plan wants to be asked.
    async fn within_quota(&self, route: &Route, events: u64) -> Result<Option<Grant>, Refusal> {
        let Some(most) = route.plan.events_per_month else { return Ok(None) };
        let account = route.source.account_id;
        match self.quotas.take(&self.store, &self.env, account, most, events).await {
            Ok(Some(grant)) => Ok(Some(grant)),
            Ok(None) => {
                let now = self.env.now();
                let wait = now.next_month().saturating_since(now);
                Err(Refusal::OverQuota { policy: route.plan.over_quota, wait })
            }
            Err(error) => Err(self.store_away(&error)),
        }
    }

    /// As the sender called it.
    fn url_of(&self, head: &Parts) -> String {
        let peer = head.extensions.get::<Peer>().map(|peer| peer.0.ip());
        public_url::of(self.settings.public_url.as_deref(), head, peer, &self.settings.trusted)
    }

    fn sender(&self, head: &Parts) -> Option<std::net::IpAddr> {
        let peer = head.extensions.get::<Peer>()?;
        Some(self.settings.trusted.sender(peer.0.ip(), &head.headers))
    }

    /// Commits, then hands over what is new. From the first step to the last this must not be
    /// interrupted.
    async fn store(
        self: Arc<Self>,
        route: Arc<Route>,
        mut arrivals: Vec<Arrival>,
        now: Timestamp,
        (_place, mut grant): (Place, Option<Grant>),
        rejection: Option<Box<(Stored<Rejection>, Store)>>,
    ) -> Result<Vec<Told>, Refusal> {
        self.plan_to_fetch(&route, &mut arrivals, now);
        let mut told = Vec::with_capacity(arrivals.len());
        while !arrivals.is_empty() {
            // The rejection, and a line for the audit log with the head of its chain.
            let beside = if rejection.is_some() { 3 } else { 0 };
            let rest = arrivals.split_off(fitting(&arrivals, beside));
            let accepted = match rejection.as_deref().filter(|_| rest.is_empty()) {
                Some((rejection, store)) => {
                    Box::pin(store.events().readmit(&arrivals, rejection)).await
                }
                None if route.erased_until.is_some_and(|until| now < until) => {
                    Box::pin(self.store.events().accept_after_erasures(&arrivals)).await
                }
                None => self.store.events().accept(&arrivals).await,
            };
            let accepted = accepted.map_err(|error| self.store_away(&error))?;
            for (arrival, accepted) in arrivals.into_iter().zip(accepted) {
                told.push(self.settle(&route, arrival, &accepted, now, grant.as_mut()));
            }
            arrivals = rest;
        }
        Ok(told)
    }

    fn settle(
        &self,
        route: &Arc<Route>,
        Arrival { event, items, .. }: Arrival,
        accepted: &Accepted,
        now: Timestamp,
        grant: Option<&mut Grant>,
    ) -> Told {
        let (id, status) = (event.id, event.status);
        let is_duplicate = matches!(accepted, Accepted::Duplicate { .. });
        self.hand_over.heard(&event, route, is_duplicate);
        if let Accepted::Duplicate { first } = accepted {
            self.tally.repeated(&route.source, *first, now);
            return Told { id: *first, status: event::Status::Received, is_duplicate: true };
        }
        let is_filtered = status == event::Status::Filtered;
        self.tally.arrived(&route.source, content_bytes(&event), is_filtered, now);
        match grant {
            Some(grant) => grant.spend(),
            None if route.plan.events_per_month.is_some() => {
                self.quotas.let_in(route.source.account_id, now, 1);
            }
            None => {}
        }
        if event.pending_since.is_some() {
            // A new row has been written once.
            self.hand_over.take(Stored { record: event, revision: 1 }, route.clone());
        } else if !items.is_empty() {
            self.hand_over.lies(&items);
        } else if status == event::Status::Held {
            self.hand_over.hold(route.source.id);
        }
        Told { id: Some(id), status, is_duplicate: false }
    }

    fn keep_refusal(&self, route: &Route, head: &Parts, suffix: &str, refusal: &Refusal) {
        let Some(cause) = refusal.cause() else { return };
        let now = self.env.now();
        self.tally.refused(&route.source, now);
        self.rejections.keep(route.source.id, cause, self.env.elapsed(), || {
            let letter = Letter::new(head, suffix, self.sender(head));
            let rejection = letter.rejection(route, Id::at(now, &self.env), now, refusal, cause);
            Rejection { url: Some(self.url_of(head)), ..rejection }
        });
    }

    fn store_away(&self, error: &StoreError) -> Refusal {
        match error {
            StoreError::OutOfBounds(_) => Refusal::DoesNotFit,
            error => {
                // Once a second: every request of an outage ends up here.
                let second = self.env.elapsed().as_secs();
                if self.complained_at.swap(second, Ordering::Relaxed) != second {
                    tracing::warn!(%error, "events are not taken in");
                }
                Refusal::StoreAway
            }
        }
    }
}

fn taken(route: &Route, told: Vec<Told>) -> Taken {
    let outcome = match &told[..] {
        told if told.iter().all(|told| told.is_duplicate) => Outcome::Duplicate,
        told if told.iter().any(|told| told.status == event::Status::Held) => Outcome::Held,
        [told] if told.status == event::Status::SignatureFailed => Outcome::Marked,
        _ => Outcome::Accepted,
    };
    let usual = route.proof.handshakes.acknowledgement();
    let answer = match (route.source.custom_response.as_ref().or(usual), &told[..]) {
        (Some(wanted), _) => answer::custom(wanted),
        (None, [told]) => answer::one(*told),
        (None, told) => answer::several(told),
    };
    Taken { answer, outcome, let_in: LetIn { account: route.source.account_id, told } }
}

fn is_circle(headers: &HeaderMap) -> bool {
    let said = headers.get_all(hops::HEADER).into_iter();
    let said = said.filter_map(|value| Some((hops::HEADER, value.to_str().ok()?)));
    let mut said = said.peekable();
    said.peek().is_some() && Hops::of(&Headers::from_iter(said)).is_circle()
}

fn body_bytes_max(route: &Route) -> usize {
    use ferryhook_core::limits::{BODY_BYTES_DEFAULT, BODY_BYTES_MAX};
    let wanted = route.source.body_bytes_max.map(|bytes| bytes as usize);
    wanted.unwrap_or(BODY_BYTES_DEFAULT).min(BODY_BYTES_MAX)
}

/// How many of these fit into one commit beside so many other actions; at least one.
fn fitting(arrivals: &[Arrival], beside: usize) -> usize {
    let (mut bytes, mut actions) = (0, beside);
    let fits = |arrival: &&Arrival| {
        bytes += weight(&arrival.event) + arrival.items.len() * limits::ITEM_OVERHEAD_BYTES;
        actions += arrival.actions();
        bytes <= limits::COMMIT_BYTES_MAX && actions <= limits::COMMIT_ACTIONS_MAX
    };
    arrivals.iter().take_while(fits).count().max(1)
}

fn weight(event: &Event) -> usize {
    let headers = event.headers.iter().map(|(name, value)| name.len() + value.len());
    content_bytes(event) + headers.sum::<usize>() + limits::EVENT_OVERHEAD_BYTES
}

/// Of its body, or of what it has instead.
fn content_bytes(event: &Event) -> usize {
    let maps = [&event.payload, &event.metadata].into_iter().flatten();
    let maps = maps.map(|map| serde_json::to_vec(map).map_or(0, |text| text.len()));
    event.body.len() + maps.sum::<usize>()
}

impl std::fmt::Debug for Ingest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ingest").field("routes", &self.0.routes).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
