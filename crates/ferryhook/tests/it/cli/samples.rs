//! `ferryhook trigger`: the door takes what it is sent, because the signature holds.

use std::collections::BTreeSet;

use super::shell::{Shell, output};
use crate::ferry::show;

/// Each sample of each provider, at a source that refuses whatever is not signed.
#[test]
fn every_sample_gets_in_where_signatures_are_checked() {
    let shell = Shell::new();
    let samples = shell.json(&["trigger", "--list", "--json"]);
    let samples = samples.as_array().unwrap();
    let word = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let providers: BTreeSet<_> = samples.iter().map(|one| word(&one["provider"])).collect();
    assert!(providers.len() >= 8, "{providers:?}");
    for provider in providers.iter().filter(|provider| *provider != "custom") {
        let create =
            ["sources", "create", provider, "--provider", provider, "--new-secret", "--json"];
        let source = shell.json(&create);
        // It is checked: nothing gets in without a signature.
        let bare = shell.run(&["send", source["sourceId"].as_str().unwrap()]);
        assert!(
            bare.starts_with("exit 1\nferryhook: it was refused with 401"),
            "{provider}: {bare}"
        );
    }
    for sample in samples.iter().filter(|one| one["provider"] != "custom") {
        let (provider, event) = (word(&sample["provider"]), word(&sample["event"]));
        let what = format!("{provider}:{event}");
        let said = shell.json(&["trigger", &what, "--source", &provider, "--json"]);
        assert_eq!(said["statusCode"], 200, "{what}: {said}");
        // It is new each time, and no copy of the one before.
        let again = shell.json(&["trigger", &what, "--source", &provider, "--json"]);
        assert_ne!(said["answer"]["id"], again["answer"]["id"], "{what}");
    }
    let types = shell.json(&["events", "list", "--source", "github", "--json"]);
    let types: BTreeSet<_> =
        types["data"].as_array().unwrap().iter().map(|one| word(&one["eventType"])).collect();
    assert_eq!(Vec::from_iter(types), ["issues", "ping", "pull_request", "push"]);
}

#[test]
fn a_sample_can_be_changed_and_needs_no_provider() {
    let shell = Shell::new();
    shell.json(&["sources", "create", "demo", "--json"]);
    let trigger = [
        "trigger",
        "stripe:invoice.paid",
        "--source",
        "demo",
        "--set",
        "data.object.amount_paid=5",
    ];
    insta::assert_snapshot!(shell.run(&trigger), @"
    exit 0
    evt_ID received
    it was not signed: the source demo has no secret
    ");
    let found = shell.json(&["events", "search", r#""amount_paid":5,"#, "--json"]);
    assert_eq!(found["data"].as_array().unwrap().len(), 1);
    insta::assert_snapshot!(shell.run(&["trigger", "github:nothing", "--source", "demo"]), @r#"
    exit 4
    ferryhook: there is no sample "github:nothing"; `ferryhook trigger github --list` shows them
    "#);
    insta::assert_snapshot!(shell.run(&["trigger", "slack", "--list"]), @"
    exit 0
    SAMPLE WHAT
    slack:message Somebody wrote in a channel
    slack:app_mention Somebody mentioned the app
    slack:slash-command Somebody typed a command (a form)
    ");
}

/// Telegram shows the secret itself, which the server keeps; whoever has it can still send.
#[test]
fn where_the_proof_is_the_secret_it_has_to_be_given() {
    let shell = Shell::new();
    let create = ["sources", "create", "bot", "--provider", "telegram", "--secret", "@-", "--json"];
    let made = output(&mut shell.command(&create), "hush-hush\n");
    assert!(made.status.success(), "{}", show(&made));
    insta::assert_snapshot!(shell.run(&["trigger", "custom", "--source", "bot"]), @"
    exit 1
    ferryhook: telegram shows the secret itself, which is not given out. If you have it, give it with --secret
    ");
    let given = ["trigger", "custom", "--source", "bot", "--secret", "hush-hush", "--json"];
    assert_eq!(shell.json(&given)["statusCode"], 200);
}
