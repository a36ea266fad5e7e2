use ferryhook_core::delivery::{Failure, State};
use ferryhook_core::event::Status;
use ferryhook_core::{Connection, Delivery, Event, Source, samples};
use serde_json::{Value, json};

use crate::events::tests::arrived;
use crate::trial::Trial;

async fn source(trial: &Trial) -> Source {
    let made = trial.post("/v1/sources", json!({ "name": "shop" })).await.expect(201);
    let id = made["sourceId"].as_str().unwrap().parse().unwrap();
    trial.app.store.sources().find(id).await.unwrap().unwrap().record
}

async fn connection(trial: &Trial, source: &Source, name: &str) -> Connection {
    let body = json!({ "name": name, "destinationUrl": "https://example.com/" });
    let path = format!("/v1/sources/{}/connections", source.id);
    let made = trial.post(&path, body).await.expect(201);
    let id = made["connectionId"].as_str().unwrap().parse().unwrap();
    trial.app.store.connections().find(id).await.unwrap().unwrap().record
}

/// Given up at these connections.
async fn gave_up(trial: &Trial, event: &Event, connections: &[&Connection]) {
    let settled_at = event.received_at;
    for connection in connections {
        let delivery = Delivery {
            event_id: event.id,
            connection_id: connection.id,
            source_id: event.source_id,
            account_id: event.account_id,
            state: State::Failed { reason: Failure::Exhausted, settled_at },
            expires_at: None,
            ..samples::delivery()
        };
        trial.app.store.deliveries().create(&delivery).await.unwrap();
    }
}

async fn all(trial: &Trial, path: &str) -> Vec<Value> {
    let (mut found, mut next) = (Vec::new(), path.to_owned());
    loop {
        let page = trial.get(&next).await.expect(200);
        found.extend(page["data"].as_array().unwrap().clone());
        let Some(cursor) = page["cursor"].as_str() else { return found };
        next = format!("{path}&cursor={cursor}");
    }
}

#[tokio::test]
async fn what_could_not_be_processed_is_listed() {
    let trial = Trial::new().await;
    let source = source(&trial).await;
    for n in 0..7 {
        arrived(&trial, &source, n, |event| {
            event.status = Status::Failed;
            event.processing_error = (n % 2 == 0).then(|| "the filter cannot be read".to_owned());
        })
        .await;
    }
    let found = all(&trial, "/v1/dead-letters?limit=2").await;
    assert_eq!(found.len(), 4);
    assert_eq!(found[0]["processingError"], "the filter cannot be read");
    assert_eq!(all(&trial.neighbour().await, "/v1/dead-letters?limit=2").await.len(), 0);
}

#[tokio::test]
async fn an_order_names_what_it_means() {
    let trial = Trial::new().await;
    let source = source(&trial).await;
    let event = arrived(&trial, &source, 1, |_| {}).await;
    let neighbour = trial.neighbour().await;
    let path = "/v1/dead-letters/redrive";
    trial.post(path, json!({})).await.expect(400);
    trial.post(path, json!({ "eventIds": [] })).await.expect(400);
    trial.post(path, json!({ "eventIds": [event.id], "all": true })).await.expect(400);
    let foreign = neighbour.post(path, json!({ "eventIds": [event.id] })).await.expect(400);
    assert_eq!(foreign["errors"][0]["pointer"], "/eventIds/0");
    let told = trial.post(path, json!({ "eventIds": [event.id] })).await.expect(200);
    assert_eq!((&told["redriven"], told["refused"].as_array().unwrap().len()), (&json!(0), 1));
    let nothing = trial.post(path, json!({ "all": true })).await.expect(200);
    assert_eq!((&nothing["redriven"], &nothing["hasMore"]), (&json!(0), &json!(false)));
}

/// By event and connection, over all states an event may be in meanwhile.
#[tokio::test]
async fn what_was_given_up_is_listed_by_event_and_connection() {
    let trial = Trial::new().await;
    let source = source(&trial).await;
    let a = connection(&trial, &source, "a").await;
    let b = connection(&trial, &source, "b").await;
    let statuses = [Status::Failed, Status::Retrying, Status::Failed, Status::Held, Status::Failed];
    for (n, status) in statuses.into_iter().enumerate() {
        let event = arrived(&trial, &source, n as u64, |event| event.status = status).await;
        let connections: &[&Connection] = if n == 2 { &[&a, &b] } else { &[&a] };
        gave_up(&trial, &event, connections).await;
    }
    for limit in 1..=7 {
        let found = all(&trial, &format!("/v1/failures?limit={limit}")).await;
        assert_eq!(found.len(), 6, "limit {limit}: {found:#?}");
        let mut seen: Vec<_> = found
            .iter()
            .map(|one| (one["eventId"].to_string(), one["connectionId"].to_string()))
            .collect();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 6, "each once, limit {limit}");
        assert!(found.iter().all(|one| one["state"] == "failed"));
    }
}
