//! What an explanation says.

use super::*;

fn explained(text: &str, event: &Event) -> String {
    filter(text).explain(&Seen::of(event)).to_string()
}

#[test]
fn every_rule_is_explained_also_those_that_did_not_matter() {
    let event = Event {
        headers: Headers::from_iter([("X-Kind", "push")]),
        ..event(r#"{"a": 5, "tags": ["x", "y"], "many": [1,2,3,4,5,6,7]}"#)
    };
    let text = r#"{"all": [
        {"path": "$.a", "operator": "gt", "value": 10},
        {"any": [{"path": "headers.x-kind", "operator": "in", "value": ["push", "pull"]},
                 {"path": "$.b", "operator": "exists"}]},
        {"not": {"path": "$.tags[*]", "operator": "starts_with", "value": ["x", "z"]}},
        {"path": "$.many[*]", "operator": "not_equals", "value": 9}
    ]}"#;
    assert_eq!(
        explained(text, &event),
        "\
no   all
no     $.a gt 10; saw 5
yes    any
yes      headers.x-kind in [\"push\",\"pull\"]; saw \"push\"
no       $.b exists; saw nothing
no     not
yes      $.tags[*] starts_with \"x\" or \"z\"; saw \"x\", \"y\"
yes    $.many[*] not_equals 9; saw 1, 2, 3, 4, 5 (7 in all)
"
    );
}

#[test]
fn every_condition_of_a_shape_is_explained() {
    let event = event(
        r#"{"type": "order", "total": 5, "limit": 7, "items": [{"sku": "a", "n": 1}, {"sku": "b", "n": 5}]}"#,
    );
    let text = r#"{"body": {"type": {"$or": ["order", {"$startsWith": "inv"}]}, "total": {"$lt": {"$ref": "limit"}},
        "items": {"sku": "b", "n": {"$gt": 4}}, "gone": {"$exist": false}, "note": {"$not": "x"}},
        "path": {"$endsWith": "/x"}}"#;
    assert_eq!(
        explained(text, &event),
        "\
no   all
no     all of body
yes      any
yes        body.type is \"order\"; saw \"order\"
no         body.type $startsWith \"inv\"; saw \"order\"
yes      body.total $lt the value of limit; saw 5
yes      any of body.items (2 in all)
yes        all of body.items[1]
yes          body.items[1].sku is \"b\"; saw \"b\"
yes          body.items[1].n $gt 4; saw 5
yes      body.gone $exist false; saw nothing
no       not
no         body.note is \"x\"; saw nothing
no     path $endsWith \"/x\"; saw \"\"
"
    );
}

#[test]
fn an_explanation_is_data() {
    let explanation = filter(r#"[{"path": "$.a", "operator": "equals", "value": "é"}]"#)
        .explain(&Seen::of(&event(r#"{"a": {"long": [1, null]}}"#)));
    assert_eq!(
        serde_json::to_value(&explanation).unwrap(),
        serde_json::json!({
            "holds": false,
            "body": "json",
            "clause": {
                "at": "", "operator": "all", "holds": false,
                "clauses": [{
                    "at": "/0", "operator": "equals", "path": "$.a", "value": "\"é\"",
                    "saw": ["{\"long\":[1,null]}"], "holds": false,
                }],
            },
        })
    );
}

/// Neither a huge body nor lists in lists make it long.
#[test]
fn an_explanation_has_an_end() {
    let row = format!("[{}]", vec![r#"{"x":{"y":"0123456789"}}"#; 50].join(","));
    let body = format!(r#"{{"rows": [{}]}}"#, vec![row; 50].join(","));
    let shape = r#"{"rows": {"$or": [{"x": {"$or": [{"y": 1}, {"y": 2}]}}, {"x": 3}]}}"#;
    let text = explained(shape, &event(&body));
    assert!(text.lines().count() < 200, "{}", text.lines().count());
    assert!(explained(r#"[{"path": "$", "operator": "exists"}]"#, &event(&body)).len() < 400);
}
