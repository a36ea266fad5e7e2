use std::time::Duration;

use ferryhook_core::key::Permissions;
use ferryhook_core::member::{self, Role};
use ferryhook_core::{Env, Map, Member, User, user};
use ferryhook_store::Store;
use ferryhook_store::engine::memory::Memory;
use serde_json::{Value, json};

use crate::trial::{self, Said, Trial};

impl Trial {
    /// Calls with this key.
    async fn with(&self, key: &str, method: &str, path: &str, body: Option<Value>) -> Said {
        let bearer = format!("Bearer {key}");
        self.call(method, path, body, &[("authorization", &bearer)]).await
    }

    /// Makes a key with the caller's own; gives back its id and itself.
    async fn makes(&self, body: Value) -> (String, String) {
        let made = self.post("/v1/api-keys", body).await.expect(201);
        let text = |name: &str| made[name].as_str().unwrap().to_owned();
        (text("keyId"), text("key"))
    }

    async fn works(&self, key: &str) -> u16 {
        self.with(key, "GET", "/v1/whoami", None).await.status.as_u16()
    }
}

#[tokio::test]
async fn a_key_is_shown_once_and_works() {
    let trial = Trial::new().await;
    let said = trial.post("/v1/api-keys", json!({"name": " CI ", "permissions": "write"})).await;
    let made = said.expect(201);
    let key = made["key"].as_str().unwrap();
    assert!(key.starts_with("fh_live_") && key.len() == 46, "{key}");
    assert_eq!(made["keyPrefix"], key[..12]);
    assert_eq!((&made["name"], &made["status"]), (&json!("CI"), &json!("active")));
    assert_eq!(trial.works(key).await, 200);

    let path = format!("/v1/api-keys/{}", made["keyId"].as_str().unwrap());
    for said in [trial.get(&path).await, trial.get("/v1/api-keys").await] {
        assert!(!said.text.contains(key), "{}", said.text);
        assert!(said.text.contains(&key[..12]));
    }
    let activities = trial.get("/v1/activities").await;
    assert!(activities.text.contains("api_key_created"), "{}", activities.text);
    assert!(!activities.text.contains(key));
}

#[tokio::test]
async fn a_revoked_key_works_no_more() {
    let trial = Trial::new().await;
    let (id, key) = trial.makes(json!({"name": "a", "permissions": "read"})).await;
    let path = format!("/v1/api-keys/{id}");
    trial.delete(&path).await.expect(204);
    assert_eq!(trial.works(&key).await, 401);
    trial.delete(&path).await.expect(204);
    assert_eq!(trial.get(&path).await.expect(200)["status"], "revoked");
    trial.patch(&path, json!({"name": "b"})).await.expect(409);
    // A key can revoke itself; after that it is nobody.
    let (id, key) = trial.makes(json!({"name": "a", "permissions": "admin"})).await;
    let path = format!("/v1/api-keys/{id}");
    trial.with(&key, "DELETE", &path, None).await.expect(204);
    trial.with(&key, "DELETE", &path, None).await.expect(401);
}

#[tokio::test]
async fn a_key_does_the_operations_it_lists() {
    let trial = Trial::new().await;
    let operations = json!(["apiKeys.*", "whoami"]);
    let body = json!({"name": "a", "permissions": "admin", "operations": operations});
    let (id, key) = trial.makes(body).await;
    assert_eq!(trial.works(&key).await, 200);
    let said = trial.with(&key, "GET", "/v1/sources", None).await.expect(403);
    assert!(said["detail"].as_str().unwrap().contains("operations of the key"), "{said}");
    let path = format!("/v1/api-keys/{id}");
    trial.patch(&path, json!({"operations": ["sources.list"]})).await.expect(200);
    trial.with(&key, "GET", "/v1/sources", None).await.expect(200);
    assert_eq!(trial.works(&key).await, 403);
    for wrong in [json!([]), json!(["sources.fly"]), json!(["*"]), json!(["sources"])] {
        let body = json!({"name": "a", "permissions": "read", "operations": wrong});
        trial.post("/v1/api-keys", body).await.expect(400);
    }
}

