//! An item from the moment it lies there to the one it is settled.

use std::time::Duration;

use proptest::prelude::*;

use crate::delivery::{Cancel, Consequence, State};
use crate::event::Status;
use crate::inbox::{Reply, Settings, Step};
use crate::{Delivery, Timestamp, samples};

const NOW: Timestamp = Timestamp::from_seconds(1_767_225_600);
const LEASE: Duration = Duration::from_secs(30);

fn after(seconds: u64) -> Timestamp {
    NOW + Duration::from_secs(seconds)
}

/// Leased at most three times.
fn new() -> Delivery {
    let settings = Settings { leases_max: 3, ..Settings::default() };
    Delivery::to_fetch(&samples::event(), samples::connection().id, &settings, NOW)
}

fn leased(item: &Delivery, now: Timestamp) -> Delivery {
    item.fetch(now + LEASE, now).unwrap().delivery
}

fn replied(item: &Delivery, reply: &Reply, now: Timestamp) -> Option<Delivery> {
    match item.replied(Some(item.attempts), reply, now) {
        Step::Moves(next) => Some(next.delivery),
        Step::Known | Step::Stale => None,
    }
}

fn nack() -> Reply {
    Reply::Nack { delay: Duration::from_secs(5), reason: Some("no room".to_owned()) }
}

/// Each line is one life: what happens, and the word and the count of retries after it.
#[test]
fn the_words_for_an_item_are_those_of_the_diagram() {
    for life in [
        "received 0, lease received 0, ack delivered 0",
        "received 0, lease received 0, nack failed 0, lease retrying 1, ack delivered 1",
        "received 0, lease received 0, nack failed 0, lease retrying 1, nack failed 1, \
         lease retrying 2, nack failed 2, lease failed 2",
        "received 0, lease received 0, over received 0, lease retrying 1, ack delivered 1",
        "received 0, lease received 0, over received 0, lease retrying 1, over retrying 1, \
         lease retrying 2, over retrying 2, lease failed 2",
        "received 0, lease received 0, extend received 0, ack delivered 0, lease delivered 0",
    ] {
        let mut item = new();
        let mut now = NOW;
        for step in life.split(", ") {
            let parts: Vec<_> = step.split_whitespace().collect();
            now = now + Duration::from_secs(5);
            match parts[0] {
                "lease" => item = item.fetch(now + LEASE, now).map_or(item, |next| next.delivery),
                "over" => now = now + LEASE,
                "ack" => item = replied(&item, &Reply::Ack, now).unwrap(),
                "nack" => item = replied(&item, &nack(), now).unwrap(),
                "extend" => {
                    item = replied(&item, &Reply::Extend { visibility: LEASE }, now).unwrap();
                }
                _ => {}
            }
            let [.., word, retries] = parts[..] else { panic!("{step}") };
            let found = (item.inbox_status().as_str(), item.retry_count());
            assert_eq!(found, (word, retries.parse().unwrap()), "{step} of {life}");
        }
    }
}

#[test]
fn it_belongs_to_one_at_a_time() {
    let item = leased(&new(), NOW);
    assert_eq!(item.fetch(after(60), after(29)), None);
    let again = leased(&item, after(30));
    assert_eq!(again.attempts, 2);
    assert_eq!(item.lease(after(60), after(60)), None, "no lane takes it");
}

#[test]
fn a_reply_counts_for_its_own_lease() {
    let first = leased(&new(), NOW);
    let late = after(3600);
    assert!(replied(&first, &Reply::Ack, late).is_some(), "over, but nobody else came");
    let second = leased(&first, late);
    for reply in [Reply::Ack, nack(), Reply::Extend { visibility: LEASE }] {
        assert_eq!(second.replied(Some(1), &reply, late), Step::Stale, "{reply:?}");
        assert_eq!(second.replied(Some(3), &reply, late), Step::Stale, "{reply:?}");
        assert!(matches!(second.replied(Some(2), &reply, late), Step::Moves(_)));
        assert!(matches!(second.replied(None, &reply, late), Step::Moves(_)));
    }
}

