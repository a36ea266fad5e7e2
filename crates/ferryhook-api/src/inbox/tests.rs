mod listed;

use std::time::Duration;

use ferryhook_core::inbox::Token;
use ferryhook_core::{Env, Id, Timestamp};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::*;
use crate::App;
use crate::trial::Trial;

/// Where the first mistake is. Nobody leases here, so what is understood is answered with 503.
async fn told(trial: &Trial, path: &str, body: Value) -> (u16, String) {
    let said = trial.post(path, body).await;
    let pointer = said.json()["errors"][0]["pointer"].as_str().unwrap_or_default().to_owned();
    (said.status.as_u16(), pointer)
}

fn token(env: &Env) -> String {
    Token { event: Id::new(env), connection: Id::new(env), lease: 1 }.to_string()
}

#[tokio::test]
async fn a_lease_that_makes_no_sense_is_told_why() {
    let trial = Trial::new().await;
    let table = [
        (json!({}), 503, ""),
        (json!({"count": 100, "visibility": "12h", "types": ["order.*"], "wait": "0s"}), 503, ""),
        (json!({"visibility": 1, "group": "billing-2"}), 503, ""),
        (json!({"count": 0}), 400, "/count"),
        (json!({"count": 101}), 400, "/count"),
        (json!({"count": -1}), 400, "/count"),
        (json!({"count": "many"}), 400, "/count"),
        (json!({"visibility": 0}), 400, "/visibility"),
        (json!({"visibility": "13h"}), 400, "/visibility"),
        (json!({"visibility": "soon"}), 400, "/visibility"),
        (json!({"visibility": -5}), 400, "/visibility"),
        (json!({"wait": "21s"}), 400, "/wait"),
        (json!({"group": "Billing"}), 400, "/group"),
        (json!({"group": ""}), 400, "/group"),
        (json!({"group": "a".repeat(65)}), 400, "/group"),
        (json!({"types": [""]}), 400, "/types"),
        (json!({"types": vec!["a"; 101]}), 400, "/types"),
        (json!({"types": "order.paid"}), 400, "/types"),
        (json!({"limit": 3}), 400, "/limit"),
    ];
    for (body, status, pointer) in table {
        let told = told(&trial, "/v1/inbox/lease", body.clone()).await;
        assert_eq!(told, (status, pointer.to_owned()), "{body}");
    }
    let empty = trial.call("POST", "/v1/inbox/lease", None, &[]).await;
    assert_eq!(empty.status, 503, "a body is not needed: {}", empty.text);
}

#[tokio::test]
async fn a_reply_that_makes_no_sense_is_told_why() {
    let trial = Trial::new().await;
    let good = token(&trial.app.env);
    let many = |count: usize| vec![good.clone(); count];
    let table = [
        ("ack", json!({"token": good}), 503, ""),
        ("ack", json!({"tokens": many(100)}), 503, ""),
        ("ack", json!({}), 400, ""),
        ("ack", json!({"token": good, "tokens": [good]}), 400, ""),
        ("ack", json!({"tokens": []}), 400, "/tokens"),
        ("ack", json!({"tokens": many(101)}), 400, "/tokens"),
        ("ack", json!({"token": "evt_1"}), 400, "/token"),
        ("ack", json!({"token": format!("{good}0")}), 503, ""),
        ("ack", json!({"token": format!("{good}.1")}), 400, "/token"),
        ("ack", json!({"tokens": [good, "garbled", ""]}), 400, "/tokens/1"),
        ("ack", json!({"tokens": [good, 7]}), 400, "/tokens/1"),
        ("ack", json!({"token": good, "delay": 1}), 400, "/delay"),
        ("nack", json!({"token": good, "delay": "7d", "reason": "later"}), 503, ""),
        ("nack", json!({"token": good, "delay": "8d"}), 400, "/delay"),
        ("nack", json!({"token": good, "delay": "-1s"}), 400, "/delay"),
        ("nack", json!({"token": good, "visibility": 1}), 400, "/visibility"),
        ("extend", json!({"token": good, "visibility": "1m"}), 503, ""),
        ("extend", json!({"token": good, "visibility": 0}), 400, "/visibility"),
        ("extend", json!({"token": good, "visibility": 46_800}), 400, "/visibility"),
    ];
    for (what, body, status, pointer) in table {
        let told = told(&trial, &format!("/v1/inbox/{what}"), body.clone()).await;
        assert_eq!(told, (status, pointer.to_owned()), "{what} {body}");
    }
}

