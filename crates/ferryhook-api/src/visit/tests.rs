use serde_json::json;

use super::details;

#[test]
fn a_change_is_told_by_what_differs() {
    let (before, after) = (json!({"name": "a", "url": "u"}), json!({"name": "b", "url": "u"}));
    let told = serde_json::Value::Object(details(Some(&before), Some(&after)));
    assert_eq!(told, json!({"before": {"name": "a"}, "after": {"name": "b"}}));
    let told = serde_json::Value::Object(details(None::<&()>, Some(&after)));
    assert_eq!(told, json!({"after": {"name": "b", "url": "u"}}));
}
