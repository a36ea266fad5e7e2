//! Senders wait a little where many deliveries wait for a destination that is quick.

mod crashed;
mod held;
mod order;
mod trial;

use bytes::Bytes;
use ferryhook_core::env::SeededEntropy;
use ferryhook_core::event::Origin;
use ferryhook_core::{Connection, Headers, samples};
use ferryhook_net::client::{Outgoing, Reply, Timing, Unsent};
use ferryhook_store::repositories::Arrival;
use hyper::HeaderMap;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout};

use super::*;
use crate::probe::{Paused, Probe, parts, settle_in};

/// Answers as often as it may, and says that it took so long.
struct Dock {
    may: Semaphore,
    took: Duration,
}

impl Outbound for Dock {
    fn send(&self, _: Outgoing) -> BoxFuture<'_, Result<Reply, Unsent>> {
        Box::pin(async move {
            self.may.acquire().await.unwrap().forget();
            let (headers, body) = (HeaderMap::new(), Bytes::new());
            let timing = Timing { total: self.took, ..Timing::default() };
            Ok(Reply { status: 200, headers, body, timing })
        })
    }
}

struct Ferry {
    courier: Courier,
    dock: Arc<Dock>,
    route: Arc<Route>,
}

impl Ferry {
    /// With this many that wait for a destination that has answered a few, and now does not.
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    async fn new(waiting: usize, took: Duration) -> Self {
        let clock = Arc::new(Paused(Instant::now()));
        let env = Env::new(clock, Arc::new(SeededEntropy::new(7)));
        let (_, store) = Probe::new(&env);
        settle_in(&store).await;
        let source = Source { dedup_expression: None, ..samples::source() };
        store.sources().create(&source).await.unwrap();
        let connection = Connection {
            destination_url: Some("https://orders.example.com/".to_owned()),
            headers: Headers::default(),
            auth: None,
            event_types: Vec::new(),
            filters: None,
            transform: None,
            ordering_key: None,
            ordering_policy: None,
            rate_per_second_max: None,
            concurrency_max: None,
            ..samples::connection()
        };
        store.connections().create(&connection).await.unwrap();
        let dock = Arc::new(Dock { may: Semaphore::new(0), took });
        let courier = Courier::new(parts(&store, &env, dock.clone()));
        courier.start();
        sleep(Duration::from_secs(1)).await; // it has looked for what an earlier run has left
        let route = courier.0.routes.find(source.id).await.unwrap().unwrap();
        let begun = limits::CONCURRENCY_FIRST;
        for _ in 0..begun + waiting {
            let now = env.now();
            let event = Event {
                id: Id::at(now, &env),
                origin: Origin::Webhook,
                status: Status::Received,
                dedup_key: None,
                payload: None,
                received_at: now,
                pending_since: Some(now),
                processed_at: None,
                delivered_at: None,
                expires_at: None,
                ..samples::event()
            };
            let arrival = Arrival { event: event.clone(), claim: None, items: Vec::new() };
            store.events().accept(&[arrival]).await.unwrap();
            courier.take(Stored { record: event, revision: 1 }, route.clone());
        }
        let ferry = Self { courier, dock, route };
        // Each success lets one more begin beside the one that takes its place.
        ferry.answers(1).await;
        ferry
    }

    async fn answers(&self, times: usize) {
        self.dock.may.add_permits(times);
        sleep(Duration::from_millis(1)).await;
    }

    fn waiting(&self) -> usize {
        self.courier.0.lanes().lanes.waiting().0
    }
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_room_goes_on_when_half_have_gone_and_not_before() {
    let ferry = Ferry::new(200, Duration::from_millis(2)).await;
    let mut room = ferry.courier.crowd(&ferry.route).expect("a crowd");
    let half = limits::CROWDED / 2;
    while ferry.waiting() > half {
        assert!(timeout(Duration::ZERO, &mut room).await.is_err(), "{}", ferry.waiting());
        ferry.answers(1).await;
    }
    let began = ferry.courier.0.env.elapsed();
    timeout(limits::PATIENCE, room).await.expect("to be told");
    assert_eq!(ferry.courier.0.env.elapsed(), began);
    assert!(ferry.courier.crowd(&ferry.route).is_none());
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_destination_that_is_slow_or_silent_or_has_little_to_do() {
    let crowd_of = async |waiting, took, pause| {
        let ferry = Ferry::new(waiting, took).await;
        sleep(pause).await;
        ferry.courier.crowd(&ferry.route).is_some()
    };
    let (quick, slow) = (limits::QUICK / 2, limits::QUICK * 2);
    assert!(crowd_of(200, quick, Duration::ZERO).await);
    assert!(!crowd_of(200, slow, Duration::ZERO).await);
    assert!(!crowd_of(200, quick, limits::SILENT).await);
    assert!(!crowd_of(limits::CROWDED / 2, quick, Duration::ZERO).await);
}
