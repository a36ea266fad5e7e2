use ferryhook_core::{Id, samples};
use serde_json::json;

use super::*;
use crate::trial::Trial;

async fn put(trial: &Trial, name: &str, body: serde_json::Value) -> crate::trial::Said {
    trial.call("PUT", &format!("/v1/event-types/{name}/schema"), Some(body), &[]).await
}

#[tokio::test]
async fn what_was_learned_is_shown_and_deleted() {
    let trial = Trial::new().await;
    let mut known = EventType::new(trial.account.id, "orders/paid");
    known.count(2, samples::CREATED);
    let (source, event) = (samples::source().id, Id::new(&trial.app.env));
    known.learn(&json!({"number": 1}), source, event, samples::CREATED);
    trial.app.store.event_types().create(&known).await.unwrap();
    let list = trial.get("/v1/event-types").await.expect(200);
    assert_eq!(list["data"][0]["eventType"], "orders/paid");
    assert!(list["data"][0].get("inferredSchema").is_none());
    let shown = trial.get("/v1/event-types/orders%2Fpaid").await.expect(200);
    assert_eq!((&shown["count"], &shown["samples"]), (&json!(2), &json!(1)));
    assert_eq!(shown["inferredSchema"]["required"], json!(["number"]));
    let neighbour = trial.neighbour().await;
    neighbour.get("/v1/event-types/orders%2Fpaid").await.expect(404);
    trial.call("DELETE", "/v1/event-types/orders%2Fpaid", None, &[]).await.expect(204);
    trial.get("/v1/event-types/orders%2Fpaid").await.expect(404);
}

#[tokio::test]
async fn a_type_is_declared_and_withdrawn() {
    let trial = Trial::new().await;
    let body = json!({"schema": {"required": ["id"]}, "mode": "reject"});
    for _ in 0..2 {
        let shown = put(&trial, "order.paid", body.clone()).await.expect(200);
        assert_eq!(shown["declared"]["schema"], body["schema"]);
        assert_eq!(shown["declared"]["mode"], "reject");
        assert!(shown.get("firstSeenAt").is_none());
    }
    put(&trial, "order.paid", json!({"schema": true, "mode": "warn"})).await.expect(200);
    let path = "/v1/event-types/order.paid/schema";
    trial.call("DELETE", path, None, &[]).await.expect(204);
    trial.call("DELETE", path, None, &[]).await.expect(404);
    let shown = trial.get("/v1/event-types/order.paid").await.expect(200);
    assert!(shown.get("declared").is_none());
    let log = trial.get("/v1/activities").await.expect(200).to_string();
    assert!(log.contains("event_type_declared"), "{log}");
}

#[tokio::test]
async fn what_is_no_declaration_is_refused_with_its_place() {
    let trial = Trial::new().await;
    let table = [
        (json!({"schema": {"type": 5}, "mode": "warn"}), "/schema/type"),
        (json!({"schema": {"$ref": "https://example.com/"}, "mode": "warn"}), "/schema/$ref"),
        (json!({"schema": [], "mode": "warn"}), "/schema"),
        (json!({"schema": {}, "mode": "maybe"}), "/mode"),
    ];
    for (body, pointer) in table {
        let problem = put(&trial, "order.paid", body.clone()).await.expect(400);
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{body}: {problem:#}");
    }
    let good = json!({"schema": {}, "mode": "warn"});
    put(&trial, &"a".repeat(129), good.clone()).await.expect(400);
    put(&trial, "a%0Ab", good.clone()).await.expect(400);
    assert_eq!(trial.get("/v1/event-types").await.expect(200)["data"], json!([]));
    for number in 0..limits::DECLARED_PER_ACCOUNT_MAX {
        put(&trial, &format!("t.n{number}"), good.clone()).await.expect(200);
    }
    put(&trial, "t.other", good.clone()).await.expect(409);
    put(&trial, "t.n1", json!({"schema": {}, "mode": "reject"})).await.expect(200);
}
