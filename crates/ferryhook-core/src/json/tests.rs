use std::cmp::Ordering;

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn read(text: &str) -> Document<'_> {
    Document::read(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Through the marks and back.
fn told(value: Value<'_>) -> serde_json::Value {
    match value.kind() {
        Kind::Null => json!(null),
        Kind::Bool => json!(value.is_true()),
        Kind::Number => serde_json::from_str(value.as_number().unwrap()).unwrap(),
        Kind::Text => json!(value.as_text().unwrap()),
        Kind::List => value.items().map(told).collect(),
        Kind::Object => {
            let members = value.members().into_iter();
            members.map(|(name, value)| (name.into_owned(), told(value))).collect()
        }
    }
}

#[test]
fn reads_what_other_readers_read() {
    for text in [
        "null",
        "true",
        "false",
        "0",
        "-0",
        "1.5e3",
        "1E-2",
        r#""""#,
        "[]",
        "{}",
        " [ ] ",
        "[[],{}]",
        r#"{"a":{"b":[1,2,{"c":null}]},"d":"e"}"#,
        "\t{\n\"a\" :\r1 , \"b\": [ 1 , 2 ] } ",
        r#""\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\udc4b""#,
        r#"{"\u0061":1}"#,
        "\"grüße 👋\"",
        r#"{"a":1,"a":2,"b":3}"#,
    ] {
        let theirs: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(told(read(text).root()), theirs, "{text}");
    }
}

#[test]
fn refuses_what_is_not_json() {
    for text in [
        "",
        " ",
        "nul",
        "nulll",
        "tru",
        "01",
        "-",
        "1.",
        ".5",
        "1e",
        "1e+",
        "+1",
        "0x1",
        "NaN",
        "'a'",
        "\"a",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\n\"",
        "[1",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1]]",
        "{",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{\"a\" 1}",
        "{1:1}",
        "{\"a\":1 \"b\":2}",
        "]",
        "[}",
        "{]",
        "1 2",
        "\u{feff}1",
        "[1,,2]",
        "{,}",
        "\u{a0}1",
    ] {
        assert!(matches!(Document::read(text), Err(NotJson::Malformed(..))), "{text:?}");
        assert!(serde_json::from_str::<serde_json::Value>(text).is_err(), "{text:?}");
    }
}

/// Half of a character is not a reason to see nothing of a body.
#[test]
fn half_a_surrogate_pair_is_replaced() {
    for text in [r#""a\ud800b""#, r#""a\udc00b""#, r#""a\ud800\u0041""#, r#""\ud83dx\udc4b""#] {
        let shown = read(text).root().as_text().unwrap().into_owned();
        assert!(shown.contains('\u{fffd}'), "{shown}");
    }
}

#[test]
fn depth_and_size_have_an_end() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(Document::read(nested(DEPTH_MAX)).is_ok());
    assert_eq!(Document::read(nested(DEPTH_MAX + 1)).unwrap_err(), NotJson::TooDeep);
    assert_eq!(Document::read("[".repeat(10_000_000)).unwrap_err(), NotJson::TooDeep);
    // The same edge as for everyone else in the gateway.
    assert!(serde_json::from_str::<serde_json::Value>(&nested(DEPTH_MAX)).is_ok());
    assert!(serde_json::from_str::<serde_json::Value>(&nested(DEPTH_MAX + 1)).is_err());

    let wide = |nodes: usize| format!("[{}0]", "0,".repeat(nodes - 2));
    assert!(Document::read(wide(NODES_MAX)).is_ok());
    assert_eq!(Document::read(wide(NODES_MAX + 1)).unwrap_err(), NotJson::TooLarge);
}

