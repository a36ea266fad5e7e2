//! The inbox behind a door, on the memory engine and with a clock that runs with tokio's paused
//! time.

mod alone;
mod crowd;
mod shaped;
mod trouble;
mod workers;

use std::time::Duration;

use ferryhook_core::connection::{DestinationType, Status as ConnectionStatus};
use ferryhook_core::delivery::State;
use ferryhook_core::env::SeededEntropy;
use ferryhook_core::event::Status;
use ferryhook_core::inbox::{Leased, Replied, Reply, Token, Wanted, own_way};
use ferryhook_core::trigger::Posted;
use ferryhook_core::{Env, Headers, Source, samples};
use ferryhook_net::Tasks;
use ferryhook_net::client::{Outbound, Outgoing, Reply as Answer, Timing, Unsent};
use ferryhook_store::{Slice, Store};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::*;
use crate::ingest::{Filed, Settings};
use crate::probe::{Paused, Probe, parts, settle_in};
use crate::{Ingest, Parts, Routes, Tally};

/// A destination that takes everything, after a while.
struct Slow;

impl Outbound for Slow {
    fn send(&self, _: Outgoing) -> BoxFuture<'_, Result<Answer, Unsent>> {
        Box::pin(async {
            sleep(Duration::from_secs(5)).await;
            let (headers, timing) = (hyper::HeaderMap::new(), Timing::default());
            Ok(Answer { status: 200, headers, body: bytes::Bytes::new(), timing })
        })
    }
}

struct Shop {
    ingest: Ingest,
    courier: Courier,
    probe: Arc<Probe>,
    store: Store,
    env: Env,
}

fn account() -> Id<Account> {
    samples::account().id
}

fn triggers() -> Source {
    Source::triggers(samples::user().id, account(), samples::CREATED)
}

/// From the source that apps post to.
fn connection(name: &str) -> Connection {
    Connection {
        id: format!("conn_{name:0>16}").parse().unwrap(),
        source_id: triggers().id,
        name: name.to_owned(),
        status: ConnectionStatus::Active,
        destination_url: Some(format!("https://{name}.example.com/")),
        destination_config: None,
        headers: Headers::default(),
        auth: None,
        event_types: Vec::new(),
        filters: None,
        transform: None,
        retry_config: None,
        ordering_key: None,
        ordering_policy: None,
        ..samples::connection()
    }
}

fn to_inbox(name: &str, config: &serde_json::Value) -> Connection {
    Connection {
        destination_type: DestinationType::Inbox,
        destination_url: None,
        destination_config: config.as_object().cloned(),
        ..connection(name)
    }
}

fn courier(store: &Store, env: &Env, shared: bool) -> (Courier, Routes) {
    let routes = Routes::new(store.clone(), env.clone(), Tasks::new());
    let courier =
        Courier::new(Parts { routes: routes.clone(), shared, ..parts(store, env, Arc::new(Slow)) });
    (courier, routes)
}

impl Shop {
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    async fn new(connections: &[Connection]) -> Self {
        let clock = Arc::new(Paused(Instant::now()));
        let env = Env::new(clock, Arc::new(SeededEntropy::new(7)));
        let (probe, store) = Probe::new(&env);
        settle_in(&store).await;
        store.sources().create(&triggers()).await.unwrap();
        for connection in connections {
            store.connections().create(connection).await.unwrap();
        }
        let (courier, routes) = courier(&store, &env, false);
        let hand_over = Arc::new(courier.clone());
        let (tasks, tally, settings) = (Tasks::new(), Tally::default(), Settings::default());
        let ingest =
            Ingest::new(store.clone(), env.clone(), &tasks, routes, hand_over, &tally, settings);
        courier.start();
        Self { ingest, courier, probe, store, env }
    }

    async fn post(&self, types: &[&str]) -> Vec<Event> {
        self.post_each(types.iter().map(|event_type| (*event_type, json!({"amount": 7})))).await
    }

    async fn post_each<'a>(&self, all: impl Iterator<Item = (&'a str, Value)>) -> Vec<Event> {
        let posted = |(event_type, payload): (&str, Value)| Posted {
            event_type: event_type.to_owned(),
            payload: payload.as_object().unwrap().clone(),
            occurred_at: None,
            metadata: None,
            key: None,
        };
        let posted = all.map(posted).collect();
        let filed = self.ingest.post(triggers().id, posted, None).await.unwrap();
        let new = |filed| match filed {
            Ok(Filed::New(event)) => *event,
            other => panic!("{other:?}"),
        };
        filed.into_iter().map(new).collect()
    }

    async fn lease(&self, wanted: Wanted) -> Vec<Leased> {
        self.courier.lease_items(account(), &wanted).await.unwrap()
    }

    async fn reply(&self, token: Token, reply: &Reply) -> Replied {
        self.courier.reply_to_leases(account(), &[token], reply).await.unwrap()[0]
    }

    async fn status(&self, event: Id<Event>) -> (Status, u32) {
        let event = self.store.events().find(event).await.unwrap().unwrap();
        (event.status, event.retry_count)
    }

    async fn items(&self, event: Id<Event>) -> Vec<Delivery> {
        let all = self.store.deliveries().list_by_event(event, Slice::default()).await.unwrap();
        all.rows.into_iter().map(|row| row.record).collect()
    }
}

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

