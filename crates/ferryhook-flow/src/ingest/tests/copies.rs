//! The same event, once; and several in one request.

use ferryhook_core::rejection::Cause;

use super::*;

fn stripe() -> Source {
    Source { provider: "stripe".into(), ..plain() }
}

#[tokio::test]
async fn a_copy_is_recognised() {
    let gate = gate(stripe()).await;
    let first = gate.post(r#"{"id":"evt_1"}"#).await;
    assert_eq!(first.body.get("duplicate"), None);
    for _ in 0..3 {
        let copy = gate.post(r#"{"id":"evt_1","again":true}"#).await;
        let expected = json!({ "id": first.id(), "status": "received", "duplicate": true });
        assert_eq!((copy.status, copy.body), (200, expected));
    }
    assert_ne!(gate.post(r#"{"id":"evt_2"}"#).await.id(), first.id());
    assert_eq!(gate.handed().len(), 2, "a copy is not delivered");

    gate.ingest.flush().await;
    let event = gate.event(first.id()).await;
    assert_eq!(event.duplicate_count, 3);
    let key = event.dedup_key.unwrap();
    assert_eq!(key, "STRIPE@src_0000000000000001:evt_1");
    let claim = gate.store.ledger().find(&key).await.unwrap().unwrap();
    assert_eq!(claim.event_id, Some(first.id()));
    assert_eq!(claim.source.as_deref(), Some("STRIPE"));
    assert_eq!(claim.expires_at.to_string(), "2026-01-15T00:00:00.000Z", "14 days");
}

/// What the ledger has forgotten is new.
#[tokio::test]
async fn a_copy_after_the_claim_ended_is_new() {
    let gate = gate(stripe()).await;
    let first = gate.post(r#"{"id":"evt_1"}"#).await.id();
    gate.clock.advance(Duration::from_secs(14 * 24 * 60 * 60));
    let second = gate.post(r#"{"id":"evt_1"}"#).await;
    assert_eq!(second.body.get("duplicate"), None);
    assert_ne!(second.id(), first);
}

/// Where nothing says that two are the same, both are taken.
#[tokio::test]
async fn without_a_key_nothing_is_a_copy() {
    let gate = gate(stripe()).await;
    for _ in 0..2 {
        assert_eq!(gate.post("not json").await.body.get("duplicate"), None);
    }
    assert_eq!(gate.events().await.len(), 2);
}

#[tokio::test]
async fn a_sender_may_name_its_request() {
    let gate = gate(plain()).await;
    let named = |body: &'static str| {
        let request = Request::post(ADDRESS).header("idempotency-key", "k1");
        request.body(Full::new(Bytes::from(body))).unwrap()
    };
    let first = gate.send(named("a")).await.id();
    let second = gate.send(named("a")).await;
    assert_eq!((second.id(), &second.body["duplicate"]), (first, &json!(true)));
}

/// Many at once, and the store decides which was first.
#[tokio::test]
async fn copies_that_come_together_are_one() {
    let gate = gate(stripe()).await;
    let seen =
        futures_util::future::join_all((0..20).map(|_| gate.post(r#"{"id":"evt_1"}"#))).await;
    let new = seen.iter().filter(|seen| seen.body.get("duplicate").is_none()).count();
    assert_eq!(new, 1);
    assert_eq!((gate.events().await.len(), gate.handed().len()), (1, 1));
}

fn change(id: usize) -> String {
    format!(r#"{{"objectId":{id},"subscriptionType":"contact.creation","occurredAt":1}}"#)
}

/// Each element is an event of its own, in the order of the list.
#[tokio::test]
async fn a_list_is_split() {
    let gate = gate(hubspot()).await;
    let body = format!("[{}, {},{}]", change(1), change(2), change(1));
    let seen = gate.post(&body).await;
    assert_eq!(seen.status, 200);
    let told = seen.body["events"].as_array().unwrap();
    assert_eq!(told.len(), 3);
    assert_eq!(told[2]["id"], told[0]["id"], "the third is a copy of the first");
    assert_eq!(told[2]["duplicate"], json!(true));
    assert!(told[0]["id"].as_str() < told[1]["id"].as_str());

    let events = gate.events().await;
    let bodies: Vec<_> = events.iter().map(|event| event.body.as_text().unwrap()).collect();
    assert_eq!(bodies, [change(1), change(2)]);
    assert_eq!(events[0].event_type.as_deref(), Some("contact.creation"));
    assert_eq!(gate.handed().len(), 2);
    gate.ingest.flush().await;
    assert_eq!(gate.source().await.event_count, 2);
}

/// More than one commit holds, still in order, and all of it is there before the answer.
#[tokio::test]
async fn a_long_list_is_several_commits() {
    let gate = gate(hubspot()).await;
    let list: Vec<_> = (0..220).map(change).collect();
    let commits = gate.probe.commits();
    let seen = gate.post(&format!("[{}]", list.join(","))).await;
    assert_eq!(seen.body["events"].as_array().unwrap().len(), 220);
    assert_eq!(gate.probe.commits() - commits, 5);
    let events = gate.events().await;
    let bodies: Vec<_> = events.iter().map(|event| event.body.as_text().unwrap()).collect();
    assert_eq!(bodies, list);
}

#[tokio::test]
async fn cloud_events_in_a_batch_are_split() {
    let gate = gate(plain()).await;
    let batch = |body: &'static str| {
        let request =
            Request::post(ADDRESS).header("content-type", "application/cloudevents-batch+json");
        request.body(Full::new(Bytes::from(body))).unwrap()
    };
    let seen = gate.send(batch(r#"[{"id":"1"},{"id":"2"}]"#)).await;
    assert_eq!(seen.body["events"].as_array().unwrap().len(), 2);
    let event = gate.events().await.remove(0);
    assert_eq!(event.content_type.as_deref(), Some("application/cloudevents+json"));

    // What claims to be a batch and is none is refused, and kept for its owner to see.
    let seen = gate.send(batch("{")).await;
    assert_eq!((seen.status, &seen.body["code"]), (400, &json!("VALIDATION_ERROR")));
    let kept = gate.rejections().await.remove(0);
    assert_eq!((kept.cause, kept.body.as_text()), (Cause::Unparsable, Some("{")));
    assert!(!kept.body_truncated);
}

/// What a list holds counts against the rate of its source.
#[tokio::test]
async fn every_element_counts() {
    let limits = Limits { events_per_minute: Some(10), ..Limits::default() };
    let gate = gate_with(hubspot(), limits).await;
    let list: Vec<_> = (0..10).map(change).collect();
    assert_eq!(gate.post(&format!("[{}]", list.join(","))).await.status, 200);
    assert_eq!(gate.post(&change(11)).await.status, 429);
}
