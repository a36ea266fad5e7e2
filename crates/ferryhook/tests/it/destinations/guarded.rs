//! Destinations that are not public: refused when they are written down, and at every attempt.

use std::fs;

use serde_json::{Value, json};

use crate::destination::Destination;
use crate::ferry::{Ferry, run, show};
use crate::stage::told;

const INSIDE: [&str; 12] = [
    "http://127.0.0.1/",
    "http://localhost/",
    "http://LOCALHOST./",
    "http://169.254.169.254/latest/meta-data/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://2130706433/",
    "http://127.1/",
    "http://0.0.0.0/",
    "http://metadata.google.internal/",
];

#[test]
fn what_is_not_public_cannot_be_written_down() {
    let folder = tempfile::tempdir().unwrap();
    let ferry = Ferry::start_in(&folder, &[]);
    let connections: Vec<_> = INSIDE.iter().map(|url| json!({ "name": url, "url": url })).collect();
    let manifest = json!({ "sources": [{ "name": "inside", "connections": connections }] });
    fs::write(folder.path().join("hooks.yaml"), manifest.to_string()).unwrap();
    let said = show(&run(&folder, &["apply", "-f", "hooks.yaml"], &[]));
    assert!(said.starts_with("exit 1\n"), "{said}");
    for (place, url) in INSIDE.iter().enumerate() {
        let complaint =
            said.lines().find(|line| line.contains(&format!("connections[{place}].url: ")));
        let complaint = complaint.unwrap_or_else(|| panic!("{url} was accepted: {said}"));
        assert!(complaint.contains("public"), "{url}: {complaint}");
    }
    ferry.stop();
}

/// What was allowed once is not for ever, and a name is judged by where it leads at that moment.
#[test]
fn what_is_not_public_is_not_called() {
    let canary = Destination::kind();
    let port = canary.address.port();
    let folder = tempfile::tempdir().unwrap();
    let connections = [
        json!({ "name": "address", "url": format!("http://127.0.0.1:{port}/"), "retry": [0, 1] }),
        json!({ "name": "name", "url": format!("http://localhost:{port}/"), "retry": [0, 1] }),
    ];
    let sources: Vec<_> = connections
        .into_iter()
        .map(|connection| json!({ "name": connection["name"], "connections": [connection] }))
        .collect();
    let manifest = json!({ "sources": sources }).to_string();
    fs::write(folder.path().join("hooks.yaml"), manifest).unwrap();
    let arguments = ["apply", "-f", "hooks.yaml", "--json", "--destination-allow", "127.0.0.0/8"];
    let output = run(&folder, &arguments, &[]);
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();

    let ferry = Ferry::start_in(&folder, &[("FERRYHOOK_DESTINATION_ALLOW", "10.0.0.0/8")]);
    let blocked = |place: usize| {
        let source = said["changes"][place]["id"].as_str().unwrap();
        let answer = ferry.post(&format!("/in/{source}"), b"{}");
        let event = answer.json()["id"].as_str().unwrap().to_owned();
        for _ in 0..200 {
            let output = run(&folder, &["events", "show", &event, "--json"], &[]);
            let story: Value = serde_json::from_slice(&output.stdout).unwrap();
            if story["deliveries"][0]["settledAt"].is_string() {
                return told(&story);
            }
        }
        panic!("{event} was not settled")
    };
    let address = blocked(0);
    assert_eq!(address, "failed blocked / 0 127.0.0.1 is not a public address");
    let name = blocked(2);
    assert_eq!(name, "failed blocked / 0 the name leads to an address that is not public");
    assert_eq!(canary.calls().len(), 0);
    ferry.stop();
}
