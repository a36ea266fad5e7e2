use ferryhook_core::{Event, Id, Timestamp, samples};
use ferryhook_store::repositories::Arrival;
use ferryhook_store::{Slice, Window};
use serde_json::{Value, json};

use crate::trial::Trial;

const ADA: &str = "ada@example.com";

/// An event of the trial's account that says whom it is about.
async fn event(trial: &Trial, email: &str) -> Event {
    let now = trial.app.env.now();
    let event = Event {
        id: Id::at(now, &trial.app.env),
        account_id: trial.account.id,
        body: format!(r#"{{"email":"{email}"}}"#).into_bytes().into(),
        payload: None,
        dedup_key: None,
        received_at: now,
        expires_at: None,
        ..samples::event()
    };
    let arrival = Arrival { event: event.clone(), claim: None, items: Vec::new() };
    trial.app.store.events().accept(&[arrival]).await.unwrap();
    event
}

fn about(email: &str) -> Value {
    json!({ "where": { "body": { "email": email } } })
}

/// Everything that the audit log says.
async fn log(trial: &Trial) -> String {
    let activities = trial.app.store.activities();
    let page = activities.list_by_account(trial.account.id, Slice::newest_first()).await.unwrap();
    format!("{:?}", page.rows)
}

#[tokio::test]
async fn one_event_is_erased_at_once() {
    let trial = Trial::new().await;
    let (one, other) = (event(&trial, ADA).await, event(&trial, ADA).await);
    let path = format!("/v1/events/{}", one.id);
    trial.delete(&path).await.expect(204);
    trial.get(&path).await.expect(404);
    trial.delete(&path).await.expect(404);
    trial.get(&format!("/v1/events/{}", other.id)).await.expect(200);
    let list = trial.get("/v1/erasures").await.expect(200);
    assert_eq!(
        (&list["data"][0]["ids"], &list["data"][0]["state"]),
        (&json!(1), &json!("running"))
    );
    let log = log(&trial).await;
    assert!(log.contains("event_erased") && log.contains(one.id.as_str()), "{log}");
}

#[tokio::test]
async fn an_erasure_by_subject_is_written_down_without_a_word_about_whom() {
    let trial = Trial::new().await;
    let said = trial.post("/v1/erasures", about(ADA)).await.expect(202);
    assert_eq!(said["state"], "running");
    assert_eq!(said["isGone"], false);
    assert_eq!(said["subject"]["paths"], json!(["body.email"]));
    let path = format!("/v1/erasures/{}", said["erasureId"].as_str().unwrap());
    let shown = trial.get(&path).await;
    let (listed, log) = (trial.get("/v1/erasures").await, log(&trial).await);
    for text in [&said.to_string(), &shown.text, &listed.text, &log] {
        assert!(text.contains("body.email") && !text.contains(ADA), "{text}");
    }
    assert!(log.contains("erasure_created"));
}

#[tokio::test]
async fn a_dry_run_counts_and_does_nothing() {
    let trial = Trial::new().await;
    for email in [ADA, "bob@example.com", ADA] {
        event(&trial, email).await;
    }
    let mut order = about(ADA);
    order["dryRun"] = true.into();
    let said = trial.post("/v1/erasures", order).await.expect(200);
    assert_eq!(said, json!({ "matched": 2, "lookedAt": 3, "isLowerBound": false }));
    let list = trial.get("/v1/erasures").await.expect(200);
    assert_eq!(list["data"], json!([]));
    let events = trial.app.store.events();
    let left = events.list_by_account(trial.account.id, Window::ALWAYS, Slice::default()).await;
    assert_eq!(left.unwrap().rows.len(), 3);
}

#[tokio::test]
async fn an_erasure_can_be_cancelled_once() {
    let trial = Trial::new().await;
    let said = trial.post("/v1/erasures", about(ADA)).await.expect(202);
    let path = format!("/v1/erasures/{}/cancel", said["erasureId"].as_str().unwrap());
    for _ in 0..2 {
        let said = trial.call("POST", &path, None, &[]).await.expect(200);
        assert_eq!((&said["state"], &said["isGone"]), (&json!("cancelled"), &json!(false)));
    }
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_with_its_place() {
    let trial = Trial::new().await;
    let id = event(&trial, ADA).await.id;
    let ids = json!([id]);
    let bad = [
        (json!({}), ""),
        (json!({ "eventIds": ids, "where": {} }), ""),
        (json!({ "eventIds": [] }), "/eventIds"),
        (json!({ "eventIds": ids, "from": "2026-01-01T00:00:00Z" }), "/eventIds"),
        (json!({ "where": [{ "path": "$.a", "operator": "is" }] }), "/where/0/operator"),
        (json!({ "where": { "body": { "a": 1 } }, "from": "2030-01-01T00:00:00Z" }), "/to"),
        (
            json!({ "where": { "body": { "a": 1 } }, "sourceId": "src_0000000000000000" }),
            "/sourceId",
        ),
    ];
    for (order, pointer) in bad {
        let said = trial.post("/v1/erasures", order.clone()).await.expect(400);
        assert_eq!(said["errors"][0]["pointer"], pointer, "{order}: {said}");
    }
}

#[tokio::test]
async fn what_is_somebody_elses_is_not_there() {
    let trial = Trial::new().await;
    let neighbour = trial.neighbour().await;
    let event = event(&trial, ADA).await;
    let said = trial.post("/v1/erasures", about(ADA)).await.expect(202);
    let erasure = said["erasureId"].as_str().unwrap();
    let missing: Id<ferryhook_core::Erasure> = Id::at(Timestamp::from_seconds(1), &trial.app.env);
    for (method, theirs, nobodys) in [
        ("DELETE", format!("/v1/events/{}", event.id), "/v1/events/evt_-OhqqeV-99999999".into()),
        ("GET", format!("/v1/erasures/{erasure}"), format!("/v1/erasures/{missing}")),
        (
            "POST",
            format!("/v1/erasures/{erasure}/cancel"),
            format!("/v1/erasures/{missing}/cancel"),
        ),
    ] {
        let theirs = neighbour.call(method, &theirs, None, &[]).await.expect(404);
        let nobodys: Value = neighbour.call(method, &nobodys, None, &[]).await.expect(404);
        assert_eq!(theirs["detail"], nobodys["detail"]);
    }
    assert_eq!(neighbour.get("/v1/erasures").await.expect(200)["data"], json!([]));
    assert!(trial.app.store.events().find(event.id).await.unwrap().is_some());
}