#[test]
fn the_last_of_equal_names_counts() {
    let document = read(r#"{"a":1,"b":2,"\u0061":3}"#);
    assert_eq!(document.root().get("a").unwrap().as_number(), Some("3"));
    let members = document.root().members();
    let names: Vec<_> = members.iter().map(|(name, value)| (&**name, value.as_number())).collect();
    assert_eq!(names, [("a", Some("3")), ("b", Some("2"))]);
    assert_eq!(document.root().repeated_name().as_deref(), Some("a"));

    // Also where there are so many that a map is made.
    let many: Vec<_> = (0..50).map(|n| format!("\"n{}\":{n}", n % 40)).collect();
    let many = format!("{{{}}}", many.join(","));
    let document = read(&many);
    let members = document.root().members();
    assert_eq!(members.len(), 40);
    assert_eq!(members[3].1.as_number(), Some("43"));
    assert_eq!(members[39].1.as_number(), Some("39"));
    let theirs: serde_json::Value = serde_json::from_str(&many).unwrap();
    assert_eq!(told(document.root()), theirs);
}

#[test]
fn numbers_compare_exactly() {
    for (a, b, order) in [
        ("1", "1.0", Ordering::Equal),
        ("100", "1e2", Ordering::Equal),
        ("0.001", "1E-3", Ordering::Equal),
        ("0", "-0.00e9", Ordering::Equal),
        ("12", "9", Ordering::Greater),
        ("-12", "-9", Ordering::Less),
        ("-1", "1", Ordering::Less),
        ("0.5", "0.45", Ordering::Greater),
        ("9007199254740993", "9007199254740992", Ordering::Greater),
        ("0.1", "0.10000000000000000001", Ordering::Less),
        ("1e999999999999999999999", "1e400", Ordering::Greater),
        ("1e-999999999999999999999", "0", Ordering::Greater),
        ("-1e400", "1", Ordering::Less),
        ("+7", "007", Ordering::Equal),
        (".5", "5e-1", Ordering::Equal),
        ("5.", "5", Ordering::Equal),
    ] {
        let (read_a, read_b) = (Decimal::read(a).unwrap(), Decimal::read(b).unwrap());
        assert_eq!(read_a.compare(&read_b), order, "{a} {b}");
        assert_eq!(read_b.compare(&read_a), order.reverse(), "{b} {a}");
    }
    for text in ["", "-", ".", "e1", "1e", "1e+", "1.2.3", "0x1", "1 ", "Infinity", "--1", "1e1.5"]
    {
        assert!(Decimal::read(text).is_none(), "{text}");
    }
}

#[test]
fn what_is_shown_is_json_and_has_an_end() {
    for (text, max, shown) in [
        (r#"{"a":[1,"b\"",null],"c":{}}"#, 100, r#"{"a":[1,"b\"",null],"c":{}}"#),
        (r#""abcdefghij""#, 5, r#""abcd…"#),
        ("[1,2,3,4,5,6,7,8]", 6, "[1,2,3…"),
        ("123456789", 4, "1234…"),
        (r#""ééééé""#, 4, "\"é…"),
        (r#"{"é":"ü"}"#, 3, "{\"…"),
    ] {
        assert_eq!(read(text).root().shown(max), shown);
    }
}

#[test]
fn fields_with_several_values_are_lists() {
    let document = Document::fields([("a", "1"), ("b", "x"), ("a", "2")]).unwrap();
    assert_eq!(document.root().shown(100), r#"{"a":["1","2"],"b":"x"}"#);
    let nothing = Document::fields::<&str, &str>([]).unwrap();
    assert_eq!(nothing.root().shown(100), "{}");
}

#[test]
fn a_copy_stands_by_itself() {
    let document = read(r#"{"x":["skip",{"a":[1,{"b":"c\u0064"}]}]}"#);
    let inner = document.root().get("x").unwrap().item(1).unwrap();
    for value in [inner, inner.get("a").unwrap(), inner.get("a").unwrap().item(0).unwrap()] {
        let copy = value.detached();
        assert!(copy.root().equals(value));
        assert_eq!(copy.root().shown(100), value.shown(100));
    }
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|b| json!(b)),
        any::<i64>().prop_map(|n| json!(n)),
        (-1e9..1e9).prop_map(|n: f64| json!(n)),
        "\\PC{0,8}".prop_map(|s| json!(s)),
        "[\"\\\\\n\t/é👋]{0,4}".prop_map(|s| json!(s)),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::from),
            prop::collection::vec(("[a-d\"\\\\]{0,2}", inner), 0..6)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn agrees_with_another_reader(value in any_json(), pretty: bool) {
        let text = if pretty { format!("{value:#}") } else { value.to_string() };
        let theirs: serde_json::Value = serde_json::from_str(&text).unwrap();
        let document = read(&text);
        prop_assert_eq!(&told(document.root()), &theirs);
        prop_assert!(document.root().equals(read(&text).root()));
        let copy = document.root().detached();
        prop_assert_eq!(told(copy.root()), theirs);
    }

    /// The same texts are JSON for both.
    #[test]
    fn agrees_on_what_is_json(text in "[\\[\\]{}:,\"0-9a.e+\\\\tu -]{0,12}") {
        let theirs = serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok();
        prop_assert_eq!(Document::read(&*text).is_ok(), theirs, "{}", text);
    }

    #[test]
    fn orders_numbers_as_they_are(a: i64, b: i64, scale in 0_u32..6) {
        let text = |n: i64| format!("{n}e{scale}");
        let (a_text, b_text) = (text(a), text(b));
        let order = Decimal::read(&a_text).unwrap().compare(&Decimal::read(&b_text).unwrap());
        prop_assert_eq!(order, a.cmp(&b));
    }

    #[test]
    fn orders_fractions_as_they_are(a in -1e6..1e6, b in -1e6..1e6) {
        let (a, b): (f64, f64) = (a, b);
        let (a_text, b_text) = (a.to_string(), format!("{b:e}"));
        let order = Decimal::read(&a_text).unwrap().compare(&Decimal::read(&b_text).unwrap());
        prop_assert_eq!(Some(order), a.partial_cmp(&b));
    }
}
