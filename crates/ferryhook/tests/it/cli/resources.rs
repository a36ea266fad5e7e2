//! Sources, connections and keys from their making to their end.

use super::shell::Shell;

#[test]
fn the_life_of_a_source() {
    let shell = Shell::new();
    insta::assert_snapshot!(shell.run(&["sources", "list"]), @"
    exit 0
    no sources; ferryhook sources create NAME makes one
    ");
    let made = shell.run(&["sources", "create", "hub", "--provider", "github", "--new-secret"]);
    insta::assert_snapshot!(made, @"
    exit 0
    created hub (src_ID)
      send to http://127.0.0.1:PORT/in/src_ID
      secret whsec_SECRET (not shown again)
    ");
    let create = ["sources", "create", "shop", "--set", "bodyBytesMax=1000", "--json"];
    assert_eq!(shell.json(&create)["bodyBytesMax"], 1000);
    insta::assert_snapshot!(shell.run(&["sources", "list"]), @"
    exit 0
    NAME PROVIDER STATUS EVENTS LAST EVENT URL
    hub github active 0 - http://127.0.0.1:PORT/in/src_ID
    shop custom active 0 - http://127.0.0.1:PORT/in/src_ID
    ");
    let update = ["sources", "update", "shop", "--name", "store", "--event-type", "body.type"];
    insta::assert_snapshot!(shell.run(&update), @"
    exit 0
    sourceId src_ID
    accountId acc_ID
    name store
    provider custom
    connectionType webhook
    status active
    ingestUrl http://127.0.0.1:PORT/in/src_ID
    hasSigningSecret false
    bodyBytesMax 1000
    eventType body.type
    eventCount 0
    createdAt TIME
    updatedAt TIME
    ");
    insta::assert_snapshot!(shell.run(&["sources", "pause", "store"]), @"
    exit 0
    store is paused
    ");
    insta::assert_snapshot!(shell.run(&["sources", "resume", "store"]), @"
    exit 0
    store is active
    ");
    insta::assert_snapshot!(shell.run(&["sources", "rotate-secret", "hub"]), @"
    exit 0
    the secret is whsec_SECRET (not shown again)
    the one before counts until TIME
    ");
    let given = ["sources", "rotate-secret", "hub", "--secret", "mine", "--json"];
    assert_eq!(shell.json(&given)["signingSecret"], "mine");
    assert_eq!(shell.json(&["sources", "get", "hub", "--json"])["hasSigningSecret"], true);
    // Nobody is there to ask.
    insta::assert_snapshot!(shell.run(&["sources", "delete", "hub"]), @r#"
    exit 1
    ferryhook: nobody is here to ask whether to delete the source "hub" with its connections; --yes does it without
    "#);
    insta::assert_snapshot!(shell.run(&["sources", "delete", "hub", "--yes"]), @"
    exit 0
    deleted hub
    ");
    insta::assert_snapshot!(shell.run(&["sources", "get", "hub"]), @r#"
    exit 4
    ferryhook: no source is called "hub"; there is store
    "#);
}

#[test]
fn the_life_of_a_connection() {
    let shell = Shell::new();
    shell.json(&["sources", "create", "shop", "--event-type", "body.type", "--json"]);
    let create = [
        "connections",
        "create",
        "shop",
        "crm",
        "--url",
        "https://crm.example.com/in",
        "--type",
        "order.*",
        "--set",
        "timeoutMs=2000",
    ];
    insta::assert_snapshot!(shell.run(&create), @"
    exit 0
    created shop/crm (conn_ID)
      delivers to https://crm.example.com/in
      signs with whsec_SECRET (not shown again)
    ");
    insta::assert_snapshot!(shell.run(&["connections", "list"]), @"
    exit 0
    CONNECTION STATUS DELIVERED FAILED TO
    shop/crm active 0 0 https://crm.example.com/in
    ");
    let shown = shell.json(&["connections", "get", "shop/crm", "--json"]);
    assert_eq!((&shown["timeoutMs"], &shown["eventTypes"][0]), (&2000.into(), &"order.*".into()));
    let id = shown["connectionId"].as_str().unwrap();
    let update = ["connections", "update", id, "--url", "https://crm.example.com/new", "--json"];
    assert_eq!(shell.json(&update)["destinationUrl"], "https://crm.example.com/new");
    insta::assert_snapshot!(shell.run(&["connections", "pause", "crm"]), @"
    exit 0
    crm is paused
    ");
    insta::assert_snapshot!(shell.run(&["connections", "resume", "shop/crm"]), @"
    exit 0
    crm is active
    ");
    insta::assert_snapshot!(shell.run(&["connections", "rotate-secret", "shop/crm"]), @"
    exit 0
    the secret is whsec_SECRET (not shown again)
    the one before counts until TIME
    ");
    insta::assert_snapshot!(shell.run(&["connections", "test", "shop/crm"]), @"
    exit 0
    connection crm: not wanted, its type is none of order.*
      nothing was sent; --deliver sends it
    ");
    let sample = ["connections", "test", "crm", "--type", "order.paid", "--data", r#"{"n":1}"#];
    insta::assert_snapshot!(shell.run(&sample), @r#"
    exit 0
    connection crm: wanted
      sends {"n":1}
      nothing was sent; --deliver sends it
    "#);
    insta::assert_snapshot!(shell.run(&["connections", "delete", "shop/crm", "--yes"]), @"
    exit 0
    deleted crm
    ");
    insta::assert_snapshot!(shell.run(&["connections", "get", "shop/crm"]), @r#"
    exit 4
    ferryhook: no connection is called "shop/crm"; there is none
    "#);
}

#[test]
fn the_life_of_a_key() {
    let shell = Shell::new();
    let create = ["api-keys", "create", "ci", "--permissions", "read", "--expires", "30d"];
    insta::assert_snapshot!(shell.run(&create), @"
    exit 0
    created ci (key_ID), may read
      fh_live_KEY (not shown again)
    ");
    let listed = shell.run(&["api-keys", "list"]);
    assert!(listed.contains(" ci ") && listed.contains(" read active "), "{listed}");
    let made = shell.json(&["api-keys", "create", "two", "--operation", "events.*", "--json"]);
    let key = made["key"].as_str().unwrap();
    insta::assert_snapshot!(shell.run(&["whoami", "--api-key", key]), @"
    exit 3
    ferryhook: Not allowed: this is not among the operations of the key. `ferryhook whoami` shows who you are there
    ");
    insta::assert_snapshot!(shell.run(&["api-keys", "revoke", "ci"]), @"
    exit 0
    revoked key_ID
    ");
    insta::assert_snapshot!(shell.run(&["api-keys", "revoke", "ci"]), @r#"
    exit 4
    ferryhook: no active key is called "ci"
    "#);
}

/// What is wrong with a value is said, with the place.
#[test]
fn mistakes_are_explained() {
    let shell = Shell::new();
    insta::assert_snapshot!(shell.run(&["sources", "create", "a", "--set", "colour=red"]), @"
    exit 1
    ferryhook: the server does not take this:
      colour: no such field; a source has name, provider, status, signingSecret, verificationMode, bodyBytesMax, dedup, eventType, split, customResponse, config, connections
    ");
    insta::assert_snapshot!(shell.run(&["sources", "create", "a", "--set", "colour"]), @r#"
    exit 1
    ferryhook: --set wants PATH=VALUE, not "colour"
    "#);
}
