//! The same event, once: the ledger on its own, and together with the events it lets in.

use std::slice::from_ref;
use std::time::Duration;

use ferryhook_core::event::Status;
use ferryhook_core::{Claim, Event};
use ferryhook_store::repositories::{Accepted, Arrival, Claiming, Ending, Mark};
use ferryhook_store::{StoreError, Window};
use tokio::task::JoinSet;

use crate::bench::{Bench, all};
use crate::cast::Home;

const LEASE: Duration = Duration::from_secs(30);
const KEEP: Duration = Duration::from_secs(3600);

fn arrival(bench: &Bench, home: Home, key: &str) -> Arrival {
    let event = bench.event(home);
    let claim = Some(bench.claim(key, Some(event.id)));
    Arrival { event, claim, items: Vec::new() }
}

fn unclaimed(event: Event) -> Arrival {
    Arrival { event, claim: None, items: Vec::new() }
}

fn copy_of(arrival: &Arrival) -> Accepted {
    Accepted::Duplicate { first: Some(arrival.event.id) }
}

async fn stored(bench: &Bench, home: Home) -> usize {
    let events = bench.store.events();
    let list = async |slice| events.list_by_source(home.source, Window::ALWAYS, slice).await;
    all(Default::default(), list).await.len()
}

pub(crate) async fn ledger_the_first_write_is_new(bench: Bench) {
    let claim = bench.claim("ALOWARE:719285063", None);
    let ledger = bench.store.ledger();
    assert_eq!(ledger.mark(&claim).await.unwrap(), Mark::New);
    let found = ledger.find(&claim.key).await.unwrap().unwrap();
    assert_eq!(found.record, claim);
}

pub(crate) async fn ledger_a_later_write_is_a_duplicate(bench: Bench) {
    let claim = bench.claim("ALOWARE:719285063", None);
    let ledger = bench.store.ledger();
    ledger.mark(&claim).await.unwrap();
    bench.advance(60);
    let later = bench.claim("ALOWARE:719285063", None);
    let mark = ledger.mark(&later).await.unwrap();
    assert_eq!(mark, Mark::Duplicate(claim));
}

/// Nothing has deleted the entry yet, and still it no longer counts.
pub(crate) async fn ledger_an_expired_entry_counts_as_new(bench: Bench) {
    let claim = bench.claim("ALOWARE:719285063", None);
    let ledger = bench.store.ledger();
    ledger.mark(&claim).await.unwrap();
    bench.advance(14 * 86_400 - 1);
    let late = bench.claim("ALOWARE:719285063", None);
    assert_eq!(ledger.mark(&late).await.unwrap(), Mark::Duplicate(claim));
    bench.advance(1);
    assert!(ledger.find(&late.key).await.unwrap().is_none());
    let new = bench.claim("ALOWARE:719285063", None);
    assert_eq!(ledger.mark(&new).await.unwrap(), Mark::New);
}

pub(crate) async fn ledger_keys_are_told_apart(bench: Bench) {
    let keys = [
        "HUBSPOT:0-1:1:contact.creation",
        "HUBSPOT:0-1:1:contact.creation:1731173400",
        "HUBSPOT:0-1:11:contact.creation",
    ];
    for key in keys {
        let claim = bench.claim(key, None);
        assert_eq!(bench.store.ledger().mark(&claim).await.unwrap(), Mark::New);
    }
}

pub(crate) async fn of_many_marks_of_one_key_one_is_new(bench: Bench) {
    let claim = bench.claim("k", None);
    let mut racers = JoinSet::new();
    for _ in 0..16 {
        let (store, claim) = (bench.store.clone(), claim.clone());
        racers.spawn(async move { store.ledger().mark(&claim).await.unwrap() });
    }
    let marks = racers.join_all().await;
    assert_eq!(marks.iter().filter(|mark| **mark == Mark::New).count(), 1);
}

