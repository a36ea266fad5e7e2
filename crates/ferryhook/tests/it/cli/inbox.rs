//! Events that are fetched from a shell.

use serde_json::json;

use super::shell::Shell;

#[test]
fn events_are_leased_and_replied_to() {
    let shell = Shell::new();
    let nothing = shell.run(&["inbox", "lease"]);
    assert_eq!(nothing.trim_end(), "exit 0\nnothing to lease");
    let headers =
        format!("content-type: application/json\r\nauthorization: Bearer {}\r\n", shell.key);
    for number in 1..=2 {
        let event = json!({ "eventType": "order.paid", "payload": { "number": number } });
        let posted = shell.ferry.post_with("/v1/events", &headers, event.to_string().as_bytes());
        assert_eq!(posted.status, 201, "{posted:?}");
    }
    let lease = ["inbox", "lease", "--count", "2", "--visibility", "10m", "--json"];
    let leased = shell.json(&lease);
    let token = |place: usize| leased["data"][place]["token"].as_str().unwrap();
    assert_eq!(leased["data"][1]["payload"]["number"], 2);

    let acked = shell.run(&["inbox", "ack", token(0)]);
    assert!(acked.starts_with("exit 0\nevt_") && acked.contains("delivered"), "{acked}");
    let longer = shell.run(&["inbox", "extend", token(1), "--visibility", "1h"]);
    assert!(longer.starts_with("exit 0") && longer.contains("yours until"), "{longer}");
    let back = shell.run(&["inbox", "nack", token(1), "--reason", "shut", "--delay", "1m"]);
    assert!(back.starts_with("exit 0") && back.contains("failed"), "{back}");
    let late = shell.run(&["inbox", "ack", token(0), token(1)]);
    assert!(late.starts_with("exit 1") && late.contains("too late"), "{late}");

    let list = shell.json(&["inbox", "list", "--status", "failed", "--json"]);
    assert_eq!(list["data"][0]["lastError"], "shut");
    let table = shell.run(&["inbox", "list", "--oldest-first"]);
    assert!(table.contains("EVENT RECEIVED TYPE STATUS RETRIES LEASED UNTIL"), "{table}");
    assert!(shell.run(&["inbox", "list", "--group", "No"]).starts_with("exit 1"));
}

#[test]
fn a_connection_can_lead_into_the_inbox() {
    let shell = Shell::new();
    shell.json(&["sources", "create", "shop", "--json"]);
    let made = shell.run(&["connections", "create", "shop", "workers", "--inbox", "billing"]);
    assert!(made.contains("ferryhook inbox lease --group billing"), "{made}");
    let list = shell.run(&["connections", "list"]);
    assert!(list.contains("shop/workers active 0 0 inbox billing"), "{list}");
    let paused = shell.run(&["connections", "pause", "shop/workers"]);
    assert!(paused.starts_with("exit 1") && paused.contains("cannot be paused"), "{paused}");
}
