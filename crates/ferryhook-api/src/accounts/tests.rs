use std::sync::{Arc, Mutex};

use ferryhook_core::key::Permissions;
use ferryhook_core::member::Role;
use serde_json::{Value, json};

use crate::trial::{self, Said, Trial};
use crate::{App, apply::Changed};

impl Trial {
    /// Makes an account beneath this one, or beneath another that is named.
    async fn child(&self, name: &str, beneath: Option<&str>) -> Value {
        let body = json!({"accountName": name, "accountType": "division"});
        let own = self.account.id.to_string();
        let headers = [("x-ferryhook-account", beneath.unwrap_or(&own))];
        self.call("POST", "/v1/accounts", Some(body), &headers).await.expect(201)
    }

    async fn close(&self, verb: &str, id: &str) -> Said {
        self.post(&format!("/v1/accounts/{id}/{verb}"), json!({})).await
    }

    async fn account(&self, id: &str) -> Value {
        self.get(&format!("/v1/accounts/{id}")).await.expect(200)
    }
}

fn id(view: &Value) -> String {
    view["accountId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_account_lies_beneath_another() {
    let trial = Trial::new().await;
    let child = trial.child("retail", None).await;
    assert_eq!(child["accountPath"], "/trial/retail/");
    assert_eq!((&child["level"], &child["role"]), (&json!(1), &json!("admin")));
    let leaf = trial.child("berlin", Some(&id(&child))).await;
    assert_eq!(leaf["accountPath"], "/trial/retail/berlin/");
    assert_eq!(leaf["userId"], json!(trial.user.id), "one plan pays for the tree");
    let home = trial.account.id.to_string();
    assert_eq!(trial.account(&home).await["childCount"], 1);

    let path = format!("/v1/accounts/{home}/children");
    let list = trial.get(&path).await.expect(200);
    assert_eq!(list["data"][0]["accountId"], child["accountId"]);
    assert_eq!(list["data"].as_array().unwrap().len(), 1);
    let none = trial.get(&format!("{path}?accountType=location")).await.expect(200);
    assert_eq!(none["data"], json!([]));

    let renamed = json!({"accountName": "shops"});
    trial.patch(&format!("/v1/accounts/{}", id(&child)), renamed).await.expect(200);
    assert_eq!(trial.account(&id(&leaf)).await["accountPath"], "/trial/shops/berlin/");
}

/// In the account beneath, with the key of the one above; a lesser role stays where it is.
#[tokio::test]
async fn an_administrator_acts_beneath() {
    let trial = Trial::new().await;
    let child = id(&trial.child("retail", None).await);
    let there = [("x-ferryhook-account", child.as_str())];
    let make = json!({"name": "source"});
    trial.call("POST", "/v1/sources", Some(make), &there).await.expect(201);
    assert_eq!(trial.get("/v1/sources").await.expect(200)["data"], json!([]));

    let manager = trial.colleague(Role::Manager).await;
    manager.call("GET", "/v1/sources", None, &there).await.expect(403);
    manager.get(&format!("/v1/accounts/{child}")).await.expect(404);
    let writer = format!("Bearer {}", trial.new_key(Permissions::Write).await);
    let headers = [("authorization", writer.as_str()), there[0]];
    trial.call("GET", "/v1/sources", None, &headers).await.expect(403);
}

#[tokio::test]
async fn only_administrators_change_accounts() {
    let trial = Trial::new().await;
    let path = format!("/v1/accounts/{}", trial.account.id);
    let new = json!({"accountName": "x", "accountType": "location"});
    for role in [Role::Viewer, Role::Member, Role::Manager] {
        let who = trial.colleague(role).await;
        who.post("/v1/accounts", new.clone()).await.expect(403);
        who.patch(&path, json!({"accountName": "x"})).await.expect(403);
        who.delete(&path).await.expect(403);
        assert_eq!(who.get(&path).await.expect(200)["role"], json!(role));
    }
    trial.patch(&path, json!({"accountName": " "})).await.expect(400);
    trial.patch(&path, json!({"accountName": "a\nb"})).await.expect(400);
    trial.patch(&path, json!({"level": 3})).await.expect(400);
    let large = json!({"settings": {"x": "y".repeat(20_000)}});
    trial.patch(&path, large).await.expect(400);
    let said = trial.patch(&path, json!({"settings": {"timezone": "UTC"}})).await.expect(200);
    assert_eq!(said["settings"]["timezone"], "UTC");
}

/// Every source in and beneath the account is told before the answer.
#[tokio::test]
async fn a_suspended_account_can_be_read_and_not_changed() {
    let rung = Arc::new(Mutex::new(Vec::new()));
    let heard = rung.clone();
    let bell = Arc::new(move |changed: Changed| heard.lock().unwrap().push(changed.source));
    let trial = Trial::over(App { bell, ..trial::app() }).await;
    let child = id(&trial.child("retail", None).await);
    let leaf = id(&trial.child("berlin", Some(&child)).await);
    let in_leaf = [("x-ferryhook-account", leaf.as_str())];
    let make = async || {
        let body = Some(json!({"name": "source"}));
        trial.call("POST", "/v1/sources", body, &in_leaf).await
    };
    let source = make().await.expect(201)["sourceId"].clone();
    rung.lock().unwrap().clear();

    assert_eq!(trial.close("suspend", &child).await.expect(200)["status"], "suspended");
    assert_eq!(json!(*rung.lock().unwrap()), json!([source]));
    assert_eq!(make().await.expect(403)["code"], "ACCOUNT_SUSPENDED");
    trial.call("GET", "/v1/sources", None, &in_leaf).await.expect(200);
    let change = json!({"accountName": "x"});
    trial.patch(&format!("/v1/accounts/{leaf}"), change).await.expect(403);
    assert_eq!(trial.account(&leaf).await["status"], "active", "its own");
    trial.close("suspend", &child).await.expect(200);

    assert_eq!(trial.close("resume", &child).await.expect(200)["status"], "active");
    assert_eq!(rung.lock().unwrap().len(), 2);
    make().await.expect(201);
}

#[tokio::test]
async fn an_account_is_closed_by_one_above_it() {
    let trial = Trial::new().await;
    let neighbour = trial.neighbour().await;
    let child = id(&trial.child("retail", None).await);
    let (own, foreign) = (trial.account.id.to_string(), neighbour.account.id.to_string());
    trial.close("suspend", &own).await.expect(403);
    trial.close("suspend", &foreign).await.expect(404);
    trial.close("suspend", "acc_0000000000000000").await.expect(404);
    neighbour.close("suspend", &child).await.expect(404);
    // Not by itself either, from below.
    let below = [("x-ferryhook-account", child.as_str())];
    let path = format!("/v1/accounts/{own}/suspend");
    trial.call("POST", &path, Some(json!({})), &below).await.expect(404);
    // Whoever runs the installation closes roots.
    trial.app.store.installation().adopt(trial.account.id).await.unwrap();
    trial.close("suspend", &foreign).await.expect(200);
    assert_eq!(
        neighbour.post("/v1/sources", json!({"name": "s"})).await.expect(403)["code"],
        "ACCOUNT_SUSPENDED"
    );
    trial.close("resume", &foreign).await.expect(200);
    neighbour.close("suspend", &own).await.expect(404);
}

#[tokio::test]
async fn an_account_ends_for_good() {
    let trial = Trial::new().await;
    let child = id(&trial.child("retail", None).await);
    let home = format!("/v1/accounts/{}", trial.account.id);
    trial.delete(&home).await.expect(409);
    let path = format!("/v1/accounts/{child}");
    trial.delete(&path).await.expect(204);
    assert_eq!(trial.account(&child).await["status"], "terminated");
    trial.delete(&path).await.expect(403);
    trial.close("resume", &child).await.expect(409);
    assert_eq!(trial.get(&home).await.expect(200)["childCount"], 0);
    trial.app.store.installation().adopt(trial.account.id).await.unwrap();
    trial.delete(&home).await.expect(409);
}

#[tokio::test]
async fn a_foreign_account_in_the_path_is_like_none() {
    let trial = Trial::new().await;
    let neighbour = trial.neighbour().await;
    let foreign = neighbour.account.id.to_string();
    let ask = async |method: &str, account: &str, rest: &str| {
        let body = (method != "GET").then(|| json!({"accountName": "x"}));
        let path = format!("/v1/accounts/{account}{rest}");
        let mut said = trial.call(method, &path, body, &[]).await.expect(404);
        said.as_object_mut().unwrap().remove("requestId");
        said
    };
    for (method, rest) in [
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("GET", "/children"),
        ("GET", "/members"),
        ("GET", "/invitations"),
        ("POST", "/suspend"),
        ("POST", "/resume"),
    ] {
        let missing = ask(method, "acc_0000000000000000", rest).await;
        assert_eq!(ask(method, &foreign, rest).await, missing, "{method} {rest}");
        assert_eq!(ask(method, "nonsense", rest).await, missing, "{method} {rest}");
    }
}

/// Whoever made an account beneath is one of those above, and nothing else: removed there, they
/// have no place left, and neither have their keys.
#[tokio::test]
async fn who_made_an_account_leaves_it_with_the_one_above() {
    let trial = Trial::new().await;
    let maker = trial.colleague(Role::Admin).await;
    let child = id(&maker.child("retail", None).await);
    let leaf = id(&maker.child("berlin", Some(&child)).await);
    let path = |id: &str| format!("/v1/accounts/{id}");
    let there = [("x-ferryhook-account", child.as_str())];
    let key = json!({"name": "beneath", "permissions": "admin"});
    let key = maker.call("POST", "/v1/api-keys", Some(key), &there).await.expect(201);
    let key = format!("Bearer {}", key["key"].as_str().unwrap());
    let with_key = [("authorization", key.as_str())];
    maker.call("GET", "/v1/sources", None, &with_key).await.expect(200);
    for id in [&child, &leaf] {
        maker.get(&path(id)).await.expect(200);
    }
    let home = trial.account.id;
    trial.delete(&format!("/v1/accounts/{home}/members/{}", maker.user.id)).await.expect(204);
    let bearer = maker.bearer().await;
    for id in [&child, &leaf] {
        maker.get(&path(id)).await.expect(404);
        let headers = [("authorization", bearer.as_str())];
        maker.call("GET", &path(id), None, &headers).await.expect(404);
        trial.get(&path(id)).await.expect(200);
    }
    maker.call("GET", "/v1/sources", None, &with_key).await.expect(403);
}
