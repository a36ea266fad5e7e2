//! The list of rules.

use super::*;

const ORDER: &str = r#"{
    "type": "order.paid", "amount": 120, "ratio": 1.50, "big": 9007199254740993, "note": null,
    "text": "42", "live": true, "tags": ["new", "vip", 7], "customer": {"name": "Zoë", "e-mail": "z@x.org"},
    "items": [{"sku": "A1", "price": 5}, {"sku": "B2", "price": 50, "gift": true}],
    "empty": "", "list": [], "object": {}, "grüße": "👋🏽"
}"#;

#[test]
fn operators_hold_or_do_not() {
    let event = event(ORDER);
    for (path, operator, value, holds) in [
        ("$.type", "equals", r#""order.paid""#, true),
        ("$.type", "equals", r#""order""#, false),
        ("$.amount", "equals", "120", true),
        ("$.amount", "equals", "120.0", true),
        ("$.amount", "equals", "1.2e2", true),
        ("$.amount", "equals", r#""120""#, false),
        ("$.text", "equals", "42", false),
        ("$.ratio", "equals", "1.5", true),
        // As floating point these would be the same.
        ("$.big", "equals", "9007199254740993", true),
        ("$.big", "equals", "9007199254740992", false),
        ("$.big", "gt", "9007199254740992", true),
        ("$.live", "equals", "true", true),
        ("$.live", "equals", r#""true""#, false),
        ("$.live", "equals", "1", false),
        ("$.note", "equals", "null", true),
        ("$.missing", "equals", "null", false),
        ("$.tags", "equals", r#"["new", "vip", 7.0]"#, true),
        ("$.tags", "equals", r#"["vip", "new", 7]"#, false),
        ("$.tags", "equals", r#""vip""#, false),
        ("$.tags[*]", "equals", r#""vip""#, true),
        ("$.customer", "equals", r#"{"e-mail": "z@x.org", "name": "Zo\u00eb"}"#, true),
        ("$.customer", "equals", r#"{"name": "Zoë"}"#, false),
        ("$.object", "equals", "{}", true),
        ("$.list", "equals", "[]", true),
        ("$.type", "not_equals", r#""order.paid""#, false),
        ("$.type", "not_equals", r#""x""#, true),
        ("$.missing", "not_equals", r#""x""#, true),
        // None of them is, not: one of them is not.
        ("$.tags[*]", "not_equals", r#""vip""#, false),
        ("$.tags[*]", "not_equals", r#""old""#, true),
        ("$.type", "contains", r#""er.p""#, true),
        ("$.type", "contains", r#""""#, true),
        ("$.type", "contains", "1", false),
        ("$.tags", "contains", r#""vip""#, true),
        ("$.tags", "contains", r#""vi""#, false),
        ("$.tags", "contains", "7", true),
        ("$.tags[*]", "contains", r#""vi""#, true),
        ("$.customer", "contains", r#""name""#, false),
        ("$.items", "contains", r#"{"price": 5, "sku": "A1"}"#, true),
        ("$.amount", "contains", "2", false),
        ("$.tags", "not_contains", r#""old""#, true),
        ("$.tags", "not_contains", r#""vip""#, false),
        ("$.missing", "not_contains", r#""vip""#, true),
        ("$.type", "regex", r#""^order\\.""#, true),
        ("$.type", "regex", r#""paid""#, true),
        ("$.type", "regex", r#""^paid""#, false),
        ("$.type", "regex", r#""^order\\.(paid|sent)$""#, true),
        ("$.customer.name", "regex", r#""^Zo\\p{L}$""#, true),
        ("$.amount", "regex", r#""120""#, false),
        ("$.amount", "gt", "119.99", true),
        ("$.amount", "gt", "120", false),
        ("$.amount", "gte", "120", true),
        ("$.amount", "lt", "120", false),
        ("$.amount", "lte", "1.2E+2", true),
        ("$.amount", "lt", "1e3", true),
        ("$.amount", "gt", "-1e400", true),
        ("$.amount", "lt", "1e400", true),
        ("$.amount", "gt", r#""1""#, false),
        ("$.text", "gt", "1", false),
        ("$.text", "gt", r#""41""#, true),
        ("$.type", "lt", r#""p""#, true),
        ("$.missing", "gt", "0", false),
        ("$.missing", "lte", "0", false),
        ("$.note", "lte", "0", false),
        ("$.items[*].price", "gt", "40", true),
        ("$.items[*].price", "gt", "50", false),
        ("$.amount", "in", "[1, 120]", true),
        ("$.amount", "in", r#"["120"]"#, false),
        ("$.note", "in", "[null]", true),
        ("$.amount", "in", "[]", false),
        ("$.amount", "not_in", "[1, 2]", true),
        ("$.amount", "not_in", "[1, 120]", false),
        ("$.missing", "not_in", "[1]", true),
        ("$.items[*].sku", "in", r#"["B2", "C3"]"#, true),
        ("$.items[*].sku", "not_in", r#"["B2", "C3"]"#, false),
        ("$.type", "starts_with", r#""order.""#, true),
        ("$.type", "starts_with", r#"["invoice.", "order."]"#, true),
        ("$.type", "starts_with", r#""Order.""#, false),
        ("$.type", "ends_with", r#"".paid""#, true),
        ("$.type", "ends_with", r#"[".sent"]"#, false),
        ("$.amount", "starts_with", r#""1""#, false),
        ("$.grüße", "ends_with", r#""🏽""#, true),
        ("$['customer']['e-mail']", "equals", r#""z@x.org""#, true),
        ("$.customer.e-mail", "equals", r#""z@x.org""#, true),
        ("body.customer.e-mail", "equals", r#""z@x.org""#, true),
        ("customer.e-mail", "equals", r#""z@x.org""#, true),
        ("$.body.amount", "equals", "120", true),
        ("body.items.1.sku", "equals", r#""B2""#, true),
        ("body.items[-1].sku", "equals", r#""B2""#, true),
        ("$.items[?@.gift].sku", "equals", r#""B2""#, true),
        ("$..price", "equals", "50", true),
    ] {
        let rule = format!(r#"{{"path": "{path}", "operator": "{operator}", "value": {value}}}"#);
        assert_eq!(matches(&rule, &event), holds, "{rule}");
        assert_eq!(matches(&format!(r#"{{"not": {rule}}}"#), &event), !holds, "not {rule}");
        assert_eq!(matches(&format!("[{rule}]"), &event), holds, "[{rule}]");
    }
}

#[test]
fn null_is_there_and_missing_is_not() {
    let event = event(ORDER);
    for (path, is_there) in [
        ("$.note", true),
        ("$.missing", false),
        ("$.missing.deeper", false),
        ("$.list[*]", false),
        ("$.list", true),
        ("$.empty", true),
        ("$.items[1].gift", true),
        ("$.items[0].gift", false),
        ("$.items[*].gift", true),
        ("$.items[7]", false),
        ("$", true),
    ] {
        let rule = |operator: &str| format!(r#"{{"path": "{path}", "operator": {operator}}}"#);
        assert_eq!(matches(&rule(r#""exists""#), &event), is_there, "{path}");
        assert_eq!(matches(&rule(r#""exists", "value": true"#), &event), is_there, "{path}");
        assert_eq!(matches(&rule(r#""exists", "value": false"#), &event), !is_there, "{path}");
        assert_eq!(matches(&rule(r#""not_exists""#), &event), !is_there, "{path}");
    }
}

#[test]
fn groups_stand_in_each_other() {
    let event = event(r#"{"a": 1, "b": 2}"#);
    let a = r#"{"path": "$.a", "operator": "equals", "value": 1}"#;
    let b = r#"{"path": "$.b", "operator": "equals", "value": 1}"#;
    for (text, holds) in [
        ("[]".to_owned(), true),
        (format!("[{a}, {b}]"), false),
        (format!(r#"{{"all": [{a}]}}"#), true),
        (format!(r#"{{"all": [{a}, {b}]}}"#), false),
        (format!(r#"{{"any": [{b}, {a}]}}"#), true),
        (format!(r#"{{"any": [{b}]}}"#), false),
        (format!(r#"{{"not": {b}}}"#), true),
        (format!(r#"{{"not": [{a}, {b}]}}"#), false),
        (format!(r#"{{"not": [{b}, {b}]}}"#), true),
        (format!(r#"[{a}, {{"any": [{b}, {{"not": {b}}}]}}]"#), true),
        (format!(r#"{{"all": [{a}, {{"body": {{"b": {{"$gt": 1}}}}}}]}}"#), true),
    ] {
        assert_eq!(matches(&text, &event), holds, "{text}");
    }
}
