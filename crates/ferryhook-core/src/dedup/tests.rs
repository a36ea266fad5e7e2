use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{Body, Headers, Source, samples};

const BODY: &str = r#"{
    "id": "evt_1", "n": 7, "big": 123456789012345678901234567890, "f": 1.50, "yes": true,
    "no": null, "empty": "", "escaped": "a\u00e9\n", "list": [{"id": "first"}, {"id": "second"}],
    "data": {"id": "d", "0": "zero", "x.y": "dotted", "event-data": {"id": "m"}}, "body": {"id": "inner"}
}"#;

struct Request {
    headers: Headers,
    query: Option<&'static str>,
    body: Body,
}

fn request(body: &str) -> Request {
    let headers =
        Headers::from_iter([("X-GitHub-Delivery", " guid "), ("X-Empty", ""), ("X.Y", "dot")]);
    Request {
        headers,
        query: Some("a=1&id=q%20+%C3%A9&id=2&empty=&bad=%ff&pct=100%"),
        body: body.to_owned().into(),
    }
}

impl Request {
    fn arriving(&self) -> Arriving<'_> {
        Arriving {
            headers: &self.headers,
            query: self.query,
            path: Some("/orders/7"),
            body: &self.body,
        }
    }
}

fn key(expression: &str, body: &str) -> Option<String> {
    Rule::parse(expression).unwrap().key(&request(body).arriving())
}

#[test]
fn a_path_leads_to_a_scalar_or_to_nothing() {
    for (expression, found) in [
        ("body.id", Some("evt_1")),
        ("$.body.id", Some("evt_1")),
        ("$.id", Some("evt_1")),
        ("  body.id ", Some("evt_1")),
        ("body.n", Some("7")),
        ("body.big", Some("123456789012345678901234567890")),
        ("body.f", Some("1.50")),
        ("body.yes", Some("true")),
        ("body.no", None),
        ("body.empty", None),
        ("body.missing", None),
        ("body.missing.deep", None),
        ("body.id.deep", None),
        ("body.n.0", None),
        ("body.data", None),
        ("body.list", None),
        ("body.list[1].id", Some("second")),
        ("body.list.0.id", Some("first")),
        ("body.list[2].id", None),
        ("body.data.0", Some("zero")),
        ("body.data['x.y']", Some("dotted")),
        ("body.data.event-data.id", Some("m")),
        ("$['data'].id", Some("d")),
        ("$.body.body.id", Some("inner")),
        ("body.body.id", Some("inner")),
        ("headers.x-github-delivery", Some("guid")),
        ("headers.X-GitHub-Delivery", Some("guid")),
        ("headers['x-github-delivery']", Some("guid")),
        ("headers.x.y", Some("dot")),
        ("$.headers.x-github-delivery", Some("guid")),
        ("headers.x-empty", None),
        ("headers.x-missing", None),
        ("query.id", Some("q  é")),
        ("query.a", Some("1")),
        ("query.pct", Some("100%")),
        ("query.empty", None),
        ("query.bad", None),
        ("query.missing", None),
        ("path", Some("/orders/7")),
        ("$.path", Some("/orders/7")),
        ("body.missing|body.n", Some("7")),
        ("body.missing | headers.x-missing | query.a", Some("1")),
        ("{body.id}", Some("evt_1")),
    ] {
        assert_eq!(key(expression, BODY).as_deref(), found, "{expression}");
    }
}

