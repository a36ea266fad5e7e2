//! `ferryhook events`, `replay` and `dead-letters`, with and without a server that has the data
//! open.

mod dock;

use std::fs;
use std::path::Path;
use std::process::Stdio;

use ferryhook_api::owner;
use ferryhook_core::event::Status;
use ferryhook_core::{Env, Event, Id, samples};
use ferryhook_store::Slice;
use ferryhook_store::repositories::Arrival;
use serde_json::Value;

use crate::ferry::{Ferry, command, run, show, spawn};
use crate::storage::{DATA, look};
use dock::Dock;

const VARIABLES: [(&str, &str); 1] = [("FERRYHOOK_DESTINATION_ALLOW", "127.0.0.0/8")];

/// A folder with a source `shop` and a connection to each dock, each tried once.
struct Shop {
    folder: tempfile::TempDir,
    /// Where the source takes events.
    address: String,
}

impl Shop {
    fn open(docks: &[(&str, &Dock)]) -> (Self, Ferry) {
        let folder = tempfile::tempdir().unwrap();
        let ferry = Ferry::start_in(&folder, &VARIABLES);
        let mut shop = Self { folder, address: String::new() };
        let said = shop.connect(docks);
        let address = said.split("takes events at ").nth(1).unwrap();
        shop.address = address.lines().next().unwrap().to_owned();
        (shop, ferry)
    }