fn wanted(count: usize) -> Wanted {
    Wanted {
        group: Group::default(),
        count,
        visibility: seconds(30),
        types: Vec::new(),
        wait: Duration::ZERO,
    }
}

fn heard(status: Status) -> Replied {
    Replied::Heard { lease_until: None, status }
}

fn nack(delay: u64) -> Reply {
    Reply::Nack { delay: seconds(delay), reason: Some("no room".to_owned()) }
}

/// Stored with its item at the door, fetched, done.
#[tokio::test(start_paused = true)]
async fn what_is_posted_is_there_to_be_fetched() {
    let shop = Shop::new(&[]).await;
    shop.post(&["order.warmup"]).await; // the route is known from here on
    let before = shop.probe.commits();
    let event = shop.post(&["order.paid"]).await.remove(0);
    assert_eq!(shop.probe.commits() - before, 1);
    assert_eq!((event.status, event.pending_since), (Status::Received, None));
    assert!(event.processed_at.is_some());
    let items = shop.items(event.id).await;
    assert_eq!(items.len(), 1);
    assert_eq!(items[0].connection_id, own_way(account()));

    let leased = shop.lease(wanted(10)).await.remove(1);
    assert_eq!((leased.event.id, leased.retry_count), (event.id, 0));
    assert_eq!(leased.event.payload, event.payload);
    assert!(shop.lease(wanted(10)).await.is_empty(), "it is somebody's");
    assert_eq!(shop.status(event.id).await, (Status::Received, 0));
    assert_eq!(shop.reply(leased.token, &Reply::Ack).await, heard(Status::Delivered));
    assert_eq!(shop.reply(leased.token, &Reply::Ack).await, heard(Status::Delivered));
    assert_eq!(shop.status(event.id).await, (Status::Delivered, 0));
    assert_eq!(shop.reply(leased.token, &nack(0)).await, Replied::Stale);
}

#[tokio::test(start_paused = true)]
async fn many_go_with_one_commit_each_way() {
    let shop = Shop::new(&[]).await;
    shop.post(&["order.warmup"]).await;
    let before = shop.probe.commits();
    shop.post(&["order.paid"; 45]).await;
    assert_eq!(shop.probe.commits() - before, 1, "event and item, forty-five times");
    let leased = shop.lease(wanted(46)).await;
    assert_eq!(shop.probe.commits() - before, 2);
    let tokens: Vec<_> = leased.iter().map(|leased| leased.token).collect();
    let replied = shop.courier.reply_to_leases(account(), &tokens, &Reply::Ack).await.unwrap();
    assert_eq!(replied, vec![heard(Status::Delivered); 46]);
    assert_eq!(shop.probe.commits() - before, 3);
}

/// The diagram of the states, at the event.
#[tokio::test(start_paused = true)]
async fn an_event_goes_the_way_of_its_item() {
    let shop = Shop::new(&[]).await;
    let id = shop.post(&["order.paid"]).await[0].id;
    let first = shop.lease(wanted(1)).await.remove(0);
    assert_eq!(shop.reply(first.token, &nack(60)).await, heard(Status::Failed));
    assert_eq!(shop.status(id).await, (Status::Failed, 0));
    assert!(shop.lease(wanted(1)).await.is_empty(), "put off for a minute");
    sleep(seconds(60)).await;
    let second = shop.lease(wanted(1)).await.remove(0);
    assert_eq!(second.retry_count, 1);
    assert_eq!(shop.status(id).await, (Status::Retrying, 1));
    sleep(seconds(31)).await;
    let third = shop.lease(wanted(1)).await.remove(0);
    assert_eq!(shop.status(id).await, (Status::Retrying, 2));
    assert_eq!(shop.reply(second.token, &Reply::Ack).await, Replied::Stale);
    let until = third.lease_until + seconds(30);
    sleep(seconds(20)).await;
    let extend = Reply::Extend { visibility: seconds(40) };
    let extended = Replied::Heard { lease_until: Some(until), status: Status::Retrying };
    assert_eq!(shop.reply(third.token, &extend).await, extended);
    sleep(seconds(39)).await;
    assert!(shop.lease(wanted(1)).await.is_empty());
    sleep(seconds(600)).await;
    assert_eq!(shop.reply(third.token, &Reply::Ack).await, heard(Status::Delivered), "nobody came");
    assert_eq!(shop.status(id).await, (Status::Delivered, 2));
}

