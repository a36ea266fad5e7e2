use serde_json::{Value, json};

use crate::trial::Trial;

async fn made(trial: &Trial, body: Value) -> Value {
    trial.post("/v1/sources", body).await.expect(201)
}

fn path(source: &Value) -> String {
    format!("/v1/sources/{}", source["sourceId"].as_str().unwrap())
}

async fn activities(trial: &Trial) -> Vec<String> {
    let store = &trial.app.store;
    let slice = ferryhook_store::Slice::oldest_first();
    let page = store.activities().list_by_account(trial.account.id, slice).await.unwrap();
    // They all happened in one millisecond, which has no order.
    let mut words: Vec<_> = page.rows.into_iter().map(|row| row.record.event_type).collect();
    words.sort();
    words
}

#[tokio::test]
async fn a_source_is_made_changed_paused_resumed_and_deleted() {
    let trial = Trial::new().await;
    let body = json!({
        "name": "Shop", "provider": "github", "signingSecret": "s3cret",
        "customResponse": { "status": 202, "body": "thanks" }
    });
    let headers = [("host", "hooks.example.com")];
    let said = trial.call("POST", "/v1/sources", Some(body), &headers).await;
    let text = said.text.clone();
    let source = said.expect(201);
    assert!(!text.contains("s3cret"), "{text}");
    let id = source["sourceId"].as_str().unwrap();
    assert_eq!(source["ingestUrl"], format!("http://hooks.example.com/in/{id}"));
    assert_eq!(source["hasSigningSecret"], true);
    assert_eq!(source["status"], "active");
    assert_eq!(source["customResponse"]["contentType"], "text/plain; charset=utf-8");

    let shown = trial.get(&path(&source)).await;
    let tag = shown.headers["etag"].to_str().unwrap().to_owned();
    assert_eq!(shown.expect(200)["name"], "Shop");
    let again = trial.call("GET", &path(&source), None, &[("if-none-match", &tag)]).await;
    assert_eq!(again.status, 304);

    let patch = json!({ "name": "Store", "customResponse": null });
    let changed = trial.call("PATCH", &path(&source), Some(patch), &[("if-match", &tag)]).await;
    let changed = changed.expect(200);
    assert_eq!((&changed["name"], &changed["customResponse"]), (&json!("Store"), &Value::Null));
    assert_eq!(changed["hasSigningSecret"], true, "what is not named stays");
    let late = json!({ "name": "Late" });
    let late = trial.call("PATCH", &path(&source), Some(late), &[("if-match", &tag)]).await;
    assert_eq!(late.expect(412)["code"], "PRECONDITION_FAILED");

    let paused = trial.post(&format!("{}/pause", path(&source)), json!({})).await.expect(200);
    assert_eq!(paused["status"], "paused");
    let same = trial.post(&format!("{}/pause", path(&source)), json!({})).await.expect(200);
    assert_eq!(same["updatedAt"], paused["updatedAt"]);
    let resumed = trial.post(&format!("{}/resume", path(&source)), json!({})).await.expect(200);
    assert_eq!(resumed["status"], "active");

    assert_eq!(trial.delete(&path(&source)).await.status, 204);
    trial.get(&path(&source)).await.expect(404);
    trial.delete(&path(&source)).await.expect(404);
    assert_eq!(trial.get("/v1/sources").await.expect(200)["data"], json!([]));
    let expected =
        ["source_created", "source_deleted", "source_paused", "source_resumed", "source_updated"];
    assert_eq!(activities(&trial).await, expected);
}

#[tokio::test]
async fn every_mistake_is_told_with_its_place() {
    let trial = Trial::new().await;
    let body = json!({
        "nmae": "x", "status": "off", "bodyBytesMax": 0, "dedup": "order.id",
        "customResponse": { "status": 404 }, "config": [],
    });
    let said = trial.post("/v1/sources", body).await.expect(400);
    assert_eq!(said["code"], "VALIDATION_ERROR");
    let errors = said["errors"].as_array().unwrap();
    let mut pointers: Vec<_> = errors.iter().map(|e| e["pointer"].as_str().unwrap()).collect();
    pointers.sort_unstable();
    let expected = [
        "/bodyBytesMax",
        "/config",
        "/customResponse/status",
        "/dedup",
        "/name",
        "/nmae",
        "/status",
    ];
    assert_eq!(pointers, expected, "{said:#}");
    let nested = json!({ "name": "a", "connections": [] });
    let said = trial.post("/v1/sources", nested).await.expect(400);
    assert_eq!(said["errors"][0]["pointer"], "/connections");
    // A reference to somebody's environment is no secret here.
    let reference = json!({ "name": "a", "signingSecret": { "$secret": "env:HOME" } });
    trial.post("/v1/sources", reference).await.expect(400);
    trial.post("/v1/sources", json!([])).await.expect(400);
}

#[tokio::test]
async fn a_new_secret_is_shown_once_and_the_old_one_counts_for_a_day() {
    let trial = Trial::new().await;
    let body = json!({ "name": "a", "provider": "github", "signingSecret": "old" });
    let source = made(&trial, body).await;
    let rotate = format!("{}/rotate-secret", path(&source));
    let made_up = trial.call("POST", &rotate, None, &[]).await.expect(200);
    assert!(made_up["signingSecret"].as_str().unwrap().starts_with("whsec_"));
    assert_eq!(made_up["previousValidUntil"], "2026-01-02T00:00:00.000Z");
    let given = trial.post(&rotate, json!({ "signingSecret": "given" })).await.expect(200);
    assert_eq!(given["signingSecret"], "given");
    let id = source["sourceId"].as_str().unwrap().parse().unwrap();
    let stored = trial.app.store.sources().find(id).await.unwrap().unwrap();
    assert_eq!(stored.signing_secret.as_ref().unwrap().expose(), "given");
    let old: Vec<_> = stored.previous_secrets.iter().map(|one| one.secret.expose()).collect();
    assert_eq!(old.last(), Some(&"old"));
    let shown = trial.get(&path(&source)).await.text;
    assert!(!shown.contains("given") && shown.contains("previousSecretValidUntil"), "{shown}");
}

