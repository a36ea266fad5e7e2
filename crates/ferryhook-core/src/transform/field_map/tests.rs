use proptest::prelude::*;
use serde_json::{Value, json};

use crate::samples;
use crate::transform::tests::body_of;
use crate::transform::{Fault, Outcome, Transform, limits};

const ORDER: &str = r#"{"id":12345678901234567890123,"customer":{"mail":"a@b.c","name":"Ann"},"items":[{"sku":"x","qty":2,"secret":1},{"sku":"y","qty":1.50}],"note":null}"#;

/// `rules` with the type put in front.
fn field_map(rules: &str) -> String {
    format!(r#"{{"type":"field_map",{}"#, &rules[1..])
}

#[test]
fn every_rule_does_what_it_says() {
    for (rules, made) in [
        // A map makes a new body, in the order it is written.
        (
            r#"{"map":{"to":"$.customer.mail","order.id":"body.id"}}"#,
            r#"{"to":"a@b.c","order":{"id":12345678901234567890123}}"#,
        ),
        (
            r#"{"map":{"mail":"$.customer.mail"},"keep":true,"remove":["items","customer"]}"#,
            r#"{"id":12345678901234567890123,"note":null,"mail":"a@b.c"}"#,
        ),
        (r#"{"map":{"$":"$.customer"}}"#, r#"{"mail":"a@b.c","name":"Ann"}"#),
        (
            r#"{"map":{"a":"$.none","b":"$.note","c":"$.items[1].qty","d":"$['customer']['name']"}}"#,
            r#"{"b":null,"c":1.50,"d":"Ann"}"#,
        ),
        (
            r#"{"map":{"skus":"$.items[*].sku","all":"$.customer[*]","none":"$.x[*].y"}}"#,
            r#"{"skus":["x","y"],"all":["a@b.c","Ann"],"none":[]}"#,
        ),
        (
            r#"{"map":{"a":{"from":"$.x","default":[1,{"b":2}]},"c":{"constant":true},"t":{"template":"{{$.customer.name}}!"}}}"#,
            r#"{"a":[1,{"b":2}],"c":true,"t":"Ann!"}"#,
        ),
        (
            r#"{"map":{"a":{"from":"$.x.y","required":true}}}"#,
            "failed: $.x.y is required, and the event has no such value",
        ),
        (
            r#"{"map":{"h":"headers.x-b","q":"query.v","p":"path","m":"method","i":"event.id","t":"event.type","at":"event.received_at","s":"event.source_id"}}"#,
            r#"{"h":"2","q":"2","p":"/orders","m":"POST","i":"evt_-OhqqeV-00000001","t":"order.completed","at":"2026-01-01T00:00:00.000Z","s":"src_0000000000000001"}"#,
        ),
        // Lists.
        (
            r#"{"map":{"lines":{"each":"$.items","map":{"n":"index","code":"item.sku","of":"$.customer.name","t":{"template":"{{item.qty}} x {{item.sku}}"}}}}}"#,
            r#"{"lines":[{"n":0,"code":"x","of":"Ann","t":"2 x x"},{"n":1,"code":"y","of":"Ann","t":"1.50 x y"}]}"#,
        ),
        (r#"{"map":{"$":{"each":"$.items","map":{"$":"item.sku"}}}}"#, r#"["x","y"]"#),
        (
            r#"{"map":{"a":{"each":"$.items","map":{"b":{"each":"$.items[*].sku","map":{"$":"item"}}}}}}"#,
            r#"{"a":[{"b":["x","y"]},{"b":["x","y"]}]}"#,
        ),
        (
            r#"{"map":{"a":{"each":"$.customer","map":{}}}}"#,
            "failed: each needs a list, and there is none",
        ),
        (r#"{"map":{"a":{"each":"$.none","map":{}}}}"#, "{}"),
        // Renaming keeps the place among the neighbours, moving does not.
        (
            r#"{"rename":{"id":"number"},"remove":["items","customer"]}"#,
            r#"{"number":12345678901234567890123,"note":null}"#,
        ),
        (
            r#"{"rename":{"customer.mail":"mail","none":"some","id":"note"},"remove":["items"]}"#,
            r#"{"note":12345678901234567890123,"customer":{"name":"Ann"},"mail":"a@b.c"}"#,
        ),
        (
            r#"{"rename":{"items[*].sku":"items[*].code"},"remove":["items[*].secret","id","customer","note"]}"#,
            r#"{"items":[{"code":"x","qty":2},{"code":"y","qty":1.50}]}"#,
        ),
        (
            r#"{"rename":{"customer.name":"note.name"},"remove":["items"]}"#,
            r#"{"id":12345678901234567890123,"customer":{"mail":"a@b.c"},"note":{"name":"Ann"}}"#,
        ),
        (
            r#"{"remove":["items[0]","customer[*]","none.at.all","id[3]"]}"#,
            r#"{"id":12345678901234567890123,"customer":{},"items":[{"sku":"y","qty":1.50}],"note":null}"#,
        ),
        // Add leaves what is there, a constant does not.
        (
            r#"{"remove":["items","customer","id"],"add":{"note":"x","currency":"EUR"},"constant":{"origin.shop":1}}"#,
            r#"{"note":null,"currency":"EUR","origin":{"shop":1}}"#,
        ),
        (r#"{"constant":{"id.x":1}}"#, "failed: x cannot be set: id is not an object"),
        (
            r#"{"remove":["items","customer","note"],"template":{"t":"{{$.id}} {{$.note}}{{$.x ?? 'none'}} {{ $.y ?? \"q\" }} {a}"}}"#,
            r#"{"id":12345678901234567890123,"t":"12345678901234567890123 none q {a}"}"#,
        ),
        // Steps work on what the one before made.
        (
            r#"{"steps":[{"map":{"a":"$.customer"}},{"rename":{"a.mail":"a.to"}},{"map":{"$":"$.a.to"}}]}"#,
            r#""a@b.c""#,
        ),
        // What changes nothing is nothing.
        (r#"{"remove":["nope"]}"#, "unchanged"),
        (r#"{"map":{}}"#, "{}"),
    ] {
        assert_eq!(body_of(&field_map(rules), ORDER), made, "{rules}");
    }
}

#[test]
fn a_bad_rule_is_refused_with_its_place() {
    for (rules, message) in [
        (
            r#"{"maps":{}}"#,
            "at /maps: no such field; known here: type, headers, steps, map, keep, rename, remove, add, constant, template",
        ),
        (r#"{"map":[]}"#, "at /map: must be an object"),
        (
            r#"{"map":{"a/b":7}}"#,
            "at /map/a~1b: must be a path in quotes, or an object with from, constant, template or each",
        ),
        (
            r#"{"map":{"a":"customer.mail"}}"#,
            "at /map/a: a path begins with $ or body (the body), item and index (inside of each), headers.NAME, query.NAME, path, method or event.id, .type, .received_at, .source_id; a field of the body is $.customer.mail",
        ),
        (
            r#"{"map":{"a":"event.text"}}"#,
            "at /map/a: of the event there are .id, .type, .received_at and .source_id; a field of the body that is called event is $.event.text",
        ),
        (
            r#"{"map":{"a":"item.x"}}"#,
            "at /map/a: item and index mean something only inside of each; a field of the body begins with $.",
        ),
        (r#"{"map":{"a":"$..x"}}"#, r#"at /map/a: a name is missing in front of ".x""#),
        (r#"{"map":{"a":"$[x]"}}"#, r#"at /map/a: expected .name, [0], [*] or ['name'] at "[x]""#),
        (
            r#"{"map":{"a[0]":"$.x"}}"#,
            "at /map/a[0]: a new field is named by names only, such as customer.mail",
        ),
        (
            r#"{"map":{"a":{"from":"$.x","or":1}}}"#,
            "at /map/a/or: no such field; known here: from, default, required",
        ),
        (
            r#"{"map":{"a":{"from":"$.x","default":1,"required":true}}}"#,
            "at /map/a/required: a default makes it needless",
        ),
        (r#"{"map":{"a":{}}}"#, "at /map/a: needs one of from, constant, template and each"),
        (
            r#"{"map":{"a":{"each":"$.x"}}}"#,
            "at /map/a: each needs a map of what becomes of an element",
        ),
        (r#"{"keep":true}"#, "at /keep: means nothing without map"),
        (r#"{"rename":{"a":1}}"#, "at /rename/a: must be a path in quotes"),
        (r#"{"rename":{"a":"a.b"}}"#, "at /rename/a: a field cannot be moved into itself"),
        (
            r#"{"rename":{"a[*].b":"c[*].b"}}"#,
            "at /rename/a[*].b: both paths must be the same up to their last [*]",
        ),
        (r#"{"remove":["a",""]}"#, "at /remove/1: a path must not be empty"),
        (r#"{"remove":["$"]}"#, "at /remove/0: the whole body cannot be removed"),
        (r#"{"template":{"a":"{{ $.x"}}"#, r#"at /template/a: {{ is not closed by }} behind """#),
        (
            r#"{"template":{"a":"{{ $.x ?? y }}"}}"#,
            r#"at /template/a: behind ?? stands a text in quotes, not "y""#,
        ),
        (r#"{"steps":[{"remove":[]},{"remove":{}}]}"#, "at /steps/1/remove: must be a list"),
        (
            r#"{"headers":{"Host":"x"}}"#,
            "at /headers/Host: Host belongs to the transport of each request and cannot be set",
        ),
        (
            r#"{"headers":{"webhook-id":"x"}}"#,
            "at /headers/webhook-id: webhook-id is set by Ferryhook and cannot be replaced",
        ),
        (
            r#"{"headers":{"Authorization":"x"}}"#,
            "at /headers/Authorization: Authorization is not passed on from an event; make it a header of the connection",
        ),
    ] {
        let error = Transform::parse(&field_map(rules)).unwrap_err();
        assert_eq!(error.to_string(), message, "{rules}");
    }
}

#[test]
fn bounds_hold_at_their_edges() {
    let map = |count: usize| {
        let fields: serde_json::Map<_, _> =
            (0..count).map(|n| (format!("f{n}"), json!("$.id"))).collect();
        json!({"type": "field_map", "map": fields}).to_string()
    };
    assert!(Transform::parse(&map(limits::RULES_MAX)).is_ok());
    assert!(Transform::parse(&map(limits::RULES_MAX + 1)).is_err());
    let steps = |count| json!({"type":"field_map","steps": vec![json!({}); count]}).to_string();
    assert!(Transform::parse(&steps(limits::STEPS_MAX)).is_ok());
    assert!(Transform::parse(&steps(limits::STEPS_MAX + 1)).is_err());
    let deep = |count: usize| {
        json!({"type":"field_map","remove":[vec!["a"; count].join(".")]}).to_string()
    };
    assert!(Transform::parse(&deep(limits::PATH_STEPS_MAX)).is_ok());
    assert!(Transform::parse(&deep(limits::PATH_STEPS_MAX + 1)).is_err());
    let each = |depth: usize| {
        let inner =
            (0..depth).fold(json!("$.x"), |inner, _| json!({"each":"$.x","map":{"a":inner}}));
        json!({"type":"field_map","map":{"a":inner}}).to_string()
    };
    assert!(Transform::parse(&each(limits::EACH_DEPTH_MAX)).is_ok());
    assert!(Transform::parse(&each(limits::EACH_DEPTH_MAX + 1)).is_err());
}

/// Small rules that would make something huge, or take for ever, come to an end.
#[test]
fn growth_is_bounded() {
    let double = vec![json!({"map":{"a":"$","b":"$"}}); limits::STEPS_MAX];
    let double = json!({"type":"field_map","steps":double}).to_string();
    let large = format!("\"{}\"", "x".repeat(100_000));
    assert!(body_of(&double, &large).contains("bytes copied"));

    let list = format!("[{}0]", "0,".repeat(5000));
    let nested = r#"{"type":"field_map","map":{"a":{"each":"$","map":{"b":{"each":"$","map":{"c":"$.none"}}}}}}"#;
    assert!(body_of(nested, &list).contains("more work than one event may"));

    let deep = "[".repeat(200_000) + &"]".repeat(200_000);
    let take = r#"{"type":"field_map","map":{"a":"$[0][0][0]"}}"#;
    assert_eq!(body_of(take, &deep).len(), deep.len() - 6 + r#"{"a":}"#.len());
}

#[test]
fn forms_are_objects_and_nothing_is_an_empty_one() {
    let transform = Transform::parse(r#"{"type":"field_map","rename":{"a b":"c"}}"#).unwrap();
    let mut event = samples::event();
    event.payload = None;
    event.content_type = Some("application/x-www-form-urlencoded; charset=utf-8".to_owned());
    event.body = "a+b=1&x=%C3%A4&x=2&y".into();
    let Outcome::Changed(made) = transform.apply(&event).unwrap().outcome else { panic!() };
    assert_eq!(made.body.as_text(), Some(r#"{"c":"1","x":"ä","y":""}"#));
    assert_eq!(made.content_type.as_deref(), Some("application/json"));

    let add = Transform::parse(r#"{"type":"field_map","constant":{"a":1}}"#).unwrap();
    event.body = "".into();
    let Outcome::Changed(made) = add.apply(&event).unwrap().outcome else { panic!() };
    assert_eq!(made.body.as_text(), Some(r#"{"a":1}"#));

    event.content_type = Some("application/cloudevents+json".to_owned());
    event.body = "{".into();
    let error = add.apply(&event).unwrap_err();
    assert_eq!(error.fault.code(), "body");
    assert!(error.to_string().starts_with("the body cannot be transformed: it is not JSON"));
    event.body = vec![0xff].into();
    assert_eq!(add.apply(&event).unwrap_err().fault, Fault::Body("it is not text".to_owned()));
    // It says that it is JSON, and is again.
    event.body = "{}".into();
    let Outcome::Changed(made) = add.apply(&event).unwrap().outcome else { panic!() };
    assert_eq!(made.content_type.as_deref(), Some("application/cloudevents+json"));
}

/// What an app triggered has a payload, and leaves with a body.
#[test]
fn a_payload_becomes_a_body() {
    let mut event = samples::event();
    event.body = "".into();
    let transform = Transform::parse(r#"{"type":"field_map","rename":{"amount":"sum"}}"#).unwrap();
    let Outcome::Changed(made) = transform.apply(&event).unwrap().outcome else { panic!() };
    assert_eq!((made.body.as_text(), made.payload), (Some(r#"{"sum":120}"#), None));
}

#[test]
fn headers_are_set_and_removed() {
    let text = r#"{"type":"field_map","headers":{"x-b":null,"X-A":"n {{$.id}}","X-New":"{{headers.x-b}}"}}"#;
    let transform = Transform::parse(text).unwrap();
    let mut event = samples::event();
    event.headers =
        [("X-B", "2"), ("x-a", "1"), ("Digest", "d"), ("X-B", "3")].into_iter().collect();
    let Outcome::Changed(made) = transform.apply(&event).unwrap().outcome else { panic!() };
    let headers: Vec<_> = made.headers.iter().collect();
    assert_eq!(headers, [("Digest", "d"), ("X-A", "n evt_1"), ("X-New", "2")]);
    assert_eq!(made.body, event.body);

    // Also where the body means nothing to us.
    event.body = vec![0xff, 0].into();
    assert!(matches!(transform.apply(&event).unwrap().outcome, Outcome::Changed(_)));
    // With another body, what was said about the old one goes.
    let both = Transform::parse(r#"{"type":"field_map","constant":{"a":1}}"#).unwrap();
    event.body = "{}".into();
    let Outcome::Changed(made) = both.apply(&event).unwrap().outcome else { panic!() };
    assert_eq!(made.headers.find("digest"), None);
    // A value cannot break out of its line.
    event.body = r#"{"id":"a\r\nHost: b"}"#.into();
    assert_eq!(transform.apply(&event).unwrap_err().fault.code(), "header");
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-c\"\\\\ä]{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-c]", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Whatever the document: taking it along leaves it as it is, and rules agree with what the
    /// same steps do to a tree of values.
    #[test]
    fn rules_agree_with_a_tree(body in json_value(), names in prop::collection::vec("[a-c]", 1..4)) {
        let path = names.join(".");
        let text = body.to_string();
        let pointer = format!("/{}", names.join("/"));
        let copied = body_of(&json!({"type":"field_map","map":{"x":"$"}}).to_string(), &text);
        prop_assert_eq!(copied, format!("{{\"x\":{text}}}"));

        let taken = body_of(&json!({"type":"field_map","map":{"x":format!("$.{path}")}}).to_string(), &text);
        // A pointer also counts in lists, names do not.
        let in_objects = (1..names.len()).all(|n| {
            body.pointer(&format!("/{}", names[..n].join("/"))).is_none_or(Value::is_object)
        }) && body.is_object();
        let expected = body.pointer(&pointer).filter(|_| in_objects);
        let expected = expected.map_or("{}".to_owned(), |value| json!({"x": value}).to_string());
        prop_assert_eq!(if taken == "unchanged" { text } else { taken }, expected);
    }

    #[test]
    fn no_text_makes_it_panic(text in ".{0,80}", body in ".{0,40}") {
        for rules in [
            json!({"type":"field_map","map":{"x":text}}),
            json!({"type":"field_map","map":{text.as_str():"$.a"}}),
            json!({"type":"field_map","rename":{"a":text}}),
            json!({"type":"field_map","remove":[text]}),
            json!({"type":"field_map","template":{"x":text}}),
        ] {
            if Transform::parse(&rules.to_string()).is_ok() {
                body_of(&rules.to_string(), &body);
            }
        }
    }
}
