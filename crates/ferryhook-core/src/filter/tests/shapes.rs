//! The nested form: what it means where others have nothing to say or say something else.

use super::*;

fn holds(shape: &str, body: &str) -> bool {
    matches(&format!(r#"{{"body": {shape}}}"#), &event(body))
}

/// One table for each of the reasons in `docs/filters.md`, with what the package says.
#[test]
fn differences_are_deliberate() {
    for (reason, shape, body, theirs, ours) in [
        ("siblings", r#"{"a": {"$or": [1, 5], "$lt": 3}}"#, r#"{"a": 5}"#, true, false),
        (
            "siblings",
            r#"{"a": {"$or": [{"b": 1}], "c": 2}}"#,
            r#"{"a": {"b": 1, "c": 3}}"#,
            true,
            false,
        ),
        ("siblings", r#"{"a": {"$eq": {"b": 1}, "b": 2}}"#, r#"{"a": {"b": 1}}"#, true, false),
        ("everywhere", r#"{"a": {"$and": [{"$gt": 1}, {"$lt": 5}]}}"#, r#"{"a": 3}"#, false, true),
        ("everywhere", r#"{"a": {"$not": {"$gt": 5}}}"#, r#"{"a": 3}"#, false, true),
        ("everywhere", r#"{"a": {"$or": [null, 1]}}"#, r#"{"a": null}"#, false, true),
        ("everywhere", r#"{"a": {"$or": [{"$eq": {"b": 1}}]}}"#, r#"{"a": {"b": 1}}"#, false, true),
        (
            "everywhere",
            r#"{"a": {"$not": {"b": 1}}}"#,
            r#"{"a": [{"b": 1}, {"b": 2}]}"#,
            true,
            false,
        ),
        ("references", r#"{"a": {"$or": [{"$ref": "b"}]}}"#, r#"{"a": 1, "b": 1}"#, false, true),
        ("references", r#"{"a": {"$eq": {"$ref": "b"}}}"#, r#"{"a": [1], "b": [1]}"#, false, true),
        (
            "references",
            r#"{"a": {"$ref": "b"}}"#,
            r#"{"a": 7, "b": {"$exist": true}}"#,
            true,
            false,
        ),
        ("deep", r#"{"a": {"$eq": {"x": 1, "y": 2}}}"#, r#"{"a": {"y": 2, "x": 1}}"#, false, true),
        ("deep", r#"{"a": {"$eq": [1]}}"#, r#"{"a": "[1]"}"#, true, false),
        ("lists", r#"{"a": []}"#, r#"{"a": {}}"#, true, false),
        ("lists", r#"{"a": ["x"]}"#, r#"{"a": {"0": "x"}}"#, true, false),
        ("numbers", r#"{"a": 9007199254740993}"#, r#"{"a": 9007199254740992}"#, true, false),
        ("names", r#"{"constructor": {"$exist": true}}"#, "{}", true, false),
        ("dots", r#"{"a.b": 1}"#, r#"{"a": {"b": 1}}"#, false, true),
    ] {
        assert_ne!(theirs, ours);
        assert_eq!(holds(shape, body), ours, "{reason}: {shape} on {body}");
        let documentation = include_str!("../../../../../docs/filters.md");
        assert!(documentation.contains(&format!("| `{reason}` |")), "{reason}");
    }
}

#[test]
fn flat_names_lead_into_objects_and_lists() {
    let body = r#"{"a": {"b": [{"c": 1}, {"c": 2}]}, "x.y": 7, "x": {"y": 8}}"#;
    for (shape, expected) in [
        (r#"{"a.b": {"c": 2}}"#, true),
        (r#"{"a.b.$.c": 1}"#, true),
        (r#"{"a.b.$.c": 2}"#, true),
        (r#"{"a.b.$.c": 3}"#, false),
        (r#"{"a.b.0.c": {"$lt": 2}}"#, true),
        (r#"{"a.b.1.c": {"$lt": 2}}"#, false),
        (r#"{"a.z": {"$exist": false}}"#, true),
        (r#"{"a.b": {"$exist": false}}"#, false),
        // A field that is really called so goes first.
        (r#"{"x.y": 7}"#, true),
        (r#"{"x.y": 8}"#, false),
    ] {
        assert_eq!(matches(shape, &event(body)), expected, "{shape}");
        assert_eq!(holds(shape, body), expected, "{shape}");
    }
}

#[test]
fn regular_expressions_are_an_operator() {
    assert!(holds(r#"{"a": {"$regex": "^order\\.(paid|sent)$"}}"#, r#"{"a": "order.sent"}"#));
    assert!(!holds(r#"{"a": {"$regex": "^sent"}}"#, r#"{"a": "order.sent"}"#));
    assert!(!holds(r#"{"a": {"$regex": "1"}}"#, r#"{"a": 1}"#));
    assert!(!holds(r#"{"a": {"$regex": ""}}"#, "{}"));
    assert!(holds(r#"{"a": {"$or": [{"$regex": "x"}, {"$regex": "y"}]}}"#, r#"{"a": ["z", "y"]}"#));
}

#[test]
fn references_lead_to_other_values() {
    let body = r#"{"a": 1, "b": 1, "c": {"d": "1"}, "list": [1, 2], "items": [{"x": 1, "y": 2}, {"x": 3, "y": 3}],
        "rows": [[{"n": 1, "m": 2}], [{"n": 5, "m": 9}, {"n": 7, "m": 7}]]}"#;
    for (shape, expected) in [
        (r#"{"a": {"$ref": "b"}}"#, true),
        (r#"{"a": {"$ref": "$.b"}}"#, true),
        (r#"{"a": {"$ref": "['b']"}}"#, true),
        (r#"{"a": {"$ref": "c.d"}}"#, true),
        (r#"{"a": {"$ref": "list[0]"}}"#, true),
        (r#"{"a": {"$ref": "list[1]"}}"#, false),
        (r#"{"list": {"$ref": "b"}}"#, true),
        (r#"{"a": {"$ref": "nowhere"}}"#, false),
        (r#"{"a": {"$gte": {"$ref": "b"}}}"#, true),
        (r#"{"a": {"$lt": {"$ref": "list[1]"}}}"#, true),
        (r#"{"a": {"$in": {"$ref": "list"}}}"#, true),
        (r#"{"items": {"x": {"$ref": "items[$index].y"}}}"#, true),
        (r#"{"items": {"x": 1, "y": {"$ref": "items[$index].x"}}}"#, false),
        (r#"{"rows": {"n": {"$ref": "rows[$index][$index].m"}}}"#, true),
        (r#"{"rows": {"n": 5, "m": {"$ref": "rows[$index][$index].n"}}}"#, false),
    ] {
        assert_eq!(holds(shape, body), expected, "{shape}");
    }
}

#[test]
fn parts_stand_beside_each_other_or_in_groups() {
    let event = Event {
        headers: Headers::from_iter([("X-GitHub-Event", "push"), ("X-Count", "5")]),
        query: Some("v=2&tag=a&tag=b&empty=".to_owned()),
        path: Some("/orders/7".to_owned()),
        ..event(r#"{"type": "order", "body": {"x": 1}}"#)
    };
    for (filter, expected) in [
        (
            r#"{"headers": {"x-github-event": "push"}, "query": {"v": 2}, "path": "/orders/7"}"#,
            true,
        ),
        (r#"{"headers": {"X-GITHUB-EVENT": "push"}}"#, true),
        (r#"{"headers": {"$not": {"X-Count": {"$lt": 5}}}}"#, true),
        (r#"{"headers": {"x-count": {"$gte": 5}}}"#, true),
        (r#"{"headers": {"x-missing": {"$exist": false}}}"#, true),
        (r#"{"query": {"tag": "b"}}"#, true),
        (r#"{"query": {"tag": ["a", "b"]}}"#, true),
        (r#"{"query": {"tag": ["a", "c"]}}"#, false),
        (r#"{"query": {"empty": ""}}"#, true),
        (r#"{"path": {"$startsWith": "/orders/"}}"#, true),
        (r#"{"path": {"$endsWith": "/8"}}"#, false),
        (r#"{"$or": [{"body": {"type": "x"}}, {"path": {"$in": "orders"}}]}"#, true),
        (r#"{"$and": [{"body": {"type": "x"}}, {"path": {"$in": "orders"}}]}"#, false),
        (r#"{"$not": {"headers": {"x-count": 5}}, "body": {"type": "order"}}"#, false),
        // Not only parts: the body, and then `body` is a field of it.
        (r#"{"type": "order", "body": {"x": 1}}"#, true),
        (r#"{"type": "order"}"#, true),
        (r#"{"$or": [{"type": "x"}, {"type": "order"}]}"#, true),
        ("{}", true),
        (r#"{"body": {}}"#, true),
    ] {
        assert_eq!(matches(filter, &event), expected, "{filter}");
    }
}

#[test]
fn a_part_that_is_not_there_has_no_shape() {
    let event = event("");
    for (filter, expected) in [
        (r#"{"body": {"a": 1}}"#, false),
        (r#"{"body": {"a": {"$exist": false}}}"#, false),
        (r#"{"body": {"$exist": false}}"#, true),
        (r#"{"body": {"$not": {"a": 1}}}"#, true),
        (r#"{"body": null}"#, false),
        (r#"{"body": {}}"#, true),
        ("{}", true),
        (r#"{"headers": {"a": {"$exist": false}}}"#, true),
        (r#"{"query": {"a": {"$exist": false}}}"#, true),
        (r#"{"path": ""}"#, true),
    ] {
        assert_eq!(matches(filter, &event), expected, "{filter}");
    }
}