pub(crate) async fn an_event_is_accepted_with_its_claim(bench: Bench) {
    let home = bench.home();
    let arrival = arrival(&bench, home, "k");
    let told = bench.store.events().accept(from_ref(&arrival)).await.unwrap();
    assert_eq!(told, [Accepted::New]);
    let event = bench.store.events().find(arrival.event.id).await.unwrap();
    assert_eq!(event.unwrap().record, arrival.event);
    let claim = arrival.claim.unwrap();
    let found = bench.store.ledger().find(&claim.key).await.unwrap();
    assert_eq!(found.unwrap().record, claim);
}

pub(crate) async fn an_event_without_a_claim_is_always_new(bench: Bench) {
    let home = bench.home();
    for _ in 0..3 {
        let told = bench.store.events().accept(&[unclaimed(bench.event(home))]).await;
        assert_eq!(told.unwrap(), [Accepted::New]);
    }
    assert_eq!(stored(&bench, home).await, 3);
}

pub(crate) async fn a_copy_is_recognised_and_not_stored(bench: Bench) {
    let home = bench.home();
    let (first, copy) = (arrival(&bench, home, "k"), arrival(&bench, home, "k"));
    let events = bench.store.events();
    events.accept(from_ref(&first)).await.unwrap();
    let told = events.accept(from_ref(&copy)).await.unwrap();
    assert_eq!(told, [copy_of(&first)]);
    assert!(events.find(copy.event.id).await.unwrap().is_none());
    assert_eq!(stored(&bench, home).await, 1);
}

pub(crate) async fn a_copy_after_the_claim_expired_is_new(bench: Bench) {
    let home = bench.home();
    let first = arrival(&bench, home, "k");
    bench.store.events().accept(&[first]).await.unwrap();
    bench.advance(14 * 86_400);
    let again = arrival(&bench, home, "k");
    let told = bench.store.events().accept(from_ref(&again)).await.unwrap();
    assert_eq!(told, [Accepted::New]);
    let key = again.claim.unwrap().key;
    let claim = bench.store.ledger().find(&key).await.unwrap().unwrap();
    assert_eq!(claim.event_id, Some(again.event.id));
}

/// The event may go (a day) long before the ledger forgets it (two weeks).
pub(crate) async fn a_copy_is_recognised_after_its_event_expired(bench: Bench) {
    let home = bench.home();
    let first = arrival(&bench, home, "k");
    bench.store.events().accept(from_ref(&first)).await.unwrap();
    bench.advance(2 * 86_400);
    assert!(bench.store.events().find(first.event.id).await.unwrap().is_none());
    let copy = arrival(&bench, home, "k");
    let told = bench.store.events().accept(&[copy]).await.unwrap();
    assert_eq!(told, [copy_of(&first)]);
}

pub(crate) async fn copies_within_a_batch_are_recognised(bench: Bench) {
    let home = bench.home();
    let batch = ["a", "b", "a", "a", "b"].map(|key| arrival(&bench, home, key));
    let told = bench.store.events().accept(&batch).await.unwrap();
    let (a, b) = (copy_of(&batch[0]), copy_of(&batch[1]));
    assert_eq!(told, [Accepted::New, Accepted::New, a.clone(), a, b]);
    assert_eq!(stored(&bench, home).await, 2);
}

pub(crate) async fn new_ones_and_copies_may_come_together(bench: Bench) {
    let home = bench.home();
    let first = ["a", "b", "c"].map(|key| arrival(&bench, home, key));
    bench.store.events().accept(&first).await.unwrap();
    let mut second: Vec<_> =
        ["x", "b", "y", "a", "b", "x"].iter().map(|key| arrival(&bench, home, key)).collect();
    second.push(unclaimed(bench.event(home)));
    let told = bench.store.events().accept(&second).await.unwrap();
    // A copy of a copy is told the event that was really first.
    assert_eq!(told[0], Accepted::New);
    assert_eq!(told[1], copy_of(&first[1]));
    assert_eq!(told[2], Accepted::New);
    assert_eq!(told[3], copy_of(&first[0]));
    assert_eq!(told[4], copy_of(&first[1]));
    assert_eq!(told[5], copy_of(&second[0]));
    assert_eq!(told[6], Accepted::New);
    assert_eq!(stored(&bench, home).await, 6);
}