#[test]
fn what_was_said_before_is_no_mistake() {
    let acked = replied(&leased(&new(), NOW), &Reply::Ack, NOW).unwrap();
    assert_eq!(acked.replied(Some(1), &Reply::Ack, NOW), Step::Known);
    assert_eq!(acked.replied(Some(1), &nack(), NOW), Step::Stale);
    let back = replied(&leased(&new(), NOW), &nack(), NOW).unwrap();
    assert_eq!(back.last_error.as_deref(), Some("no room"));
    assert_eq!(back.replied(Some(1), &Reply::Ack, NOW), Step::Stale);
}

/// A person may be done with what nobody has fetched.
#[test]
fn an_event_is_acknowledged_without_a_lease() {
    let Step::Moves(next) = new().replied(None, &Reply::Ack, NOW) else { panic!() };
    assert_eq!(next.delivery.inbox_status(), Status::Delivered);
    assert_eq!(new().replied(None, &nack(), NOW), Step::Stale);
    assert_eq!(new().replied(Some(0), &Reply::Ack, NOW), Step::Stale);
    let sent = Delivery { inbox: None, ..new() };
    assert_eq!(sent.replied(None, &Reply::Ack, NOW), Step::Stale);
}

#[test]
fn people_hear_of_the_last_time() {
    let mut item = new();
    for _ in 0..2 {
        item = replied(&leased(&item, after(3600)), &nack(), NOW).unwrap();
    }
    let last = leased(&item, after(3600));
    let Step::Moves(next) = last.replied(Some(3), &nack(), NOW) else { panic!() };
    assert_eq!(next.consequence, Consequence::Alert);
    let next = last.fetch(after(9000), after(7200)).unwrap();
    assert_eq!(next.consequence, Consequence::Alert);
    assert!(next.delivery.is_settled());
}

/// A replay gives it all its leases again; tokens from before are of no use.
#[test]
fn a_replay_puts_it_back() {
    let acked = replied(&leased(&new(), NOW), &Reply::Ack, NOW).unwrap();
    let back = acked.replay(after(60));
    assert_eq!((back.inbox_status(), back.attempts), (Status::Received, 1));
    assert_eq!(back.replied(Some(1), &Reply::Ack, NOW), Step::Stale);
    let leased = leased(&back, after(60));
    assert_eq!((leased.inbox_status(), leased.attempts), (Status::Received, 2));
}

#[derive(Debug, Clone)]
enum Act {
    Lease,
    Pass(u64),
    Reply(Reply, u16),
    Cancel,
}

fn acts() -> impl Strategy<Value = Act> {
    let replies = prop_oneof![
        2 => Just(Reply::Ack),
        3 => Just(nack()),
        2 => Just(Reply::Extend { visibility: LEASE }),
    ];
    prop_oneof![
        4 => Just(Act::Lease),
        3 => (0u64..60).prop_map(Act::Pass),
        4 => (replies, 0u16..3).prop_map(|(reply, ago)| Act::Reply(reply, ago)),
        1 => Just(Act::Cancel),
    ]
}

proptest! {
    /// Whatever workers do: it is leased no more than three times, nobody has it while another
    /// does, a settled one stays as it is, and an open one can be had again in bounded time.
    #[test]
    fn an_item_is_never_stuck_and_never_had_twice(acts in proptest::collection::vec(acts(), 1..40)) {
        let (mut item, mut now) = (new(), NOW);
        for act in acts {
            let was = item.clone();
            match act {
                Act::Pass(seconds) => now = now + Duration::from_secs(seconds),
                Act::Lease => if let Some(next) = item.fetch(now + LEASE, now) {
                    prop_assert!(was.due_at().is_some_and(|due| due <= now));
                    item = next.delivery;
                },
                Act::Reply(reply, ago) => {
                    let lease = item.attempts.saturating_sub(ago);
                    if let Step::Moves(next) = item.replied(Some(lease), &reply, now) {
                        prop_assert!(ago == 0 || item.attempts == lease);
                        let was_leased = matches!(was.state, State::Sending { .. });
                        prop_assert!(was_leased);
                        item = next.delivery;
                    }
                }
                Act::Cancel => item = item.cancel(Cancel::Requested, now),
            }
            prop_assert!(item.attempts <= 3);
            prop_assert!(item.attempts >= was.attempts);
            if was.is_settled() {
                prop_assert_eq!(&item, &was);
            } else if let Some(due) = item.due_at() {
                prop_assert!(due <= now + LEASE);
                prop_assert!(item.fetch(due + LEASE, due.max(now)).is_some());
            } else {
                prop_assert!(item.is_settled());
            }
        }
    }
}
