use std::fs;
use std::path::Path;

use crate::ferry::{Ferry, run, show};
use crate::storage::{DATA, has_event, store_event};

/// A data directory with an event in it, closed.
fn filled(folder: &Path) -> ferryhook_core::Event {
    Ferry::start_in(folder, &[]).stop();
    store_event(&folder.join(DATA))
}

/// Exit code, stdout and stderr, with what differs from run to run replaced.
fn shown(folder: &Path, arguments: &[&str]) -> String {
    let text = show(&run(folder, arguments, &[]));
    let text = text.replace(folder.canonicalize().unwrap().to_str().unwrap(), "HERE");
    match text.split_once(": ").filter(|_| text.starts_with("exit 0")) {
        Some((done, _)) => format!("{done}: ..."),
        None => text,
    }
}

#[test]
fn a_running_server_is_backed_up_restored_and_served_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let event = filled(folder);
    let mut ferry = Ferry::start_in(folder, &[]);
    insta::assert_snapshot!(shown(folder, &["backup", "copy"]), @r"
    exit 0
    backed up to HERE/copy: ...
    ");
    ferry.wait_for_log("backed up");
    assert_eq!(ferry.get("/readyz").status, 200, "the server goes on");
    ferry.stop();

    insta::assert_snapshot!(shown(folder, &["restore", "copy", "--data", "again"]), @r"
    exit 0
    restored to again: ...
    ");
    let ferry = Ferry::start_in(folder, &[("FERRYHOOK_DATA", "again")]);
    assert_eq!(ferry.get("/readyz").status, 200);
    ferry.stop();
    assert!(has_event(&folder.join("again"), &event));
}

#[test]
fn a_closed_store_is_backed_up_too() {
    let folder = tempfile::tempdir().unwrap();
    let event = filled(folder.path());
    assert!(run(&folder, &["backup", "copy"], &[]).status.success());
    assert!(run(&folder, &["restore", "copy", "--data", "again"], &[]).status.success());
    assert!(has_event(&folder.path().join("again"), &event));
}

/// Both ways count the same files, and a program can read the answer.
#[test]
fn backup_and_restore_speak_json() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path());
    let json = |arguments: &[&str]| -> serde_json::Value {
        serde_json::from_slice(&run(&folder, arguments, &[]).stdout).unwrap()
    };
    let saved = json(&["backup", "copy", "--json"]);
    let restored = json(&["restore", "copy", "--data", "again", "--json"]);
    assert!(saved["files"].as_u64().unwrap() > 2, "{saved}");
    assert!(saved["bytes"].as_u64().unwrap() > 0, "{saved}");
    assert_eq!((&saved["files"], &saved["bytes"]), (&restored["files"], &restored["bytes"]));
    assert_eq!(restored["directory"], "again");
}

/// By the server, and by the command itself.
#[test]
fn a_backup_never_writes_over_anything() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("copy")).unwrap();
    fs::write(folder.join("copy/letter.txt"), "Dear Ada").unwrap();
    let ferry = Ferry::start_in(folder, &[]);
    let refusal = shown(folder, &["backup", "copy"]);
    insta::assert_snapshot!(refusal, @r"
    exit 1
    ferryhook: HERE/copy exists already; name a new directory
    ");
    ferry.stop();
    assert_eq!(shown(folder, &["backup", "copy"]), refusal);
    assert_eq!(fs::read_to_string(folder.join("copy/letter.txt")).unwrap(), "Dear Ada");
}

#[test]
fn a_backup_does_not_go_into_the_data_directory() {
    let folder = tempfile::tempdir().unwrap();
    insta::assert_snapshot!(shown(folder.path(), &["backup", "ferryhook-data/copy"]), @r"
    exit 1
    ferryhook: HERE/ferryhook-data/copy is inside the data directory; a backup belongs somewhere else
    ");
}

#[test]
fn a_backup_of_nothing_says_so() {
    let folder = tempfile::tempdir().unwrap();
    insta::assert_snapshot!(shown(folder.path(), &["backup", "copy"]), @r"
    exit 1
    ferryhook: there is no data directory ./ferryhook-data
    ");
    assert!(!folder.path().join(DATA).exists(), "and makes none");
}

#[test]
fn a_backup_of_another_store_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&folder, &["backup", "copy"], &[("FERRYHOOK_STORE", "memory")]);
    insta::assert_snapshot!(show(&output), @r"
    exit 1
    ferryhook: only the embedded store is copied like this; the configuration says memory (setting store, from FERRYHOOK_STORE)
    ");
}

#[test]
fn a_restore_never_writes_over_anything() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let event = filled(folder);
    assert!(run(folder, &["backup", "copy"], &[]).status.success());
    insta::assert_snapshot!(shown(folder, &["restore", "copy"]), @r"
    exit 1
    ferryhook: ./ferryhook-data is not empty; nothing was restored
    ");
    assert!(has_event(&folder.join(DATA), &event));
}

#[test]
fn what_is_no_backup_is_not_restored() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    filled(folder);
    let shown = shown(folder, &["restore", DATA, "--data", "again"]);
    assert!(shown.starts_with("exit 1\nferryhook: ferryhook-data is not a complete backup"));
    assert!(!folder.join("again").exists());
}

#[test]
fn a_damaged_backup_is_not_restored() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    filled(folder);
    assert!(run(folder, &["backup", "copy"], &[]).status.success());
    let list = fs::read_to_string(folder.join("copy/BACKUP")).unwrap();
    let logged = list.lines().find(|line| line.contains(" log/")).unwrap();
    let file = folder.join("copy").join(logged.rsplit(' ').next().unwrap());
    let mut bytes = fs::read(&file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&file, bytes).unwrap();
    let shown = shown(folder, &["restore", "copy", "--data", "again"]);
    assert!(shown.starts_with("exit 1\nferryhook: the data is damaged: log/"), "{shown}");
    assert!(!folder.join("again").exists());
}
