use proptest::prelude::*;

use super::*;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const SPAN: &str = "b7ad6b7169203331";

#[test]
fn only_what_the_specification_allows_is_read() {
    let text = |version: &str, trace: &str, span: &str, rest: &str| {
        Traceparent::parse(&format!("{version}-{trace}-{span}-{rest}")).map(|it| it.to_string())
    };
    let same = |flags: &str| Some(format!("00-{TRACE}-{SPAN}-{flags}"));
    for (version, trace, span, rest, read) in [
        ("00", TRACE, SPAN, "01", same("01")),
        ("00", TRACE, SPAN, "00", same("00")),
        ("00", TRACE, SPAN, "ff", same("03")),
        ("00", TRACE, SPAN, "01-", None),
        ("00", TRACE, SPAN, "01-more", None),
        ("00", TRACE, SPAN, "1", None),
        ("cc", TRACE, SPAN, "01", same("01")),
        ("cc", TRACE, SPAN, "01-what the future brings", same("01")),
        ("cc", TRACE, SPAN, "01.more", None),
        ("ff", TRACE, SPAN, "01", None),
        ("0", TRACE, SPAN, "010", None),
        ("00", &TRACE.to_uppercase(), SPAN, "01", None),
        ("00", TRACE, &SPAN.to_uppercase(), "01", None),
        ("00", &"0".repeat(32), SPAN, "01", None),
        ("00", TRACE, &"0".repeat(16), "01", None),
        ("00", &TRACE[1..], SPAN, "011", None),
        ("00", &TRACE.replace('a', "g"), SPAN, "01", None),
    ] {
        assert_eq!(text(version, trace, span, rest), read, "{version}-{trace}-{span}-{rest}");
    }
    assert_eq!(Traceparent::parse(""), None);
    assert_eq!(Traceparent::parse(&format!(" 00-{TRACE}-{SPAN}-01")), None);
    assert_eq!(Traceparent::parse(&format!("00_{TRACE}-{SPAN}-01")), None);
}

#[test]
fn a_request_has_one_or_none() {
    let valid = format!("00-{TRACE}-{SPAN}-01");
    let once = Headers::from_iter([("Traceparent", &valid)]);
    let twice = Headers::from_iter([("traceparent", &valid), ("Traceparent", &valid)]);
    assert!(Traceparent::of(&once).is_some());
    assert_eq!(Traceparent::of(&twice), None);
    assert_eq!(Traceparent::of(&Headers::default()), None);
}

#[test]
fn ids_of_zeros_are_never_sent() {
    let root = Traceparent::root([0; 16], [0; 8], true);
    assert_eq!(root.to_string(), format!("00-{:032x}-{:016x}-01", 1, 1));
    assert_eq!(root.child([0; 8]).span_id(), [0, 0, 0, 0, 0, 0, 0, 1]);
}

#[test]
fn tracestate_goes_on_in_whole_members() {
    let long = format!("long={}", "x".repeat(STATE_CHARACTERS_MAX - 9));
    for (values, sent) in [
        (vec![], None),
        (vec!["a=1, b=2"], Some("a=1,b=2".to_owned())),
        (vec!["a=1", "", " b=2 ,,"], Some("a=1,b=2".to_owned())),
        (vec!["a=1,b=\u{7}"], Some("a=1".to_owned())),
        (vec!["a=1", &long, "c=3"], Some(format!("a=1,{long}"))),
        (vec!["a=12", &long, "c=3"], Some("a=12".to_owned())),
        (vec![", ,"], None),
    ] {
        let headers = values.iter().map(|value| ("TraceState", *value)).collect();
        assert_eq!(state(&headers), sent, "{values:?}");
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        trace_id in any::<[u8; 16]>(),
        span_id in any::<[u8; 8]>(),
        next in any::<[u8; 8]>(),
        sampled in any::<bool>(),
    ) {
        let root = Traceparent::root(trace_id, span_id, sampled);
        prop_assert_eq!(Traceparent::parse(&root.to_string()), Some(root));
        let child = root.child(next);
        prop_assert_eq!(child.trace_id(), root.trace_id());
        prop_assert_eq!(Traceparent::parse(&child.to_string()), Some(child));
        prop_assert_eq!(child.is_sampled(), sampled);
    }

    #[test]
    fn nothing_breaks_the_reader(text in "[0-9a-f-]{50,60}|.{0,70}") {
        if let Some(read) = Traceparent::parse(&text) {
            prop_assert_eq!(Traceparent::parse(&read.to_string()), Some(read));
        }
    }
}