pub(crate) async fn a_claim_never_exists_without_its_event(bench: Bench) {
    let home = bench.home();
    let good = arrival(&bench, home, "good");
    let mut bad = arrival(&bench, home, "bad");
    bad.event.body = vec![b'x'; 500 * 1024].into();
    let told = bench.store.events().accept(&[good.clone(), bad.clone()]).await;
    assert!(matches!(told, Err(StoreError::OutOfBounds(_))), "{told:?}");
    for arrival in [good, bad] {
        let key = arrival.claim.unwrap().key;
        assert!(bench.store.ledger().find(&key).await.unwrap().is_none());
        assert!(bench.store.events().find(arrival.event.id).await.unwrap().is_none());
    }
}

/// The commit was done and its answer lost: asking again is not a copy of itself.
pub(crate) async fn an_accept_that_is_repeated_says_new_again(bench: Bench) {
    let home = bench.home();
    let arrival = arrival(&bench, home, "k");
    for _ in 0..2 {
        let told = bench.store.events().accept(from_ref(&arrival)).await.unwrap();
        assert_eq!(told, [Accepted::New]);
    }
    assert_eq!(stored(&bench, home).await, 1);
}

pub(crate) async fn of_many_copies_at_once_one_is_stored(bench: Bench) {
    let home = bench.home();
    let mut racers = JoinSet::new();
    for _ in 0..16 {
        let (store, arrival) = (bench.store.clone(), arrival(&bench, home, "k"));
        racers.spawn(async move { store.events().accept(&[arrival]).await.unwrap() });
    }
    let told = racers.join_all().await.concat();
    let new = told.iter().filter(|told| **told == Accepted::New).count();
    assert_eq!(new, 1);
    assert_eq!(stored(&bench, home).await, 1);
}

pub(crate) async fn fifty_claimed_events_fit_into_one_accept(bench: Bench) {
    let home = bench.home();
    let arrivals = |count: usize, name: &str| -> Vec<_> {
        (0..count).map(|place| arrival(&bench, home, &format!("{name}{place}"))).collect()
    };
    let told = bench.store.events().accept(&arrivals(50, "a")).await.unwrap();
    assert_eq!(told.len(), 50);
    let over = bench.store.events().accept(&arrivals(51, "b")).await;
    assert!(matches!(over, Err(StoreError::OutOfBounds(_))), "{over:?}");
    assert_eq!(stored(&bench, home).await, 50);
}

pub(crate) async fn nothing_is_accepted_as_nothing(bench: Bench) {
    assert_eq!(bench.store.events().accept(&[]).await.unwrap(), []);
}

fn token(claiming: Claiming) -> u64 {
    match claiming {
        Claiming::Yours { token, .. } => token,
        other => panic!("{other:?}"),
    }
}

async fn claim(bench: &Bench) -> Claiming {
    let key = bench.own("job");
    bench.store.ledger().claim(&key, LEASE, KEEP).await.unwrap()
}

async fn found(bench: &Bench) -> Claim {
    let found = bench.store.ledger().find(&bench.own("job")).await;
    found.unwrap().unwrap().record
}

pub(crate) async fn a_consumer_claims_and_completes(bench: Bench) {
    let ledger = bench.store.ledger();
    let key = bench.own("job");
    let token = token(claim(&bench).await);
    assert_eq!(found(&bench).await.fencing_token, Some(token));
    assert_eq!(ledger.complete(&key, token).await.unwrap(), Ending::Ended);
    assert_eq!(ledger.complete(&key, token).await.unwrap(), Ending::Ended);
    assert_eq!(claim(&bench).await, Claiming::Done);
    bench.advance(120);
    assert_eq!(claim(&bench).await, Claiming::Done);
}

pub(crate) async fn a_leased_key_is_busy(bench: Bench) {
    let until = bench.now() + LEASE;
    token(claim(&bench).await);
    bench.advance(29);
    assert_eq!(claim(&bench).await, Claiming::Busy { until });
}

