use super::*;
use crate::delivery::{Cancel, Failure, Hold, State};
use crate::samples;

const NOW: Timestamp = samples::CREATED;

/// A delivery in the state that a word stands for.
fn delivery(word: &str) -> Delivery {
    let settled_at = NOW;
    let next_attempt_at = NOW;
    let (state, attempts) = match word {
        "new" => (State::Waiting { next_attempt_at }, 0),
        "first" => (State::Sending { lease_until: NOW }, 0),
        "waiting" => (State::Waiting { next_attempt_at }, 1),
        "sending" => (State::Sending { lease_until: NOW }, 1),
        "held" => {
            let reason = Hold::ConnectionPaused;
            let held = State::Held { reason, next_attempt_at };
            (held, 0)
        }
        "delivered" => (State::Delivered { settled_at }, 1),
        "failed" => {
            let reason = Failure::Exhausted;
            (State::Failed { reason, settled_at }, 8)
        }
        "cancelled" => {
            let reason = Cancel::ConnectionDeleted;
            (State::Cancelled { reason, settled_at }, 0)
        }
        _ => panic!("no delivery is {word}"),
    };
    Delivery { state, attempts, ..samples::delivery() }
}

/// An item of the inbox in the situation that a word stands for.
fn item(word: &str) -> Delivery {
    let (state, attempts) = match word {
        "untouched" => (delivery("new").state, 0),
        "leased" => (delivery("sending").state, 1),
        "returned" => (delivery("waiting").state, 1),
        "leased-again" => (delivery("sending").state, 2),
        "acked" => (delivery("delivered").state, 1),
        "dead" => (delivery("failed").state, 5),
        "dropped" => (delivery("cancelled").state, 0),
        _ => return delivery(word),
    };
    Delivery { state, attempts, ..samples::inbox_item() }
}

/// Nobody knows when somebody comes for what lies in an inbox; what is left to others is told
/// without it.
#[test]
fn what_nobody_has_fetched_keeps_an_event_from_nothing() {
    for (deliveries, status, retries) in [
        ("untouched", Status::Received, 0),
        ("leased", Status::Received, 0),
        ("untouched leased", Status::Received, 0),
        ("returned", Status::Failed, 0),
        ("leased-again", Status::Retrying, 1),
        ("acked", Status::Delivered, 0),
        ("acked untouched", Status::Delivered, 0),
        ("acked leased", Status::Delivered, 0),
        ("acked returned", Status::Failed, 0),
        ("acked leased-again", Status::Retrying, 1),
        ("dead", Status::Failed, 4),
        ("dead untouched", Status::Failed, 4),
        ("dropped", Status::Filtered, 0),
        ("dropped untouched", Status::Received, 0),
        ("untouched new", Status::Processing, 0),
        ("untouched waiting", Status::Retrying, 0),
        ("untouched held", Status::Held, 0),
        ("untouched delivered", Status::Delivered, 0),
        ("untouched failed", Status::Failed, 7),
        ("untouched cancelled", Status::Received, 0),
        ("returned delivered", Status::Failed, 0),
        ("leased-again delivered", Status::Retrying, 1),
        ("acked new", Status::Retrying, 0),
    ] {
        let all: Vec<_> = deliveries.split_whitespace().map(item).collect();
        let standing = samples::event().standing().with(&all, NOW);
        assert_eq!((standing.status, standing.retry_count), (status, retries), "{deliveries}");
        assert_eq!(Event::status_from(all.iter().rev()), status, "{deliveries}, reversed");
    }
}

#[test]
fn an_event_stands_where_its_deliveries_say() {
    for (deliveries, status) in [
        ("", Status::Filtered),
        ("new", Status::Processing),
        ("new first", Status::Processing),
        ("new held", Status::Processing),
        ("waiting", Status::Retrying),
        ("sending", Status::Retrying),
        ("new delivered", Status::Retrying),
        ("waiting delivered failed", Status::Retrying),
        ("waiting held", Status::Retrying),
        ("held", Status::Held),
        ("held delivered", Status::Held),
        ("held failed", Status::Held),
        ("failed", Status::Failed),
        ("failed delivered", Status::Failed),
        ("failed cancelled", Status::Failed),
        ("delivered", Status::Delivered),
        ("delivered delivered", Status::Delivered),
        ("delivered cancelled", Status::Delivered),
        ("cancelled", Status::Filtered),
    ] {
        let all: Vec<_> = deliveries.split_whitespace().map(delivery).collect();
        assert_eq!(Event::status_from(&all), status, "{deliveries}");
        let reversed = all.iter().rev();
        assert_eq!(Event::status_from(reversed), status, "{deliveries}, reversed");
    }
}

#[test]
fn the_word_in_the_keys_is_the_stored_word() {
    for status in [
        Status::Received,
        Status::Processing,
        Status::Delivered,
        Status::Retrying,
        Status::Failed,
        Status::Filtered,
        Status::SignatureFailed,
        Status::Held,
    ] {
        assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
    }
}

#[test]
fn a_body_that_is_not_text_survives() {
    let event = Event { body: vec![0xff, 0x00, 0xfe].into(), ..samples::event() };
    let stored = serde_json::to_string(&event).unwrap();
    assert_eq!(serde_json::from_str::<Event>(&stored).unwrap(), event);
}
