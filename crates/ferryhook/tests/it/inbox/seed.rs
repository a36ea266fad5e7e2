//! What a server has stored in DynamoDB is found by the queries of the document that the events
//! table was designed after, asked with boto3 (`scripts/check_triggers.py`).

use std::io::Write;
use std::process::Command;

use serde_json::{Value, json};

use super::{lease, list, post, reply, text};
use crate::client::Tenant;
use crate::ferry::{run, show};
use crate::tables::{self, Settings};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/check_triggers.py");
const REGION: &str = "us-east-1";

/// Tables that both sides see: whose they are is told by key and region.
fn tables() -> Option<Settings> {
    let mut settings = tables::settings("seed")?;
    settings.push(("AWS_REGION", REGION.to_owned()));
    for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] {
        settings.extend(std::env::var(name).ok().map(|value| (name, value)));
    }
    let folder = tempfile::tempdir().unwrap();
    let output = run(&folder, &["schema", "apply"], &tables::as_variables(&settings));
    assert_eq!(output.status.code(), Some(0), "{}", show(&output));
    Some(settings)
}

#[test]
fn others_find_events_as_documented() {
    let Some(tables) = self::tables() else { return };
    let Ok(python) = std::env::var("FERRYHOOK_TEST_PYTHON") else {
        let reason = "seed: FERRYHOOK_TEST_PYTHON is not set";
        let _ = writeln!(std::io::stderr(), "\n!!! SKIPPED, NOT PASSED: {reason} !!!\n");
        return;
    };
    let tenant = Tenant::with(&tables::as_variables(&tables));
    let account = text(&tenant.get("/v1/whoami")["accountId"]).to_owned();
    let posted: Vec<_> = ["user.created", "order.completed", "order.completed", "user.created"]
        .into_iter()
        .zip(1..)
        .map(|(kind, number)| post(&tenant, kind, number))
        .collect();
    // One is done with, one was given back, the others wait.
    let leased = lease(&tenant, json!({ "count": 2, "visibility": "10m" }));
    assert_eq!(leased.len(), 2, "{leased:#?}");
    reply(&tenant, "ack", json!({ "token": leased[0]["token"] }));
    reply(&tenant, "nack", json!({ "token": leased[1]["token"] }));

    let setting = |name: &str| {
        let found = tables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let facts = json!({
        "endpoint": setting("DYNAMO_ENDPOINT"),
        "region": REGION,
        "table": format!("{}events", setting("DYNAMO_TABLE_PREFIX")),
        "user": account,
        "events": posted,
        "created": [posted[0], posted[3]],
        "completed": [posted[1], posted[2]],
        "delivered": [leased[0]["eventId"]],
        "failed": [leased[1]["eventId"]],
    });
    let output = Command::new(python).args([SCRIPT, &facts.to_string()]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    let _ = writeln!(std::io::stderr(), "seed: {}", told.trim_end());
    assert!(output.status.success(), "{told}{complaint}");

    // And the server reads what the script has written.
    let changed: Value = tenant.get(&format!("/v1/events/{}", posted[3]));
    assert_eq!((&changed["status"], &changed["retryCount"]), (&json!("delivered"), &json!(3)));
    let events = tenant.get("/v1/events");
    assert_eq!(list(&events).len(), 4);
}
