use serde_json::{Value, json};

use crate::trial::Trial;

const URL: &str = "https://example.com/hook";

async fn source(trial: &Trial, body: Value) -> String {
    let source = trial.post("/v1/sources", body).await.expect(201);
    format!("/v1/sources/{}", source["sourceId"].as_str().unwrap())
}

async fn made(trial: &Trial) -> (String, Value) {
    let source = source(trial, json!({ "name": "shop", "eventType": "body.type" })).await;
    let body = json!({
        "name": "crm",
        "destinationUrl": URL,
        "headers": { "Authorization": "Bearer hidden" },
        "filters": [{ "path": "body.amount", "operator": "gte", "value": 100 }],
        "retryConfig": [0, 30],
        "eventTypes": ["order.*"],
        "ordering": { "key": "body.id", "policy": "skip", "skipAfter": 2 },
    });
    let made = trial.post(&format!("{source}/connections"), body).await.expect(201);
    (source, made)
}

fn path(connection: &Value) -> String {
    format!("/v1/connections/{}", connection["connectionId"].as_str().unwrap())
}

#[tokio::test]
async fn a_connection_is_made_changed_paused_and_deleted() {
    let trial = Trial::new().await;
    let (source, made) = made(&trial).await;
    let secret = made["signingSecret"].as_str().unwrap().to_owned();
    assert!(secret.starts_with("whsec_"));
    assert_eq!(made["headers"], json!({ "Authorization": "[redacted]" }));
    assert_eq!(made["destinationUrl"], URL);
    assert_eq!(made["retryConfig"], json!([0, 30]));
    assert_eq!(made["ordering"], json!({ "key": "body.id", "policy": "skip", "skipAfter": 2 }));

    let shown = trial.get(&path(&made)).await;
    assert!(!shown.text.contains(&secret) && !shown.text.contains("hidden"), "{}", shown.text);
    let tag = shown.headers["etag"].to_str().unwrap().to_owned();
    let list = trial.get(&format!("{source}/connections")).await.expect(200);
    assert_eq!(list["data"], json!([shown.json()]));

    let patch = json!({
        "name": "sales", "filters": null, "ordering": { "policy": "park", "skipAfter": null },
        "headers": { "X-Kind": "order" }
    });
    let changed = trial.call("PATCH", &path(&made), Some(patch), &[("if-match", &tag)]).await;
    let changed = changed.expect(200);
    assert_eq!((&changed["name"], &changed["filters"]), (&json!("sales"), &Value::Null));
    assert_eq!(changed["ordering"], json!({ "key": "body.id", "policy": "park" }));
    assert_eq!(changed["headers"].as_object().unwrap().len(), 2, "the other header stays");
    let id = made["connectionId"].as_str().unwrap().parse().unwrap();
    let stored = trial.app.store.connections().find(id).await.unwrap().unwrap();
    assert_eq!(stored.headers.find("authorization"), Some("Bearer hidden"));
    assert_eq!(stored.signing_secret.expose(), secret, "a patch leaves the secret alone");
    let late = trial.call("DELETE", &path(&made), None, &[("if-match", &tag)]).await;
    late.expect(412);

    let paused = trial.post(&format!("{}/pause", path(&made)), json!({})).await.expect(200);
    assert_eq!(paused["status"], "paused");
    let resumed = trial.post(&format!("{}/resume", path(&made)), json!({})).await.expect(200);
    assert_eq!(resumed["status"], "active");
    let rotated =
        trial.post(&format!("{}/rotate-secret", path(&made)), json!({})).await.expect(200);
    assert_ne!(rotated["signingSecret"], json!(secret));
    assert_eq!(rotated["previousValidUntil"], "2026-01-02T00:00:00.000Z");
    assert_eq!(trial.delete(&path(&made)).await.status, 204);
    trial.get(&path(&made)).await.expect(404);
    let list = trial.get(&format!("{source}/connections")).await.expect(200);
    assert_eq!(list["data"], json!([]));
}

