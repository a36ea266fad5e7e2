//! People who are invited, and their way in.

use std::sync::Arc;

use ferryhook_core::member::Role;
use serde_json::{Value, json};

use crate::App;
use crate::auth::Signup;
use crate::trial::{self, Said, Trial};

const PASSWORD: &str = "correct horse 7";

/// Somebody who calls with the token they got by signing in.
async fn as_person(trial: &Trial, method: &str, path: &str, body: Option<Value>) -> Said {
    let bearer = trial.bearer().await;
    trial.call(method, path, body, &[("authorization", &bearer)]).await
}

async fn accept(trial: &Trial, token: &Value) -> Said {
    as_person(trial, "POST", "/v1/invitations/accept", Some(json!({"token": token}))).await
}

/// The same server, where one signs up like this.
fn letting_in(app: &App, signup: Signup) -> App {
    let mut auth = trial::auth(&app.store, &app.env, &app.tasks);
    auth.settings.signup = signup;
    App { auth: Arc::new(auth), ..app.clone() }
}

async fn sign_up(trial: &Trial, app: &App, email: &str, token: Option<&Value>) -> Said {
    let mut body = json!({"email": email, "password": PASSWORD});
    if let Some(token) = token {
        body["invitationToken"] = token.clone();
    }
    let trial = Trial {
        app: app.clone(),
        user: trial.user.clone(),
        account: trial.account.clone(),
        key: trial.key.clone(),
    };
    trial.post("/v1/auth/signup", body).await
}