#[tokio::test]
async fn a_reply_to_an_event_names_one_that_is_there() {
    let trial = Trial::new().await;
    let neighbour = trial.neighbour().await;
    let source = neighbour.post("/v1/sources", json!({"name": "theirs"})).await.expect(201);
    let id = source["sourceId"].as_str().unwrap().parse().unwrap();
    let source = trial.app.store.sources().find(id).await.unwrap().unwrap();
    let theirs = crate::events::tests::arrived(&neighbour, &source, 1, |_| {}).await;
    for what in ["ack", "nack"] {
        let path = format!("/v1/events/{}/{what}", theirs.id);
        trial.post(&path, json!({})).await.expect(404);
        let own = told(&neighbour, &path, json!({"group": "billing"})).await;
        assert_eq!(own, (503, String::new()));
        assert_eq!(told(&neighbour, &path, json!({"group": "B"})).await, (400, "/group".into()));
        assert_eq!(told(&neighbour, &path, json!({"token": "x"})).await, (400, "/token".into()));
    }
}

#[tokio::test]
async fn a_list_that_makes_no_sense_is_told_why() {
    let trial = Trial::new().await;
    let source = trial.post("/v1/sources", json!({"name": "a"})).await.expect(201);
    trial.post("/v1/sources", json!({"name": "b"})).await.expect(201);
    assert!(source["sourceId"].is_string());
    let other = trial.get("/v1/sources?limit=1").await.expect(200);
    let other = other["cursor"].as_str().unwrap();
    for right in [
        "",
        "?type=order.paid&status=received&since=1h&until=2036-01-01T00:00:00Z&order=asc",
        "?event_type=order.paid&group=billing&limit=100",
        "?since=2026-01-01T00:00:00Z&wait=0",
    ] {
        let said = trial.get(&format!("/v1/inbox{right}")).await.expect(200);
        assert_eq!(said, json!({"data": [], "hasMore": false}), "{right}");
    }
    let table = [
        ("type=", "type"),
        ("type=order.*", "type"),
        ("status=processing", "status"),
        ("status=lost", ""),
        ("since=yesterday", ""),
        ("since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z", "until"),
        ("order=up", ""),
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("cursor=x", "cursor"),
        (&format!("cursor={other}"), "cursor"),
        ("group=Billing", "group"),
        ("wait=21s", "wait"),
        ("wait=soon", ""),
        ("colour=red", ""),
    ];
    for (query, pointer) in table {
        let said = trial.get(&format!("/v1/inbox?{query}")).await.expect(400);
        let told = said["errors"][0]["pointer"].as_str().unwrap_or_default();
        assert_eq!((&said["code"], told), (&json!("VALIDATION_ERROR"), pointer), "{query}");
    }
}

/// Each keeps a connection, so that there are only so many for an account.
#[tokio::test(start_paused = true)]
async fn only_so_many_wait() {
    let trial = Trial::new().await;
    let account = trial.account.id;
    let all: Vec<_> = (0..crate::limits::INBOX_WAITING_MAX)
        .map(|_| trial.app.waiters.enter(account).unwrap())
        .collect();
    let said = trial.get("/v1/inbox?wait=20s").await;
    assert_eq!(said.headers["retry-after"], "1");
    assert_eq!(said.expect(429)["code"], "RATE_LIMITED");
    trial.post("/v1/inbox/lease", json!({"wait": "20s"})).await.expect(429);
    trial.get("/v1/inbox").await.expect(200);
    trial.neighbour().await.get("/v1/inbox?wait=1s").await.expect(200);
    drop(all);
    trial.get("/v1/inbox?wait=20s").await.expect(200);
}

/// A server that is to stop does not wait for those who do.
#[tokio::test(start_paused = true)]
async fn who_waits_is_sent_home_when_the_server_stops() {
    let trial = Trial::new().await;
    let App { readiness, .. } = trial.app.clone();
    let soon = Duration::from_secs(5);
    let (said, ()) = tokio::join!(timeout(soon, trial.get("/v1/inbox?wait=20s")), async {
        sleep(Duration::from_secs(3)).await;
        readiness.drain();
    });
    said.unwrap().expect(200);
}

#[test]
fn spans_are_read_and_written() {
    let table = [("0", "0s"), ("90", "90s"), ("60s", "1m"), ("48h", "2d"), ("7d", "7d")];
    for (text, written) in table {
        assert_eq!(text.parse::<Span>().unwrap().to_string(), written);
    }
    for wrong in ["", "s", "-1s", "+1", "1.5s", "1w", "1 s", "1234567890", "ſ"] {
        assert!(wrong.parse::<Span>().is_err(), "{wrong}");
    }
    let now: Timestamp = "2026-01-02T00:00:00Z".parse().unwrap();
    let seen = |text: &str| text.parse::<When>().unwrap().seen_from(now).to_string();
    assert_eq!(seen("1d"), "2026-01-01T00:00:00.000Z");
    assert_eq!(seen("2026-01-01T12:00:00Z"), "2026-01-01T12:00:00.000Z");
}
