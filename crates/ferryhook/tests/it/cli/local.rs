//! The server on this machine needs no login, from its own directory or from another.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use super::calm::narrow;
use super::shell::output;
use crate::ferry::{Ferry, command, show, spawn};

struct Dev(Child);

impl Dev {
    fn start(folder: &std::path::Path, home: &std::path::Path) -> Self {
        let mut dev = command(folder);
        dev.args(["dev", "--listen", "127.0.0.1:0"]).env("HOME", home);
        let mut child = spawn(dev.stdout(Stdio::piped()).stderr(Stdio::null()));
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("startup"), "{line}");
        Self(child)
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn dev_is_found_from_anywhere_and_only_by_its_owner() {
    let (folder, home, elsewhere) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let _dev = Dev::start(folder.path(), home.path());
    let said = |folder: &tempfile::TempDir, home: &std::path::Path, arguments: &[&str]| {
        narrow(&show(&output(command(folder).args(arguments).env("HOME", home), "")))
    };
    insta::assert_snapshot!(said(&folder, home.path(), &["whoami"]), @"
    exit 0
    server http://127.0.0.1:PORT
    account local (acc_ID)
    user usr_ID
    role admin
    key key_ID
    ");
    let listed = said(&elsewhere, home.path(), &["sources", "list"]);
    assert!(listed.contains("demo custom active"), "{listed}");
    let events = said(&elsewhere, home.path(), &["events", "list"]);
    assert!(events.starts_with("exit 0\nEVENT "), "{events}");
    let applied = said(&elsewhere, home.path(), &["export"]);
    assert!(applied.contains("name: demo"), "{applied}");
    // Somebody else has another home, and cannot open the socket.
    let stranger = said(&elsewhere, elsewhere.path(), &["whoami"]);
    assert!(!stranger.starts_with("exit 0"), "{stranger}");
    // The key is nowhere on disk.
    for file in walk(folder.path()).into_iter().chain(walk(home.path())) {
        let text = std::fs::read(&file).unwrap_or_default();
        let found = text.windows(8).any(|eight| eight == b"fh_live_");
        assert!(!found || !has_key(&text), "{}", file.display());
    }
}

/// More than the first characters, by which people tell keys apart.
fn has_key(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    regex::Regex::new("fh_live_[A-Za-z0-9]{38}").unwrap().is_match(&text)
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => files.extend(walk(&path)),
            false => files.push(path),
        }
    }
    files
}

/// The same key before and after a restart; a revoked one is followed by another.
#[test]
fn serve_lets_its_owner_in_too() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let output = output(command(&folder).args(arguments), "");
        assert!(output.status.success(), "{}", show(&output));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap_or_default()
    };
    let ferry = Ferry::start_in(&folder, &[]);
    let first = run(&["whoami", "--json"]);
    ferry.stop();
    let ferry = Ferry::start_in(&folder, &[]);
    assert_eq!(run(&["whoami", "--json"]), first);
    run(&["api-keys", "revoke", first["keyId"].as_str().unwrap(), "--json"]);
    let second = run(&["whoami", "--json"]);
    assert_eq!(second["accountId"], first["accountId"]);
    assert_ne!(second["keyId"], first["keyId"]);
    ferry.stop();
}
