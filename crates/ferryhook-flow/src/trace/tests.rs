use ferryhook_core::samples;

use super::*;

const SENDER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn span() -> Span {
    Span {
        trace_id: [1; 16],
        span_id: [2; 8],
        parent: None,
        links: Vec::new(),
        name: "POST".into(),
        kind: Kind::Client,
        start: Timestamp::default(),
        took: Duration::ZERO,
        attributes: Vec::new(),
        error: None,
    }
}

#[test]
fn the_span_of_an_event_follows_from_its_id() {
    let event = samples::event().id;
    let (root, again) = (origin(event, None), origin(event, None));
    assert_eq!(root, again);
    assert!(root.is_sampled());
    assert_ne!(root, origin(event.following(), None));
}

#[test]
fn a_senders_trace_goes_on_as_it_was_sampled() {
    let event = samples::event().id;
    for (flags, sampled) in [("01", true), ("00", false)] {
        let sent = Traceparent::parse(&format!("{}{flags}", &SENDER[..53])).unwrap();
        let taken = origin(event, Some(sent));
        assert_eq!((taken.trace_id(), taken.is_sampled()), (sent.trace_id(), sampled));
        assert_eq!(taken.span_id(), origin(event, None).span_id());
    }
}

#[test]
fn a_full_sink_drops_and_does_not_wait() {
    let (sink, mut out) = channel();
    for _ in 0..limits::SPANS_MAX + 10 {
        sink.put(span());
    }
    let kept = std::iter::from_fn(|| out.try_recv().ok()).count();
    assert_eq!(kept, limits::SPANS_MAX);
}

#[test]
fn invented_methods_have_one_name() {
    assert_eq!(method_names(&Method::PATCH), ("PATCH", "PATCH"));
    assert_eq!(method_names(&Method::from_bytes(b"BREW").unwrap()), ("_OTHER", "HTTP"));
}
