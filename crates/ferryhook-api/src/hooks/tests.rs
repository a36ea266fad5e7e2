use ferryhook_core::limits;
use serde_json::json;

use crate::events;
use crate::trial::Trial;

async fn made(trial: &Trial) -> serde_json::Value {
    let body = json!({"url": "https://example.com/in", "events": ["delivery.*", "order.*"],
        "headers": {"x-team": "ops"}, "retryPolicy": {"schedule": [0, 5]}});
    trial.post("/v1/hooks", body).await.expect(201)
}

#[tokio::test]
async fn a_hook_is_made_shown_changed_and_deleted() {
    let trial = Trial::new().await;
    let hook = made(&trial).await;
    let path = format!("/v1/hooks/{}", hook["hookId"].as_str().unwrap());
    assert!(hook["secret"].as_str().unwrap().starts_with("whsec_"));
    let shown = trial.get(&path).await.expect(200);
    assert_eq!(shown["secret"], json!(null));
    assert_eq!(shown["headers"]["x-team"], "[redacted]");
    assert_eq!(trial.get("/v1/hooks").await.expect(200)["data"][0]["hookId"], hook["hookId"]);

    let off = trial.patch(&path, json!({"isActive": false, "events": ["*"]})).await.expect(200);
    assert_eq!((&off["isActive"], &off["events"]), (&json!(false), &json!(["*"])));
    let same = trial.patch(&path, json!({"headers": {"x-team": "[redacted]"}})).await;
    same.expect(200);
    let id = hook["hookId"].as_str().unwrap().parse().unwrap();
    let stored = trial.app.store.hooks().find(id).await.unwrap().unwrap();
    assert_eq!(stored.headers.as_ref().unwrap()["x-team"], "ops");

    let rotated = trial.call("POST", &format!("{path}/rotate-secret"), None, &[]).await.expect(200);
    assert_ne!(rotated["signingSecret"], hook["secret"]);
    let stored = trial.app.store.hooks().find(id).await.unwrap().unwrap();
    assert_eq!(stored.previous_secrets[0].secret.expose(), hook["secret"].as_str().unwrap());

    trial.delete(&path).await.expect(204);
    trial.get(&path).await.expect(404);
    let lines = trial.get("/v1/activities?order=asc").await.expect(200);
    let types: Vec<_> =
        lines["data"].as_array().unwrap().iter().map(|line| line["eventType"].clone()).collect();
    let expected = ["hook_created", "hook_updated", "hook_secret_rotated", "hook_deleted"];
    assert_eq!(types, expected);
    assert!(!lines.to_string().contains("whsec_"), "no secret is in the log");
}

#[tokio::test]
async fn a_tag_that_is_old_is_refused() {
    let trial = Trial::new().await;
    let hook = made(&trial).await;
    let path = format!("/v1/hooks/{}", hook["hookId"].as_str().unwrap());
    let tag = trial.get(&path).await.headers["etag"].to_str().unwrap().to_owned();
    let change = async |url: &str| {
        let headers = [("if-match", tag.as_str())];
        trial.call("PATCH", &path, Some(json!({ "url": url })), &headers).await
    };
    change("https://example.com/one").await.expect(200);
    change("https://example.com/two").await.expect(412);
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_with_its_place() {
    let trial = Trial::new().await;
    for (body, pointer) in [
        (json!({"url": "ftp://example.com", "events": ["*"]}), "/url"),
        (json!({"url": "http://127.0.0.1/", "events": ["*"]}), "/url"),
        (json!({"url": "https://example.com", "events": []}), "/events"),
        (json!({"url": "https://example.com", "events": [""]}), "/events"),
        (
            json!({"url": "https://example.com", "events": ["*"], "headers": {"host": "a"}}),
            "/headers/host",
        ),
        (
            json!({"url": "https://example.com", "events": ["*"], "retryPolicy": {"schedule": []}}),
            "/retryPolicy",
        ),
        (json!({"url": "https://example.com", "events": ["*"], "colour": 1}), "/colour"),
    ] {
        let said = trial.post("/v1/hooks", body).await.expect(400);
        assert_eq!(said["errors"][0]["pointer"], pointer);
    }
    assert_eq!(trial.get("/v1/hooks").await.expect(200)["data"], json!([]));
}

#[tokio::test]
async fn a_plan_says_how_many_there_may_be() {
    let trial = Trial::new().await;
    let plan = ferryhook_core::Plan {
        limits: ferryhook_core::plan::Limits { webhooks: Some(2), ..Default::default() },
        ..ferryhook_core::samples::plan()
    };
    trial.app.store.plans().seed(&[plan]).await.unwrap();
    for _ in 0..2 {
        made(&trial).await;
    }
    let body = json!({"url": "https://example.com/", "events": ["*"]});
    let said = trial.post("/v1/hooks", body.clone()).await.expect(403);
    assert_eq!(said["code"], "PLAN_LIMIT_REACHED");
    // Without a plan there is still an end.
    let neighbour = trial.neighbour().await;
    let was = neighbour.app.store.users().find(neighbour.user.id).await.unwrap().unwrap();
    let free = ferryhook_core::User { plan: "none".to_owned(), ..was.record.clone() };
    neighbour.app.store.users().replace(&was, free).await.unwrap();
    for _ in 0..limits::HOOKS_PER_ACCOUNT_MAX {
        neighbour.post("/v1/hooks", body.clone()).await.expect(201);
    }
    neighbour.post("/v1/hooks", body).await.expect(403);
}

#[tokio::test]
async fn samples_are_real_where_there_are_some() {
    let trial = Trial::new().await;
    let ask = async |event: &str| {
        trial.get(&format!("/v1/hooks/samples?event={event}")).await.expect(200)["data"].clone()
    };
    let failed = ask("delivery.failed").await;
    assert_eq!(failed[0]["body"]["type"], "delivery.failed");
    assert_eq!(failed[0]["body"]["data"]["connectionName"], "Orders");
    assert_eq!(ask("order.paid").await[0]["body"]["type"], "order.paid");
    let source = trial.post("/v1/sources", json!({"name": "shop"})).await.expect(201);
    let id = source["sourceId"].as_str().unwrap().parse().unwrap();
    let source = trial.app.store.sources().find(id).await.unwrap().unwrap();
    let event = events::tests::arrived(&trial, &source, 1, |event| {
        event.event_type = Some("order.paid".to_owned());
        event.body = r#"{"order":7}"#.into();
    })
    .await;
    for pattern in ["order.paid", "order.*"] {
        let real = ask(pattern).await;
        assert_eq!(real[0]["eventId"], event.id.to_string());
        assert_eq!(real[0]["body"]["order"], 7);
    }
    trial.get("/v1/hooks/samples").await.expect(400);
    trial.get("/v1/hooks/samples?event=").await.expect(400);
}