/// Neither in what it may do, nor in how much of that, nor in how long.
#[tokio::test]
async fn a_key_never_makes_one_above_itself() {
    let trial = Trial::new().await;
    let end = "2026-02-01T00:00:00.000Z";
    let operations = json!(["apiKeys.*", "sources.list"]);
    let (_, key) = trial
        .makes(json!({"name": "a", "permissions": "admin", "operations": operations, "expiresAt": end}))
        .await;
    let try_to = async |body: Value| {
        trial.with(&key, "POST", "/v1/api-keys", Some(body)).await.status.as_u16()
    };
    let new = |permissions: &str, operations: Value, end: Value| json!({"name": "b", "permissions": permissions, "operations": operations, "expiresAt": end});
    let later = json!("2026-02-01T00:00:01.000Z");
    assert_eq!(try_to(new("read", json!(["sources.list"]), json!(end))).await, 201);
    assert_eq!(try_to(new("read", json!(["sources.*"]), json!(end))).await, 403);
    assert_eq!(try_to(new("read", json!(null), json!(end))).await, 403);
    assert_eq!(try_to(new("read", json!(["sources.list"]), later)).await, 403);
    assert_eq!(try_to(new("read", json!(["sources.list"]), json!(null))).await, 403);
    for scope in ["read", "write"] {
        let (_, low) = trial.makes(json!({"name": "low", "permissions": scope})).await;
        let body = json!({"name": "b", "permissions": "read"});
        trial.with(&low, "POST", "/v1/api-keys", Some(body)).await.expect(403);
    }
}

/// A manager's keys cannot what the manager cannot, whatever they say.
#[tokio::test]
async fn a_key_has_no_more_than_its_maker() {
    let trial = Trial::new().await;
    let manager = trial.colleague(Role::Manager).await;
    let above = json!({"name": "a", "permissions": "admin"});
    manager.post("/v1/api-keys", above).await.expect(403);
    // Its own key says admin, and comes to manager.
    assert_eq!(manager.get("/v1/whoami").await.expect(200)["role"], "manager");
    let (_, key) = manager.makes(json!({"name": "a", "permissions": "write"})).await;
    let make = json!({"name": "source"});
    trial.with(&key, "POST", "/v1/sources", Some(make.clone())).await.expect(201);

    let path = format!("/v1/accounts/{}/members/{}", trial.account.id, manager.user.id);
    trial.patch(&path, json!({"role": "viewer"})).await.expect(200);
    trial.with(&key, "POST", "/v1/sources", Some(make)).await.expect(403);
    trial.with(&key, "GET", "/v1/sources", None).await.expect(200);
}

#[tokio::test]
async fn the_keys_of_one_who_is_gone_are_closed() {
    let trial = Trial::new().await;
    let path = |who: &Trial| format!("/v1/accounts/{}/members/{}", trial.account.id, who.user.id);

    let removed = trial.colleague(Role::Member).await;
    assert_eq!(trial.works(&removed.key).await, 200);
    trial.delete(&path(&removed)).await.expect(204);
    assert_eq!(trial.works(&removed.key).await, 403);

    let suspended = trial.colleague(Role::Member).await;
    trial.patch(&path(&suspended), json!({"status": "suspended"})).await.expect(200);
    assert_eq!(trial.works(&suspended.key).await, 403);
    trial.patch(&path(&suspended), json!({"status": "active"})).await.expect(200);
    assert_eq!(trial.works(&suspended.key).await, 200);

    let was = trial.app.store.users().find(suspended.user.id).await.unwrap().unwrap();
    let now = User { status: user::Status::Suspended, ..was.record.clone() };
    trial.app.store.users().replace(&was, now).await.unwrap();
    assert_eq!(trial.works(&suspended.key).await, 401);
}

/// Also where its maker is at home in the other account.
#[tokio::test]
async fn a_key_stays_in_its_account() {
    let (trial, other) = {
        let trial = Trial::new().await;
        let other = trial.neighbour().await;
        (trial, other)
    };
    let place = Member {
        user_id: trial.user.id,
        account_id: other.account.id,
        role: Role::Admin,
        permissions: Map::new(),
        is_default: false,
        joined_at: trial.app.env.now(),
        invited_by: None,
        status: member::Status::Active,
    };
    trial.app.store.members().add(&place).await.unwrap();
    let there = other.account.id.to_string();
    let headers = [("x-ferryhook-account", there.as_str())];
    trial.call("GET", "/v1/whoami", None, &headers).await.expect(403);
    trial.get(&format!("/v1/accounts/{there}")).await.expect(404);
}

