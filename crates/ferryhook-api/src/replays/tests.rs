use serde_json::{Value, json};

use crate::events::tests::arrived;
use crate::trial::Trial;

#[tokio::test]
async fn many_events_are_counted_replayed_watched_and_stopped() {
    let trial = Trial::new().await;
    let made = trial.post("/v1/sources", json!({ "name": "shop" })).await.expect(201);
    let id = made["sourceId"].as_str().unwrap().parse().unwrap();
    let source = trial.app.store.sources().find(id).await.unwrap().unwrap().record;
    let mut ids = Vec::new();
    for n in 0..6 {
        ids.push(arrived(&trial, &source, n, |_| {}).await.id);
    }
    // What has come until now; the clock stands still, so only the first.
    let filter = json!({ "filter": { "sourceId": source.id }, "dryRun": true });
    let count = trial.post("/v1/events/replay", filter).await.expect(200);
    assert_eq!(count, json!({ "matched": 1, "lookedAt": 1, "isLowerBound": false }));
    let named = json!({ "eventIds": ids, "dryRun": true });
    assert_eq!(trial.post("/v1/events/replay", named).await.expect(200)["matched"], 6);
    assert_eq!(trial.get("/v1/replays").await.expect(200)["data"], json!([]));

    let order = json!({ "eventIds": ids, "ratePerSecond": 5 });
    let job = trial.post("/v1/events/replay", order).await.expect(202);
    assert_eq!((&job["state"], &job["ids"]), (&json!("running"), &json!(6)));
    let path = format!("/v1/replays/{}", job["replayId"].as_str().unwrap());
    assert_eq!(trial.get(&path).await.expect(200)["ratePerSecond"], 5);
    let list = trial.get("/v1/replays").await.expect(200);
    assert_eq!(list["data"][0]["replayId"], job["replayId"]);
    let stopped = trial.post(&format!("{path}/cancel"), json!({})).await.expect(200);
    assert_eq!(stopped["state"], "cancelled");
    let again = trial.post(&format!("{path}/cancel"), json!({})).await.expect(200);
    assert_eq!(again["state"], "cancelled");

    let neighbour = trial.neighbour().await;
    neighbour.get(&path).await.expect(404);
    neighbour.post(&format!("{path}/cancel"), json!({})).await.expect(404);
    let foreign = json!({ "eventIds": ids, "dryRun": true });
    let count = neighbour.post("/v1/events/replay", foreign).await.expect(200);
    assert_eq!(count["matched"], 0, "they are none of theirs");
}

#[tokio::test]
async fn an_order_that_makes_no_sense_is_refused_with_its_place() {
    let trial = Trial::new().await;
    let say = async |body: Value| {
        let said = trial.post("/v1/events/replay", body).await.expect(400);
        said["errors"][0]["pointer"].as_str().unwrap().to_owned()
    };
    let event = "evt_0000000000000000";
    assert_eq!(say(json!({})).await, "");
    assert_eq!(say(json!({ "eventIds": [event], "filter": {} })).await, "");
    assert_eq!(say(json!({ "eventIds": [] })).await, "/eventIds");
    assert_eq!(say(json!({ "filter": {}, "ratePerSecond": 0 })).await, "/ratePerSecond");
    let window = json!({ "from": "2025-12-31T00:00:00Z", "to": "2025-12-30T00:00:00Z" });
    assert_eq!(say(json!({ "filter": window })).await, "/filter/to");
    let source = json!({ "sourceId": "src_0000000000000000" });
    assert_eq!(say(json!({ "filter": source })).await, "/filter/sourceId");
    let unknown = json!({ "filter": {}, "connectionIds": ["conn_0000000000000000"] });
    assert_eq!(say(unknown).await, "/connectionIds/0");
    assert_eq!(say(json!({ "filter": { "state": "failed" } })).await, "/filter/state");
}
