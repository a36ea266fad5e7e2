//! An inbox under SIGKILL: whatever is killed while workers lease and acknowledge, nothing that was
//! acknowledged comes back and nothing else is lost.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use serde_json::{Value, json};

use crate::client::{Client, Tenant};

const KILLS: usize = 3;
const WORKERS: usize = 4;
const POSTED_EACH_LIFE: usize = 150;
/// Acknowledged in one life before the end of it.
const ACKED_EACH_LIFE: usize = 60;

/// What the workers know.
#[derive(Default)]
struct Known {
    acked: Mutex<BTreeSet<String>>,
    /// Nobody heard the answer to these.
    unheard: Mutex<BTreeSet<String>>,
    acked_in_this_life: AtomicUsize,
    failures: Mutex<Vec<String>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

/// Nothing where the server went away meanwhile.
fn post(client: &Client, path: &str, body: &Value) -> Option<Value> {
    let body = body.to_string();
    let mut stream = TcpStream::connect(&client.address).ok()?;
    let (key, length) = (&client.credential, body.len());
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    head.starts_with("HTTP/1.1 200").then(|| serde_json::from_str(body).ok())?
}

/// One round; whether there was anything, or nothing if the server is gone.
fn work(client: &Client, known: &Known, wait: &str) -> Option<bool> {
    let wanted = json!({"count": 10, "visibility": "3s", "wait": wait});
    let leased = post(client, "/v1/inbox/lease", &wanted)?;
    let leased = leased["data"].as_array()?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let ids: Vec<_> = leased.iter().map(|one| text(&one["eventId"])).collect();
    for id in &ids {
        if lock(&known.acked).contains(id) {
            lock(&known.failures).push(format!("{id} was acknowledged and came back"));
        }
    }
    if ids.is_empty() {
        return Some(false);
    }
    let tokens: Vec<_> = leased.iter().map(|one| one["token"].clone()).collect();
    let Some(replied) = post(client, "/v1/inbox/ack", &json!({ "tokens": tokens })) else {
        lock(&known.unheard).extend(ids);
        return None;
    };
    for (id, reply) in ids.into_iter().zip(replied["data"].as_array()?) {
        if reply["result"] == "done" {
            lock(&known.acked).insert(id);
            known.acked_in_this_life.fetch_add(1, Ordering::Relaxed);
        }
    }
    Some(true)
}

#[test]
fn nothing_that_was_acknowledged_comes_back_whatever_is_killed() {
    let mut tenant = Tenant::new();
    let known = Known::default();
    let mut posted = BTreeSet::new();
    for _ in 0..KILLS {
        known.acked_in_this_life.store(0, Ordering::Relaxed);
        for _ in 0..POSTED_EACH_LIFE / 50 {
            let event = |number| json!({"eventType": "order.paid", "payload": {"n": number}});
            let events: Vec<_> = (0..50).map(event).collect();
            let answer = tenant.post("/v1/events", json!(events));
            let new = answer["data"].as_array().unwrap().iter();
            posted.extend(new.map(|one| one["event"]["eventId"].as_str().unwrap().to_owned()));
        }
        let client = tenant.program.clone();
        std::thread::scope(|scope| {
            for _ in 0..WORKERS {
                scope.spawn(|| while work(&client, &known, "1s").is_some() {});
            }
            let enough = || known.acked_in_this_life.load(Ordering::Relaxed) >= ACKED_EACH_LIFE;
            while !enough() && work(&client, &known, "1s").is_some() {}
            tenant.end("KILL");
        });
        tenant.begin_again();
    }
    // A lease that was under way runs out before the last round has waited.
    while work(&tenant.program, &known, "5s") != Some(false) {}
    assert_eq!(*lock(&known.failures), [""; 0]);
    let (acked, unheard) = (lock(&known.acked), lock(&known.unheard));
    let lost: Vec<_> =
        posted.iter().filter(|id| !acked.contains(*id) && !unheard.contains(*id)).collect();
    assert!(lost.is_empty(), "{lost:?}");
    assert!(acked.len() >= posted.len() - KILLS * WORKERS * 10);
}
