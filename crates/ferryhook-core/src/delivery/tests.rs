use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::retry::Policy;
use crate::samples;

const NOW: Timestamp = Timestamp::from_seconds(1_767_225_600);

fn planned() -> Delivery {
    let (event, connection) = (samples::event(), samples::connection());
    Delivery::plan(&event, &connection, &Policy::default(), NOW, 0.0)
}

fn answered(status_code: u16) -> Outcome {
    Outcome::Answered { status_code, retry_after: None }
}

fn after(delivery: &Delivery, outcome: &Outcome) -> Next {
    delivery.after(outcome, &Policy::default(), NOW, 0.0)
}

fn every_state() -> [State; 6] {
    let settled_at = NOW;
    let next_attempt_at = NOW;
    [
        State::Waiting { next_attempt_at },
        State::Sending { lease_until: NOW },
        State::Held { reason: Hold::BreakerOpen, next_attempt_at },
        State::Delivered { settled_at },
        State::Failed { reason: Failure::Exhausted, settled_at },
        State::Cancelled { reason: Cancel::Requested, settled_at },
    ]
}

#[test]
fn each_state_is_stored_flat_with_what_it_has() {
    let stored = every_state().map(|state| {
        let with = |state| Delivery { state, ..planned() };
        let item = serde_json::to_value(with(state)).unwrap();
        let read: Delivery = serde_json::from_value(item).unwrap();
        assert_eq!(read, with(state));
        serde_json::to_string(&state).unwrap()
    });
    assert_eq!(
        stored,
        [
            r#"{"state":"waiting","nextAttemptAt":1767225600000}"#,
            r#"{"state":"sending","leaseUntil":1767225600000}"#,
            r#"{"state":"held","reason":"breaker_open","nextAttemptAt":1767225600000}"#,
            r#"{"state":"delivered","settledAt":1767225600000}"#,
            r#"{"state":"failed","reason":"exhausted","settledAt":1767225600000}"#,
            r#"{"state":"cancelled","reason":"requested","settledAt":1767225600000}"#,
        ]
    );
}

#[test]
fn the_answer_decides_where_it_goes() {
    let waits_30s = State::Waiting { next_attempt_at: NOW + Duration::from_secs(30) };
    let delivered = State::Delivered { settled_at: NOW };
    let failed = |reason| State::Failed { reason, settled_at: NOW };
    let unanswered = Outcome::Unanswered { error: "timed out".to_owned() };
    let blocked = Outcome::Blocked { error: "10.0.0.1 is private".to_owned() };
    let gone = failed(Failure::Gone);
    for (outcome, state, consequence) in [
        (answered(200), delivered, Consequence::Nothing),
        (answered(204), delivered, Consequence::Nothing),
        (answered(302), waits_30s, Consequence::Nothing),
        (answered(404), waits_30s, Consequence::Nothing),
        (answered(410), gone, Consequence::DisableConnection),
        (answered(503), waits_30s, Consequence::Nothing),
        (unanswered, waits_30s, Consequence::Nothing),
        (blocked, failed(Failure::Blocked), Consequence::Alert),
    ] {
        let next = after(&planned(), &outcome);
        assert_eq!(next.delivery.state, state, "{outcome:?}");
        assert_eq!(next.consequence, consequence, "{outcome:?}");
        assert_eq!(next.delivery.attempts, 1, "{outcome:?}");
    }
}

#[test]
fn it_remembers_how_the_last_attempt_ended() {
    let timed_out = Outcome::Unanswered { error: "x".repeat(1000) };
    let once = after(&planned(), &timed_out).delivery;
    assert_eq!(once.last_status_code, None);
    let kept = once.last_error.as_ref().unwrap().len();
    assert_eq!(kept, crate::limits::ERROR_CHARACTERS_KEPT);
    let twice = after(&once, &answered(500)).delivery;
    assert_eq!((twice.last_status_code, twice.last_error), (Some(500), None));
}

#[test]
fn the_last_attempt_of_the_schedule_settles_it() {
    let mut delivery = planned();
    let mut waits = Vec::new();
    let consequence = loop {
        let next = after(&delivery, &answered(500));
        delivery = next.delivery;
        match delivery.state {
            State::Waiting { next_attempt_at } => {
                waits.push(next_attempt_at.saturating_since(NOW).as_secs());
            }
            _ => break next.consequence,
        }
    };
    assert_eq!(waits, [30, 120, 900, 3_600, 14_400, 43_200, 86_400]);
    assert_eq!(delivery.attempts, 8);
    assert_eq!(consequence, Consequence::Alert);
    let reason = Failure::Exhausted;
    let settled_at = NOW;
    assert_eq!(delivery.state, State::Failed { reason, settled_at });
}

