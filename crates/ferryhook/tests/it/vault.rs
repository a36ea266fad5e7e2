//! Secrets at rest: nowhere on disk, readable with the master key only, and still the right ones
//! after it was exchanged.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;

use crate::destination::{Call, Destination};
use crate::ferry::{Ferry, run, show};
use crate::storage::DATA;

/// Its own 32 bytes, in base64.
const FIRST: &str = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
const SECOND: &str = "YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXphYmNkZWY=";
/// What connections sign with.
const SIGNING: &str = "whsec_aHVzaC1zaWduaW5nLXNlY3JldC1oZXJl";
const HEADER: &str = "Bearer hush-header";
const PASSWORD: &str = "hush-provider-password";

/// A folder with a data directory in it, and a destination.
struct House {
    folder: TempDir,
    destination: Destination,
    variables: Vec<(&'static str, &'static str)>,
    path: String,
}

impl House {
    /// Starts once and makes a source and a connection with secrets of every sort.
    fn new(variables: &[(&'static str, &'static str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let destination = Destination::kind();
        let manifest = json!({ "sources": [{
            "name": "Visible",
            "provider": "custom",
            "config": { "note": PASSWORD },
            "connections": [{
                "name": "Way",
                "url": destination.url("hook"),
                "headers": { "Authorization": HEADER },
                "signingSecret": SIGNING,
            }],
        }] });
        fs::write(folder.path().join("hooks.yaml"), manifest.to_string()).unwrap();
        let mut variables = variables.to_vec();
        variables.push(("FERRYHOOK_DESTINATION_ALLOW", "127.0.0.0/8"));
        let mut house = Self { folder, destination, variables, path: String::new() };
        let output = house.run(&["apply", "-f", "hooks.yaml", "--json"]);
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        house.path = format!("/in/{}", told["changes"][0]["id"].as_str().unwrap());
        house
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join(DATA)
    }

    fn run(&self, arguments: &[&str]) -> std::process::Output {
        let output = run(&self.folder, arguments, &self.variables);
        assert!(output.status.success(), "{arguments:?}: {}", show(&output));
        output
    }

    fn start(&self) -> Ferry {
        Ferry::start_in(&self.folder, &self.variables)
    }

    /// Why it does not start.
    fn refusal(&self) -> String {
        let output = run(&self.folder, &["serve", "--listen", "127.0.0.1:0"], &self.variables);
        assert_eq!(output.status.code(), Some(1), "{}", show(&output));
        String::from_utf8(output.stderr).unwrap()
    }

    fn with_key(&mut self, key: &'static str) {
        self.variables.retain(|(name, _)| *name != "FERRYHOOK_MASTER_KEY");
        self.variables.push(("FERRYHOOK_MASTER_KEY", key));
    }

    /// Sends one more event and looks at how it comes out.
    fn assert_delivers(&self, ferry: &Ferry) {
        let before = self.destination.calls().len();
        assert_eq!(ferry.post(&self.path, b"{}").status, 200);
        let calls = self.destination.wait_for(before + 1);
        let call: &Call = calls.last().unwrap();
        assert!(call.is_signed_with(SIGNING));
        assert_eq!(call.message.header("authorization"), Some(HEADER));
    }
}

/// Every byte of every file below.
fn bytes(directory: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => all.extend(bytes(&entry.path())),
            kind if kind.is_file() => all.extend(fs::read(entry.path()).unwrap()),
            _ => {}
        }
    }
    all
}

fn holds(haystack: &[u8], needle: &str) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle.as_bytes())
}

#[test]
fn secrets_are_nowhere_on_disk() {
    let house = House::new(&[]);
    let ferry = house.start();
    house.assert_delivers(&ferry);
    // While it runs, and when all that was in memory has been written.
    let running = bytes(&house.data());
    ferry.stop();
    for found in [running, bytes(&house.data())] {
        assert!(holds(&found, "Visible"), "what is no secret can be found like this");
        for secret in [SIGNING, HEADER, PASSWORD, "hush"] {
            assert!(!holds(&found, secret), "{secret}");
        }
    }
    // What reads them says nothing either.
    let exported = String::from_utf8(house.run(&["export"]).stdout).unwrap();
    assert!(exported.contains("Visible") && !exported.contains(SIGNING), "{exported}");
}

#[test]
fn a_key_file_is_made_and_needed() {
    let house = House::new(&[]);
    let key = house.data().join("master.key");
    let aside = house.folder.path().join("aside");
    fs::rename(&key, &aside).unwrap();
    let refusal = house.refusal();
    assert!(refusal.contains("master.key is missing"), "{refusal}");
    assert!(!key.exists(), "none was made in its place");
    fs::write(&key, SECOND).unwrap();
    let refusal = house.refusal();
    assert!(refusal.contains("need the master key") && !refusal.contains(SECOND), "{refusal}");
    fs::rename(&aside, &key).unwrap();
    house.assert_delivers(&house.start());
}

#[test]
fn the_key_file_is_exchanged_under_a_running_server() {
    let house = House::new(&[]);
    let key = house.data().join("master.key");
    let old = fs::read(&key).unwrap();
    let ferry = house.start();
    house.assert_delivers(&ferry);
    let told = String::from_utf8(house.run(&["keys", "rotate-master"]).stdout).unwrap();
    assert!(told.contains("2 data keys wrapped anew"), "the owner's, the installation's: {told}");
    assert_ne!(fs::read(&key).unwrap(), old);
    house.assert_delivers(&ferry);
    ferry.stop();
    house.assert_delivers(&house.start());

    // The one before it is kept under its name, for backups, and opens nothing here any more.
    let told = String::from_utf8(house.run(&["keys", "rotate-master", "--json"]).stdout).unwrap();
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let retired = house.folder.path().join(told["retired"].as_str().unwrap());
    fs::copy(retired, &key).unwrap();
    let refusal = house.refusal();
    assert!(refusal.contains(told["masterId"].as_str().unwrap()), "{refusal}");
}

