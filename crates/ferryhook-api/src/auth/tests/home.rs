//! Somebody whose default account is no longer theirs.

use ferryhook_core::member::{Role, Status};
use ferryhook_core::{Account, Id, Map, Member, User};
use ferryhook_store::Slice;
use serde_json::{Value, json};

use super::browser::*;

/// Ada, who works in the account of Grace: that is her default.
struct Office {
    ada: Browser,
    user: Id<User>,
    own: Id<Account>,
    office: Id<Account>,
}

impl Office {
    async fn new() -> Self {
        let (ada, _) = Browser::signed_up().await;
        let mut grace = ada.another();
        let made = grace.sign_up("grace@example.com").await.expect(201);
        let office: Id<Account> = made["account"]["accountId"].as_str().unwrap().parse().unwrap();
        let store = &ada.app.store;
        let user = store.users().find_holder(EMAIL).await.unwrap().unwrap();
        let member = Member {
            user_id: user.id,
            account_id: office,
            role: Role::Viewer,
            permissions: Map::new(),
            is_default: false,
            joined_at: ada.app.env.now(),
            invited_by: None,
            status: Status::Active,
        };
        store.members().add(&member).await.unwrap();
        store.members().make_default(user.id, office).await.unwrap();
        let (user, own) = (user.id, user.default_account_id);
        Self { ada, user, own, office }
    }

    async fn suspend(&self, account: Id<Account>) {
        let members = self.ada.app.store.members();
        let was = members.find(self.user, account).await.unwrap().unwrap();
        let now = Member { role: Role::Viewer, status: Status::Suspended, ..was.record.clone() };
        members.replace(&was, now).await.unwrap();
    }

    /// What Ada has left in the log of an account.
    async fn lines(&self, account: Id<Account>) -> usize {
        let activities = self.ada.app.store.activities();
        let page = activities.list_by_account(account, Slice::default()).await.unwrap();
        page.rows.iter().filter(|line| line.user_id == Some(self.user)).count()
    }
}

#[tokio::test]
async fn one_who_was_suspended_is_at_home_elsewhere() {
    let office = Office::new().await;
    let mut ada = office.ada.clone();
    assert_eq!(ada.log_in(PASSWORD).await.expect(200)["account"]["role"], "viewer");
    let seen = office.lines(office.office).await;
    office.suspend(office.office).await;
    let is_at_home = |said: &Value| {
        assert_eq!(said["account"]["accountId"], json!(office.own));
        assert_eq!(said["account"]["role"], "admin");
        assert_eq!(said["user"]["defaultAccountId"], json!(office.own));
    };
    is_at_home(&ada.refresh().await.expect(200));
    assert_eq!(ada.get("/v1/auth/me").await.expect(200)["defaultAccountId"], json!(office.own));
    is_at_home(&ada.log_in(PASSWORD).await.expect(200));
    ada.call("PATCH", "/v1/auth/me", Some(json!({ "name": "Countess" })), &[]).await.expect(200);
    assert_eq!(office.lines(office.office).await, seen, "the office is not told any more");
    // From now on that is the account of requests that name none.
    assert_eq!(ada.get("/v1/whoami").await.expect(200)["accountId"], json!(office.own));
    let user = ada.app.store.users().find(office.user).await.unwrap().unwrap();
    assert_eq!(user.default_account_id, office.own);
}

#[tokio::test]
async fn one_who_is_in_no_account_can_still_sign_in() {
    let office = Office::new().await;
    let mut ada = office.ada.clone();
    // Somebody else runs the account that was hers.
    let members = ada.app.store.members();
    let was = members.find(office.user, office.own).await.unwrap().unwrap();
    let other = Member { user_id: Id::new(&ada.app.env), is_default: false, ..was.record.clone() };
    members.add(&other).await.unwrap();
    office.suspend(office.office).await;
    office.suspend(office.own).await;
    let (there, here) = (office.lines(office.office).await, office.lines(office.own).await);
    let said = ada.log_in(PASSWORD).await.expect(200);
    assert_eq!((said.get("account"), said["user"].get("defaultAccountId")), (None, None));
    let me = ada.get("/v1/auth/me").await.expect(200);
    assert_eq!(me.get("defaultAccountId"), None);
    ada.call("PATCH", "/v1/auth/me", Some(json!({ "name": "Countess" })), &[]).await.expect(200);
    ada.get("/v1/whoami").await.expect(403);
    ada.post("/v1/auth/logout", json!({})).await.expect(204);
    assert_eq!(office.lines(office.office).await, there);
    assert_eq!(office.lines(office.own).await, here);
}
