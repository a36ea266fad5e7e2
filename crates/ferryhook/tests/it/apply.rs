//! `ferryhook apply`, with and without a server that has the data open.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use ferryhook_api::owner;
use ferryhook_core::{Connection, Source};
use ferryhook_store::Slice;

use crate::ferry::{Ferry, run, show};
use crate::storage::{DATA, look};

const HOOKS: &str = "
sources:
  - name: shop
    connections:
      - { name: warehouse, url: 'https://warehouse.example.com/in' }
      - { name: crm, url: 'https://crm.example.com/in', headers: { X-Key: { $secret: env:CRM_KEY } } }
";

const VARIABLES: [(&str, &str); 1] = [("CRM_KEY", "open sesame")];

/// Applies `text` and shows what was said, without what differs from run to run.
fn apply(folder: &Path, text: &str, flags: &[&str]) -> String {
    fs::write(folder.join("hooks.yaml"), text).unwrap();
    let arguments = [&["apply", "-f", "hooks.yaml"], flags].concat();
    let said = show(&run(folder, &arguments, &VARIABLES));
    let said = replaced(&said, "src_", 16, "src_SOURCE");
    replaced(&said, "whsec_", 44, "whsec_SECRET")
}

/// With every `prefix` and the `length` characters behind it replaced.
fn replaced(text: &str, prefix: &str, length: usize, by: &str) -> String {
    let mut pieces = text.split(prefix);
    let mut replaced = pieces.next().unwrap().to_owned();
    for piece in pieces {
        replaced += by;
        replaced += &piece[length..];
    }
    replaced
}

/// What the store has, read while no server has it open.
fn stored(folder: &Path) -> (Vec<Source>, Vec<Connection>) {
    look(&folder.join(DATA), async |store| {
        let owner = owner::find(&store).await.unwrap().unwrap();
        let sources = store.sources().list_by_user(owner.user, Slice::default()).await.unwrap();
        let slice = Slice::default();
        let connections = store.connections().list_by_account(owner.account, slice).await.unwrap();
        let sources = sources.rows.into_iter().map(|stored| stored.record).collect();
        (sources, connections.rows.into_iter().map(|stored| stored.record).collect())
    })
}

