use ferryhook_core::member::Role;
use serde_json::{Value, json};

use crate::trial::{Said, Trial};

impl Trial {
    fn place(&self, of: &Trial) -> String {
        format!("/v1/accounts/{}/members/{}", self.account.id, of.user.id)
    }

    async fn makes_of(&self, of: &Trial, change: Value) -> Said {
        self.patch(&self.place(of), change).await
    }
}

#[tokio::test]
async fn members_are_listed_by_role_with_their_names() {
    let trial = Trial::new().await;
    let viewer = trial.colleague(Role::Viewer).await;
    let path = format!("/v1/accounts/{}/members", trial.account.id);
    let list = viewer.get(&path).await.expect(200);
    let shown: Vec<_> = list["data"].as_array().unwrap().iter().map(|one| &one["role"]).collect();
    assert_eq!(shown, ["admin", "viewer"]);
    assert_eq!(list["data"][0]["email"], "one@example.com");
    let list = viewer.get(&format!("{path}?role=viewer")).await.expect(200);
    assert_eq!(list["data"][0]["userId"], json!(viewer.user.id));
    assert_eq!(list["data"].as_array().unwrap().len(), 1);
    let one = viewer.get(&viewer.place(&trial)).await.expect(200);
    assert_eq!(one["role"], "admin");
}

/// Who may make whom what. A row: who changes, of whom, into what, and whether that is allowed.
#[tokio::test]
async fn a_role_cannot_grant_above_itself() {
    use Role::{Admin, Manager, Member, Viewer};
    let trial = Trial::new().await;
    let rows = [
        (Viewer, Viewer, "viewer", 403),
        (Member, Viewer, "viewer", 403),
        (Manager, Viewer, "member", 200),
        (Manager, Viewer, "manager", 200),
        (Manager, Viewer, "admin", 403),
        (Manager, Manager, "viewer", 200),
        (Manager, Admin, "viewer", 403),
        (Manager, Admin, "admin", 403),
        (Admin, Viewer, "admin", 200),
        (Admin, Admin, "viewer", 200),
    ];
    for (who, whom, what, expected) in rows {
        let (one, other) = (trial.colleague(who).await, trial.colleague(whom).await);
        let said = one.makes_of(&other, json!({"role": what})).await;
        assert_eq!(said.status, expected, "{who} makes {whom} {what}: {}", said.text);
    }
    for (who, whom, expected) in
        [(Member, Viewer, 403), (Manager, Manager, 204), (Manager, Admin, 403), (Admin, Admin, 204)]
    {
        let (one, other) = (trial.colleague(who).await, trial.colleague(whom).await);
        let said = one.delete(&one.place(&other)).await;
        assert_eq!(said.status, expected, "{who} removes {whom}");
    }
}

#[tokio::test]
async fn exceptions_are_given_by_those_who_have_them() {
    let trial = Trial::new().await;
    let (manager, viewer) =
        (trial.colleague(Role::Manager).await, trial.colleague(Role::Viewer).await);
    let make = async || viewer.post("/v1/sources", json!({"name": "s"})).await.status.as_u16();
    assert_eq!(make().await, 403);
    let given = json!({"permissions": {"sources.*": true}});
    manager.makes_of(&viewer, given).await.expect(200);
    assert_eq!(make().await, 201);
    let taken = json!({"permissions": {"sources.*": true, "sources.create": false}});
    manager.makes_of(&viewer, taken).await.expect(200);
    assert_eq!(make().await, 403);

    let above = json!({"permissions": {"accounts.terminate": true}});
    manager.makes_of(&viewer, above.clone()).await.expect(403);
    manager.makes_of(&viewer, json!({"permissions": {"accounts.*": true}})).await.expect(403);
    manager.makes_of(&manager, json!({"permissions": {"whoami": true}})).await.expect(403);
    trial.makes_of(&viewer, above).await.expect(200);
    for wrong in [json!({"nothing.*": true}), json!({"*": true}), json!({"sources.list": 1})] {
        trial.makes_of(&viewer, json!({"permissions": wrong})).await.expect(400);
    }
}

/// An administrator may do everything, so that nobody can lock an account.
#[tokio::test]
async fn there_are_no_exceptions_for_administrators() {
    let trial = Trial::new().await;
    let other = trial.colleague(Role::Member).await;
    let taken = json!({"permissions": {"members.*": false}});
    trial.makes_of(&other, taken.clone()).await.expect(200);
    let said = trial.makes_of(&other, json!({"role": "admin"})).await.expect(200);
    assert_eq!(said["permissions"], json!({}));
    trial.makes_of(&other, taken).await.expect(400);
    trial.makes_of(&other, json!({"status": "suspended"})).await.expect(409);
}

#[tokio::test]
async fn the_last_administrator_cannot_go() {
    let trial = Trial::new().await;
    let said = trial.makes_of(&trial, json!({"role": "viewer"})).await.expect(409);
    assert_eq!(said["code"], "CONFLICT");
    trial.delete(&trial.place(&trial)).await.expect(409);
    let other = trial.colleague(Role::Admin).await;
    trial.makes_of(&trial, json!({"role": "viewer"})).await.expect(200);
    other.delete(&other.place(&other)).await.expect(409);
}

#[tokio::test]
async fn nobody_suspends_themselves() {
    let trial = Trial::new().await;
    let manager = trial.colleague(Role::Manager).await;
    manager.makes_of(&manager, json!({"status": "suspended"})).await.expect(403);
    trial.makes_of(&manager, json!({"status": "suspended"})).await.expect(200);
    manager.get("/v1/whoami").await.expect(403);
}

#[tokio::test]
async fn a_change_says_what_was_before() {
    let trial = Trial::new().await;
    let other = trial.colleague(Role::Viewer).await;
    trial.makes_of(&other, json!({"role": "member"})).await.expect(200);
    trial.makes_of(&other, json!({"role": "member"})).await.expect(200);
    let activities = trial.get("/v1/activities").await.expect(200);
    let lines = activities["data"].as_array().unwrap();
    let changes: Vec<_> =
        lines.iter().filter(|line| line["eventType"] == "member_updated").collect();
    assert_eq!(changes.len(), 1, "the second changed nothing");
    assert_eq!(changes[0]["details"]["before"]["role"], "viewer");
    assert_eq!(changes[0]["details"]["after"]["role"], "member");
}

#[tokio::test]
async fn a_foreign_member_is_like_none() {
    let trial = Trial::new().await;
    let neighbour = trial.neighbour().await;
    let own = trial.account.id.to_string();
    let foreign = neighbour.account.id.to_string();
    let stranger = neighbour.user.id.to_string();
    let ask = async |method: &str, account: &str, user: &str| {
        let path = format!("/v1/accounts/{account}/members/{user}");
        let body = (method == "PATCH").then(|| json!({"role": "viewer"}));
        let mut said = trial.call(method, &path, body, &[]).await.expect(404);
        said.as_object_mut().unwrap().remove("requestId");
        said
    };
    let (nobody, nowhere) = ("usr_0000000000000000", "acc_0000000000000000");
    for method in ["GET", "PATCH", "DELETE"] {
        let missing = ask(method, &own, nobody).await;
        assert_eq!(ask(method, &own, &stranger).await, missing);
        assert_eq!(ask(method, &foreign, &stranger).await, missing);
        assert_eq!(ask(method, nowhere, nobody).await, missing);
    }
}