#[tokio::test]
async fn one_who_is_invited_accepts_and_is_in() {
    let trial = Trial::new().await;
    let other = trial.neighbour().await;
    let made = trial.invites("Two@Example.com", "manager").await.expect(201);
    let joined = accept(&other, &made["token"]).await.expect(200);
    assert_eq!(joined["accountId"], json!(trial.account.id));
    assert_eq!(joined["role"], "manager");
    assert_eq!(trial.invited().await[0]["status"], "accepted");
    accept(&other, &made["token"]).await.expect(404);

    let mine = as_person(&other, "GET", "/v1/accounts", None).await.expect(200);
    let mut roles: Vec<_> = mine["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["role"].as_str().unwrap(), one["isDefault"].as_bool().unwrap()))
        .collect();
    roles.sort_unstable();
    assert_eq!(roles, [("admin", true), ("manager", false)]);
    let activities = trial.get("/v1/activities").await;
    assert!(activities.text.contains("invitation_accepted"), "{}", activities.text);
}

/// A token for somebody else, one that was taken back and one that never was look alike.
#[tokio::test]
async fn only_the_one_who_is_invited_gets_in() {
    let trial = Trial::new().await;
    let other = trial.neighbour().await;
    let comparable = |said: Said| {
        let mut body = said.expect(404);
        body.as_object_mut().unwrap().remove("requestId");
        body
    };
    let never = comparable(accept(&other, &json!("fh_inv_nonsense")).await);
    let foreign = trial.invites("grace@example.com", "member").await.expect(201);
    assert_eq!(comparable(accept(&other, &foreign["token"]).await), never);
    let revoked = trial.invites("two@example.com", "member").await.expect(201);
    let id = revoked["invitationId"].as_str().unwrap();
    trial.delete(&format!("/v1/accounts/{}/invitations/{id}", trial.account.id)).await.expect(204);
    assert_eq!(comparable(accept(&other, &revoked["token"]).await), never);
    let path = format!("/v1/accounts/{}", trial.account.id);
    as_person(&other, "GET", &path, None).await.expect(404);
    // Keys do not join.
    let body = json!({"token": foreign["token"]});
    other.post("/v1/invitations/accept", body).await.expect(403);
}

#[tokio::test]
async fn one_who_is_invited_signs_up_where_nobody_else_can() {
    let trial = Trial::new().await;
    let app = letting_in(&trial.app, Signup::Invite);
    let made = trial.invites("grace@example.com", "member").await.expect(201);
    let token = &made["token"];
    sign_up(&trial, &app, "grace@example.com", None).await.expect(403);
    for (email, token) in [("eve@example.com", token), ("grace@example.com", &json!("fh_inv_x"))] {
        let said = sign_up(&trial, &app, email, Some(token)).await.expect(400);
        assert_eq!(said["errors"][0]["pointer"], "/invitationToken");
    }
    let said = sign_up(&trial, &app, "Grace@example.com", Some(token)).await.expect(201);
    assert_eq!(said["account"]["accountId"], json!(trial.account.id));
    assert_eq!(trial.invited().await[0]["status"], "accepted");
    let bearer = format!("Bearer {}", said["accessToken"].as_str().unwrap());
    let mine = trial.call("GET", "/v1/accounts", None, &[("authorization", &bearer)]).await;
    let mine = mine.expect(200);
    assert_eq!(mine["data"].as_array().unwrap().len(), 1, "no account of their own here");
    assert_eq!(mine["data"][0]["role"], "member");
    sign_up(&trial, &app, "grace@example.com", Some(token)).await.expect(400);
    let app = letting_in(&trial.app, Signup::Off);
    sign_up(&trial, &app, "x@example.com", Some(token)).await.expect(403);
}

#[tokio::test]
async fn where_everybody_can_they_get_an_account_of_their_own_too() {
    let trial = Trial::new().await;
    let made = trial.invites("grace@example.com", "viewer").await.expect(201);
    let app = trial.app.clone();
    let said = sign_up(&trial, &app, "grace@example.com", Some(&made["token"])).await.expect(201);
    assert_eq!(said["account"]["accountId"], json!(trial.account.id));
    let bearer = format!("Bearer {}", said["accessToken"].as_str().unwrap());
    let headers = [("authorization", bearer.as_str())];
    let mine = trial.call("GET", "/v1/accounts", None, &headers).await.expect(200);
    assert_eq!(mine["data"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_letter_brings_the_invitation() {
    let trial = Trial::new().await;
    let made = trial.invites("grace@example.com", "viewer").await.expect(201);
    let token = made["token"].as_str().unwrap();
    let page = trial.get(&format!("/invitation?token={token}")).await;
    assert_eq!(page.status, 200);
    assert!(page.text.contains(token), "{}", page.text);
}

#[tokio::test]
async fn everybody_may_leave_but_the_last_administrator() {
    let trial = Trial::new().await;
    let viewer = trial.colleague(Role::Viewer).await;
    let path = format!("/v1/accounts/{}/members/me", trial.account.id);
    as_person(&trial, "DELETE", &path, None).await.expect(409);
    as_person(&viewer, "DELETE", &path, None).await.expect(204);
    as_person(&viewer, "DELETE", &path, None).await.expect(404);
    as_person(&viewer, "GET", "/v1/sources", None).await.expect(403);
    viewer.delete(&path).await.expect(403);
    let activities = trial.get("/v1/activities").await;
    assert!(activities.text.contains("member_left"), "{}", activities.text);
}

#[tokio::test]
async fn a_person_chooses_the_account_of_requests_that_name_none() {
    let trial = Trial::new().await;
    let other = trial.neighbour().await;
    let path = |of: &Trial| format!("/v1/accounts/{}/default", of.account.id);
    let missing = as_person(&other, "PUT", &path(&trial), None).await.expect(404);
    assert_eq!(missing["code"], "NOT_FOUND");
    let made = trial.invites("two@example.com", "member").await.expect(201);
    accept(&other, &made["token"]).await.expect(200);
    let said = as_person(&other, "PUT", &path(&trial), None).await.expect(200);
    assert_eq!(said["isDefault"], true);
    as_person(&other, "PUT", &path(&trial), None).await.expect(200);
    let whoami = as_person(&other, "GET", "/v1/whoami", None).await.expect(200);
    assert_eq!(whoami["accountId"], json!(trial.account.id));
    // Removed from there, they are at home again.
    let place = format!("/v1/accounts/{}/members/{}", trial.account.id, other.user.id);
    trial.delete(&place).await.expect(204);
    let whoami = as_person(&other, "GET", "/v1/whoami", None).await.expect(200);
    assert_eq!(whoami["accountId"], json!(other.account.id));
}

/// The words are for the one who was invited; to others there is no such invitation.
#[tokio::test]
async fn nobody_joins_a_suspended_account() {
    let trial = Trial::new().await;
    let other = trial.neighbour().await;
    let made = trial.invites("two@example.com", "member").await.expect(201);
    let new = trial.invites("new@example.com", "member").await.expect(201);
    let accounts = trial.app.store.accounts();
    let was = accounts.find(trial.account.id).await.unwrap().unwrap();
    let suspended = ferryhook_core::account::Status::Suspended;
    let was = accounts.set_status(&was, suspended).await.unwrap();
    let said = accept(&other, &made["token"]).await.expect(403);
    assert_eq!(said["code"], "ACCOUNT_SUSPENDED");
    assert!(said["detail"].as_str().unwrap().contains("nobody can join it now"), "{said}");
    accept(&other, &new["token"]).await.expect(404);
    let app = letting_in(&trial.app, Signup::Invite);
    let said = sign_up(&trial, &app, "new@example.com", Some(&new["token"])).await.expect(403);
    assert_eq!(said["code"], "ACCOUNT_SUSPENDED");
    accounts.set_status(&was, ferryhook_core::account::Status::Active).await.unwrap();
    accept(&other, &made["token"]).await.expect(200);
    sign_up(&trial, &app, "new@example.com", Some(&new["token"])).await.expect(201);
}