#[test]
fn a_template_joins_what_is_there() {
    let hubspot = "HUBSPOT:{body.type}:{body.id}[:{body.at}]";
    for (expression, body, found) in [
        (hubspot, r#"{"type":"0-1","id":5,"at":9}"#, Some("HUBSPOT:0-1:5:9")),
        (hubspot, r#"{"type":"0-1","id":5}"#, Some("HUBSPOT:0-1:5")),
        (hubspot, r#"{"type":"0-1","at":9}"#, None),
        ("{body.a|body.b}-{body.c}[/{body.d}.{body.e}]", r#"{"b":1,"c":2,"d":3}"#, Some("1-2")),
        ("{ body.a }", r#"{"a":1}"#, Some("1")),
        ("{body['a}|b']}", r#"{"a}|b":1}"#, Some("1")),
        ("é{body.a}", r#"{"a":"1é%"}"#, Some("é1%c3%a9%25")),
        ("{body}", "", None),
    ] {
        assert_eq!(key(expression, body).as_deref(), found, "{expression} {body}");
    }
}

/// Different values never make the same key, wherever the separator stands in them.
#[test]
fn values_do_not_run_into_each_other() {
    let of = |a: &str, b: &str| key("{body.a}:{body.b}", &json!({"a": a, "b": b}).to_string());
    assert_eq!(of("x:y", "z").as_deref(), Some("x%3ay:z"));
    assert_ne!(of("x:y", "z"), of("x", "y:z"));
    assert_ne!(of("x%3ay", "z"), of("x:y", "z"));
}

#[test]
fn a_body_as_a_whole_is_its_hash() {
    let hash = "sha256 of nothing else";
    let one = key("body", hash).unwrap();
    assert_eq!(one.len(), 64);
    assert_eq!(key("$", hash), Some(one));
}

#[test]
fn a_long_or_unprintable_key_is_hashed() {
    let of = |text: &str| key("body.k", &json!({ "k": text }).to_string()).unwrap();
    let longest = "x".repeat(KEY_BYTES_MAX);
    assert_eq!(of(&longest), longest);
    let hashed = of(&format!("{longest}x"));
    assert!(hashed.starts_with("sha256:") && hashed.len() == 71, "{hashed}");
    assert_ne!(hashed, of(&format!("{longest}y")));
    assert!(of("a\nb").starts_with("sha256:"));
}

#[test]
fn what_is_not_json_has_no_key() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (body, found) in [
        ("", None),
        ("{\"id\":1} x", None),
        ("{\"id\":1", None),
        ("{\"id\":\"\\ud800\"}", None),
        ("[1]", None),
        ("\"id\"", None),
        ("{\"id\":1,\"id\":2}", Some("2")),
        ("{\"id\":1,\"id\":null}", None),
        (&format!("{{\"x\":{deep},\"id\":1}}"), Some("1")),
        (&format!("{{\"id\":{deep}}}"), None),
    ] {
        assert_eq!(key("body.id", body).as_deref(), found, "{}", &body[..body.len().min(40)]);
    }
    assert_eq!(key("body.a.b", r#"{"a":{"b":1},"a":{}}"#), None, "the last one counts");
    assert_eq!(key("{body.a|body.b}:{body.a.c}", r#"{"b":1,"a":{"c":2}}"#).as_deref(), Some("1:2"));
    let binary = Request { body: Body::from(&b"{\"id\":1,\"x\":\"\xff\"}"[..]), ..request("") };
    assert_eq!(Rule::parse("body.id").unwrap().key(&binary.arriving()), None);
}

#[test]
fn a_form_is_read_by_its_names() {
    let headers =
        Headers::from_iter([("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")]);
    let form = Request { headers, ..request("MessageSid=SM1&data%5Bid%5D=5&a.b=6") };
    for (expression, found) in [
        ("body.MessageSid", Some("SM1")),
        ("body['data[id]']", Some("5")),
        ("body['a.b']", Some("6")),
        ("body.a.b", None),
        ("body.Other", None),
    ] {
        let rule = Rule::parse(expression).unwrap();
        assert_eq!(rule.key(&form.arriving()).as_deref(), found, "{expression}");
    }
}

/// Nobody signs the content type, so whoever sends a request again could lose its key by it.
#[test]
fn a_body_is_read_as_what_it_is_whatever_the_sender_says() {
    for said in ["", "application/json", "application/x-www-form-urlencoded", "text/plain"] {
        let headers = Headers::from_iter([("Content-Type", said)]);
        for (body, found) in [
            (r#"{"id":"evt_1"}"#, Some("evt_1")),
            (" \n {\"id\":\"evt_1\"}", Some("evt_1")),
            ("id=evt_1", Some("evt_1")),
            (r#"{"x":"&id=evt_2&"}"#, None),
            (r#"{"id":"evt_1"} x"#, None),
        ] {
            let request = Request { headers: headers.clone(), ..request(body) };
            let found_own = Rule::parse("body.id").unwrap().key(&request.arriving());
            assert_eq!(found_own.as_deref(), found, "{said} {body}");
        }
    }
}

#[test]
fn a_rule_that_is_not_understood_says_why() {
    let unexpected = |character, behind: &str| BadRule::Unexpected(character, behind.to_owned());
    let root = |text: &str| BadRule::Root(text.to_owned());
    let missing = |behind: &str| BadRule::StepMissing(behind.to_owned());
    let many = vec!["body.a"; PATHS_MAX + 1].join("|");
    let deep = format!("body{}", ".a".repeat(STEPS_MAX + 1));
    let long = format!("body.{}", "a".repeat(EXPRESSION_BYTES_MAX));
    for (expression, error) in [
        ("", root("")),
        ("id", root("id")),
        ("header.x", root("header")),
        ("headers", BadRule::NameMissing),
        ("headers.", BadRule::NameMissing),
        ("query", BadRule::NameMissing),
        ("path.x", unexpected('.', "path")),
        ("body.", missing("body.")),
        ("body..id", missing("body.")),
        ("body.a[", BadRule::Unclosed('[')),
        ("body.a[]", missing("body.a[]")),
        ("body.a[*]", unexpected('*', "body.a[*")),
        ("body.a['b]", BadRule::Unclosed('\'')),
        ("body.a b", unexpected('b', "body.a ")),
        ("body.a|", root("")),
        ("body.a}", unexpected('}', "body.a")),
        ("{body.a", BadRule::Unclosed('{')),
        ("{body.a}}", unexpected('}', "{body.a}")),
        ("{body.a}[x", BadRule::Unclosed('[')),
        ("{body.a}[x[y]]", unexpected('[', "{body.a}[x")),
        ("{body.a}]", unexpected(']', "{body.a}")),
        ("{{body.a}}", root("")),
        ("[{body.a}]", BadRule::NothingRequired),
        ("{body.a}{body.b}", BadRule::Touching),
        ("{body.a}[{body.b}]", BadRule::Touching),
        ("[{body.a}]{body.b}", BadRule::Touching),
        ("{id}", root("id")),
        ("body.a\n.b", BadRule::Control),
        (&many, BadRule::TooManyPaths),
        (&deep, BadRule::TooManySteps),
        (&long, BadRule::TooLong(EXPRESSION_BYTES_MAX + 5)),
    ] {
        assert_eq!(Rule::parse(expression), Err(error), "{expression}");
    }
    assert!(Rule::parse(&many["body.a|".len()..]).is_ok());
    assert!(Rule::parse(&deep[..deep.len() - 2]).is_ok());
    assert!(Rule::parse(&long[..EXPRESSION_BYTES_MAX]).is_ok());
}

#[test]
fn a_type_is_readable_or_absent() {
    let of = |body: serde_json::Value| {
        Rule::parse("{body.a}.{body.b}").unwrap().text(&request(&body.to_string()).arriving())
    };
    assert_eq!(of(json!({"a": "x.y", "b": "z"})).as_deref(), Some("x.y.z"));
    assert_eq!(of(json!({"a": "x\n", "b": "z"})), None);
    let longest = "x".repeat(EVENT_TYPE_BYTES_MAX - 2);
    assert!(of(json!({"a": longest, "b": "z"})).is_some());
    assert_eq!(of(json!({"a": longest, "b": "zz"})), None);
}

#[test]
fn an_idempotency_key_is_bare_or_quoted() {
    for (value, found) in [
        ("abc", Some("abc")),
        (" abc ", Some("abc")),
        (r#""abc""#, Some("abc")),
        (r#""a\"b\\c""#, Some(r#"a"b\c"#)),
        (r#""a\b""#, None),
        (r#""a"b""#, None),
        (r#""abc"#, Some("\"abc")),
        (r#""""#, None),
        ("", None),
    ] {
        let headers = Headers::from_iter([("Idempotency-Key", value)]);
        assert_eq!(idempotency_key(&headers).as_deref(), found, "{value}");
    }
    let long = Headers::from_iter([("idempotency-key", "x".repeat(KEY_BYTES_MAX + 1))]);
    assert!(idempotency_key(&long).unwrap().starts_with("sha256:"));
    assert_eq!(idempotency_key(&Headers::default()), None);
}

fn source(provider: &str, expression: Option<&str>) -> Source {
    let dedup_expression = expression.map(str::to_owned);
    Source { provider: provider.to_owned(), dedup_expression, ..samples::source() }
}

#[test]
fn a_source_goes_by_its_expression_then_its_provider_then_the_header() {
    let with_header = |mut request: Request| {
        request.headers = Headers::from_iter([("Idempotency-Key", "k1")]);
        request
    };
    let with = with_header(request(BODY));
    let without_id = with_header(request("{}"));
    for (provider, expression, request, found) in [
        ("stripe", None, &with, Some("STRIPE@src_0000000000000001:evt_1")),
        ("stripe", Some("body.n"), &with, Some("STRIPE@src_0000000000000001:7")),
        ("stripe", None, &without_id, Some("STRIPE@src_0000000000000001:k1")),
        ("custom", None, &with, Some("CUSTOM@src_0000000000000001:k1")),
        ("custom", None, &request("{}"), None),
        ("", Some("body.n"), &with, Some("CUSTOM@src_0000000000000001:7")),
        ("a:b", Some("body.n"), &with, Some("CUSTOM@src_0000000000000001:7")),
    ] {
        let dedup = Dedup::of(&source(provider, expression)).unwrap();
        assert_eq!(dedup.key(&request.arriving()).as_deref(), found, "{provider} {expression:?}");
    }
    assert!(Dedup::of(&source("stripe", Some("id"))).is_err());
}

#[test]
fn parts_of_a_request_are_told_apart() {
    let dedup = Dedup::of(&source("custom", None)).unwrap();
    let mut part = request(r#"{"id":1}"#);
    part.headers = Headers::from_iter([("Idempotency-Key", "k1")]);
    assert_ne!(dedup.key_of_part(&part.arriving(), 0), dedup.key_of_part(&part.arriving(), 1));

    let by_either = Dedup::of(&source("custom", Some("headers.idempotency-key|body.id"))).unwrap();
    let of = |index| by_either.key_of_part(&part.arriving(), index);
    assert_ne!(of(0), of(1), "the header speaks for the whole request");

    let by_body = Dedup::of(&source("custom", Some("body.id"))).unwrap();
    let first = by_body.key_of_part(&part.arriving(), 0);
    assert_eq!(first, by_body.key_of_part(&part.arriving(), 1), "the same event, twice in a batch");
    assert_eq!(first, by_body.key(&part.arriving()));
}

proptest! {
    #[test]
    fn no_expression_breaks_the_reader(expression in r"[\[\]{}|.$ 'a:]{0,30}|(body|headers|query|path|\$)[\[\]{}|.'a0]{0,20}") {
        if let Ok(rule) = Rule::parse(&expression) {
            let _ = rule.key(&request(BODY).arriving());
        }
    }

    /// What the one pass finds is what a tree of the whole text has there.
    #[test]
    fn one_pass_finds_what_a_tree_has(value in tree(), path in prop::collection::vec("[ab0-2]", 1..4)) {
        let expected = path.iter().try_fold(&value, |value, step| match value {
            serde_json::Value::Array(list) => list.get(step.parse::<usize>().ok()?),
            other => other.get(step),
        });
        let expected = expected.and_then(|value| match value {
            serde_json::Value::String(text) => (!text.is_empty()).then(|| text.clone()),
            serde_json::Value::Number(_) | serde_json::Value::Bool(_) => Some(value.to_string()),
            _ => None,
        });
        let text = value.to_string();
        let found = Tree::of(path).seek(&text).unwrap();
        prop_assert_eq!(found[0].as_deref(), expected.as_deref());
    }

    /// Two requests have the same key exactly if they agree in every part.
    #[test]
    fn a_key_is_as_good_as_its_parts(
        one in ("[a:%/é]{1,4}", "[a:%/é]{1,4}"),
        two in ("[a:%/é]{1,4}", "[a:%/é]{1,4}"),
    ) {
        let of = |(a, b): &(String, String)| key("{body.a}:/{body.b}", &json!({"a": a, "b": b}).to_string());
        prop_assert_eq!(of(&one) == of(&two), one == two);
    }

    #[test]
    fn a_quoted_idempotency_key_is_the_bare_one(text in r#"[ -~]{1,40}"#) {
        let quoted = format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        let headers = Headers::from_iter([("Idempotency-Key", quoted)]);
        prop_assert_eq!(idempotency_key(&headers), Some(text));
    }
}

fn tree() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|value| json!(value)),
        any::<i64>().prop_map(|value| json!(value)),
        ".{0,4}".prop_map(|value| json!(value)),
    ];
    leaf.prop_recursive(3, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|list| json!(list)),
            prop::collection::btree_map("[ab0-2]", inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}
