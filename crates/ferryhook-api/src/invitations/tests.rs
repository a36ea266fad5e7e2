use std::time::Duration;

use ferryhook_core::invitation::Status;
use ferryhook_core::member::Role;
use ferryhook_core::{Env, Invitation, limits};
use serde_json::{Value, json};

use crate::trial::{self, Said, Trial};

mod joining;

impl Trial {
    async fn invites(&self, email: &str, role: &str) -> Said {
        let path = format!("/v1/accounts/{}/invitations", self.account.id);
        self.post(&path, json!({"email": email, "role": role})).await
    }

    /// As if somebody had done it before.
    async fn invited_before(&self, place: usize, status: Status) {
        let (account, email) = (self.account.id, format!("p{place}@example.com"));
        let made = Invitation::new(account, &email, Role::Viewer, self.user.id, &self.app.env);
        let invitation = Invitation { status, ..made.0 };
        self.app.store.invitations().create(&invitation).await.unwrap();
    }

    async fn invited(&self) -> Vec<Value> {
        let path = format!("/v1/accounts/{}/invitations", self.account.id);
        self.get(&path).await.expect(200)["data"].as_array().unwrap().clone()
    }
}

#[tokio::test]
async fn an_invitation_shows_its_token_once() {
    let trial = Trial::new().await;
    let made = trial.invites(" grace@example.com ", "member").await.expect(201);
    let token = made["token"].as_str().unwrap();
    assert!(token.starts_with("fh_inv_"), "{token}");
    assert_eq!((&made["email"], &made["status"]), (&json!("grace@example.com"), &json!("pending")));
    assert_eq!(made["expiresAt"], "2026-01-08T00:00:00.000Z");
    let listed = trial.invited().await;
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["invitationId"], made["invitationId"]);
    assert_eq!(listed[0].get("token"), None);
    let activities = trial.get("/v1/activities").await;
    assert!(activities.text.contains("invitation_created"));
    assert!(!activities.text.contains(token), "{}", activities.text);
}

#[tokio::test]
async fn an_invitation_cannot_raise_anybody_above_who_invites() {
    let trial = Trial::new().await;
    let manager = trial.colleague(Role::Manager).await;
    manager.invites("a@example.com", "manager").await.expect(201);
    manager.invites("a@example.com", "admin").await.expect(403);
    let member = trial.colleague(Role::Member).await;
    member.invites("a@example.com", "viewer").await.expect(403);
    trial.invites(&member.user.email.to_uppercase(), "viewer").await.expect(409);
    let long = format!("{}@example.com", "x".repeat(300));
    for wrong in ["", "a", "a@", "a b@example.com", "a@b@example.com", "@example.com", &long] {
        trial.invites(wrong, "viewer").await.expect(400);
    }
    trial.invites("a@example.com", "owner").await.expect(400);
}

#[tokio::test]
async fn an_invitation_can_be_taken_back() {
    let trial = Trial::new().await;
    let made = trial.invites("grace@example.com", "member").await.expect(201);
    let id = made["invitationId"].as_str().unwrap();
    let path = format!("/v1/accounts/{}/invitations/{id}", trial.account.id);
    trial.delete(&path).await.expect(204);
    trial.delete(&path).await.expect(204);
    assert_eq!(trial.invited().await[0]["status"], "revoked");
}

#[tokio::test]
async fn an_account_has_a_bound_of_open_invitations() {
    let trial = Trial::new().await;
    for place in 0..limits::INVITATIONS_OPEN_MAX - 1 {
        trial.invited_before(place, Status::Pending).await;
    }
    trial.invites("last@example.com", "viewer").await.expect(201);
    trial.invites("late@example.com", "viewer").await.expect(409);
}

/// To invite and take back, over and over, is no way to write to the world.
#[tokio::test]
async fn an_account_invites_so_many_a_day() {
    let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
    let trial = Trial::over(trial::app_in(env)).await;
    for place in 0..limits::INVITATIONS_A_DAY_MAX {
        trial.invited_before(place, Status::Revoked).await;
    }
    let said = trial.invites("late@example.com", "viewer").await;
    assert_eq!(said.headers["retry-after"], "86400");
    let said = said.expect(429);
    assert_eq!(said["code"], "RATE_LIMITED");
    assert!(said["detail"].as_str().unwrap().contains("200 invitations a day"), "{said}");
    clock.advance(Duration::from_secs(24 * 60 * 60));
    trial.invites("late@example.com", "viewer").await.expect(201);
}

/// By a person and by their key together, in whichever account.
#[tokio::test]
async fn somebody_invites_at_a_pace() {
    let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
    let trial = Trial::over(trial::app_in(env)).await;
    for place in 0..20 {
        trial.invites(&format!("p{place}@example.com"), "viewer").await.expect(201);
    }
    let said = trial.invites("late@example.com", "viewer").await;
    assert!(said.headers.contains_key("retry-after"));
    let said = said.expect(429);
    assert_eq!(said["detail"], "Too many invitations. Retry-After says when to go on.");
    let child = json!({"accountName": "child", "accountType": "division"});
    let child = trial.post("/v1/accounts", child).await.expect(201);
    let path = format!("/v1/accounts/{}/invitations", child["accountId"].as_str().unwrap());
    trial.post(&path, json!({"email": "a@example.com", "role": "viewer"})).await.expect(429);
    let colleague = trial.colleague(Role::Manager).await;
    colleague.invites("late@example.com", "viewer").await.expect(201);
    clock.advance(Duration::from_secs(120));
    trial.invites("late@example.com", "viewer").await.expect(201);
}

#[tokio::test]
async fn a_foreign_invitation_is_like_none() {
    let trial = Trial::new().await;
    let neighbour = trial.neighbour().await;
    let theirs = neighbour.invites("grace@example.com", "member").await.expect(201);
    let foreign = theirs["invitationId"].as_str().unwrap();
    let ask = async |account: &str, id: &str| {
        let path = format!("/v1/accounts/{account}/invitations/{id}");
        let mut said = trial.delete(&path).await.expect(404);
        said.as_object_mut().unwrap().remove("requestId");
        said
    };
    let (own, other) = (trial.account.id.to_string(), neighbour.account.id.to_string());
    let missing = ask(&own, "inv_0000000000000000").await;
    assert_eq!(ask(&own, foreign).await, missing);
    assert_eq!(ask(&other, foreign).await, missing);
    assert_eq!(neighbour.invited().await[0]["status"], "pending");
}