/// Kept for a day, the event is gone before the eighth attempt of the usual schedule.
#[test]
fn an_attempt_that_would_come_after_the_event_is_gone_is_not_waited_for() {
    let day = Duration::from_secs(24 * 60 * 60);
    let mut delivery = Delivery { expires_at: Some(NOW + day), ..planned() };
    let mut now = NOW;
    let consequence = loop {
        let next = delivery.after(&answered(500), &Policy::default(), now, 0.0);
        delivery = next.delivery;
        match delivery.due_at() {
            Some(due) => now = due,
            None => break next.consequence,
        }
        assert!(now < NOW + day, "{now}");
    };
    assert_eq!((delivery.attempts, consequence), (7, Consequence::Alert));
    assert_eq!(delivery.state, State::Failed { reason: Failure::Expired, settled_at: now });
    let asked = Outcome::Answered { status_code: 503, retry_after: Some(day) };
    let fresh = Delivery { expires_at: Some(NOW + day), ..planned() };
    assert!(after(&fresh, &asked).delivery.is_settled(), "whoever asks for longer gets no more");
}

#[test]
fn what_is_about_to_go_is_given_up_in_whatever_state() {
    for state in every_state() {
        let delivery = Delivery { state, ..planned() };
        let next = delivery.expire(NOW);
        match delivery.is_settled() {
            true => assert_eq!(next.delivery, delivery),
            false => {
                let expired = State::Failed { reason: Failure::Expired, settled_at: NOW };
                assert_eq!((next.delivery.state, next.consequence), (expired, Consequence::Alert));
            }
        }
    }
}

#[test]
fn a_replay_counts_on_but_has_the_whole_schedule_again() {
    let policy = Policy::parse("[0,30]").unwrap();
    let fail = |delivery: &Delivery| delivery.after(&answered(500), &policy, NOW, 0.0).delivery;
    let failed = fail(&fail(&planned()));
    assert!(failed.is_settled());

    let replayed = failed.replay(NOW);
    assert_eq!(replayed.lane, Lane::Replay);
    assert_eq!(replayed.due_at(), Some(NOW));
    let once = fail(&replayed);
    assert_eq!(once.attempts, 3);
    assert!(!once.is_settled());
    assert!(fail(&once).is_settled());
    assert_eq!(once.replay(NOW), once, "an open one goes on as it was");
}

/// Those behind it wait where it stands, and it goes before them.
#[test]
fn a_parked_one_begins_again_where_it_stands() {
    let state = State::Held { reason: Hold::Parked, next_attempt_at: NOW };
    let parked = Delivery { state, attempts: 8, ..planned() };
    let later = NOW + Duration::from_secs(60);
    let replayed = parked.replay(later);
    assert_eq!((replayed.lane, replayed.attempts_before), (Lane::Live, 8));
    assert_eq!(replayed.due_at(), Some(later));
    let paused = parked.release(NOW).hold(Hold::ConnectionPaused, NOW);
    assert_eq!(paused.replay(later), paused, "what only waits for a pause to end goes on");
}

#[test]
fn only_a_due_delivery_can_be_leased_and_only_once() {
    let later = NOW + Duration::from_secs(60);
    let leased = planned().lease(later, NOW).unwrap();
    assert_eq!(leased.state, State::Sending { lease_until: later });
    assert_eq!(leased.lease(later, NOW), None);
    assert!(leased.lease(later, later).is_some(), "the lease has ended");
    let waiting = after(&leased, &answered(500)).delivery;
    assert_eq!(waiting.lease(later, NOW), None);
}

/// Whoever takes it finds out whether it may go on.
#[test]
fn a_held_delivery_is_taken_when_it_is_due_and_a_parked_one_never() {
    let (soon, later) = (NOW + Duration::from_secs(5), NOW + Duration::from_secs(30));
    let held = |reason| {
        let state = State::Held { reason, next_attempt_at: soon };
        Delivery { state, ..planned() }
    };
    let paused = held(Hold::ConnectionPaused);
    assert_eq!(paused.lease(later, NOW), None);
    let leased = paused.lease(later, soon).unwrap();
    assert_eq!(leased.state, State::Sending { lease_until: later });
    let still = leased.hold(Hold::ConnectionPaused, soon);
    assert_eq!(still.state, paused.state, "it is as it was");
    assert_eq!(held(Hold::Parked).lease(later, later), None);
}