#[tokio::test]
async fn lists_are_filtered_and_paged() {
    let trial = Trial::new().await;
    for (name, provider) in [("a", "github"), ("b", "stripe"), ("c", "github")] {
        made(&trial, json!({ "name": name, "provider": provider })).await;
    }
    let names = |page: &Value| -> Vec<String> {
        let data = page["data"].as_array().unwrap().iter();
        let mut names: Vec<_> = data.map(|one| one["name"].as_str().unwrap().to_owned()).collect();
        names.sort_unstable();
        names
    };
    let github = trial.get("/v1/sources?provider=github").await.expect(200);
    assert_eq!(names(&github), ["a", "c"]);
    assert_eq!(names(&trial.get("/v1/sources?status=paused").await.expect(200)), [""; 0]);
    let first = trial.get("/v1/sources?limit=2").await;
    assert!(first.headers.contains_key("link"));
    let first = first.expect(200);
    assert_eq!((first["data"].as_array().unwrap().len(), &first["hasMore"]), (2, &json!(true)));
    let cursor = first["cursor"].as_str().unwrap();
    let rest = trial.get(&format!("/v1/sources?limit=2&cursor={cursor}")).await.expect(200);
    assert_eq!(rest["data"].as_array().unwrap().len(), 1);
    // A cursor counts for its own list.
    let other = format!("/v1/sources?provider=github&cursor={cursor}");
    trial.get(&other).await.expect(400);
    let neighbour = trial.neighbour().await;
    neighbour.get(&format!("/v1/sources?limit=2&cursor={cursor}")).await.expect(400);
    for query in ["limit=0", "limit=101", "limit=x", "nothing=1", "status=deleted"] {
        trial.get(&format!("/v1/sources?{query}")).await.expect(400);
    }
}

/// What is somebody else's is as missing as what is not there.
#[tokio::test]
async fn a_foreign_source_is_a_missing_one() {
    let trial = Trial::new().await;
    let neighbour = trial.neighbour().await;
    let source = made(&trial, json!({ "name": "a" })).await;
    let foreign = path(&source);
    let missing = "/v1/sources/src_0000000000000000";
    for (method, under) in [
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "/pause"),
        ("POST", "/resume"),
        ("POST", "/rotate-secret"),
        ("GET", "/connections"),
        ("POST", "/connections"),
        ("GET", "/events"),
        ("GET", "/rejections"),
        ("GET", "/rejections/rej_0000000000000000"),
        ("POST", "/rejections/readmit"),
    ] {
        let body = (method != "GET" && method != "DELETE").then(|| json!({}));
        let foreign = neighbour.call(method, &format!("{foreign}{under}"), body.clone(), &[]).await;
        let missing = neighbour.call(method, &format!("{missing}{under}"), body, &[]).await;
        assert_eq!(foreign.status, 404, "{method} {under}: {}", foreign.text);
        let without_id = |mut said: Value| {
            said.as_object_mut().unwrap().remove("requestId");
            said
        };
        assert_eq!(without_id(foreign.json()), without_id(missing.json()), "{method} {under}");
    }
    assert_eq!(neighbour.get("/v1/sources").await.expect(200)["data"], json!([]));
    assert_eq!(neighbour.get("/v1/sources/what").await.status, 404);
    trial.get(&foreign).await.expect(200);
}

#[tokio::test]
async fn a_plan_may_have_room_for_so_many() {
    let trial = Trial::new().await;
    let plans = ferryhook_core::plan::seeded(trial.app.env.now());
    trial.app.store.plans().seed(&plans).await.unwrap();
    let plan = plans.iter().find(|plan| plan.id == trial.user.plan).unwrap();
    let Some(most) = plan.limits.sources else { panic!("{} has no limit", plan.id) };
    let make = |n: u32| {
        let trial = &trial;
        async move { trial.post("/v1/sources", json!({ "name": n.to_string() })).await }
    };
    for n in 1..most {
        make(n).await.expect(201);
    }
    // Two who come at once do not both get the last place.
    let both = futures_util::join!(make(most), make(most + 1));
    let mut statuses = [both.0.status.as_u16(), both.1.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 403]);
    assert_eq!(make(0).await.expect(403)["code"], "PLAN_LIMIT_REACHED");
}

#[tokio::test]
async fn settings_that_hold_secrets_are_redacted_and_kept() {
    let trial = Trial::new().await;
    let body = json!({
        "name": "a", "provider": "custom", "signingSecret": "s",
        "config": { "type": "basic", "username": "u", "password": "hidden" }
    });
    let source = made(&trial, body).await;
    assert_eq!(source["config"]["password"], "[redacted]");
    let patch = json!({ "config": { "password": "[redacted]", "username": "v" } });
    let changed = trial.patch(&path(&source), patch).await.expect(200);
    assert_eq!(changed["config"]["username"], "v");
    let id = source["sourceId"].as_str().unwrap().parse().unwrap();
    let stored = trial.app.store.sources().find(id).await.unwrap().unwrap();
    assert_eq!(stored.config["password"], "hidden");
}