/// Five leases, and it is given up: by whoever has it last, or by the next who comes.
#[tokio::test(start_paused = true)]
async fn an_item_is_given_up_after_its_last_lease() {
    let shop = Shop::new(&[]).await;
    let given_back = shop.post(&["order.paid"]).await[0].id;
    for lease in 1..=5 {
        let leased = shop.lease(wanted(1)).await.remove(0);
        assert_eq!(leased.token.lease, lease);
        assert_eq!(shop.reply(leased.token, &nack(0)).await, heard(Status::Failed));
    }
    assert!(shop.lease(wanted(1)).await.is_empty());
    let item = shop.items(given_back).await.remove(0);
    assert!(matches!(item.state, State::Failed { .. }));
    assert_eq!(item.last_error.as_deref(), Some("no room"));

    let left = shop.post(&["order.paid"]).await[0].id;
    for _ in 1..=5 {
        assert_eq!(shop.lease(wanted(1)).await.len(), 1);
        sleep(seconds(31)).await;
    }
    assert!(shop.lease(wanted(1)).await.is_empty());
    assert!(shop.items(left).await[0].is_settled());
    assert_eq!(shop.status(left).await, (Status::Failed, 4));
}

/// Each group has it once; who is through with it decides nothing for the other.
#[tokio::test(start_paused = true)]
async fn groups_have_an_event_each() {
    let billing = to_inbox("billing", &json!({"group": "billing", "maxLeases": 1}));
    let again = to_inbox("again", &json!({"group": "billing"}));
    let shop = Shop::new(&[billing, again]).await;
    let id = shop.post(&["order.paid"]).await[0].id;
    assert_eq!(shop.items(id).await.len(), 2);
    let of_billing = Wanted { group: "billing".parse().unwrap(), ..wanted(5) };
    let ours = shop.lease(wanted(5)).await.remove(0);
    let theirs = shop.lease(of_billing).await.remove(0);
    let both = [ours.token, theirs.token, ours.token];
    let replied = shop.courier.reply_to_leases(account(), &both, &Reply::Ack).await.unwrap();
    assert_eq!(replied, vec![heard(Status::Delivered); 3]);
    assert_eq!(shop.status(id).await, (Status::Delivered, 0));
}

#[tokio::test(start_paused = true)]
async fn a_lease_may_ask_for_types() {
    let shop = Shop::new(&[]).await;
    shop.post(&["order.paid"; 45]).await;
    shop.post(&["user.created", "order.paid", "user.deleted"]).await;
    let users = || Wanted { types: vec!["user.*".to_owned()], ..wanted(5) };
    let leased = shop.lease(users()).await;
    let types: Vec<_> = leased.iter().filter_map(|one| one.event.event_type.as_deref()).collect();
    assert_eq!(types, ["user.created", "user.deleted"]);
    assert!(shop.lease(users()).await.is_empty());
    assert_eq!(shop.lease(wanted(100)).await.len(), 46);
}

/// Whoever waits hears what comes, what is given back, and what was left.
#[tokio::test(start_paused = true)]
async fn a_lease_waits_for_the_first() {
    let shop = Shop::new(&[]).await;
    let waits = || Wanted { wait: seconds(20), ..wanted(5) };
    let begun = shop.env.elapsed();
    assert!(shop.lease(waits()).await.is_empty());
    assert_eq!((shop.env.elapsed() - begun).as_secs(), 20);
    let posting = async {
        sleep(seconds(3)).await;
        shop.post(&["order.paid"]).await
    };
    let (leased, _) = tokio::join!(shop.lease(waits()), posting);
    assert_eq!((shop.env.elapsed() - begun).as_secs(), 23);
    let returning = async {
        sleep(seconds(2)).await;
        shop.reply(leased[0].token, &nack(4)).await
    };
    let (leased, _) = tokio::join!(shop.lease(waits()), returning);
    assert_eq!((leased[0].retry_count, (shop.env.elapsed() - begun).as_secs()), (1, 29));
    sleep(seconds(25)).await;
    let leased = shop.lease(waits()).await;
    assert_eq!((leased[0].retry_count, (shop.env.elapsed() - begun).as_secs()), (2, 59));
}

