use std::sync::atomic::Ordering;

use ferryhook_core::env::ManualClock;
use ferryhook_core::{Connection, account, connection, samples};
use futures_util::future::join_all;
use serde_json::json;

use super::*;
use crate::probe::{Probe, settle_in};

struct Bench {
    probe: Arc<Probe>,
    store: Store,
    clock: Arc<ManualClock>,
    routes: Routes,
    tasks: Tasks,
}

const ID: &str = "src_0000000000000001";

async fn bench() -> Bench {
    let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
    let (probe, store) = Probe::new(&env);
    settle_in(&store).await;
    store.sources().create(&samples::source()).await.unwrap();
    store.connections().create(&samples::connection()).await.unwrap();
    let tasks = Tasks::new();
    let routes = Routes::new(store.clone(), env, tasks.clone());
    Bench { probe, store, clock, routes, tasks }
}

impl Bench {
    async fn find(&self) -> Option<Arc<Route>> {
        self.routes.find(ID.parse().unwrap()).await.unwrap()
    }

    /// Until whatever runs in the background is done.
    async fn settle(&self) {
        while !self.routes.0.loads().is_empty() {
            tokio::task::yield_now().await;
        }
    }

    async fn rename(&self, name: &str) {
        let was = self.store.sources().find(ID.parse().unwrap()).await.unwrap().unwrap();
        let now = Source { name: name.to_owned(), ..was.record.clone() };
        self.store.sources().replace(&was, now).await.unwrap();
    }

    async fn name(&self) -> String {
        self.find().await.unwrap().source.name.clone()
    }

    fn pass(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }
}

#[tokio::test]
async fn a_route_has_all_that_is_needed() {
    let bench = bench().await;
    let route = bench.find().await.unwrap();
    assert_eq!(route.source, samples::source());
    assert_eq!(route.account_status, account::Status::Active);
    assert_eq!(route.plan, Allowance::of(&samples::plan()));
    assert_eq!(route.plan.events_per_minute, Some(2_000));
    assert_eq!(route.ways.len(), 1);
    assert_eq!(route.ways[0].connection, samples::connection());
    assert_eq!(route.ways[0].policy.attempts(), 3);
    let reads = bench.probe.reads();
    bench.find().await.unwrap();
    assert_eq!(bench.probe.reads(), reads, "the second look costs nothing");
}

/// However many ask at once, one of them looks.
#[tokio::test]
async fn one_load_serves_all_who_wait() {
    let bench = bench().await;
    bench.find().await;
    let alone = bench.probe.reads();
    bench.routes.forget_all();
    bench.probe.reads.store(0, Ordering::SeqCst);
    let found = join_all((0..100).map(|_| bench.find())).await;
    assert!(found.iter().all(Option::is_some));
    assert!(bench.probe.reads() <= alone, "{} reads", bench.probe.reads());
}

/// After a minute the old route is still given at once, and the new one is there soon after.
#[tokio::test]
async fn a_stale_route_is_renewed_beside() {
    let bench = bench().await;
    assert_eq!(bench.name().await, "Stripe Prod");
    bench.rename("New").await;
    bench.pass(59);
    assert_eq!(bench.name().await, "Stripe Prod");
    bench.pass(1);
    assert_eq!(bench.name().await, "Stripe Prod");
    bench.settle().await;
    assert_eq!(bench.name().await, "New");
}

/// Many that grew old together are not renewed together, and all of them soon.
#[tokio::test]
async fn old_routes_take_turns() {
    let bench = bench().await;
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let sources: Vec<_> =
        (0..50).map(|_| Source { id: Id::new(&env), ..samples::source() }).collect();
    for source in &sources {
        bench.store.sources().create(source).await.unwrap();
        bench.routes.find(source.id).await.unwrap().unwrap();
    }
    // How many were begun to be renewed when all were asked for.
    let begun = async || {
        for source in &sources {
            bench.routes.find(source.id).await.unwrap().unwrap();
        }
        let begun = bench.routes.0.loads().len();
        bench.settle().await;
        begun
    };
    assert_eq!(begun().await, 0);
    bench.pass(60);
    assert_eq!(begun().await, 1);
    assert_eq!(begun().await, 0, "no time has passed");
    for _ in 0..sources.len() {
        bench.clock.advance(limits::RENEWAL_EVERY);
        assert!(begun().await <= 1);
    }
    bench.pass(1);
    assert_eq!(begun().await, 0, "each has had its turn");
}