#[test]
fn a_given_key_is_exchanged_for_another() {
    let mut house = House::new(&[("FERRYHOOK_MASTER_KEY", FIRST)]);
    assert!(!house.data().join("master.key").exists());
    house.assert_delivers(&house.start());
    fs::write(house.folder.path().join("new.key"), format!("{SECOND}\n")).unwrap();
    let told = house.run(&["keys", "rotate-master", "--new-key-file", "new.key"]);
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("next: set FERRYHOOK_MASTER_KEY"), "{told}");
    let refusal = house.refusal();
    assert!(refusal.contains("need the master key"), "{refusal}");
    assert!(!refusal.contains(FIRST) && !refusal.contains(SECOND), "{refusal}");
    house.with_key(SECOND);
    house.assert_delivers(&house.start());

    // Back again, by a server that runs, from the environment.
    let ferry = house.start();
    house.variables.push(("FERRYHOOK_NEW_MASTER_KEY", FIRST));
    house.run(&["keys", "rotate-master"]);
    house.variables.pop();
    house.assert_delivers(&ferry);
    ferry.stop();
    assert!(house.refusal().contains("need the master key"));
    house.variables.retain(|(name, _)| *name != "FERRYHOOK_MASTER_KEY");
    fs::write(house.folder.path().join("first.key"), FIRST).unwrap();
    house.variables.push(("FERRYHOOK_MASTER_KEY_FILE", "first.key"));
    house.assert_delivers(&house.start());
}

/// From the file that was made to a key of one's own.
#[test]
fn a_key_file_is_left_for_a_given_key() {
    let mut house = House::new(&[]);
    fs::write(house.folder.path().join("own.key"), FIRST).unwrap();
    house.run(&["keys", "rotate-master", "--new-key-file", "own.key"]);
    assert!(house.refusal().contains("need the master key"), "the file is of no use any more");
    house.with_key(FIRST);
    house.assert_delivers(&house.start());
}

#[test]
fn a_backup_takes_the_key_file_along_or_says_that_it_does_not() {
    let house = House::new(&[]);
    let said = String::from_utf8(house.run(&["backup", "whole"]).stderr).unwrap();
    assert!(said.contains("the master key is in it"), "{said}");
    let said = house.run(&["backup", "bare", "--without-master-key"]).stderr;
    let said = String::from_utf8(said).unwrap();
    assert!(said.contains("not in it: keep") && said.contains("master.key"), "{said}");

    house.run(&["restore", "whole", "--data", "again"]);
    let said = house.run(&["restore", "bare", "--data", "other"]).stderr;
    let said = String::from_utf8(said).unwrap();
    assert!(said.contains("other/master.key before the next start"), "{said}");
    let export = |data: &str| run(&house.folder, &["export", "--data", data], &[]);
    assert!(show(&export("again")).contains("Visible"));
    assert!(show(&export("other")).contains("master.key is missing"));
    fs::copy(house.data().join("master.key"), house.folder.path().join("other/master.key"))
        .unwrap();
    assert!(show(&export("other")).contains("Visible"));
}

#[test]
fn the_master_key_is_never_shown() {
    let folder = tempfile::tempdir().unwrap();
    let check = |variables: &[(&str, &str)]| show(&run(&folder, &["config", "check"], variables));
    let shown = check(&[("FERRYHOOK_MASTER_KEY", FIRST)]);
    assert!(shown.contains("(not shown)") && !shown.contains(FIRST), "{shown}");
    let shown = check(&[("FERRYHOOK_MASTER_KEY", "hush-hush")]);
    assert_eq!(
        shown,
        "exit 1\nferryhook: masterKey must be 32 bytes in base64 (`openssl rand -base64 32`) (from \
         FERRYHOOK_MASTER_KEY); what it is instead is not shown\n"
    );
    let shown = check(&[("FERRYHOOK_MASTER_KEY", FIRST), ("FERRYHOOK_MASTER_KEY_FILE", "x")]);
    assert!(shown.contains("masterKey and masterKeyFile are both set"), "{shown}");
    fs::write(folder.path().join("ferryhook.toml"), "masterKey = 'hush\n").unwrap();
    let shown = check(&[]);
    assert!(shown.contains("line 1") && !shown.contains("hush"), "{shown}");
    let folder = tempfile::tempdir().unwrap();
    let flag = run(&folder, &["serve", "--master-key", FIRST], &[]);
    assert_eq!(flag.status.code(), Some(2), "others would see it");
}

#[test]
fn the_memory_store_has_no_keys_to_rotate() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&folder, &["keys", "rotate-master", "--store", "memory"], &[]);
    assert!(show(&output).contains("keeps no keys to rotate"), "{}", show(&output));
}

#[cfg(feature = "aws")]
#[test]
fn dynamodb_needs_a_master_key() {
    let folder = tempfile::tempdir().unwrap();
    let variables = [("FERRYHOOK_STORE", "dynamodb"), ("FERRYHOOK_LISTEN", "127.0.0.1:0")];
    let shown = show(&run(&folder, &["serve"], &variables));
    assert!(shown.starts_with("exit 1\nferryhook: the DynamoDB store needs a master key"));
    assert!(shown.contains("openssl rand -base64 32"), "{shown}");
    assert_eq!(shown.lines().count(), 2, "{shown}");
}
