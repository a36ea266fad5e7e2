//! Connections that are kept for the next call, and closed just then.

use serde_json::json;

use crate::destination::{Destination, OK, Then, say};
use crate::stage::{Stage, source, told};

/// Nobody has heard the call, so it is made again at once, on a new connection, as the same
/// attempt.
#[test]
fn a_kept_connection_that_closes_costs_no_attempt() {
    let destination = Destination::new(|call, stream| match call.before_on_line {
        0 => say(stream, OK),
        _ => Then::Close,
    });
    let stage = Stage::with(vec![source("shop", &destination.url(""), json!({}))]);
    for _ in 0..5 {
        let event = stage.post("shop", "{}");
        assert_eq!(told(&stage.wait_until_settled(&event)), "delivered / 200");
    }
    let calls = destination.calls();
    let reused = calls.iter().filter(|call| call.before_on_line > 0).count();
    assert_eq!((calls.len(), reused), (9, 4));
    stage.ferry.stop();
}

/// One that was closed while nobody used it is noticed before anything is sent.
#[test]
fn a_connection_that_closed_at_rest_is_not_used() {
    let destination = Destination::new(|_, stream| {
        say(stream, OK);
        Then::Close
    });
    let stage = Stage::with(vec![source("shop", &destination.url(""), json!({}))]);
    for _ in 0..5 {
        let event = stage.post("shop", "{}");
        assert_eq!(told(&stage.wait_until_settled(&event)), "delivered / 200");
    }
    assert_eq!(destination.calls().len(), 5);
    stage.ferry.stop();
}

/// An answer to a question that was not asked yet is no answer.
#[test]
fn an_answer_in_advance_counts_for_nothing() {
    let destination = Destination::new(|_, stream| {
        say(stream, OK.repeat(2));
        Then::Keep
    });
    let stage = Stage::with(vec![source("shop", &destination.url(""), json!({}))]);
    for number in 0..5 {
        let event = stage.post("shop", &number.to_string());
        assert_eq!(told(&stage.wait_until_settled(&event)), "delivered / 200");
        let calls = destination.calls();
        let bodies: Vec<_> = calls.iter().map(|call| (call.body(), call.before_on_line)).collect();
        assert_eq!(bodies.last(), Some(&(&*number.to_string(), 0)), "{bodies:?}");
    }
    assert_eq!(destination.calls().len(), 5);
    stage.ferry.stop();
}
