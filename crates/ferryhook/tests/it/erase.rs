//! `ferryhook erase`: what is erased is in no file of the data directory, whoever is killed meanwhile.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::ferry::{Ferry, run, show};
use crate::storage::DATA;

/// However slow the machine, it is over after so many looks.
const LOOKS_MAX: usize = 600;
/// When the server is killed after its start, one life after the other.
const KILLED_AFTER_MILLIS: [u64; 6] = [0, 5, 15, 30, 60, 120];

/// Whom the events are about. Such texts cannot be shortened, so a file that has one shows it.
const ADA: &str = "ada.qzvkxwpjhf.ygbmtcudln@example.com";
const BOB: &str = "bob.xkjqzvwphf.mtbygcludn@example.com";

/// A folder with a source whose events go nowhere.
struct Shop {
    folder: tempfile::TempDir,
    address: String,
}

impl Shop {
    fn open() -> (Self, Ferry) {
        let folder = tempfile::tempdir().unwrap();
        let ferry = Ferry::start_in(&folder, &[]);
        let hooks = "sources:\n  - { name: shop, dedup: body.id, connections: [] }\n";
        fs::write(folder.path().join("hooks.yaml"), hooks).unwrap();
        let output = run(&folder, &["apply", "-f", "hooks.yaml"], &[]);
        assert!(output.status.success(), "{}", show(&output));
        let said = String::from_utf8(output.stdout).unwrap();
        let address = said.split("takes events at ").nth(1).unwrap();
        let address = address.lines().next().unwrap().to_owned();
        (Self { folder, address }, ferry)
    }

    fn post(&self, ferry: &Ferry, email: &str, number: usize) -> Value {
        // The key that copies are recognised by says it too.
        let body = format!(r#"{{"id":"{email}-{number}","email":"{email}","number":{number}}}"#);
        let headers = format!("x-customer: {email}\r\n");
        let answer = ferry.post_with(&self.address, &headers, body.as_bytes());
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = run(&self.folder, &[arguments, &["--json"]].concat(), &[]);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", show(&output)))
    }

    fn say(&self, arguments: &[&str]) -> String {
        show(&run(&self.folder, arguments, &[]))
    }

    fn files_with(&self, text: &str) -> Vec<PathBuf> {
        let mut open = vec![self.folder.path().join(DATA)];
        let mut with = Vec::new();
        while let Some(path) = open.pop() {
            if path.is_dir() {
                open.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            } else if has(&path, text) {
                with.push(path);
            }
        }
        with
    }
}

fn has(path: &Path, text: &str) -> bool {
    // A socket, or a file that has just gone.
    let Ok(bytes) = fs::read(path) else { return false };
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

fn about(email: &str) -> String {
    format!(r#"{{"body":{{"email":"{email}"}}}}"#)
}

#[test]
fn what_is_erased_is_in_no_file_of_a_running_server() {
    let (shop, ferry) = Shop::open();
    for number in 0..20 {
        shop.post(&ferry, ADA, number);
        shop.post(&ferry, BOB, number);
    }
    assert!(!shop.files_with(ADA).is_empty());
    let filter = about(ADA);
    insta::assert_snapshot!(shop.say(&["erase", "--where", &filter, "--dry-run"]), @r"
    exit 0
    20 events would be erased; looked at 40
    ");
    let nobody = shop.say(&["erase", "--where", &filter]);
    assert!(nobody.starts_with("exit 1") && nobody.contains("--yes"), "{nobody}");
    let over = shop.json(&["erase", "--where", &filter, "--source", "shop", "--yes"]);
    assert_eq!((&over["state"], &over["erased"]), (&Value::from("done"), &Value::from(20)));
    assert_eq!(over["isGone"], true);
    assert_eq!(shop.files_with(ADA), Vec::<PathBuf>::new());

    let listed = shop.json(&["events", "list", "--limit", "100"]);
    assert_eq!(listed["data"].as_array().unwrap().len(), 20);
    // A copy that the sender repeats does not bring it back.
    assert_eq!(shop.post(&ferry, ADA, 7)["duplicate"], true);
    let one = listed["data"][0]["eventId"].as_str().unwrap();
    let over = shop.json(&["erase", one, "--yes"]);
    assert_eq!((&over["state"], &over["erased"]), (&Value::from("done"), &Value::from(1)));
    assert!(shop.say(&["events", "show", one]).starts_with("exit 4"));
    let metrics = ferry.get("/metrics").body;
    assert!(metrics.lines().any(|line| line == "ferryhook_erased_total 21"), "{metrics}");
    assert!(metrics.lines().any(|line| line.starts_with("ferryhook_erasures_running ")));
    ferry.stop();
    assert_eq!(shop.json(&["erase", "list"])["data"].as_array().unwrap().len(), 2);
}

/// Ordered where no server runs, and carried out by servers that are killed.
#[test]
fn an_erasure_comes_to_its_end_whatever_is_killed() {
    let (shop, ferry) = Shop::open();
    for number in 0..100 {
        shop.post(&ferry, ADA, number);
        shop.post(&ferry, BOB, number);
    }
    ferry.stop();
    let ordered = shop.json(&["erase", "--where", &about(ADA), "--yes"]);
    assert_eq!(ordered["waitsForServer"], true);
    let id = ordered["erasureId"].as_str().unwrap();
    for millis in KILLED_AFTER_MILLIS {
        let ferry = Ferry::start_in(&shop.folder, &[]);
        std::thread::sleep(Duration::from_millis(millis));
        drop(ferry); // which kills it
    }
    let ferry = Ferry::start_in(&shop.folder, &[]);
    let mut looks = 0;
    while shop.json(&["erase", "show", id])["isGone"] != true {
        looks += 1;
        assert!(looks < LOOKS_MAX, "{}", shop.say(&["erase", "show", id]));
    }
    assert_eq!(shop.files_with(ADA), Vec::<PathBuf>::new());
    let over = shop.json(&["erase", "show", id]);
    assert_eq!(over["state"], "done");
    assert_eq!(
        shop.json(&["events", "list", "--limit", "500"])["data"].as_array().unwrap().len(),
        100
    );
    ferry.stop();
    assert_eq!(shop.files_with(ADA), Vec::<PathBuf>::new());
}
