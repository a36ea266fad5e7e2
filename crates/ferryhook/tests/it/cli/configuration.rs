//! Configuration as code over the API, and what shells are given.

use super::shell::{Shell, output};
use crate::ferry::show;

const HOOKS: &str = "
sources:
  - name: shop
    connections:
      - { name: crm, url: 'https://crm.example.com/in', headers: { X-Key: { $secret: env:CRM_KEY } } }
";

#[test]
fn a_file_is_compared_applied_and_written_again() {
    let shell = Shell::new();
    shell.write("hooks.yaml", HOOKS);
    let run = |arguments: &[&str]| {
        let mut command = shell.command(arguments);
        super::calm::narrow(&show(&output(command.env("CRM_KEY", "open sesame"), "")))
    };
    insta::assert_snapshot!(run(&["diff", "-f", "hooks.yaml"]), @"
    exit 2
    + source shop would be created
    + connection shop/crm would be created
    would be 2 created, 0 changed, 0 deleted, 0 unchanged
    ");
    insta::assert_snapshot!(run(&["apply", "-f", "hooks.yaml"]), @"
    exit 0
    + source shop created, takes events at /in/src_ID
    + connection shop/crm created, signs with whsec_SECRET (not shown again)
    2 created, 0 changed, 0 deleted, 0 unchanged
    ");
    insta::assert_snapshot!(run(&["diff", "-f", "hooks.yaml"]), @"
    exit 0
    nothing to change, 2 as the file says
    ");
    insta::assert_snapshot!(run(&["export"]), @"
    exit 0
    sources:
    - name: shop
      connections:
      - name: crm
        url: https://crm.example.com/in
        headers:
          X-Key:
            $secret: env:SHOP_CRM_X_KEY
    ");
    shell.write("hooks.yaml", "sources: []");
    insta::assert_snapshot!(run(&["diff", "-f", "hooks.yaml", "--prune"]), @"
    exit 2
    - connection shop/crm would be deleted
    - source shop would be deleted
    would be 0 created, 0 changed, 2 deleted, 0 unchanged
    ");
    shell.write("wrong.yaml", "sources:\n  - nam: shop\n");
    insta::assert_snapshot!(run(&["apply", "-f", "wrong.yaml"]), @"
    exit 1
    ferryhook: wrong.yaml has mistakes, so nothing was changed.
      wrong.yaml:2:5: sources[0].nam: no such field; a source has name, provider, status, signingSecret, verificationMode, bodyBytesMax, dedup, eventType, split, customResponse, config, connections
      wrong.yaml:2:5: sources[0]: name is missing
    ");
    let json = run(&["diff", "-f", "hooks.yaml", "--json"]);
    assert!(json.starts_with(r#"exit 0"#) && json.contains(r#""dryRun":true"#), "{json}");
}

/// A server and a store at once is a mistake; a store that is named wins over the environment.
#[test]
fn the_store_that_is_named_is_meant() {
    let shell = Shell::new();
    let both = shell.run(&["events", "list", "--data", "here", "--server", "http://127.0.0.1:1"]);
    insta::assert_snapshot!(both, @"
    exit 1
    ferryhook: either a server or a store: --server and --context do not go with the setting data
    ");
    let here = shell.run(&["events", "list", "--data", "here"]);
    assert!(here.starts_with("exit 1\n") && !here.contains("127.0.0.1"), "{here}");
}

#[test]
fn shells_and_readers_are_served() {
    let shell = Shell::new();
    for name in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = shell.run(&["completions", name]);
        assert!(script.starts_with("exit 0\n") && script.contains("rotate-secret"), "{name}");
    }
    let page = shell.run(&["man"]);
    assert!(page.contains(".TH ferryhook"), "{page}");
    assert!(shell.run(&["man", "sources", "create"]).contains("new\\-secret"));
}