#[tokio::test]
async fn a_key_ends_when_it_says_and_is_noted_when_it_is_used() {
    let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
    let store = Store::new(std::sync::Arc::new(Memory::new(env.clone())), env.clone());
    let trial = Trial::over(crate::App { store, env, ..trial::app() }).await;
    let end = "2026-01-01T00:05:00.000Z";
    let (id, key) =
        trial.makes(json!({"name": "a", "permissions": "read", "expiresAt": end})).await;
    let path = format!("/v1/api-keys/{id}");
    let used = async || trial.get(&path).await.expect(200)["lastUsedAt"].clone();
    assert_eq!(used().await, Value::Null);
    assert_eq!(trial.works(&key).await, 200);
    assert_eq!(used().await, "2026-01-01T00:00:00.000Z");
    clock.advance(Duration::from_secs(59));
    assert_eq!(trial.works(&key).await, 200);
    assert_eq!(used().await, "2026-01-01T00:00:00.000Z");
    clock.advance(Duration::from_secs(1));
    assert_eq!(trial.works(&key).await, 200);
    assert_eq!(used().await, "2026-01-01T00:01:00.000Z");
    clock.advance(Duration::from_secs(240));
    assert_eq!(trial.works(&key).await, 401);
    assert_eq!(trial.get(&path).await.expect(200)["status"], "expired");
    let past = json!({"name": "a", "permissions": "read", "expiresAt": end});
    trial.post("/v1/api-keys", past).await.expect(400);
}

#[tokio::test]
async fn a_change_of_a_key_asks_whether_it_is_still_as_it_was_seen() {
    let trial = Trial::new().await;
    let (id, _) = trial.makes(json!({"name": "a", "permissions": "read"})).await;
    let path = format!("/v1/api-keys/{id}");
    let tag = trial.get(&path).await.headers["etag"].to_str().unwrap().to_owned();
    let change = async |name: &str| {
        let headers = [("if-match", tag.as_str())];
        trial.call("PATCH", &path, Some(json!({"name": name})), &headers).await
    };
    assert_eq!(change("b").await.expect(200)["name"], "b");
    assert_eq!(change("c").await.expect(412)["code"], "PRECONDITION_FAILED");
}

#[tokio::test]
async fn an_account_has_a_bound_of_keys() {
    let trial = Trial::new().await;
    for _ in 1..ferryhook_core::limits::KEYS_PER_ACCOUNT_MAX - 1 {
        trial.new_key(Permissions::Read).await;
    }
    let (id, _) = trial.makes(json!({"name": "last", "permissions": "read"})).await;
    let body = json!({"name": "one too many", "permissions": "read"});
    trial.post("/v1/api-keys", body.clone()).await.expect(409);
    trial.delete(&format!("/v1/api-keys/{id}")).await.expect(204);
    trial.post("/v1/api-keys", body).await.expect(201);
}

#[tokio::test]
async fn a_foreign_key_is_like_none() {
    let trial = Trial::new().await;
    let neighbour = trial.neighbour().await;
    let (foreign, _) = neighbour.makes(json!({"name": "theirs", "permissions": "read"})).await;
    let ask = async |method: &str, id: &str| {
        let body = (method == "PATCH").then(|| json!({"name": "x"}));
        let mut said =
            trial.call(method, &format!("/v1/api-keys/{id}"), body, &[]).await.expect(404);
        said.as_object_mut().unwrap().remove("requestId");
        said
    };
    for method in ["GET", "PATCH", "DELETE"] {
        assert_eq!(ask(method, &foreign).await, ask(method, "key_0000000000000000").await);
    }
    let path = format!("/v1/api-keys/{foreign}");
    assert_eq!(neighbour.get(&path).await.expect(200)["status"], "active");
}

/// Whoever may change keys and was denied something gives it to no key either: they may be the one
/// who uses it.
#[tokio::test]
async fn nobody_widens_a_key_beyond_themselves() {
    let trial = Trial::new().await;
    let narrow = json!({
        "name": "narrow", "permissions": "write", "operations": ["sources.list"]
    });
    let (id, key) = trial.makes(narrow).await;
    let manager = trial.colleague(Role::Manager).await;
    let path = format!("/v1/accounts/{}/members/{}", trial.account.id, manager.user.id);
    let less = json!({"permissions": {"sources.delete": false}});
    trial.patch(&path, less).await.expect(200);
    let change = async |operations: Value| {
        manager.patch(&format!("/v1/api-keys/{id}"), json!({"operations": operations})).await
    };
    let said = change(json!(["sources.*"])).await.expect(403);
    assert_eq!(said["detail"], "You may not do sources.delete yourself.");
    change(json!(["sources.list", "sources.get"])).await.expect(200);
    let source = trial.post("/v1/sources", json!({"name": "s"})).await.expect(201);
    let source = format!("/v1/sources/{}", source["sourceId"].as_str().unwrap());
    trial.with(&key, "DELETE", &source, None).await.expect(403);
    // One who may does.
    let wide = json!({"operations": ["sources.*"]});
    trial.patch(&format!("/v1/api-keys/{id}"), wide).await.expect(200);
    trial.with(&key, "DELETE", &source, None).await.expect(204);
}
