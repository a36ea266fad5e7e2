//! What is refused, and the place that is named.

use super::*;

#[test]
fn a_bad_filter_is_refused_with_its_place() {
    let rule = |rest: &str| format!(r#"{{"all": [{{"path": "$.a", {rest}}}]}}"#);
    let cases = [
        ("".to_owned(), "a filter is JSON: not JSON: expected a value at byte 0"),
        ("[{]".to_owned(), "a filter is JSON: not JSON: expected a name in quotes at byte 2"),
        ("7".to_owned(), "a filter is a list of rules, or an object"),
        ("[7]".to_owned(), "at /0: expected a rule: an object with path, operator and value"),
        ("[{}]".to_owned(), r#"at /0: the rule has no "path""#),
        (r#"[{"path": "$.a"}]"#.to_owned(), r#"at /0: the rule has no "operator""#),
        (
            r#"[{"path": 7, "operator": "exists"}]"#.to_owned(),
            r#"at /0/path: a path is a text, such as "$.data.id""#,
        ),
        (
            r#"[{"path": "$.a[", "operator": "exists"}]"#.to_owned(),
            r#"at /0/path: expected a name in quotes, a number, "*" or "?", found the end (at byte 4 of the path)"#,
        ),
        (
            r#"[{"path": "/a", "operator": "exists"}]"#.to_owned(),
            "at /0/path: a path starts with $, body, headers, query or path, such as $.data.id (at byte 0 of the path)",
        ),
        (
            r#"[{"path": "body.a[", "operator": "exists"}]"#.to_owned(),
            r#"at /0/path: expected a name in quotes, a number, "*" or "?", found the end (at byte 7 of the path)"#,
        ),
        (
            r#"[{"path": "path.x", "operator": "exists"}]"#.to_owned(),
            "at /0/path: the path is one text and has nothing in it (at byte 4 of the path)",
        ),
        (rule(r#""operator": "equals""#), r#"at /all/0: "equals" needs a "value""#),
        (
            rule(r#""operator": "gt", "value": true"#),
            "at /all/0/value: only numbers and texts are greater or less than others",
        ),
        (rule(r#""operator": "in", "value": "a""#), "at /all/0/value: expected a list of values"),
        (
            rule(r#""operator": "starts_with", "value": ["a", 1]"#),
            "at /all/0/value/1: expected a text",
        ),
        (
            rule(r#""operator": "ends_with", "value": 1"#),
            "at /all/0/value: expected a text, or a list of texts",
        ),
        (
            rule(r#""operator": "exists", "value": 1"#),
            "at /all/0/value: expected true, false or no value",
        ),
        (
            rule(r#""operator": "regex", "value": "a("#.replace("a(", "a(\"").as_str()),
            "at /all/0/value: not a regular expression: unclosed group",
        ),
        (
            rule(r#""operator": "regex", "value": 5"#),
            "at /all/0/value: a regular expression is a text",
        ),
        (
            rule(r#""operator": "exists", "not": true"#),
            r#"at /all/0/path: nothing may stand beside "not""#,
        ),
        (
            rule(r#""operator": "exists", "x/y": true"#),
            r#"at /all/0/x~1y: a rule has path, operator and value, not "x/y""#,
        ),
        (rule(r#""operator": "exists", "path": "$.b""#), "at /all/0/path: this name comes twice"),
        (r#"{"any": []}"#.to_owned(), "at /any: a group needs at least one rule"),
        (r#"{"all": {}}"#.to_owned(), "at /all: expected a list of rules"),
        (
            r#"{"not": 5}"#.to_owned(),
            "at /not: expected a rule: an object with path, operator and value",
        ),
        (
            r#"{"path": "$.a", "op": "equals", "value": 1}"#.to_owned(),
            r#"at /op: a rule has path, operator and value, not "op""#,
        ),
        (
            r#"{"body": {"a": {"$gt": true}}}"#.to_owned(),
            "at /body/a/$gt: expected a number or a text",
        ),
        (
            r#"{"body": {"a": {"$in": [true]}}}"#.to_owned(),
            "at /body/a/$in: expected a text, a number, or a list of them",
        ),
        (
            r#"{"body": {"a": {"$exist": "yes"}}}"#.to_owned(),
            "at /body/a/$exist: expected true or false",
        ),
        (
            r#"{"body": {"a": {"$startsWith": 5}}}"#.to_owned(),
            "at /body/a/$startsWith: expected a text, or a list of texts",
        ),
        (r#"{"a": {"$or": {"b": 1}}}"#.to_owned(), "at /a/$or: expected a list of conditions"),
        (r#"{"a": {"$ne": 1}}"#.to_owned(), "at /a/$ne: there is no $ne; write $neq"),
        (r#"{"a": {"$Regex": "x"}}"#.to_owned(), "at /a/$Regex: there is no $Regex; write $regex"),
        (
            r#"{"a": {"$regex": "x{"}}"#.to_owned(),
            "at /a/$regex: not a regular expression: unclosed counted repetition",
        ),
        (
            r#"{"a": {"$ref": 5}}"#.to_owned(),
            "at /a/$ref: a reference is a path, such as \"data.id\"",
        ),
        (r#"{"a": 1, "a": 2}"#.to_owned(), "at /a: this name comes twice"),
        (
            r#"{"$or": [{"body": 1}, {"headers": {"$eq": 1, "$and": 2}}]}"#.to_owned(),
            "at /$or/1/headers/$and: expected a list of conditions",
        ),
    ];
    for (text, error) in cases {
        assert_eq!(refusal(&text), error, "{text}");
    }
    let unknown = refusal(r#"[{"path": "$.a", "operator": "like", "value": 1}]"#);
    assert!(
        unknown.starts_with("at /0/operator: no such operator; there are equals, "),
        "{unknown}"
    );
}

#[test]
fn filters_are_bounded() {
    let rule = r#"{"path":"$.a","operator":"exists"}"#;
    let list = |count: usize| format!("[{}]", vec![rule; count].join(","));
    assert!(Filter::parse(&list(CLAUSES_MAX)).is_ok());
    assert_eq!(refusal(&list(CLAUSES_MAX + 1)), "at /256: a filter has at most 256 clauses");

    let groups =
        |depth: usize| format!("{}{rule}{}", r#"{"all":["#.repeat(depth), "]}".repeat(depth));
    assert!(Filter::parse(&groups(DEPTH_MAX - 1)).is_ok());
    assert!(refusal(&groups(DEPTH_MAX + 1)).ends_with("a filter nests at most 32 levels deep"));
    let shape = |depth: usize| format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
    assert!(Filter::parse(&shape(DEPTH_MAX - 1)).is_ok());
    assert!(refusal(&shape(DEPTH_MAX)).ends_with("a filter nests at most 32 levels deep"));
    assert!(refusal(&shape(10_000)).contains("at most"));

    let long = |bytes: usize| format!(r#"{{"a": "{}"}}"#, "x".repeat(bytes - 9));
    assert!(Filter::parse(&long(FILTER_BYTES_MAX)).is_ok());
    assert!(refusal(&long(FILTER_BYTES_MAX + 1)).starts_with("a filter has at most 32768 bytes"));

    let regexes = |count: usize| {
        let rule = r#"{"path":"$.a","operator":"regex","value":"x"}"#;
        format!("[{}]", vec![rule; count].join(","))
    };
    assert!(Filter::parse(&regexes(REGEXES_MAX)).is_ok());
    assert_eq!(
        refusal(&regexes(REGEXES_MAX + 1)),
        "at /32/value: a filter has at most 32 regular expressions"
    );
}

/// Whatever rule meets whatever body, it ends soon, and then the event does not match: neither the
/// rule nor its opposite.
#[test]
fn a_filter_gives_up_when_there_is_too_much_to_look_at() {
    let event = event(&format!("{}7{}", "[1,2,3,4,5,6,7,8,9,".repeat(100), "]".repeat(100)));
    for path in ["$..*..*..*..*", "$..[?count($..*) > 100000]", "$..[?$..[?$..q]]"] {
        let rule = format!(r#"{{"path": "{path}", "operator": "equals", "value": "nothing"}}"#);
        let opposite = format!(r#"{{"not": {rule}}}"#);
        let seen = Seen::of(&event);
        assert!(!filter(&rule).matches(&seen), "{rule}");
        assert!(!filter(&opposite).matches(&seen), "{opposite}");
    }
    let rule = r#"[{"path": "$..*..*..*..*", "operator": "exists", "value": false}]"#;
    let few = Event { body: "[1]".into(), ..event.clone() };
    assert!(!filter(rule).explain(&Seen::of(&few)).gave_up);
    let rule = r#"{"not": {"path": "$..[?$..[?$..q]]", "operator": "exists"}}"#;
    assert!(filter(rule).explain(&Seen::of(&event)).gave_up);
}

/// The longest texts and the dearest patterns together have a bound too.
#[test]
fn long_texts_cost_effort() {
    let event = event(&format!(r#"{{"a": "{}"}}"#, "ab".repeat(2_000_000)));
    let rule = r#"{"path":"$.a","operator":"contains","value":"abc"}"#;
    let few = filter(&format!(r#"{{"not":{{"any":[{}]}}}}"#, [rule; 4].join(",")));
    assert!(few.matches(&Seen::of(&event)));
    let many = filter(&format!(r#"{{"not":{{"any":[{}]}}}}"#, [rule; 20].join(",")));
    assert!(many.explain(&Seen::of(&event)).gave_up);
}