/// Nobody asked for hours: what was true then is not told any more.
#[tokio::test]
async fn an_old_route_is_waited_for() {
    let bench = bench().await;
    assert_eq!(bench.name().await, "Stripe Prod");
    bench.rename("New").await;
    bench.pass(300);
    assert_eq!(bench.name().await, "New");
}

/// A store that is away leaves the known routes usable for a while, and is no proof that a
/// source does not exist.
#[tokio::test]
async fn an_absent_store_is_not_an_unknown_source() {
    let bench = bench().await;
    bench.find().await;
    bench.probe.is_away(true);
    bench.pass(120);
    assert!(bench.find().await.is_some());
    bench.routes.forget_all();
    let error = bench.routes.find(ID.parse().unwrap()).await.unwrap_err();
    assert!(error.to_string().contains("gone fishing"), "{error}");
    bench.probe.is_away(false);
    assert!(bench.find().await.is_some(), "a failure is not remembered");
}

#[tokio::test]
async fn what_is_not_there_is_remembered_briefly() {
    let bench = bench().await;
    let id = "src_000000000000000x".parse().unwrap();
    assert!(bench.routes.find(id).await.unwrap().is_none());
    let reads = bench.probe.reads();
    assert!(bench.routes.find(id).await.unwrap().is_none());
    assert_eq!(bench.probe.reads(), reads);

    bench.store.sources().create(&Source { id, ..samples::source() }).await.unwrap();
    assert!(bench.routes.find(id).await.unwrap().is_none(), "not known yet");
    bench.pass(5);
    assert!(bench.routes.find(id).await.unwrap().is_some());
}

/// Strangers may ask for as many addresses as they like.
#[tokio::test]
async fn unknown_ids_take_bounded_room() {
    let cache = Cache::default();
    let env = Env::fixed("2026-01-01T00:00:00Z");
    for _ in 0..3 * limits::UNKNOWN_MAX {
        cache.keep(Id::new(&env), None, Duration::ZERO);
    }
    assert!(cache.unknown() <= limits::UNKNOWN_MAX);
}

/// The ones that are asked for stay.
#[tokio::test]
async fn routes_take_bounded_room() {
    let bench = bench().await;
    let route = bench.find().await.unwrap();
    let cache = Cache::default();
    let env = Env::fixed("2026-01-01T00:00:00Z");
    for second in 0..limits::ROUTES_MAX as u64 + 5_000 {
        let now = Duration::from_secs(second);
        cache.keep(Id::new(&env), Some(route.clone()), now);
        cache.keep(route.source.id, Some(route.clone()), now);
    }
    assert!(cache.len() <= limits::ROUTES_MAX);
    assert!(cache.peek(route.source.id).is_some());
}

#[tokio::test]
async fn a_change_is_seen_once_it_was_told() {
    let bench = bench().await;
    assert_eq!(bench.name().await, "Stripe Prod");
    bench.rename("New").await;
    bench.routes.forget(ID.parse().unwrap());
    assert_eq!(bench.name().await, "New");
}

/// A load that began before the change must not bring back what was before it.
#[tokio::test]
async fn a_change_during_a_load_is_seen() {
    let bench = bench().await;
    bench.probe.hold();
    let mut asking = std::pin::pin!(bench.find());
    assert!(futures_util::poll!(asking.as_mut()).is_pending());
    while bench.probe.reads() == 0 {
        tokio::task::yield_now().await;
    }
    bench.routes.forget(ID.parse().unwrap());
    let reads = bench.probe.reads();
    bench.probe.let_go();
    asking.await.unwrap();
    let one_load = 6;
    assert!(bench.probe.reads() - reads >= one_load, "it was read again from the beginning");
}

#[tokio::test]
async fn a_deleted_source_is_none() {
    let bench = bench().await;
    let was = bench.store.sources().find(ID.parse().unwrap()).await.unwrap().unwrap();
    bench.store.sources().delete(&was).await.unwrap();
    assert!(bench.find().await.is_none());
}

