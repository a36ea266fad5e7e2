//! Tables of DynamoDB that belong to one test, for one server or for several.

use std::io::Write;

use crate::ferry::{run, show};

pub type Settings = Vec<(&'static str, String)>;

/// Settings for tables that nobody else has; without a server, says loudly that there is none.
pub fn settings(name: &str) -> Option<Settings> {
    let Ok(endpoint) = std::env::var("FERRYHOOK_TEST_DYNAMO") else {
        // Not `eprintln`, which is shown only when a test fails.
        let reason = format!("{name}: FERRYHOOK_TEST_DYNAMO is not set");
        let _ = writeln!(std::io::stderr(), "\n!!! SKIPPED, NOT PASSED: {reason} !!!\n");
        return None;
    };
    let prefix = format!("front-door-{}-{name}-", std::process::id());
    Some(vec![
        ("DYNAMO_ENDPOINT", endpoint),
        ("DYNAMO_TABLE_NAME", format!("{prefix}ledger")),
        ("DYNAMO_TABLE_PREFIX", prefix),
        ("FERRYHOOK_STORE", "dynamodb".into()),
        ("FERRYHOOK_MASTER_KEY", "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=".into()),
    ])
}

/// The same, with the tables made.
pub fn made(name: &str) -> Option<Settings> {
    let settings = settings(name)?;
    let folder = tempfile::tempdir().unwrap();
    let output = run(&folder, &["schema", "apply"], &as_variables(&settings));
    assert_eq!(output.status.code(), Some(0), "{}", show(&output));
    Some(settings)
}

pub fn as_variables(settings: &Settings) -> Vec<(&str, &str)> {
    settings.iter().map(|(name, value)| (*name, &**value)).collect()
}
