//! Watches the server's calls into the kernel: the disk has the event before the sender hears 200.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::ferry::Ferry;
use crate::storage::DATA;
use crate::way::{self, Way};

#[test]
fn the_disk_has_an_event_before_its_sender_hears_200() {
    if Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_err() {
        println!("skipped: strace is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let source = way::lay(&folder.path().join(DATA), &Way::to_nowhere());
    let trace = folder.path().join("trace");
    let ferry = Ferry::start_traced(folder.path(), &trace);
    for number in 1..=5 {
        let answer = ferry.post(&format!("/in/{source}?number={number}"), b"a letter");
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    ferry.stop();
    let calls = read(&trace);
    let mut rest = calls.as_slice();
    for number in 1..=5 {
        let came = format!("number={number} ");
        let asked = position(rest, |call| call.contains(&came)).expect("a request");
        let answered = asked + position(&rest[asked..], is_answer).expect("an answer");
        let between = &rest[asked..answered];
        let begun = position(between, |call| call.contains("fdatasync(")).expect("a sync");
        let synced = position(&between[begun..], |call| is_sync(call) && call.ends_with("= 0"));
        assert!(synced.is_some(), "no sync before the answer: {between:#?}");
        rest = &rest[answered + 1..];
    }
}

/// Also where another thread's call came in between: `<... fdatasync resumed>) = 0`.
fn is_sync(call: &str) -> bool {
    call.contains("fdatasync")
}

fn is_answer(call: &str) -> bool {
    call.contains("HTTP/1.1 200")
}

fn position(calls: &[String], wanted: impl Fn(&str) -> bool) -> Option<usize> {
    calls.iter().position(|call| wanted(call))
}

/// One line for each call, or two where it was long enough for another thread to come in between.
fn read(trace: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(trace).unwrap();
    text.lines().map(str::to_owned).collect()
}