    fn connect(&self, docks: &[(&str, &Dock)]) -> String {
        let mut hooks = "sources:\n  - name: shop\n    connections:\n".to_owned();
        for (name, dock) in docks {
            let url = format!("http://{}/", dock.address);
            hooks += &format!("      - {{ name: {name}, url: '{url}', retry: [0] }}\n");
        }
        fs::write(self.folder.path().join("hooks.yaml"), hooks).unwrap();
        let output = run(&self.folder, &["apply", "-f", "hooks.yaml"], &VARIABLES);
        assert!(output.status.success(), "{}", show(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    fn start(&self) -> Ferry {
        Ferry::start_in(&self.folder, &VARIABLES)
    }

    /// The event's id.
    fn post(&self, ferry: &Ferry) -> String {
        let answer = ferry.post(&self.address, br#"{"order":7}"#);
        let answer: Value = serde_json::from_str(&answer.body).unwrap();
        answer["id"].as_str().unwrap().to_owned()
    }

    /// Exit code and what was said, with this event's id replaced.
    fn say(&self, arguments: &[&str], event: &str) -> String {
        show(&run(&self.folder, arguments, &VARIABLES)).replace(event, "EVENT")
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = run(&self.folder, &[arguments, &["--json"]].concat(), &VARIABLES);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", show(&output)))
    }

    fn data(&self) -> std::path::PathBuf {
        self.folder.path().join(DATA)
    }
}

#[test]
fn a_failed_event_is_shown_and_replayed() {
    let (orders, audit) = (Dock::open(500), Dock::open(200));
    let (shop, mut ferry) = Shop::open(&[("orders", &orders), ("audit", &audit)]);
    let event = shop.post(&ferry);
    ferry.wait_for_log("a delivery was given up");
    let listed = shop.json(&["events", "list", "--source", "shop", "--since", "1h"]);
    assert_eq!(listed["data"][0]["eventId"], event.as_str());
    assert_eq!(listed["data"][0]["source"], "shop");
    let failed = shop.json(&["dead-letters", "list", "--deliveries"]);
    assert_eq!(failed["data"].as_array().unwrap().len(), 1);
    assert_eq!(failed["data"][0]["eventId"], event.as_str());
    assert_eq!(failed["data"][0]["connection"], "orders");

    orders.answer(200);
    insta::assert_snapshot!(shop.say(&["replay", &event, "--to", "orders"], &event), @"
    exit 0
    orders: goes out again
    ");
    orders.wait_for(2);
    ferry.stop();
    let story = shop.json(&["events", "show", &event]);
    assert_eq!(story["status"], "delivered");
    assert_eq!(story.get("body"), None);
    let states: Vec<_> = story["deliveries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            format!("{} {} {} {}", one["connection"], one["state"], one["lane"], one["attempts"])
        })
        .collect();
    let mut states = states;
    states.sort_unstable();
    assert_eq!(states, [r#""audit" "delivered" "live" 1"#, r#""orders" "delivered" "replay" 2"#,]);
    assert_eq!(story["attempts"].as_array().unwrap().len(), 3);
    let story = shop.json(&["events", "show", &event, "--body"]);
    assert_eq!(story["body"], r#"{"order":7}"#);
}

#[test]
fn a_connection_made_later_gets_what_came_before() {
    let (first, later) = (Dock::open(200), Dock::open(200));
    let (shop, ferry) = Shop::open(&[("first", &first)]);
    let event = shop.post(&ferry);
    first.wait_for(1);
    shop.connect(&[("first", &first), ("later", &later)]);
    insta::assert_snapshot!(shop.say(&["replay", &event, "--to", "later"], &event), @"
    exit 0
    later: goes out again
    ");
    later.wait_for(1);
    ferry.stop();
}

/// Counted, then done, with the end awaited.
#[test]
fn many_are_counted_and_replayed() {
    let dock = Dock::open(500);
    let (shop, mut ferry) = Shop::open(&[("orders", &dock)]);
    let ids: Vec<_> = (0..10).map(|_| shop.post(&ferry)).collect();
    for _ in &ids {
        ferry.wait_for_log("a delivery was given up");
    }
    dock.answer(200);
    let failed = ["replay", "--source", "shop", "--status", "failed", "--since", "1h"];
    let with = |more: &[&str]| shop.say(&[&failed, more].concat(), "-");
    insta::assert_snapshot!(with(&["--dry-run"]), @"
    exit 0
    10 events would be replayed; looked at 10
    ");
    dock.wait_for(10);
    let waited = run(&shop.folder, &[&failed[..], &["--wait"]].concat(), &VARIABLES);
    let said = String::from_utf8(waited.stdout).unwrap();
    insta::assert_snapshot!(said, @"done: 10 replayed, 0 skipped, 0 failed, 10 looked at");
    dock.wait_for(20);

    // The same by name, from a file, with one that nobody knows.
    let unknown = "evt_-P6UP6rGdEaIUWxj";
    let file = [&ids[..], &[unknown.to_owned()]].concat().join("\n");
    fs::write(shop.folder.path().join("ids"), file).unwrap();
    let arguments = ["replay", "--file", "ids", "--wait", "--json"];
    let named = run(&shop.folder, &arguments, &VARIABLES);
    assert_eq!(named.status.code(), Some(1), "one of them failed");
    let named: Value = serde_json::from_slice(&named.stdout).unwrap();
    assert_eq!((&named["state"], &named["replayed"]), (&"done".into(), &10.into()), "{named}");
    assert_eq!((&named["failed"], &named["ids"]), (&1.into(), &11.into()), "{named}");
    dock.wait_for(30);
    let listed = shop.json(&["replay", "list"]);
    assert_eq!(listed["data"].as_array().unwrap().len(), 2);
    ferry.stop();
}

#[test]
fn a_replay_goes_on_when_its_server_was_killed() {
    let dock = Dock::open(200);
    let (shop, mut ferry) = Shop::open(&[("orders", &dock)]);
    for _ in 0..60 {
        shop.post(&ferry);
    }
    dock.wait_for(60);
    let begun = shop.json(&["replay", "--all", "--rate", "20"]);
    let id = begun["replayId"].as_str().unwrap().to_owned();
    dock.wait_for(80);
    ferry.signal("KILL");
    ferry.wait();
    let mut ferry = shop.start();
    ferry.wait_for_log("a replay has come so far");
    let job = shop.json(&["replay", "show", &id]);
    assert_eq!((&job["state"], &job["matched"]), (&"done".into(), &60.into()), "{job}");
    dock.wait_for_each(60, 2);
    ferry.stop();
}

/// Whoever waits for it does not keep the next server out.
#[test]
fn one_who_waits_hears_that_the_server_is_gone() {
    let dock = Dock::open(200);
    let (shop, mut ferry) = Shop::open(&[("orders", &dock)]);
    for _ in 0..3 {
        shop.post(&ferry);
    }
    dock.wait_for(3);
    let mut waiting = command(&shop.folder);
    waiting.args(["replay", "--all", "--rate", "1", "--wait"]).stderr(Stdio::piped());
    let waiting = spawn(&mut waiting);
    dock.wait_for(4);
    ferry.signal("KILL");
    ferry.wait();
    let output = waiting.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("goes on with the next") || said.contains("the server stopped"),
        "{said}"
    );
    let ferry = shop.start();
    dock.wait_for_each(3, 2);
    ferry.stop();
}

#[test]
fn a_replay_can_be_cancelled() {
    let dock = Dock::open(200);
    let (shop, ferry) = Shop::open(&[("orders", &dock)]);
    for _ in 0..5 {
        shop.post(&ferry);
    }
    dock.wait_for(5);
    let begun = shop.json(&["replay", "--all", "--rate", "1"]);
    let id = begun["replayId"].as_str().unwrap();
    dock.wait_for(6);
    let cancelled = shop.json(&["replay", "cancel", id]);
    assert_eq!(cancelled["state"], "cancelled");
    let again = shop.json(&["replay", "cancel", id]);
    assert_eq!(again, cancelled, "over is over");
    ferry.stop();
}

/// What is written down while nobody runs is done by the next who does.
#[test]
fn without_a_server_orders_are_left_for_the_next() {
    let dock = Dock::open(200);
    let (shop, ferry) = Shop::open(&[("orders", &dock)]);
    let event = shop.post(&ferry);
    dock.wait_for(1);
    ferry.stop();
    insta::assert_snapshot!(shop.say(&["replay", &event], &event), @"
    exit 0
    orders: goes out when a server runs
    ");
    insta::assert_snapshot!(shop.say(&["replay", &event], &event), @"
    exit 0
    orders: is on its way already, left alone
    ");
    let ferry = shop.start();
    dock.wait_for(2);
    ferry.stop();
    let job = shop.json(&["replay", "--all"]);
    assert_eq!(job["waitsForServer"], true);
    let refused = shop.say(&["replay", "--all", "--wait"], &event);
    assert!(refused.contains("so there is nothing to wait for"), "{refused}");
    // It was written down all the same. The second may find the event still on its way.
    let ferry = shop.start();
    dock.wait_for(3);
    ferry.stop();
    assert_eq!(shop.json(&["replay", "list"])["data"].as_array().unwrap().len(), 2);
}

/// Given up before it had a delivery.
fn dead_letter(shop: &Shop) -> Event {
    look(&shop.data(), async |store| {
        let owner = owner::find(&store).await.unwrap().unwrap();
        let sources = store.sources().list_by_user(owner.user, Slice::default()).await.unwrap();
        let (env, source) = (Env::system(), &sources.rows[0]);
        let now = env.now();
        let event = Event {
            id: Id::at(now, &env),
            source_id: source.id,
            user_id: owner.user,
            account_id: owner.account,
            status: Status::Failed,
            received_at: now,
            pending_since: None,
            processed_at: Some(now),
            delivered_at: None,
            processing_tries: 3,
            processing_error: Some("the rules of a connection crashed".to_owned()),
            expires_at: None,
            ..samples::event()
        };
        let arrival = Arrival { event: event.clone(), claim: None, items: Vec::new() };
        store.events().accept(&[arrival]).await.unwrap();
        event
    })
}

#[test]
fn dead_letters_are_listed_and_driven_again() {
    let dock = Dock::open(200);
    let (shop, ferry) = Shop::open(&[("orders", &dock)]);
    ferry.stop();
    let (first, second) = (dead_letter(&shop), dead_letter(&shop));
    let ferry = shop.start();
    let listed = shop.json(&["dead-letters", "list"]);
    assert_eq!(listed["data"].as_array().unwrap().len(), 2);
    let problem = "the rules of a connection crashed";
    assert_eq!(listed["data"][0]["processingError"], problem);
    let id = first.id.to_string();
    insta::assert_snapshot!(shop.say(&["dead-letters", "redrive", &id], &id), @"
    exit 0
    1 event processed once more
    ");
    dock.wait_for(1);
    insta::assert_snapshot!(shop.say(&["dead-letters", "redrive", "--all"], &id), @"
    exit 0
    1 event processed once more
    ");
    dock.wait_for(2);
    insta::assert_snapshot!(shop.say(&["dead-letters", "list"], &id), @"
    exit 0
    no dead letters
    ");
    ferry.stop();
    insta::assert_snapshot!(shop.say(&["dead-letters", "redrive", second.id.as_str()], second.id.as_str()), @"
    exit 1
    ferryhook: event EVENT has been processed; only one that could not be is driven again
    ");
}

#[test]
fn what_is_not_there_is_said_with_a_code_of_its_own() {
    let dock = Dock::open(200);
    let (shop, ferry) = Shop::open(&[("orders", &dock)]);
    let event = shop.post(&ferry);
    dock.wait_for(1);
    let unknown = "evt_-P6UP6rGdEaIUWxj";
    let said = [
        shop.say(&["replay", unknown], unknown),
        shop.say(&["events", "show", unknown], unknown),
        shop.say(&["replay", &event, "--to", "nobody"], &event),
        shop.say(&["replay", &event, "--to", "conn_0000000000000000"], &event),
        shop.say(&["events", "list", "--source", "nobody"], &event),
        shop.say(&["replay", "--source", "nobody"], &event),
        shop.say(&["replay", "show", "rpl_-P6UP6rGdEaIUWxj"], &event),
        shop.say(&["dead-letters", "redrive", unknown], unknown),
    ];
    insta::assert_snapshot!(said.join(""), @r#"
    exit 4
    ferryhook: there is no event EVENT; if there was one, it has expired
    exit 4
    ferryhook: there is no event EVENT; if there was one, it has expired
    exit 4
    ferryhook: no connection of this source is called "nobody"
    exit 4
    ferryhook: there is no connection conn_0000000000000000
    exit 4
    ferryhook: no source is called "nobody"
    exit 4
    ferryhook: no source is called "nobody"
    exit 4
    ferryhook: there is no replay rpl_-P6UP6rGdEaIUWxj
    exit 4
    ferryhook: there is no event EVENT; if there was one, it has expired
    "#);
    ferry.stop();
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let said = |arguments: &[&str]| {
        let output = run(&folder, arguments, &[]);
        let said = show(&output);
        said.lines().take(2).collect::<Vec<_>>().join("\n") + "\n"
    };
    let event = "evt_-P6UP6rGdEaIUWxj";
    let all = [
        said(&["replay"]),
        said(&["replay", event, "--status", "failed"]),
        said(&["replay", "nonsense"]),
        said(&["replay", "--all", "--rate", "0"]),
        said(&["replay", "--all", "--rate", "1001"]),
        said(&["events", "list", "--since", "yesterday"]),
        said(&["events", "list", "--status", "broken"]),
        said(&["dead-letters", "redrive"]),
    ];
    insta::assert_snapshot!(all.join(""), @r#"
    exit 2
    error: name an EVENT, or say which ones: --source, --status, --type, --since, --until, or --all
    exit 2
    error: either name events, or say which ones with --source, --status, --type, --since or --all
    exit 2
    error: invalid value 'nonsense' for '[EVENT]...': "nonsense" is not an id of the form evt_<16 characters of A-Z a-z 0-9 _ ->
    exit 2
    error: invalid value '0' for '--rate <N>': 0 is not in 1..=1000
    exit 2
    error: invalid value '1001' for '--rate <N>': 1001 is not in 1..=1000
    exit 2
    error: invalid value 'yesterday' for '--since <TIME>': expected how long ago, such as 90s, 30m, 1h or 7d, or a time such as 2026-01-31T12:00:00Z
    exit 2
    error: invalid value 'broken' for '--status <STATUS>': expected received, processing, delivered, retrying, failed, filtered, signature_failed or held
    exit 2
    error: the following required arguments were not provided:
    "#);
    nothing_is_made(folder.path());
}

fn nothing_is_made(folder: &Path) {
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
}

/// Looking where nothing is makes nothing.
#[test]
fn a_look_at_nothing_makes_no_directory() {
    let folder = tempfile::tempdir().unwrap();
    insta::assert_snapshot!(show(&run(&folder, &["events", "list"], &[])), @"
    exit 1
    ferryhook: there is no data directory ./ferryhook-data
    ");
    nothing_is_made(folder.path());
    let memory = run(&folder, &["events", "list"], &[("FERRYHOOK_STORE", "memory")]);
    insta::assert_snapshot!(show(&memory), @"
    exit 1
    ferryhook: the memory store (setting store, from FERRYHOOK_STORE) keeps nothing to look at
    ");
}

#[test]
fn an_empty_store_has_nothing_to_show() {
    let ferry_folder = tempfile::tempdir().unwrap();
    let ferry = Ferry::start_in(&ferry_folder, &[]);
    let said = |arguments: &[&str]| show(&run(&ferry_folder, arguments, &[]));
    let all = [
        said(&["events", "list"]),
        said(&["replay", "list"]),
        said(&["replay", "--all", "--dry-run"]),
        said(&["dead-letters", "list"]),
        said(&["dead-letters", "list", "--deliveries"]),
        said(&["dead-letters", "redrive", "--all"]),
    ];
    insta::assert_snapshot!(all.join(""), @r#"
    exit 0
    no events
    exit 0
    no replays
    exit 0
    0 events would be replayed; looked at 0
    exit 0
    no dead letters
    exit 0
    no delivery was given up
    exit 0
    0 events processed once more
    "#);
    ferry.stop();
}
