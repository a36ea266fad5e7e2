//! What traffic has taught, looked at from a shell.

use serde_json::json;

use super::shell::Shell;
use crate::client::{Client, told};

#[test]
fn types_are_listed_and_shown() {
    let shell = Shell::new();
    let nothing = shell.run(&["event-types", "list"]);
    assert!(nothing.starts_with("exit 0\nno event types"), "{nothing}");
    let client = Client::of(&shell.ferry, &shell.key);
    let schema = json!({ "schema": { "required": ["id"] }, "mode": "warn" });
    for name in ["order.paid", "a%2Fb%20c"] {
        let path = format!("/v1/event-types/{name}/schema");
        told(&client.call("PUT", &path, Some(schema.clone())), 200);
    }
    let event = json!({ "eventType": "order.paid", "payload": { "number": 7 } });
    told(&client.post("/v1/events", event), 201);
    let shown = shell.wait(&["event-types", "show", "order.paid"], "learned from 1 samples");
    for part in
        ["events 1", "declared warn since TIME", "mismatches 1", "unchecked 0", r#""number""#]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let list = shell.run(&["event-types", "list"]);
    assert!(list.contains("TYPE EVENTS LAST EVENT DRIFTS DECLARED MISMATCHES"), "{list}");
    let json = shell.json(&["event-types", "list", "--json"]);
    assert_eq!(json["data"][1]["eventType"], "order.paid", "{json:#}");
    let json = shell.json(&["event-types", "show", "a/b c", "--json"]);
    assert_eq!((&json["eventType"], &json["count"]), (&json!("a/b c"), &json!(0)));
}