#[test]
fn a_held_delivery_goes_on_where_it_was() {
    let later = NOW + Duration::from_secs(10);
    let waiting = after(&planned(), &answered(500)).delivery;
    let held = waiting.hold(Hold::ConnectionPaused, NOW);
    assert_eq!(held.due_at(), None);
    assert_eq!(held.release(later).due_at(), waiting.due_at());
    let much_later = NOW + Duration::from_secs(3600);
    assert_eq!(held.release(much_later).due_at(), Some(much_later));
    assert_eq!(waiting.release(later), waiting);
}

#[test]
fn an_attempt_that_ends_during_a_pause_counts_but_does_not_end_it() {
    let sending = planned().lease(NOW, NOW).unwrap();
    let held = sending.hold(Hold::ConnectionPaused, NOW);
    let failed = after(&held, &answered(500)).delivery;
    assert_eq!(failed.attempts, 1);
    assert!(matches!(failed.state, State::Held { .. }));
    let delivered = after(&held, &answered(200)).delivery;
    assert!(matches!(delivered.state, State::Delivered { .. }));
}

#[test]
fn a_cancelled_delivery_says_why() {
    let cancelled = planned().cancel(Cancel::ConnectionDeleted, NOW);
    let reason = Cancel::ConnectionDeleted;
    let settled_at = NOW;
    assert_eq!(cancelled.state, State::Cancelled { reason, settled_at });
}

fn outcomes() -> impl Strategy<Value = Outcome> {
    let asked = proptest::option::of(0u64..1_000_000);
    prop_oneof![
        4 => (100u16..=599, asked).prop_map(|(status_code, asked)| Outcome::Answered {
            status_code,
            retry_after: asked.map(Duration::from_secs),
        }),
        2 => Just(Outcome::Unanswered { error: "refused".to_owned() }),
        1 => Just(Outcome::Blocked { error: "private".to_owned() }),
    ]
}

fn policies() -> impl Strategy<Value = Policy> {
    let waits = proptest::collection::vec(0u64..=86_400, 1..=32);
    waits.prop_map(|waits| Policy::parse(&format!("{waits:?}")).unwrap())
}

proptest! {
    /// Whatever a destination answers, the delivery ends within the policy, every next attempt
    /// lies ahead, and no settled one moves again.
    #[test]
    fn every_delivery_settles_in_time(
        policy in policies(),
        answers in proptest::collection::vec((outcomes(), 0.0..1.0f64), 33),
    ) {
        let mut delivery = planned();
        let mut now = NOW;
        for (outcome, fraction) in &answers {
            let next = delivery.after(outcome, &policy, now, *fraction).delivery;
            if delivery.is_settled() {
                prop_assert_eq!(&next, &delivery);
            }
            prop_assert!(next.attempts <= policy.attempts());
            if let Some(due) = next.due_at() {
                prop_assert!(due >= now);
                now = due;
            }
            delivery = next;
        }
        prop_assert!(delivery.is_settled());
    }

    /// No step but a replay leads out of a settled state.
    #[test]
    fn settled_is_settled(which in 3usize..6, outcome in outcomes()) {
        let settled = Delivery { state: every_state()[which], ..planned() };
        let later = NOW + Duration::from_secs(1);
        let next = settled.after(&outcome, &Policy::default(), later, 0.5);
        prop_assert_eq!(next.consequence, Consequence::Nothing);
        prop_assert_eq!(&next.delivery, &settled);
        prop_assert_eq!(&settled.hold(Hold::SourcePaused, later), &settled);
        prop_assert_eq!(&settled.release(later), &settled);
        prop_assert_eq!(&settled.cancel(Cancel::Requested, later), &settled);
        prop_assert_eq!(settled.lease(later, later), None);
    }

    /// A destination that asks for patience gets at least as much as without asking.
    #[test]
    fn retry_after_only_lengthens(
        status_code in 500u16..600,
        asked in 0u64..1_000_000,
        fraction in 0.0..1.0f64,
    ) {
        let policy = Policy::default();
        let due = |retry_after| {
            let outcome = Outcome::Answered { status_code, retry_after };
            planned().after(&outcome, &policy, NOW, fraction).delivery.due_at()
        };
        prop_assert!(due(Some(Duration::from_secs(asked))) >= due(None));
    }
}

/// What is put off has not been tried; what is settled stays settled.
#[test]
fn putting_off_counts_nothing() {
    let later = NOW + Duration::from_secs(5);
    let delivery = planned();
    let put_off = delivery.put_off(later, NOW);
    assert_eq!(put_off.state, State::Waiting { next_attempt_at: later });
    assert_eq!(put_off.attempts, delivery.attempts);
    let cancelled = delivery.cancel(Cancel::Requested, NOW);
    assert_eq!(cancelled.put_off(later, NOW), cancelled);
}