/// An item is there at once, however long a destination takes.
#[tokio::test(start_paused = true)]
async fn an_item_does_not_wait_for_what_is_sent() {
    let shop = Shop::new(&[connection("dock")]).await;
    let id = shop.post(&["order.paid"]).await[0].id;
    let leased = shop.lease(Wanted { wait: seconds(1), ..wanted(1) }).await.remove(0);
    assert_eq!(leased.event.id, id);
    assert_eq!(shop.reply(leased.token, &Reply::Ack).await, heard(Status::Delivered));
    assert_eq!(shop.status(id).await.0, Status::Retrying, "the dock has not answered");
    sleep(seconds(10)).await;
    assert_eq!(shop.status(id).await.0, Status::Delivered);
}

/// What nobody has fetched keeps no event from being delivered elsewhere.
#[tokio::test(start_paused = true)]
async fn what_is_sent_does_not_wait_for_the_inbox() {
    let shop = Shop::new(&[connection("dock")]).await;
    let id = shop.post(&["order.paid"]).await[0].id;
    sleep(seconds(10)).await;
    assert_eq!(shop.status(id).await.0, Status::Delivered);
    let leased = shop.lease(wanted(1)).await.remove(0);
    assert_eq!(shop.reply(leased.token, &nack(0)).await, heard(Status::Failed));
    assert_eq!(shop.status(id).await.0, Status::Failed);
}

/// The connection's rules hold for what is fetched.
#[tokio::test(start_paused = true)]
async fn a_connection_to_the_inbox_has_its_rules() {
    let some = Connection {
        event_types: vec!["order.*".to_owned()],
        ..to_inbox("some", &json!({"group": "some"}))
    };
    let shop = Shop::new(&[some]).await;
    shop.post(&["order.paid", "user.created"]).await;
    let of_some = Wanted { group: "some".parse().unwrap(), ..wanted(5) };
    assert_eq!(shop.lease(of_some).await.len(), 1);
    assert_eq!(shop.lease(wanted(5)).await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_event_is_acknowledged_as_a_whole() {
    let shop = Shop::new(&[]).await;
    let event = shop.post(&["order.paid"]).await.remove(0);
    let group = Group::default();
    let ack = |group| shop.courier.reply_to_event(&event, group, &Reply::Ack);
    let other = "other".parse().unwrap();
    assert_eq!(ack(&other).await.unwrap(), Replied::Unknown);
    assert_eq!(ack(&group).await.unwrap(), heard(Status::Delivered));
    assert_eq!(ack(&group).await.unwrap(), heard(Status::Delivered));
    assert!(shop.lease(wanted(1)).await.is_empty());
}

/// A token is worth nothing in another account.
#[tokio::test(start_paused = true)]
async fn a_strangers_token_is_unknown() {
    let shop = Shop::new(&[]).await;
    shop.post(&["order.paid"]).await;
    let leased = shop.lease(wanted(1)).await.remove(0);
    let stranger: Id<Account> = Id::new(&shop.env);
    let tokens = [leased.token, Token { event: Id::new(&shop.env), ..leased.token }];
    let replied = shop.courier.reply_to_leases(stranger, &tokens, &Reply::Ack).await.unwrap();
    assert_eq!(replied, [Replied::Unknown; 2]);
    assert!(shop.courier.lease_items(stranger, &wanted(1)).await.unwrap().is_empty());
    assert_eq!(shop.reply(leased.token, &Reply::Ack).await, heard(Status::Delivered));
}

#[tokio::test(start_paused = true)]
async fn a_replay_puts_it_back() {
    let shop = Shop::new(&[]).await;
    let id = shop.post(&["order.paid"]).await[0].id;
    let leased = shop.lease(wanted(1)).await.remove(0);
    shop.reply(leased.token, &Reply::Ack).await;
    let replayed = shop.courier.replay(id, None).await.unwrap();
    assert_eq!(replayed.begun, [own_way(account())]);
    assert_eq!(shop.status(id).await.0, Status::Received);
    assert_eq!(shop.reply(leased.token, &Reply::Ack).await, Replied::Stale);
    let again = shop.lease(wanted(1)).await.remove(0);
    assert_eq!(again.status, shop.items(id).await[0].inbox_status(), "as in a list");
    assert_eq!((again.status, again.retry_count), (Status::Received, 1));
    assert_eq!(shop.reply(again.token, &Reply::Ack).await, heard(Status::Delivered));
}

#[tokio::test(start_paused = true)]
async fn what_is_erased_is_not_fetched() {
    let shop = Shop::new(&[]).await;
    let events = shop.post(&["order.paid", "order.paid"]).await;
    let leased = shop.lease(wanted(1)).await.remove(0);
    for event in &events {
        let stored = shop.store.events().find(event.id).await.unwrap().unwrap();
        shop.store.events().erase(&stored).await.unwrap();
    }
    assert!(shop.lease(wanted(5)).await.is_empty());
    assert_eq!(shop.reply(leased.token, &Reply::Ack).await, Replied::Unknown);
}
