//! Every command that asks a server: a wrong key, a missing thing, and nobody there.

use super::calm::narrow;
use super::shell::{Shell, output};
use crate::ferry::show;

/// Nobody listens on it.
const NOWHERE: &str = "http://127.0.0.1:1";
const EVENT: &str = "evt_0000000000000000";

/// A command of each sort, about something that is not there; empty where there is nothing to name.
const COMMANDS: &[&[&str]] = &[
    &["sources", "get", "nothing"],
    &["sources", "update", "nothing", "--name", "x"],
    &["sources", "delete", "nothing", "--yes"],
    &["sources", "pause", "nothing"],
    &["sources", "resume", "nothing"],
    &["sources", "rotate-secret", "nothing"],
    &["connections", "list", "--source", "nothing"],
    &["connections", "get", "nothing/x"],
    &["connections", "create", "nothing", "x", "--url", "https://example.com"],
    &["connections", "update", "nothing", "--name", "x"],
    &["connections", "delete", "conn_0000000000000000", "--yes"],
    &["connections", "pause", "nothing"],
    &["connections", "resume", "nothing"],
    &["connections", "rotate-secret", "nothing"],
    &["connections", "test", "nothing"],
    &["events", "list", "--source", "nothing"],
    &["events", "search", "text", "--source", "nothing"],
    &["events", "get", EVENT],
    &["events", "body", EVENT],
    &["explain", EVENT],
    &["replay", EVENT],
    &["replay", "show", "rpl_0000000000000000"],
    &["rejections", "list", "--source", "nothing"],
    &["tail", "--source", "nothing"],
    &["send", "nothing"],
    &["trigger", "github:push", "--source", "nothing"],
    &["api-keys", "revoke", "nothing"],
    &["event-types", "show", "nothing"],
];

/// The same for commands that name nothing.
const PLAIN: &[&[&str]] = &[
    &["whoami"],
    &["sources", "list"],
    &["sources", "create", "x"],
    &["connections", "list"],
    &["events", "list"],
    &["inbox", "list"],
    &["event-types", "list"],
    &["replay", "list"],
    &["dead-letters", "list"],
    &["tail"],
    &["export"],
    &["apply", "-f", "none.yaml"],
    &["diff", "-f", "none.yaml"],
    &["api-keys", "list"],
    &["api-keys", "create", "x"],
];

#[test]
fn what_is_not_there_is_said_with_4() {
    let shell = Shell::new();
    for arguments in COMMANDS {
        let said = shell.run(arguments);
        assert!(said.starts_with("exit 4\nferryhook: "), "{arguments:?}: {said}");
        assert!(
            said.contains("nothing") || said.contains("_0000000000000000") || said.contains("_ID"),
            "{arguments:?}: {said}"
        );
    }
}

#[test]
fn a_wrong_key_is_said_with_3_and_what_to_do() {
    let shell = Shell::new();
    shell.write("none.yaml", "sources: []");
    for arguments in COMMANDS.iter().chain(PLAIN) {
        let mut command = shell.command(arguments);
        let said = narrow(&show(&output(command.env("FERRYHOOK_API_KEY", "fh_live_wrong"), "")));
        assert!(said.starts_with("exit 3\nferryhook: "), "{arguments:?}: {said}");
        assert!(said.contains("`ferryhook login`"), "{arguments:?}: {said}");
        assert!(!said.contains("fh_live_wrong"), "{arguments:?}: {said}");
    }
    let mut nobody = shell.stranger(&["whoami", "--server", &shell.url()]);
    insta::assert_snapshot!(narrow(&show(&output(&mut nobody, ""))), @"
    exit 3
    ferryhook: http://127.0.0.1:PORT wants to know who you are; run `ferryhook login`, or set FERRYHOOK_API_KEY
    ");
}

#[test]
fn nobody_there_is_said_with_1_and_what_to_do() {
    let shell = Shell::new();
    shell.write("none.yaml", "sources: []");
    for arguments in COMMANDS.iter().chain(PLAIN) {
        let mut command = shell.command(arguments);
        let said = narrow(&show(&output(command.env("FERRYHOOK_URL", NOWHERE), "")));
        assert!(
            said.starts_with("exit 1\nferryhook: no server answers at "),
            "{arguments:?}: {said}"
        );
        assert!(said.contains("`ferryhook dev`"), "{arguments:?}: {said}");
    }
    let mut nowhere = shell.stranger(&["whoami"]);
    nowhere.args(["--server", "ftp://x"]);
    insta::assert_snapshot!(narrow(&show(&output(&mut nowhere, ""))), @r#"
    exit 1
    ferryhook: "ftp://x" cannot be a server: it must begin with http:// or https://
    "#);
}

/// A key that may look and not touch.
#[test]
fn what_a_key_may_not_do_is_said_with_3() {
    let shell = Shell::new();
    let create = ["api-keys", "create", "reader", "--permissions", "read", "--json"];
    let key = shell.json(&create)["key"].as_str().unwrap().to_owned();
    let mut command = shell.command(&["sources", "create", "x"]);
    let said = narrow(&show(&output(command.env("FERRYHOOK_API_KEY", key), "")));
    assert!(said.starts_with("exit 3\nferryhook: "), "{said}");
}