#[tokio::test]
async fn deleted_connections_are_no_ways_and_paused_ones_are() {
    let bench = bench().await;
    for (id, status) in [
        ("conn_0000000000000002", connection::Status::Deleted),
        ("conn_0000000000000003", connection::Status::Paused),
    ] {
        let other = Connection { id: id.parse().unwrap(), status, ..samples::connection() };
        bench.store.connections().create(&other).await.unwrap();
    }
    let ways: Vec<_> =
        bench.find().await.unwrap().ways.iter().map(|way| way.connection.id.to_string()).collect();
    assert_eq!(ways, ["conn_0000000000000001", "conn_0000000000000003"]);
}

/// With their event they must fit into one commit.
#[tokio::test]
async fn a_source_has_a_bounded_number_of_ways() {
    let bench = bench().await;
    for n in 0..150 {
        let id = format!("conn_0000000000001{n:03}").parse().unwrap();
        let other = Connection { id, ..samples::connection() };
        bench.store.connections().create(&other).await.unwrap();
    }
    assert_eq!(bench.find().await.unwrap().ways.len(), limits::CONNECTIONS_MAX);
}

/// What nobody understands does not stop events from coming in.
#[tokio::test]
async fn bad_rules_are_left_out() {
    let bench = bench().await;
    let id = "src_000000000000000x".parse().unwrap();
    let mut source = Source { id, dedup_expression: Some("{".into()), ..samples::source() };
    source.config.insert("split".into(), json!(7));
    bench.store.sources().create(&source).await.unwrap();
    let way = Connection { source_id: id, retry_config: Some("?".into()), ..samples::connection() };
    bench.store.connections().create(&way).await.unwrap();
    let route = bench.routes.find(id).await.unwrap().unwrap();
    assert_eq!(route.ways[0].policy, ferryhook_core::retry::Policy::default());
}

/// Gaps in our own tables are not the sender's fault.
#[tokio::test]
async fn without_account_or_plan_there_are_no_limits() {
    let bench = bench().await;
    let id = "src_000000000000000x".parse().unwrap();
    let account_id = "acc_000000000000000x".parse().unwrap();
    let orphan = Source { id, account_id, ..samples::source() };
    bench.store.sources().create(&orphan).await.unwrap();
    let route = bench.routes.find(id).await.unwrap().unwrap();
    assert_eq!(route.plan, Allowance::default());
    assert_eq!(route.account_status, account::Status::Active);
}

/// Whoever suspends a customer means all that is beneath it.
#[tokio::test]
async fn a_route_is_as_badly_off_as_the_account_above() {
    let bench = bench().await;
    let accounts = bench.store.accounts();
    let above = samples::account().parent_account_id.unwrap();
    let parent = account::Account::root(above, "acme", samples::user().id, samples::CREATED);
    accounts.create(&parent).await.unwrap();
    let stands = async || {
        bench.routes.forget_all();
        let route = bench.find().await.unwrap();
        (route.account_status, route.ways[0].hold().is_some())
    };
    assert_eq!(stands().await, (account::Status::Active, false));
    let was = accounts.find(above).await.unwrap().unwrap();
    let was = accounts.set_status(&was, account::Status::Suspended).await.unwrap();
    assert_eq!(stands().await, (account::Status::Suspended, true));
    accounts.set_status(&was, account::Status::Active).await.unwrap();
    assert_eq!(stands().await, (account::Status::Active, false));
}

#[test]
fn a_plan_may_ask_for_payment() {
    let mut plan = samples::plan();
    assert_eq!(Allowance::of(&plan).over_quota, OverQuota::Wait);
    plan.metadata.get_or_insert_default().insert("overQuota".into(), json!(402));
    assert_eq!(Allowance::of(&plan).over_quota, OverQuota::Pay);
}

/// Shutting down leaves nobody waiting.
#[tokio::test(start_paused = true)]
async fn a_load_that_is_cut_off_is_an_error() {
    let bench = bench().await;
    bench.probe.hold();
    let mut asking = std::pin::pin!(bench.routes.find(ID.parse().unwrap()));
    assert!(futures_util::poll!(asking.as_mut()).is_pending());
    tokio::task::yield_now().await;
    assert_eq!(bench.tasks.finish(Duration::from_secs(1)).await, 1);
    assert!(asking.await.is_err());
}
