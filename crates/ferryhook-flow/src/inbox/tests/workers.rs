//! Many workers at one inbox, some of which die with what they have: nothing is lost, nothing is
//! stuck, and nothing that was acknowledged comes back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use tokio::time::timeout;

use super::*;

/// Who acknowledged what, and how often each was handed out.
#[derive(Default)]
struct Ledger {
    acked: Mutex<BTreeSet<Id<Event>>>,
    leased: Mutex<BTreeMap<Id<Event>, u32>>,
    acked_twice: AtomicUsize,
}

impl Ledger {
    fn handed_out(&self, leased: &Leased) {
        assert!(!lock(&self.acked).contains(&leased.event.id), "acknowledged, and back again");
        *lock(&self.leased).entry(leased.event.id).or_default() += 1;
    }

    fn acknowledged(&self, id: Id<Event>) {
        if !lock(&self.acked).insert(id) {
            self.acked_twice.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Works until nothing has come for a minute: mostly acknowledges, sometimes takes too long,
/// gives back, asks for more time, or dies.
async fn work(courier: Courier, env: Env, ledger: Arc<Ledger>) {
    loop {
        let wanted = Wanted { wait: seconds(60), visibility: seconds(10), ..wanted(7) };
        if env.fraction() < 0.1 {
            die_leasing(&courier, &env, wanted).await;
            continue;
        }
        let leased = courier.lease_items(account(), &wanted).await.unwrap();
        if leased.is_empty() {
            return;
        }
        leased.iter().for_each(|one| ledger.handed_out(one));
        let fate = (env.fraction() * 10.0) as u32;
        match fate {
            0 => continue, // died: whoever comes next is another
            1 => sleep(seconds(15)).await,
            2 => {
                let extend = Reply::Extend { visibility: seconds(20) };
                let tokens: Vec<_> = leased.iter().map(|one| one.token).collect();
                courier.reply_to_leases(account(), &tokens, &extend).await.unwrap();
                sleep(seconds(15)).await;
            }
            _ => sleep(Duration::from_millis(200)).await,
        }
        let tokens: Vec<_> = leased.iter().map(|one| one.token).collect();
        let reply = if fate == 3 { nack(2) } else { Reply::Ack };
        let replied = courier.reply_to_leases(account(), &tokens, &reply).await.unwrap();
        for (one, replied) in leased.iter().zip(replied) {
            if replied == heard(Status::Delivered) {
                ledger.acknowledged(one.event.id);
            }
        }
    }
}

/// In the middle of the call, at whatever it is doing then.
async fn die_leasing(courier: &Courier, env: &Env, wanted: Wanted) {
    let lives = Duration::from_millis((env.fraction() * 6.0) as u64);
    // The call is dropped where it is, and so is what it may have got in time.
    let _ = timeout(lives, courier.lease_items(account(), &wanted)).await;
}

async fn all_of_it(shop: &Shop, couriers: &[Courier], count: usize) {
    let ledger = Arc::new(Ledger::default());
    shop.probe.takes(Duration::from_millis(1)); // so that a call has a middle
    let worker = |number: usize| {
        let courier = couriers[number % couriers.len()].clone();
        work(courier, shop.env.clone(), ledger.clone())
    };
    let posting = async {
        let mut posted = BTreeSet::new();
        while posted.len() < count {
            let events = shop.post(&["order.paid"; 10]).await;
            posted.extend(events.iter().map(|event| event.id));
            sleep(Duration::from_millis(50)).await;
        }
        posted
    };
    let (_, posted) = tokio::join!(join_all((0..16).map(worker)), posting);
    let dead = async |id: &Id<Event>| {
        let items = shop.items(*id).await;
        items.iter().all(|item| matches!(item.state, State::Failed { .. }) && item.attempts == 5)
    };
    for id in &posted {
        let acked = lock(&ledger.acked).contains(id);
        assert!(acked != dead(id).await, "{id}: either it was done, or it is dead");
    }
    assert_eq!(ledger.acked_twice.load(Ordering::Relaxed), 0);
    assert!(lock(&ledger.acked).len() * 10 > count * 9, "few fail five times");
    let again = lock(&ledger.leased).values().filter(|times| **times > 1).count();
    assert!(again > 0, "some came again after a lease ran out");
    let late = Wanted { wait: seconds(60), ..wanted(10) };
    assert!(shop.lease(late).await.is_empty(), "nothing is left");
}

#[tokio::test(start_paused = true)]
async fn sixteen_workers_lose_nothing_and_repeat_nothing_that_is_done() {
    let shop = Shop::new(&[]).await;
    all_of_it(&shop, std::slice::from_ref(&shop.courier), 400).await;
}

/// Where processes share a store, the revisions decide between them.
#[tokio::test(start_paused = true)]
async fn nor_do_those_of_two_processes() {
    let shop = Shop::new(&[]).await;
    let couriers =
        [courier(&shop.store, &shop.env, true).0, courier(&shop.store, &shop.env, true).0];
    all_of_it(&shop, &couriers, 400).await;
}
