//! Events over the API: listed, shown, searched, replayed.

use serde_json::json;

use super::shell::{Shell, output};
use crate::ferry::show;

/// A source without a connection, and two events of it.
fn shell() -> (Shell, String) {
    let shell = Shell::new();
    shell.json(&["sources", "create", "shop", "--event-type", "body.type", "--json"]);
    let data = r#"{"type":"order.created","note":"Zanzibar"}"#;
    let sent = shell.json(&["send", "shop", "--data", data, "--json"]);
    let event = sent["answer"]["id"].as_str().unwrap().to_owned();
    shell.json(&["send", "shop", "-d", r#"{"type":"order.paid"}"#, "-H", "X-Who: me", "--json"]);
    (shell, event)
}

#[test]
fn they_are_listed_shown_and_searched() {
    let (shell, event) = shell();
    insta::assert_snapshot!(shell.run(&["events", "list", "--source", "shop"]), @"
    exit 0
    EVENT RECEIVED SOURCE TYPE STATUS BYTES
    evt_ID TIME shop order.paid filtered 21
    evt_ID TIME shop order.created filtered 42
    ");
    insta::assert_snapshot!(shell.run(&["events", "list", "--type", "order.paid"]), @"
    exit 0
    EVENT RECEIVED SOURCE TYPE STATUS BYTES
    evt_ID TIME shop order.paid filtered 21
    ");
    let page = shell.json(&["events", "list", "--limit", "1", "--json"]);
    assert_eq!((page["data"].as_array().unwrap().len(), &page["hasMore"]), (1, &json!(true)));
    insta::assert_snapshot!(shell.run(&["events", "search", "zanzibar"]), @"
    exit 0
    EVENT RECEIVED SOURCE TYPE STATUS BYTES
    evt_ID TIME shop order.created filtered 42
    ");
    insta::assert_snapshot!(shell.run(&["events", "search", "timbuktu"]), @"
    exit 0
    no events
    ");
    let story = shell.json(&["events", "get", &event, "--body", "--json"]);
    assert_eq!(story["body"], r#"{"type":"order.created","note":"Zanzibar"}"#);
    let body = output(&mut shell.command(&["events", "body", &event]), "");
    assert_eq!(body.stdout, br#"{"type":"order.created","note":"Zanzibar"}"#, "{}", show(&body));
    let explained = shell.run(&["explain", &event]);
    assert!(explained.contains("its source has no connections"), "{explained}");
}

#[test]
fn they_are_replayed() {
    let (shell, event) = shell();
    let answering = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/in", answering.local_addr().unwrap());
    shell.json(&["connections", "create", "shop", "app", "--url", &url, "--json"]);
    insta::assert_snapshot!(shell.run(&["replay", &event, "--to", "shop/app"]), @"
    exit 0
    app: goes out again
    ");
    insta::assert_snapshot!(shell.run(&["replay", "--source", "shop", "--dry-run"]), @"
    exit 0
    2 events would be replayed; looked at 2
    ");
    let job = shell.json(&["replay", "--source", "shop", "--json"]);
    let id = job["replayId"].as_str().unwrap();
    shell.wait(&["replay", "show", id], "state done");
    let listed = shell.json(&["replay", "list", "--json"]);
    assert_eq!(listed["data"][0]["replayId"], id);
}

/// A body from a file or a pipe, and an address instead of a name.
#[test]
fn something_is_sent_from_wherever_it_is() {
    let (shell, _) = shell();
    shell.write("order.json", r#"{"type":"from.file"}"#);
    insta::assert_snapshot!(shell.run(&["send", "shop", "--data", "@order.json"]), @"
    exit 0
    evt_ID received
    ");
    let piped = output(&mut shell.command(&["send", "shop", "--data", "-"]), "a=1&b=2");
    assert!(piped.status.success(), "{}", show(&piped));
    let source = shell.json(&["sources", "get", "shop", "--json"]);
    let url = source["ingestUrl"].as_str().unwrap();
    let anybody = output(&mut shell.stranger(&["send", url, "--path", "a/b?c=d"]), "");
    assert!(anybody.status.success(), "{}", show(&anybody));
    let newest = shell.json(&["events", "list", "--json"])["data"].clone();
    let types: Vec<_> = newest.as_array().unwrap().iter().map(|one| &one["eventType"]).collect();
    assert_eq!(types.iter().filter(|one| **one == "from.file").count(), 1, "{types:?}");
    let wrong = output(&mut shell.stranger(&["send", &url.replace("src_", "src_x")]), "");
    assert!(
        show(&wrong).starts_with("exit 1\nferryhook: it was refused with 404"),
        "{}",
        show(&wrong)
    );
}
