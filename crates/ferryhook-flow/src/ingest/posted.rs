//! Posted: events that an app brings by itself, through the API.
//!
//! They go the way of all others from the rules of the plan to the hand-over; only the letter is
//! missing. Who may post is known to whoever asks here.

use std::net::IpAddr;
use std::sync::Arc;

use ferryhook_core::dedup::ledger_key;
use ferryhook_core::event::{Origin, Status};
use ferryhook_core::trigger::Posted;
use ferryhook_core::{Body, Event, Headers, Id, Source, Timestamp, account, source};
use ferryhook_net::problem::Code;
use ferryhook_store::repositories::{Accepted, Arrival};

use super::declared::Sifted;
use super::quota::Grant;
use super::refusal::Refusal;
use super::{Door, Ingest, adopted, content_bytes, fitting, unpack};
use crate::routes::Route;

/// What became of one of them.
#[derive(Debug, Clone)]
pub enum Filed {
    New(Box<Event>),
    /// It was here before. Nobody knows the first where that has been erased.
    Known(Option<Id<Event>>),
}

/// Why one of them was not taken in, as whoever posted it is told.
#[derive(Debug, Clone)]
pub struct Declined {
    pub code: Code,
    pub detail: String,
    pub wait_seconds: Option<u64>,
    /// Where it is wrong, as JSON pointers into what was posted, and why.
    pub errors: Vec<(String, String)>,
}

impl From<&Refusal> for Declined {
    fn from(refusal: &Refusal) -> Self {
        let detail = refusal.detail().into_owned();
        let wait_seconds = refusal.retry_after_seconds();
        Self { code: refusal.code(), detail, wait_seconds, errors: Vec::new() }
    }
}

impl Ingest {
    /// What became of each, in order. One that cannot be stored does not keep the others out.
    /// Nothing at all is stored when the source may not take them now.
    pub async fn post(
        &self,
        source: Id<Source>,
        posted: Vec<Posted>,
        sender: Option<IpAddr>,
    ) -> Result<Vec<Result<Filed, Declined>>, Declined> {
        let filed = self.0.take_posted(source, posted, sender).await;
        filed.map_err(|refusal| Declined::from(&refusal))
    }
}

impl Door {
    async fn take_posted(
        self: &Arc<Self>,
        source: Id<Source>,
        posted: Vec<Posted>,
        sender: Option<IpAddr>,
    ) -> Result<Vec<Result<Filed, Declined>>, Refusal> {
        let route = self.routes.find(source).await.map_err(|error| self.store_away(&error))?;
        let route = route.ok_or(Refusal::UnknownSource)?;
        if route.account_status != account::Status::Active {
            return Err(Refusal::Suspended);
        }
        self.within_rate(&route)?;
        let (posted, refused) = Sifted::of(self, &route, posted).await.parts();
        if posted.is_empty() {
            return Ok(Sifted::join(refused, Vec::new()));
        }
        let grant = self.within_quota(&route, posted.len() as u64).await?;
        let now = self.env.now();
        let arrivals: Vec<_> =
            posted.into_iter().map(|posted| self.arrival_of(&route, posted, sender, now)).collect();
        let bytes = arrivals.iter().map(|arrival| content_bytes(&arrival.event)).sum();
        let place = self.waiting.enter(bytes).ok_or(Refusal::Crowded)?;
        if route.plan.events_per_minute.is_some() {
            self.rates.add(route.source.id, (arrivals.len() as u64).saturating_sub(1));
        }
        let door = self.clone();
        let work = async move {
            let filed = door.file(&route, arrivals, grant, now).await;
            drop(place);
            (filed, route)
        };
        let (filed, route) = adopted::to_its_end(&self.tasks, work).await;
        self.let_others_go_first(&route).await;
        self.meters.note_bytes(bytes);
        Ok(Sifted::join(refused, filed))
    }

    /// As many with one commit as fit into it. Where one of them is too large for an item, which
    /// only the store can tell, they go one by one.
    async fn file(
        &self,
        route: &Arc<Route>,
        mut arrivals: Vec<Arrival>,
        mut grant: Option<Grant>,
        now: Timestamp,
    ) -> Vec<Result<Filed, Declined>> {
        self.plan_to_fetch(route, &mut arrivals, now);
        let mut filed = Vec::with_capacity(arrivals.len());
        while !arrivals.is_empty() {
            let rest = arrivals.split_off(fitting(&arrivals, 0));
            match self.accept_posted(route, &arrivals, now).await {
                Ok(told) => filed.extend(self.told(route, arrivals, told, &mut grant, now)),
                Err(Refusal::DoesNotFit) if arrivals.len() > 1 => {
                    for arrival in arrivals {
                        let one = vec![arrival];
                        match self.accept_posted(route, &one, now).await {
                            Ok(told) => filed.extend(self.told(route, one, told, &mut grant, now)),
                            Err(refusal) => filed.push(Err(Declined::from(&refusal))),
                        }
                    }
                }
                Err(refusal) => {
                    filed.extend(arrivals.iter().map(|_| Err(Declined::from(&refusal))));
                }
            }
            arrivals = rest;
        }
        filed
    }

    async fn accept_posted(
        &self,
        route: &Route,
        arrivals: &[Arrival],
        now: Timestamp,
    ) -> Result<Vec<Accepted>, Refusal> {
        let events = self.store.events();
        let accepted = match route.erased_until.is_some_and(|until| now < until) {
            true => events.accept_after_erasures(arrivals).await,
            false => events.accept(arrivals).await,
        };
        accepted.map_err(|error| self.store_away(&error))
    }

    fn told(
        &self,
        route: &Arc<Route>,
        arrivals: Vec<Arrival>,
        told: Vec<Accepted>,
        grant: &mut Option<Grant>,
        now: Timestamp,
    ) -> impl Iterator<Item = Result<Filed, Declined>> {
        arrivals.into_iter().zip(told).map(move |(arrival, accepted)| {
            let event = Box::new(arrival.event.clone());
            let told = self.settle(route, arrival, &accepted, now, grant.as_mut());
            Ok(match accepted {
                Accepted::New => Filed::New(event),
                Accepted::Duplicate { .. } => Filed::Known(told.id),
            })
        })
    }

    fn arrival_of(
        &self,
        route: &Route,
        posted: Posted,
        sender: Option<IpAddr>,
        now: Timestamp,
    ) -> Arrival {
        let Posted { event_type, payload, occurred_at, metadata, key } = posted;
        let source = &route.source;
        let (id, at) = self.names.next(now, &self.env);
        let is_held = source.status == source::Status::Paused;
        // Where nobody else is to get it, it is there to be fetched.
        let waits = !is_held && !route.ways.is_empty();
        let event = Event {
            id,
            source_id: source.id,
            user_id: source.user_id,
            account_id: source.account_id,
            origin: Origin::Trigger,
            status: if is_held { Status::Held } else { Status::Received },
            event_type: Some(event_type),
            retry_count: 0,
            metadata,
            dedup_key: key.map(|key| ledger_key(source.id, &source.provider, &key)),
            duplicate_count: 0,
            method: None,
            path: None,
            query: None,
            content_type: None,
            source_ip: sender.map(|sender| sender.to_string()),
            headers: Headers::default(),
            body: Body::default(),
            payload: Some(payload),
            received_at: at,
            occurred_at,
            processing_tries: 0,
            processing_error: None,
            pending_since: waits.then_some(at),
            processed_at: None,
            delivered_at: None,
            expires_at: route.plan.expiry(at),
        };
        unpack::arrival(self, route, event, now)
    }
}