pub(crate) async fn a_lease_that_ended_goes_to_the_next(bench: Bench) {
    let first = token(claim(&bench).await);
    bench.advance(30);
    let second = token(claim(&bench).await);
    assert!(second > first);
}

pub(crate) async fn one_who_overslept_is_fenced_off(bench: Bench) {
    let ledger = bench.store.ledger();
    let key = bench.own("job");
    let first = token(claim(&bench).await);
    bench.advance(30);
    let second = token(claim(&bench).await);
    assert_eq!(ledger.complete(&key, first).await.unwrap(), Ending::Lost);
    assert_eq!(ledger.release(&key, first).await.unwrap(), Ending::Lost);
    assert_eq!(ledger.complete(&key, second).await.unwrap(), Ending::Ended);
}

pub(crate) async fn one_who_is_late_but_alone_may_complete(bench: Bench) {
    let token = token(claim(&bench).await);
    bench.advance(300);
    let ended = bench.store.ledger().complete(&bench.own("job"), token).await;
    assert_eq!(ended.unwrap(), Ending::Ended);
}

pub(crate) async fn a_released_key_goes_to_the_next_at_once(bench: Bench) {
    let ledger = bench.store.ledger();
    let key = bench.own("job");
    let first = token(claim(&bench).await);
    assert_eq!(ledger.release(&key, first).await.unwrap(), Ending::Ended);
    let second = token(claim(&bench).await);
    assert!(second > first);
    assert_eq!(ledger.complete(&key, first).await.unwrap(), Ending::Lost);
}

pub(crate) async fn a_claim_that_expired_is_forgotten_and_its_tokens_still_grow(bench: Bench) {
    let first = token(claim(&bench).await);
    bench.advance(3600);
    let lost = bench.store.ledger().complete(&bench.own("job"), first).await;
    assert_eq!(lost.unwrap(), Ending::Lost);
    let second = token(claim(&bench).await);
    assert!(second > first);
}

pub(crate) async fn what_was_marked_is_done_for_consumers(bench: Bench) {
    let mark = bench.claim("job", None);
    bench.store.ledger().mark(&mark).await.unwrap();
    assert_eq!(claim(&bench).await, Claiming::Done);
}

pub(crate) async fn of_many_consumers_one_gets_the_key(bench: Bench) {
    let mut racers = JoinSet::new();
    for _ in 0..16 {
        let (store, key) = (bench.store.clone(), bench.own("job"));
        racers.spawn(async move { store.ledger().claim(&key, LEASE, KEEP).await.unwrap() });
    }
    let told = racers.join_all().await;
    let won = told.iter().filter(|told| matches!(told, Claiming::Yours { .. }));
    assert_eq!(won.count(), 1);
}

/// One that was marked is as good as any other once its signature holds: its key is taken from then
/// on. Another that has come with the key in the meantime stays what it was.
pub(crate) async fn ledger_a_marked_event_claims_its_key_when_it_is_verified(bench: Bench) {
    let home = bench.home();
    let events = bench.store.events();
    let mark = |event| Event { status: Status::SignatureFailed, dedup_key: None, ..event };
    let [first, copy] = [(); 2].map(|()| mark(bench.event(home)));
    for event in [&first, &copy] {
        events.accept(&[unclaimed(event.clone())]).await.unwrap();
    }
    let genuine = |marked: &Event| {
        let key = Some("GITHUB:1".to_owned());
        let event = Event { status: Status::Filtered, dedup_key: key, ..marked.clone() };
        Arrival { event, claim: Some(bench.claim("GITHUB:1", Some(marked.id))), items: Vec::new() }
    };
    let was = events.find(first.id).await.unwrap().unwrap();
    let verified = genuine(&first);
    assert_eq!(events.verify(&was, &verified).await.unwrap(), Accepted::New);
    assert_eq!(events.find(first.id).await.unwrap().unwrap().record, verified.event);

    let was = events.find(copy.id).await.unwrap().unwrap();
    assert_eq!(events.verify(&was, &genuine(&copy)).await.unwrap(), copy_of(&verified));
    assert_eq!(events.find(copy.id).await.unwrap().unwrap().record, copy, "as it was");
}
