use super::*;
use crate::{Event, Headers, samples};

mod differential;
mod explained;
mod parts;
mod refused;
mod rules;
mod shapes;

/// An event with this body and nothing else.
fn event(body: &str) -> Event {
    Event {
        body: body.to_owned().into(),
        payload: None,
        headers: Headers::default(),
        content_type: None,
        query: None,
        path: None,
        ..samples::event()
    }
}

fn filter(text: &str) -> Filter {
    Filter::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn matches(text: &str, event: &Event) -> bool {
    let (filter, seen) = (filter(text), Seen::of(event));
    let verdict = filter.matches(&seen);
    assert_eq!(filter.explain(&seen).holds, verdict, "{text}");
    verdict
}

fn refusal(text: &str) -> String {
    match Filter::parse(text) {
        Ok(_) => panic!("{text} was not refused"),
        Err(error) => error.to_string(),
    }
}

/// Compiled once and asked from many threads.
#[test]
fn a_filter_can_be_shared() {
    fn is_shared<T: Send + Sync + 'static>(_: &T) {}
    is_shared(&filter("[]"));
}
