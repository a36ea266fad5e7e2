//! Two servers on one store, with a clock that is moved by hand.

use ferryhook_core::env::ManualClock;

use super::*;
use crate::probe::Probe;

struct Two {
    store: Store,
    env: Env,
    clock: Arc<ManualClock>,
    probe: Arc<Probe>,
    one: Quotas,
    other: Quotas,
    account: Id<Account>,
}

fn two() -> Two {
    let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
    let (probe, store) = Probe::new(&env);
    let account = ferryhook_core::samples::account().id;
    Two { store, env, clock, probe, one: Quotas::default(), other: Quotas::default(), account }
}

impl Two {
    /// Lets one in, if it may.
    async fn event(&self, quotas: &Quotas, most: u64) -> bool {
        let granted = quotas.take(&self.store, &self.env, self.account, most, 1).await.unwrap();
        granted.map(|mut grant| grant.spend()).is_some()
    }

    async fn counted(&self) -> i64 {
        let counts = self.store.plan_counts();
        let found = counts.find_events(self.account, self.env.now()).await.unwrap();
        found.map_or(0, |found| found.count)
    }
}

#[tokio::test]
async fn two_servers_let_in_what_the_month_has_and_no_more() {
    let two = two();
    let mut let_in = 0;
    for _ in 0..1000 {
        let_in += u32::from(two.event(&two.one, 500).await);
        let_in += u32::from(two.event(&two.other, 500).await);
    }
    assert_eq!(let_in, 500);
}

/// Most events ask no store, and a month that is used up asks it now and then.
#[tokio::test]
async fn the_store_is_asked_seldom() {
    let two = two();
    for _ in 0..10_000 {
        assert!(two.event(&two.one, 1_000_000).await);
    }
    assert!(two.probe.commits() <= 10, "{}", two.probe.commits());
    let full = Two { account: "acc_0000000000000002".parse().unwrap(), ..two };
    assert!(full.event(&full.one, 1).await && !full.event(&full.one, 1).await);
    let reads = full.probe.reads();
    for _ in 0..1000 {
        assert!(!full.event(&full.one, 1).await);
    }
    assert_eq!(full.probe.reads(), reads);
    full.clock.advance(limits::USED_UP_FOR);
    assert!(!full.event(&full.one, 1).await);
    assert!(full.probe.reads() > reads);
}

#[tokio::test]
async fn what_is_not_needed_is_given_back() {
    let two = two();
    assert!(two.event(&two.one, 6400).await);
    assert_eq!(two.counted().await, 100, "a block");
    two.one.flush(&two.store, &two.env, false).await;
    assert_eq!(two.counted().await, 100, "it may be needed");
    two.clock.advance(limits::BLOCK_IDLE);
    two.one.flush(&two.store, &two.env, false).await;
    assert_eq!(two.counted().await, 1);
    assert!(two.event(&two.one, 6400).await && two.event(&two.other, 6400).await);
    two.one.flush(&two.store, &two.env, true).await;
    two.other.flush(&two.store, &two.env, true).await;
    assert_eq!(two.counted().await, 3);
}

/// A request that came to nothing, a copy for example, has used nothing.
#[tokio::test]
async fn leave_that_is_not_used_goes_back() {
    let two = two();
    for _ in 0..10 {
        let granted = two.one.take(&two.store, &two.env, two.account, 1, 1).await.unwrap();
        assert!(granted.is_some());
    }
    assert!(two.event(&two.one, 1).await && !two.event(&two.one, 1).await);
}

/// A list of events comes in whole or not at all.
#[tokio::test]
async fn a_list_needs_room_for_all_of_it() {
    let two = two();
    let take = async |events| {
        let granted = two.one.take(&two.store, &two.env, two.account, 10, events).await.unwrap();
        granted.map(|mut grant| (0..events).for_each(|_| grant.spend())).is_some()
    };
    assert!(take(8).await && !take(3).await);
    assert!(take(2).await && !take(1).await);
}

/// Another plan counts at once, whatever was taken under the one before.
#[tokio::test]
async fn another_plan_counts_at_once() {
    let two = two();
    assert!(two.event(&two.one, 1).await && !two.event(&two.one, 1).await);
    assert!(two.event(&two.one, 6400).await);
    assert!(!two.event(&two.one, 2).await, "two were let in");
}

#[tokio::test]
async fn a_month_begins_anew() {
    let two = two();
    assert!(two.event(&two.one, 1).await && !two.event(&two.one, 1).await);
    two.clock.advance(Duration::from_secs(31 * 24 * 60 * 60));
    assert!(two.event(&two.one, 1).await);
}

#[tokio::test]
async fn what_was_let_in_without_leave_counts() {
    let two = two();
    assert!(two.event(&two.one, 10).await);
    two.one.let_in(two.account, two.env.now(), 9);
    two.one.flush(&two.store, &two.env, true).await;
    assert!(!two.event(&two.other, 10).await);
}
