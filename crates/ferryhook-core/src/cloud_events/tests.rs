use proptest::prelude::*;

use super::*;

#[test]
fn the_mode_is_in_the_head() {
    let binary = [("CE-Id", "1"), ("ce-source", "/s"), ("Ce-Specversion", "1.0"), ("ce-type", "t")];
    let with = |content_type: &str| {
        let all = binary.iter().map(|(n, v)| (*n, *v)).chain([("Content-Type", content_type)]);
        Mode::of(&Headers::from_iter(all))
    };
    assert_eq!(with("application/json"), Some(Mode::Binary));
    assert_eq!(with("text/plain"), Some(Mode::Binary));
    // What the content says counts before headers that somebody copied along.
    assert_eq!(with("application/cloudevents+json"), Some(Mode::Structured));
    assert_eq!(with("Application/CloudEvents+JSON; charset=utf-8"), Some(Mode::Structured));
    assert_eq!(with("application/cloudevents-batch+json"), Some(Mode::Batch));
    for missing in 0..binary.len() {
        let some = binary.iter().enumerate().filter(|(at, _)| *at != missing).map(|(_, own)| *own);
        assert_eq!(Mode::of(&Headers::from_iter(some)), None);
    }
    let content_type = |text: &str| Mode::of(&Headers::from_iter([("content-type", text)]));
    assert_eq!(content_type("application/json"), None);
    assert_eq!(content_type("application/cloud"), None);
    assert_eq!(Mode::of(&Headers::default()), None);
}

#[test]
fn a_header_is_read_as_the_binding_says() {
    for (written, read) in [
        ("plain", Some("plain")),
        (" plain ", Some("plain")),
        ("Euro%20%E2%82%AC%20%F0%9F%98%80", Some("Euro € 😀")),
        ("Euro%20%e2%82%ac", Some("Euro €")),
        ("\"Euro%20%E2%82%AC\"", Some("Euro €")),
        (r#""a \"b\" \\ c""#, Some(r#"a "b" \ c"#)),
        // Once, and not again.
        ("100%2525", Some("100%25")),
        ("%2520", Some("%20")),
        ("a+b", Some("a+b")),
        ("50%", Some("50%")),
        ("%zz", Some("%zz")),
        ("%4", Some("%4")),
        // Overlong, cut off, a lone surrogate: no text.
        ("%C0%A0", None),
        ("%E2%82", None),
        ("%ED%A0%80", None),
        ("%FF", None),
        (r#""a"b""#, None),
        (r#""a\""#, None),
        ("\"", Some("\"")),
        ("\"\"", Some("")),
    ] {
        assert_eq!(attribute(written).as_deref(), read, "{written}");
    }
}

proptest! {
    #[test]
    fn what_is_escaped_comes_back(text in "\\PC{0,40}") {
        let escaped: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
        prop_assert_eq!(attribute(&escaped).unwrap(), text);
    }

    #[test]
    fn nothing_panics(text in "\\PC{0,40}|[%\"\\\\a-f0-9]{0,20}") {
        let _ = attribute(&text);
    }
}
