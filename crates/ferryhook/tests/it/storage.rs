//! What `serve` opens, and what it refuses to open.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, PoisonError};

use ferryhook_core::sealing::MasterKey;
use ferryhook_core::{Env, Event, Plan, samples};
use ferryhook_store::engine::embedded::{Embedded, EmbeddedConfig};
use ferryhook_store::repositories::Arrival;
use ferryhook_store::{MasterKeys, Store, Vault};

use crate::ferry::{BIRTHS, Ferry, run, show};

pub const DATA: &str = "ferryhook-data";

/// Looks into a data directory that no server has open.
pub fn look<T>(data: &Path, see: impl AsyncFnOnce(Store) -> T) -> T {
    let _no_births = BIRTHS.read().unwrap_or_else(PoisonError::into_inner);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let config = EmbeddedConfig { create: false, ..EmbeddedConfig::new(data) };
    let engine = Arc::new(Embedded::open(config, Env::system()).unwrap());
    runtime.block_on(async {
        let store = Store::new(engine, Env::system());
        let store = match fs::read_to_string(data.join("master.key")) {
            Ok(key) => {
                let current = MasterKey::parse(&key).unwrap();
                let keys = MasterKeys { current, former: Vec::new() };
                let vault = Vault::open(&store, keys).await.unwrap();
                store.sealed_by(Arc::new(vault))
            }
            Err(_) => store, // no server has been here yet
        };
        see(store).await
    })
}

/// An event that has not expired.
pub fn store_event(data: &Path) -> Event {
    let event = Event { expires_at: None, ..samples::event() };
    let arrival = Arrival { event: event.clone(), claim: None, items: Vec::new() };
    look(data, async |store| store.events().accept(&[arrival]).await).unwrap();
    event
}

pub fn has_event(data: &Path, event: &Event) -> bool {
    look(data, async |store| store.events().find(event.id).await).unwrap().is_some()
}

fn plan_named(data: &Path, id: &str) -> Option<Plan> {
    look(data, async |store| store.plans().find(id).await).unwrap().map(|stored| stored.record)
}

#[test]
fn a_first_start_makes_the_directory_and_the_plans() {
    let folder = tempfile::tempdir().unwrap();
    Ferry::start_in(&folder, &[]).stop();
    for id in ["free", "starter", "pro", "team", "self_hosted"] {
        assert!(plan_named(&folder.path().join(DATA), id).is_some(), "{id}");
    }
}

/// What the operator made of a plan survives the next start.
#[test]
fn a_second_start_leaves_the_plans_alone() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join(DATA);
    Ferry::start_in(&folder, &[]).stop();
    look(&data, async |store| {
        let was = store.plans().find("free").await.unwrap().unwrap();
        let now = Plan { name: "Gratis".into(), ..was.record.clone() };
        store.plans().replace(&was, now).await.unwrap();
    });
    Ferry::start_in(&folder, &[]).stop();
    assert_eq!(plan_named(&data, "free").unwrap().name, "Gratis");
}

#[test]
fn a_second_process_is_kept_out() {
    let folder = tempfile::tempdir().unwrap();
    let first = Ferry::start_in(&folder, &[]);
    let second = run(&folder, &["serve", "--listen", "127.0.0.1:0"], &[]);
    insta::assert_snapshot!(show(&second), @r"
    exit 1
    ferryhook: ./ferryhook-data is in use by another Ferryhook process
    ");
    assert_eq!(first.get("/readyz").status, 200, "the first goes on");
}

#[test]
fn a_directory_of_a_newer_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(DATA)).unwrap();
    fs::write(folder.path().join(DATA).join("FORMAT"), "ferryhook-data 1000\n").unwrap();
    let output = run(&folder, &["serve", "--listen", "127.0.0.1:0"], &[]);
    insta::assert_snapshot!(show(&output), @r"
    exit 1
    ferryhook: ./ferryhook-data was written by a newer Ferryhook (format 1000, this one reads 3): upgrade, or restore a backup
    ");
}

#[test]
fn a_directory_of_something_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("letter.txt"), "Dear Ada").unwrap();
    let output = run(&folder, &["serve", "--listen", "127.0.0.1:0", "--data", "."], &[]);
    insta::assert_snapshot!(show(&output), @r"
    exit 1
    ferryhook: . holds other things and is not a Ferryhook data directory
    ");
}

/// Nobody had time to say goodbye: the lock is free and the old socket is replaced.
#[test]
fn a_killed_server_can_be_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join(DATA);
    Ferry::start_in(&folder, &[]).stop();
    let event = store_event(&data);
    for _ in 0..3 {
        let mut ferry = Ferry::start_in(&folder, &[]);
        ferry.signal("KILL");
        ferry.wait();
        assert!(data.join("control.sock").exists(), "left behind");
    }
    let ferry = Ferry::start_in(&folder, &[]);
    assert_eq!(ferry.get("/readyz").status, 200);
    ferry.stop();
    assert!(has_event(&data, &event));
}

/// There are secrets in it.
#[test]
fn the_data_and_its_backups_are_the_owners() {
    let folder = tempfile::tempdir().unwrap();
    Ferry::start_in(&folder, &[]).stop();
    assert!(run(&folder, &["backup", "copy"], &[]).status.success());
    for name in [DATA, "copy", "copy/FORMAT"] {
        let mode = fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name}");
    }
}

#[test]
fn the_control_socket_is_the_owners_and_goes_with_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join(DATA).join("control.sock");
    let ferry = Ferry::start_in(&folder, &[]);
    let mode = fs::metadata(&socket).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    ferry.stop();
    assert!(!socket.exists());
}

/// A path may be longer than a socket's name can be: the server says what does not work then.
#[test]
fn a_server_without_control_socket_serves() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!("{}/data", "long".repeat(30));
    let mut ferry = Ferry::start_in(&folder, &[("FERRYHOOK_DATA", &long)]);
    ferry.wait_for_log("no control socket");
    assert_eq!(ferry.get("/readyz").status, 200);
    let output = run(&folder, &["backup", "copy", "--data", &long], &[]);
    let shown = show(&output);
    assert!(shown.contains("is in use by another Ferryhook process"), "{shown}");
    ferry.stop();
    let output = run(&folder, &["backup", "copy", "--data", &long], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", show(&output));
}

#[test]
fn the_memory_store_warns_that_it_keeps_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut ferry = Ferry::start_in(&folder, &[("FERRYHOOK_STORE", "memory")]);
    assert!(ferry.greeting.contains("NOT KEPT (memory store)"), "{}", ferry.greeting);
    ferry.wait_for_log("KEEPS NOTHING");
    assert_eq!(ferry.get("/readyz").status, 200);
    ferry.stop();
    assert!(!folder.path().join(DATA).exists());
}