/// From an inbox events are fetched, so that there is nothing to send, to sign or to pause.
#[tokio::test]
async fn a_connection_to_the_inbox_is_made_and_changed() {
    let trial = Trial::new().await;
    let source = source(&trial, json!({ "name": "shop" })).await;
    let body = json!({
        "name": "workers", "destinationType": "inbox", "destinationConfig": { "group": "billing" },
    });
    let made = trial.post(&format!("{source}/connections"), body).await.expect(201);
    assert_eq!(made["destinationType"], "inbox");
    assert_eq!(made["destinationConfig"], json!({ "group": "billing", "maxLeases": 5 }));
    assert_eq!(made.get("destinationUrl"), None);

    let patch = json!({ "name": "billing", "destinationConfig": { "maxLeases": 9 } });
    let changed = trial.patch(&path(&made), patch).await.expect(200);
    assert_eq!(changed["destinationConfig"], json!({ "group": "billing", "maxLeases": 9 }));
    let again = json!({ "destinationConfig": { "maxLeases": 9 } });
    assert_eq!(trial.patch(&path(&made), again).await.expect(200), changed);

    let other =
        json!({ "destinationType": null, "destinationConfig": null, "destinationUrl": URL });
    let refused = [
        ("PATCH", path(&made), other, "/destinationType"),
        ("PATCH", path(&made), json!({ "destinationUrl": URL }), "/destinationUrl"),
        ("PATCH", path(&made), json!({ "status": "paused" }), "/status"),
        ("POST", format!("{}/pause", path(&made)), json!({}), ""),
        ("POST", format!("{}/rotate-secret", path(&made)), json!({}), "/signingSecret"),
        ("POST", format!("{}/test", path(&made)), json!({ "deliver": true }), "/deliver"),
    ];
    for (method, path, body, pointer) in refused {
        let said = trial.call(method, &path, Some(body), &[]).await.expect(400);
        assert_eq!(said["errors"][0]["pointer"], pointer, "{method} {path}: {said:#}");
    }
    assert_eq!(trial.get(&path(&made)).await.expect(200), changed, "nothing of it has happened");
    assert_eq!(trial.delete(&path(&made)).await.status, 204);
}

