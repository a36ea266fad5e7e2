use ferryhook_store::batch::Patch;
use ferryhook_store::{Batch, Durability, Engine, Key, Kind, Table};
use serde_json::json;

use crate::trial::{self, Trial};

#[tokio::test]
async fn a_log_that_nobody_touched_is_intact() {
    let trial = Trial::new().await;
    for name in ["a", "b", "c"] {
        trial.post("/v1/sources", json!({ "name": name })).await.expect(201);
    }
    let said = trial.get("/v1/activities/verify").await.expect(200);
    assert_eq!(said["isIntact"], true, "{said}");
    assert_eq!((&said["lines"], &said["before"]), (&json!(3), &json!(0)));
    let lines = trial.get("/v1/activities?order=asc").await.expect(200);
    let numbers: Vec<_> =
        lines["data"].as_array().unwrap().iter().map(|line| line["lineNumber"].clone()).collect();
    assert_eq!(numbers, [1, 2, 3]);
    assert_eq!(lines["data"][2]["hash"], said["lastHash"]);
    let from = lines["data"][1]["activityId"].as_str().unwrap();
    let rest = trial.get(&format!("/v1/activities/verify?after={from}")).await.expect(200);
    assert_eq!((&rest["isIntact"], &rest["lines"]), (&json!(true), &json!(1)));
    trial.get("/v1/activities/verify?after=act_0000000000000000").await.expect(400);
    trial.get("/v1/activities/verify?after=nonsense").await.expect(400);
}

#[tokio::test]
async fn a_line_that_was_changed_is_told() {
    let (app, engine) = trial::app_on_memory();
    let trial = Trial::over(app).await;
    for name in ["a", "b"] {
        trial.post("/v1/sources", json!({ "name": name })).await.expect(201);
    }
    let lines = trial.get("/v1/activities?order=asc").await.expect(200);
    let id = lines["data"][0]["activityId"].as_str().unwrap();
    let key = Key::new(Table::Activities, trial.account.id.as_str(), id);
    let patch = Patch::of(Kind::Activity, key).set("ipAddress", "198.51.100.1");
    engine.commit(Batch::new().patch(patch), Durability::Synced).await.unwrap();
    let said = trial.get("/v1/activities/verify").await.expect(200);
    assert_eq!(said["isIntact"], false);
    assert_eq!(said["faults"][0]["kind"], "changed");
    assert_eq!(said["faults"][0]["activityId"], id);
    assert_eq!(said["faults"][0]["line"], 1);
}