/// Created, unchanged, changed, left, pruned. The same whoever has the store open.
fn a_whole_life(folder: &Path) {
    insta::allow_duplicates! {
    insta::assert_snapshot!(apply(folder, HOOKS, &["--dry-run"]), @"
    exit 2
    + source      shop            would be created
    + connection  shop/warehouse  would be created
    + connection  shop/crm        would be created
    would be 3 created, 0 changed, 0 deleted, 0 unchanged
    ");
    insta::assert_snapshot!(apply(folder, HOOKS, &[]), @"
    exit 0
    + source      shop            created, takes events at /in/src_SOURCE
    + connection  shop/warehouse  created, signs with whsec_SECRET (not shown again)
    + connection  shop/crm        created, signs with whsec_SECRET (not shown again)
    3 created, 0 changed, 0 deleted, 0 unchanged
    ");
    insta::assert_snapshot!(apply(folder, HOOKS, &[]), @"
    exit 0
    nothing to change, 3 as the file says
    ");
    insta::assert_snapshot!(apply(folder, HOOKS, &["--dry-run"]), @"
    exit 0
    nothing to change, 3 as the file says
    ");
    let moved = HOOKS.replace("crm.example.com/in'", "crm.example.com/new', timeoutMs: 2000");
    insta::assert_snapshot!(apply(folder, &moved, &["--dry-run"]), @"
    exit 2
    ~ connection  shop/crm  would be changed: url, timeoutMs
    would be 0 created, 1 changed, 0 deleted, 2 unchanged
    ");
    insta::assert_snapshot!(apply(folder, &moved, &[]), @"
    exit 0
    ~ connection  shop/crm  changed: url, timeoutMs
    0 created, 1 changed, 0 deleted, 2 unchanged
    ");
    let other = "sources: [{ name: other }]";
    insta::assert_snapshot!(apply(folder, other, &[]), @"
    exit 0
    + source      other  created, takes events at /in/src_SOURCE
    = source      shop   not in the file, left alone
    1 created, 0 changed, 0 deleted, 0 unchanged
    ");
    insta::assert_snapshot!(apply(folder, other, &["--prune", "--dry-run"]), @"
    exit 2
    - connection  shop/crm        would be deleted
    - connection  shop/warehouse  would be deleted
    - source      shop            would be deleted
    would be 0 created, 0 changed, 3 deleted, 1 unchanged
    ");
    insta::assert_snapshot!(apply(folder, other, &["--prune"]), @"
    exit 0
    - connection  shop/crm        deleted
    - connection  shop/warehouse  deleted
    - source      shop            deleted
    0 created, 0 changed, 3 deleted, 1 unchanged
    ");
    insta::assert_snapshot!(apply(folder, other, &["--prune"]), @"
    exit 0
    nothing to change, 1 as the file says
    ");
    }
}

#[test]
fn a_closed_store_is_changed_by_the_command() {
    let folder = tempfile::tempdir().unwrap();
    a_whole_life(folder.path());
    let (sources, connections) = stored(folder.path());
    assert_eq!((sources.len(), connections.len()), (1, 0));
}

#[test]
fn an_open_store_is_changed_by_its_server() {
    let folder = tempfile::tempdir().unwrap();
    let mut ferry = Ferry::start_in(&folder, &[]);
    a_whole_life(folder.path());
    ferry.wait_for_log("configuration changed");
    assert_eq!(ferry.get("/readyz").status, 200);
    ferry.stop();
    let (sources, connections) = stored(folder.path());
    assert_eq!((sources.len(), connections.len()), (1, 0));
}

/// A secret comes from the environment of whoever applies, not of the server.
#[test]
fn a_server_gets_secrets_from_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let ferry = Ferry::start_in(&folder, &[]);
    apply(folder.path(), HOOKS, &[]);
    ferry.stop();
    let (_, connections) = stored(folder.path());
    let crm = connections.iter().find(|connection| connection.name == "crm").unwrap();
    assert_eq!(crm.headers.find("x-key"), Some("open sesame"));
}

/// Every mistake at once, and nothing is written, not even the good part.
#[test]
fn a_bad_file_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let bad = "
sources:
  - name: shop
    stauts: active
    connections:
      - name: inside
        url: http://10.0.0.7/in
      - name: later
        url: https://example.com
        filters: [{ path: $.amount, operator: above, value: 1 }]
      - name: poor
        url: https://example.com
        signingSecret: { $secret: env:NOT_SET }
";
    insta::assert_snapshot!(apply(folder.path(), bad, &[]), @"
    exit 1
    ferryhook: hooks.yaml has mistakes, so nothing was changed
    hooks.yaml:4:5: sources[0].stauts: no such field; a source has name, provider, status, signingSecret, verificationMode, bodyBytesMax, dedup, eventType, split, customResponse, config, connections
    hooks.yaml:7:14: sources[0].connections[0].url: 10.0.0.7 is not a public address
    hooks.yaml:10:18: sources[0].connections[1].filters: at /0/operator: no such operator; there are equals, not_equals, contains, not_contains, exists, not_exists, regex, gt, lt, gte, lte, in, not_in, starts_with, ends_with
    hooks.yaml:13:35: sources[0].connections[2].signingSecret.$secret: the environment has no variable NOT_SET
    ");
    let ferry = Ferry::start_in(&folder, &[]);
    let said = apply(folder.path(), bad, &[]);
    assert!(said.contains("hooks.yaml:4:5: sources[0].stauts: no such field"), "{said}");
    ferry.stop();
    let owner = look(&folder.path().join(DATA), async |store| owner::find(&store).await.unwrap());
    assert_eq!(owner, None, "nothing was made");
}

/// By the setting of whoever writes: the server's if one runs.
#[test]
fn an_allowed_network_can_be_a_destination() {
    let folder = tempfile::tempdir().unwrap();
    let text = "sources: [{ name: a, connections: [{ name: b, url: 'http://10.0.0.7/in' }] }]";
    let said = apply(folder.path(), text, &["--destination-allow", "10.0.0.0/8"]);
    assert!(said.starts_with("exit 0"), "{said}");

    let ferry = Ferry::start_in(&folder, &[]);
    let said = apply(folder.path(), text, &["--destination-allow", "10.0.0.0/8"]);
    assert!(said.contains("10.0.0.7 is not a public address"), "{said}");
    ferry.stop();
    let ferry = Ferry::start_in(&folder, &[("FERRYHOOK_DESTINATION_ALLOW", "10.0.0.0/8")]);
    assert_eq!(apply(folder.path(), text, &[]), "exit 0\nnothing to change, 2 as the file says\n");
    ferry.stop();
}

#[test]
fn programs_read_json() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("hooks.yaml"), HOOKS).unwrap();
    let arguments = ["apply", "-f", "hooks.yaml", "--json"];
    let output = run(&folder, &arguments, &VARIABLES);
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said["changes"].as_array().unwrap().len(), 3, "{said}");
    let (source, connection) = (&said["changes"][0], &said["changes"][1]);
    assert_eq!((&source["what"], &source["kind"]), (&"created".into(), &"source".into()));
    assert!(source["id"].as_str().unwrap().starts_with("src_"), "{said}");
    assert!(connection["signingSecret"].as_str().unwrap().starts_with("whsec_"), "{said}");

    let output = run(&folder, &arguments, &VARIABLES);
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let nothing = serde_json::json!({ "dryRun": false, "changes": [], "left": [], "unchanged": 3 });
    assert_eq!(said, nothing);
}

/// By the command, and by the server that has the store open.
#[test]
fn what_is_there_can_be_exported() {
    let folder = tempfile::tempdir().unwrap();
    apply(folder.path(), HOOKS, &[]);
    let exported = run(&folder, &["export"], &[]);
    insta::assert_snapshot!(show(&exported), @"
    exit 0
    sources:
    - name: shop
      connections:
      - name: crm
        url: https://crm.example.com/in
        headers:
          X-Key:
            $secret: env:SHOP_CRM_X_KEY
      - name: warehouse
        url: https://warehouse.example.com/in
    ");
    let ferry = Ferry::start_in(&folder, &[]);
    assert_eq!(show(&run(&folder, &["export"], &[])), show(&exported));
    fs::write(folder.path().join("hooks.yaml"), &exported.stdout).unwrap();
    let again = run(&folder, &["apply", "-f", "hooks.yaml"], &[("SHOP_CRM_X_KEY", "open sesame")]);
    assert_eq!(show(&again), "exit 0\nnothing to change, 3 as the file says\n");
    ferry.stop();
}

/// Callers of the control socket have a task each, and what is no request is told so.
#[test]
fn a_silent_caller_keeps_nobody_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let ferry = Ferry::start_in(&folder, &[]);
    let socket = folder.path().join(DATA).join("control.sock");
    let silent = UnixStream::connect(&socket).unwrap();
    silent.set_nonblocking(true).unwrap();
    let mut odd = UnixStream::connect(&socket).unwrap();
    odd.write_all(b"{\"dance\":null}\n").unwrap();
    let mut answer = String::new();
    odd.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with(r#"{"failed":"the server knows no such request"#), "{answer}");

    assert!(apply(folder.path(), HOOKS, &[]).starts_with("exit 0"));
    let still_waited_for = (&silent).read(&mut [0]).unwrap_err();
    assert_eq!(still_waited_for.kind(), ErrorKind::WouldBlock);
    drop(silent);
    ferry.stop();
}

#[test]
fn what_cannot_be_applied_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("binary"), [0xff, 0xfe]).unwrap();
    let said = [
        show(&run(folder, &["apply", "-f", "missing.yaml"], &[])),
        show(&run(folder, &["apply", "-f", "binary"], &[])),
        show(&run(folder, &["apply", "-f", "-"], &[])),
        show(&run(folder, &["apply", "-f", "-"], &[("FERRYHOOK_STORE", "memory")])),
    ];
    insta::assert_snapshot!(said.join(""), @"
    exit 1
    ferryhook: cannot read missing.yaml: No such file or directory (os error 2)
    exit 1
    ferryhook: binary is not text: invalid utf-8 sequence of 1 bytes from index 0
    exit 1
    ferryhook: stdin has mistakes, so nothing was changed
    stdin:1:1: sources is missing
    exit 1
    ferryhook: the memory store (setting store, from FERRYHOOK_STORE) keeps nothing to apply to
    ");
}