#[tokio::test]
async fn mistakes_are_told_in_the_words_of_the_api() {
    let trial = Trial::new().await;
    let plain = source(&trial, json!({ "name": "plain" })).await;
    let say = async |body: Value| {
        let said = trial.post(&format!("{plain}/connections"), body).await.expect(400);
        let errors = said["errors"].as_array().unwrap().clone();
        errors.iter().map(|e| e["pointer"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(say(json!({ "url": URL })).await, ["/url", "/name", "/destinationUrl"]);
    let private = json!({ "name": "a", "destinationUrl": "http://10.0.0.1/" });
    assert_eq!(say(private).await, ["/destinationUrl"]);
    let headers = json!({ "name": "a", "destinationUrl": URL, "headers": { "a/b": "c" } });
    assert_eq!(say(headers).await, ["/headers/a~1b"]);
    let types = json!({ "name": "a", "destinationUrl": URL, "eventTypes": ["order.*"] });
    assert_eq!(say(types).await, ["/eventTypes"]);
    let rules = json!({
        "name": "a", "destinationUrl": URL, "retryConfig": { "jitter": 1 },
        "transform": { "type": "magic" }, "filters": [{}], "timeoutMs": 1
    });
    let said = say(rules).await;
    assert_eq!(said, ["/filters", "/transform", "/retryConfig", "/timeoutMs"]);
}

/// Connections that list types would starve.
#[tokio::test]
async fn a_source_keeps_the_types_that_its_connections_ask_for() {
    let trial = Trial::new().await;
    let (source, made) = made(&trial).await;
    let said = trial.patch(&source, json!({ "eventType": null })).await.expect(400);
    assert_eq!(said["errors"][0]["pointer"], "/eventType");
    trial.patch(&path(&made), json!({ "eventTypes": null })).await.expect(200);
    trial.patch(&source, json!({ "eventType": null })).await.expect(200);
}

#[tokio::test]
async fn a_source_has_only_so_many_connections() {
    let trial = Trial::new().await;
    let source = source(&trial, json!({ "name": "wide" })).await;
    let most = ferryhook_core::limits::CONNECTIONS_PER_SOURCE_MAX;
    for n in 0..most {
        let body = json!({ "name": n.to_string(), "destinationUrl": URL });
        trial.post(&format!("{source}/connections"), body).await.expect(201);
    }
    let body = json!({ "name": "one too many", "destinationUrl": URL });
    trial.post(&format!("{source}/connections"), body).await.expect(409);
    // They all go with it, in one commit with its line in the log.
    assert_eq!(trial.delete(&source).await.status, 204);
}

#[tokio::test]
async fn a_foreign_connection_is_a_missing_one() {
    let trial = Trial::new().await;
    let neighbour = trial.neighbour().await;
    let (_, made) = made(&trial).await;
    for (method, under) in [
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "/pause"),
        ("POST", "/resume"),
        ("POST", "/rotate-secret"),
        ("POST", "/test"),
        ("POST", "/what-if"),
    ] {
        let body = match (method, under) {
            ("GET" | "DELETE", _) => None,
            (_, "/what-if") => Some(json!({ "rules": {} })),
            _ => Some(json!({})),
        };
        let foreign = format!("{}{under}", path(&made));
        let foreign = neighbour.call(method, &foreign, body.clone(), &[]).await;
        let missing = format!("/v1/connections/conn_0000000000000000{under}");
        let missing = neighbour.call(method, &missing, body, &[]).await;
        assert_eq!(foreign.status, 404, "{method} {under}: {}", foreign.text);
        assert_eq!(foreign.json()["detail"], missing.json()["detail"]);
    }
}

/// Without a data plane there is an answer too.
#[tokio::test]
async fn an_api_on_its_own_says_so() {
    let trial = Trial::new().await;
    let (_, made) = made(&trial).await;
    let said = trial.post(&format!("{}/test", path(&made)), json!({})).await.expect(503);
    assert_eq!(said["code"], "UNAVAILABLE");
    let rules = json!({ "rules": { "filters": [{}] } });
    let said = trial.post(&format!("{}/what-if", path(&made)), rules).await.expect(400);
    assert_eq!(said["errors"][0]["pointer"], "/rules/filters");
    let nothing = json!({ "rules": {}, "last": 5 });
    let tried = trial.post(&format!("{}/what-if", path(&made)), nothing).await.expect(200);
    assert_eq!(tried["lookedAt"], 0);
}

#[tokio::test]
async fn a_viewer_only_looks() {
    let trial = Trial::new().await;
    let (_, made) = made(&trial).await;
    let key = trial.new_key(ferryhook_core::key::Permissions::Read).await;
    let bearer = format!("Bearer {key}");
    let headers = [("authorization", bearer.as_str())];
    trial.call("GET", &path(&made), None, &headers).await.expect(200);
    let pause = format!("{}/pause", path(&made));
    trial.call("POST", &pause, Some(json!({})), &headers).await.expect(403);
}

#[tokio::test]
async fn what_a_destination_is_shown_is_changed_and_its_secrets_stay_hidden() {
    let trial = Trial::new().await;
    let (_, made) = made(&trial).await;
    let basic = json!({ "headers": null, "auth": { "type": "basic", "username": "u", "password": "pw-1" } });
    let shown = trial.patch(&path(&made), basic).await;
    assert!(!shown.text.contains("pw-1"), "{}", shown.text);
    assert_eq!(shown.expect(200)["auth"], json!({ "type": "basic", "username": "u" }));
    // What is not named stays.
    trial.patch(&path(&made), json!({ "auth": { "username": "v" } })).await.expect(200);
    let id = made["connectionId"].as_str().unwrap().parse().unwrap();
    let stored = trial.app.store.connections().find(id).await.unwrap().unwrap();
    assert!(stored.auth.as_ref().unwrap().expose().contains("pw-1"));
    // Another type begins anew.
    let bearer = json!({ "auth": { "type": "bearer", "token": "t-1" } });
    let shown = trial.patch(&path(&made), bearer).await.expect(200);
    assert_eq!(shown["auth"], json!({ "type": "bearer" }));
    let wrong = json!({ "auth": { "type": "oauth2", "tokenUrl": "http://10.0.0.1/" } });
    trial.patch(&path(&made), wrong).await.expect(400);
    let none = trial.patch(&path(&made), json!({ "auth": null })).await.expect(200);
    assert_eq!(none["auth"], Value::Null);
}

/// A line of the audit log has its bounds too; it says that something large has changed, not what.
#[tokio::test]
async fn what_is_large_or_deep_is_stored_or_refused_and_never_fails() {
    let trial = Trial::new().await;
    let (source, made) = made(&trial).await;
    for letter in ["a", "b"] {
        let code = format!("function transform(p) {{ return p; }} // {}", letter.repeat(100_000));
        let patch = json!({ "transform": { "type": "javascript", "code": code } });
        trial.patch(&path(&made), patch).await.expect(200);
    }
    let slice = ferryhook_store::Slice::newest_first();
    let log = trial.app.store.activities().list_by_account(trial.account.id, slice).await.unwrap();
    let changes = log.rows.iter().filter(|row| row.event_type == "connection_updated");
    let told: Vec<_> = changes.map(|row| json!(row.details)).collect();
    assert_eq!(told.len(), 2);
    assert!(told.iter().all(|details| {
        let after = details["after"]["transform"].as_str().unwrap();
        after.contains("sha256") && details["before"]["transform"] != details["after"]["transform"]
    }));
    let deep = |levels: usize| {
        let text = format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
        serde_json::from_str::<Value>(&text).unwrap()
    };
    trial.patch(&source, json!({ "config": deep(20) })).await.expect(200);
    trial.patch(&source, json!({ "config": deep(60) })).await.expect(400);
}

/// What leaves for the outside is written down, before it does.
#[tokio::test]
async fn a_test_that_is_sent_is_in_the_log() {
    let trial = Trial::new().await;
    let (_, made) = made(&trial).await;
    let path = format!("{}/test", path(&made));
    let tested = async || {
        let log = trial.get("/v1/activities").await.expect(200);
        let lines = log["data"].as_array().unwrap().clone();
        lines
            .into_iter()
            .filter(|line| line["eventType"] == "connection_tested")
            .collect::<Vec<_>>()
    };
    // Nobody here delivers.
    trial.post(&path, json!({})).await.expect(503);
    assert!(tested().await.is_empty());
    trial.post(&path, json!({ "deliver": true })).await.expect(503);
    let lines = tested().await;
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["resourceId"], made["connectionId"]);
}
