//! The events of a month, in the order in which they came, and what became of each.

use std::time::Duration;

use ferryhook_core::delivery::{Failure, Lane, State};
use ferryhook_core::event::{Origin, Status};
use ferryhook_core::{Attempt, Connection, Delivery, Env, Event, Headers, Id, Source, Timestamp};
use ferryhook_store::repositories::Arrival;
use ferryhook_store::{Store, StoreError, Stored};
use futures_util::future::try_join_all;

use crate::commands::bench::letter::Enclosed;

/// One event in so many has a delivery with its attempt; the others were stored and wanted by
/// nobody. One in so many of those deliveries has failed.
const DELIVERED_EVERY: u32 = 4;
const FAILED_EVERY: u32 = 80;
/// One event in so many is of another type than the rest.
const RARE_EVERY: u32 = 100;
pub const RARE_TYPE: &str = "order.refunded";
const USUAL_TYPE: &str = "order.completed";
const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);

#[derive(Debug)]
pub struct History {
    ways: Vec<(Source, Connection)>,
    began: Timestamp,
    step: Duration,
    enclosed: Enclosed,
    env: Env,
}

/// One event, with what was done about it.
#[derive(Debug)]
pub struct Moment {
    pub event: Event,
    done: Option<(Delivery, Attempt)>,
}

impl History {
    pub fn new(ways: Vec<(Source, Connection)>, events: u32, env: Env) -> Self {
        let began = env.now() - MONTH;
        Self { ways, began, step: MONTH / events.max(1), enclosed: Enclosed::new(), env }
    }

    /// Sources take turns.
    pub fn moment(&mut self, number: u32) -> Moment {
        let received_at = self.began + self.step * number;
        let body = self.enclosed.numbered(number);
        let (source, connection) = &self.ways[number as usize % self.ways.len()];
        let status = match number {
            _ if number.is_multiple_of(FAILED_EVERY) => Status::Failed,
            _ if number.is_multiple_of(DELIVERED_EVERY) => Status::Delivered,
            _ => Status::Filtered,
        };
        let is_rare = number.is_multiple_of(RARE_EVERY);
        let event = Event {
            id: Id::at(received_at, &self.env),
            source_id: source.id,
            user_id: source.user_id,
            account_id: source.account_id,
            origin: Origin::Webhook,
            status,
            event_type: Some(if is_rare { RARE_TYPE } else { USUAL_TYPE }.to_owned()),
            retry_count: 0,
            metadata: None,
            dedup_key: None,
            duplicate_count: 0,
            method: Some("POST".to_owned()),
            path: None,
            query: None,
            content_type: Some("application/json".to_owned()),
            source_ip: Some("127.0.0.1".to_owned()),
            headers: headers(),
            body: body.into(),
            payload: None,
            received_at,
            occurred_at: None,
            processing_tries: 0,
            processing_error: None,
            pending_since: None,
            processed_at: Some(received_at),
            delivered_at: (status == Status::Delivered).then_some(received_at),
            expires_at: None,
        };
        let done = (status != Status::Filtered).then(|| done(&event, connection));
        Moment { event, done }
    }
}

fn headers() -> Headers {
    let pairs = [
        ("host", "hooks.example.com"),
        ("user-agent", "Shop/2.0 (+https://shop.example.com/webhooks)"),
        ("content-type", "application/json"),
        ("accept", "*/*"),
        (
            "x-shop-signature",
            "t=1767225600,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0",
        ),
        ("x-shop-delivery", "b5f3c1d0-5f7c-4a57-9a53-7f4d1f0a4c11"),
    ];
    Headers::new(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec())
}

/// Settled at the first attempt, one way or the other.
fn done(event: &Event, connection: &Connection) -> (Delivery, Attempt) {
    let at = event.received_at;
    let (state, status_code, text) = match event.status {
        Status::Failed => {
            let state = State::Failed { reason: Failure::Refused, settled_at: at };
            (state, 400, "Bad Request")
        }
        _ => (State::Delivered { settled_at: at }, 200, "OK"),
    };
    let delivery = Delivery {
        event_id: event.id,
        connection_id: connection.id,
        source_id: event.source_id,
        account_id: event.account_id,
        state,
        lane: Lane::Live,
        attempts: 1,
        attempts_before: 0,
        order_key: None,
        last_status_code: Some(status_code),
        last_error: None,
        created_at: at,
        updated_at: at,
        expires_at: None,
        inbox: None,
    };
    let attempt = Attempt {
        event_id: event.id,
        connection_id: connection.id,
        number: 1,
        destination_url: connection.destination_url.clone().unwrap_or_default(),
        status_code,
        response_body: Some(text.to_owned()),
        error: None,
        latency_ms: 12,
        dns_ms: None,
        connect_ms: Some(3),
        tls_ms: Some(5),
        first_byte_ms: Some(12),
        attempted_at: at,
        expires_at: None,
    };
    (delivery, attempt)
}

/// The events in one commit, and then what was done about each.
pub async fn write(store: &Store, moments: &[Moment]) -> Result<(), StoreError> {
    let arrivals: Vec<_> = moments
        .iter()
        .map(|moment| Arrival { event: moment.event.clone(), claim: None, items: Vec::new() })
        .collect();
    store.events().accept(&arrivals).await?;
    let done = moments.iter().filter_map(|moment| Some((&moment.event, moment.done.as_ref()?)));
    let plans = done.map(|(event, (delivery, attempt))| async move {
        // It stands where it will stand already.
        let stands = Stored { record: event.standing(), revision: 1 };
        let (now, deliveries) = (stands.record, std::slice::from_ref(delivery));
        store.deliveries().plan(event, &stands, now, deliveries, Some(attempt)).await
    });
    try_join_all(plans).await.map(drop)
}
