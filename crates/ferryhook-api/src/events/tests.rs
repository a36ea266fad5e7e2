use ferryhook_core::event::{Origin, Status};
use ferryhook_core::{Event, Id, Source, samples};
use ferryhook_store::repositories::Arrival;
use serde_json::{Value, json};
use std::time::Duration;

use crate::trial::Trial;

/// A source of the trial's account, in the store.
async fn source(trial: &Trial) -> Source {
    let made = trial.post("/v1/sources", json!({ "name": "shop" })).await.expect(201);
    let id = made["sourceId"].as_str().unwrap().parse().unwrap();
    trial.app.store.sources().find(id).await.unwrap().unwrap().record
}

/// The `n`th event, a second after the one before.
pub(crate) async fn arrived(
    trial: &Trial,
    source: &Source,
    n: u64,
    change: impl FnOnce(&mut Event),
) -> Event {
    let mut event = sample(trial, source, n);
    change(&mut event);
    let arrival = Arrival { event: event.clone(), claim: None, items: Vec::new() };
    trial.app.store.events().accept(&[arrival]).await.unwrap();
    event
}

/// The same, before it is stored.
pub(crate) fn sample(trial: &Trial, source: &Source, n: u64) -> Event {
    let at = trial.app.env.now() + Duration::from_secs(n);
    Event {
        id: Id::at(at, &trial.app.env),
        source_id: source.id,
        user_id: source.user_id,
        account_id: source.account_id,
        origin: Origin::Webhook,
        status: Status::Delivered,
        event_type: Some(if n.is_multiple_of(2) { "order.paid" } else { "user.new" }.to_owned()),
        dedup_key: None,
        body: format!(r#"{{"number":{n}}}"#).into_bytes().into(),
        payload: None,
        received_at: at,
        pending_since: None,
        processing_error: None,
        processing_tries: 0,
        expires_at: None,
        ..samples::event()
    }
}

fn ids(page: &Value) -> Vec<String> {
    let data = page["data"].as_array().unwrap().iter();
    data.map(|one| one["eventId"].as_str().unwrap().to_owned()).collect()
}

/// All pages of a list, and how many there were.
async fn all(trial: &Trial, path: &str) -> (Vec<String>, usize) {
    let (mut found, mut pages) = (Vec::new(), 0);
    let mut next = path.to_owned();
    loop {
        let page = trial.get(&next).await.expect(200);
        found.extend(ids(&page));
        pages += 1;
        let Some(cursor) = page["cursor"].as_str() else { return (found, pages) };
        next = format!("{path}&cursor={cursor}");
    }
}

#[tokio::test]
async fn lists_find_what_is_asked_for_page_by_page() {
    let trial = Trial::new().await;
    let source = source(&trial).await;
    let mut events = Vec::new();
    for n in 0u64..25 {
        let status = if n.is_multiple_of(5) { Status::Failed } else { Status::Delivered };
        events
            .push(arrived(&trial, &source, n, |event| event.status = status).await.id.to_string());
    }
    let of_source = format!("/v1/sources/{}/events?limit=4", source.id);
    let newest: Vec<_> = events.iter().rev().cloned().collect();
    for path in [&*of_source, "/v1/events?limit=4"] {
        assert_eq!(all(&trial, path).await.0, newest, "{path}");
        assert_eq!(all(&trial, &format!("{path}&order=asc")).await.0, events, "{path}");
        let failed = all(&trial, &format!("{path}&status=failed")).await.0;
        let expected: Vec<_> = newest.iter().rev().step_by(5).rev().cloned().collect();
        assert_eq!(failed, expected, "{path}");
        let paid = all(&trial, &format!("{path}&type=order.*")).await.0;
        assert_eq!(paid.len(), 13, "{path}");
        let window = "from=2026-01-01T00:00:03Z&to=2026-01-01T00:00:06Z";
        let some = all(&trial, &format!("{path}&{window}")).await.0;
        assert_eq!(some.len(), 4, "{path}");
        let found = all(&trial, &format!("{path}&q=%22NUMBER%22:1")).await.0;
        assert_eq!(found.len(), 11, "{path}: 1 and 10 to 19");
    }
    for far in ["from=0000-01-01T00:00:00Z", "to=9999-12-31T23:59:59Z"] {
        assert_eq!(all(&trial, &format!("{of_source}&{far}")).await.0.len(), 25);
        assert_eq!(all(&trial, &format!("/v1/events?limit=4&{far}")).await.0.len(), 25);
    }
    let neighbour = trial.neighbour().await;
    assert_eq!(all(&neighbour, "/v1/events?limit=4").await.0, [""; 0]);
    let backwards = "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z".to_owned();
    let long = "q=".to_owned() + &"x".repeat(201);
    for query in [backwards, long, "order=up".into(), "status=lost".into()] {
        trial.get(&format!("/v1/events?{query}")).await.expect(400);
    }
}

/// However little is found, a page ends, and the next one goes on.
#[tokio::test]
async fn a_search_ends_its_page_and_goes_on() {
    let trial = Trial::new().await;
    let source = source(&trial).await;
    let count = crate::limits::LOOKED_AT_MAX as u64 + 100;
    let first = arrived(&trial, &source, 0, |event| event.body = "needle".into()).await;
    for n in 1..count {
        arrived(&trial, &source, n, |_| {}).await;
    }
    let page = trial.get("/v1/events?q=needle").await.expect(200);
    assert_eq!((ids(&page), &page["hasMore"]), (Vec::new(), &json!(true)));
    let (found, pages) = all(&trial, "/v1/events?q=needle").await;
    assert_eq!((found, pages), (vec![first.id.to_string()], 2));
}

#[tokio::test]
async fn one_event_is_shown_and_its_bytes_are_given_out() {
    let trial = Trial::new().await;
    let source = source(&trial).await;
    let event = arrived(&trial, &source, 1, |event| {
        event.content_type = Some("text/html; charset=utf-8".into());
        event.body = vec![0xff, 0xfe].into();
    })
    .await;
    let path = format!("/v1/events/{}", event.id);
    let shown = trial.get(&path).await.expect(200);
    assert_eq!((&shown["bodyBase64"], &shown["source"]), (&json!("//4="), &json!("shop")));
    assert_eq!(shown["headers"][0]["name"], event.headers.iter().next().unwrap().0);
    assert_eq!(shown["deliveries"], json!([]));
    let without = trial.get(&format!("{path}?body=false")).await.expect(200);
    assert_eq!(without["bodyBase64"], Value::Null);

    let raw = trial.get(&format!("{path}/body")).await;
    assert_eq!(raw.headers["content-type"], "application/octet-stream", "it is not run");
    assert_eq!(raw.headers["x-content-type-options"], "nosniff");
    let disposition = raw.headers["content-disposition"].to_str().unwrap();
    assert_eq!(disposition, format!("attachment; filename=\"{}\"", event.id));

    let neighbour = trial.neighbour().await;
    for under in ["", "/body", "/explain"] {
        let foreign = neighbour.get(&format!("{path}{under}")).await;
        let missing = neighbour.get(&format!("/v1/events/evt_0000000000000000{under}")).await;
        assert_eq!(foreign.status, 404);
        assert_eq!(foreign.json()["detail"], missing.json()["detail"]);
    }
    let foreign = neighbour.post(&format!("{path}/replay"), json!({})).await;
    assert_eq!(foreign.status, 404);
}

/// Whoever asked has read it a while ago.
#[tokio::test]
async fn a_story_is_not_older_than_what_it_tells() {
    let trial = Trial::new().await;
    let source = source(&trial).await;
    let stored = arrived(&trial, &source, 1, |_| ()).await;
    let before = Event { status: Status::Retrying, ..stored };
    let story = super::tell(&trial.app.store, &before, 0).await.unwrap();
    assert_eq!(serde_json::to_value(&story).unwrap()["status"], "delivered");
}
