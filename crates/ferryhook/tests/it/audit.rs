//! The audit log: clean as long as nobody touches it, and every touch is found.

use std::sync::{Arc, PoisonError};

use ferryhook_core::{Activity, Env};
use ferryhook_store::batch::Patch;
use ferryhook_store::engine::embedded::{Embedded, EmbeddedConfig};
use ferryhook_store::{Batch, Condition, Durability, Engine, Key, Kind, Slice, Store, Table};
use serde_json::{Value, json};

use crate::client::Tenant;
use crate::ferry::{BIRTHS, run, show};
use crate::storage::DATA;

/// Does something to the stored log behind everybody's back. No server has the data open.
fn tamper(folder: &std::path::Path, change: impl FnOnce(&[Activity]) -> Batch) {
    let _no_births = BIRTHS.read().unwrap_or_else(PoisonError::into_inner);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let config = EmbeddedConfig { create: false, ..EmbeddedConfig::new(folder.join(DATA)) };
    let engine = Arc::new(Embedded::open(config, Env::system()).unwrap());
    runtime.block_on(async {
        let store = Store::new(engine.clone(), Env::system());
        let heads = store.activities().list_logs(Slice::default()).await.unwrap().rows;
        let account = heads.iter().max_by_key(|head| head.lines).unwrap().account_id;
        let lines = store.activities().list_by_account(account, Slice::default()).await.unwrap();
        let lines: Vec<_> = lines.rows.into_iter().map(|line| line.record).collect();
        engine.commit(change(&lines), Durability::Synced).await.unwrap();
    });
}

#[test]
fn a_touched_log_is_found() {
    let tenant = Tenant::new();
    for name in ["a", "b", "c", "d"] {
        tenant.post("/v1/sources", json!({ "name": name }));
    }
    let verify = |json: bool| {
        let arguments: &[&str] = match json {
            true => &["audit", "verify", "--json"],
            false => &["audit", "verify"],
        };
        run(&tenant.folder, arguments, &[])
    };
    // Through the server, while it runs.
    let clean = verify(true);
    assert_eq!(clean.status.code(), Some(0), "{}", show(&clean));
    let clean: Value = serde_json::from_slice(&clean.stdout).unwrap();
    assert_eq!(clean["isIntact"], true);
    let logs = clean["logs"].as_array().unwrap();
    let lines = logs.iter().map(|log| log["report"]["lines"].as_u64().unwrap()).max().unwrap();
    assert!(lines >= 5, "{clean:#}");
    tenant.ferry.signal("TERM");
    let Tenant { mut ferry, folder, .. } = tenant;
    assert_eq!(ferry.wait().code(), Some(0));

    // And on the data itself.
    let verify = || run(&folder, &["audit", "verify"], &[]);
    assert!(show(&verify()).contains("intact"), "{}", show(&verify()));
    let mut removed = None;
    tamper(folder.path(), |lines| {
        removed = Some(lines[2].clone());
        let key = Key::new(Table::Activities, lines[1].account_id.as_str(), lines[1].id.as_str());
        let patch = Patch::of(Kind::Activity, key).set("userAgent", "nobody/1.0");
        Batch::new().patch(patch).delete_when(&lines[2], Condition::Exists)
    });
    let said = verify();
    assert_eq!(said.status.code(), Some(1), "{}", show(&said));
    let said = show(&said);
    assert!(
        said.contains("line 2 (act_") && said.contains("does not say what was written"),
        "{said}"
    );
    assert!(said.contains("line 3 is missing before it"), "{said}");
    assert!(said.contains("NOT INTACT"), "{said}");
    let unknown = run(&folder, &["audit", "verify", "--account", "acc_0000000000000000"], &[]);
    assert_eq!(unknown.status.code(), Some(4), "{}", show(&unknown));
}
