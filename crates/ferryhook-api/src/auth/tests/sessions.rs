//! Refresh tokens and where somebody is signed in.

use std::time::Duration;

use ferryhook_core::session::GRACE;
use ferryhook_store::Slice;
use serde_json::json;

use super::browser::*;

#[tokio::test]
async fn a_refresh_gives_a_new_token_of_each_kind() {
    let (mut browser, clock) = Browser::signed_up().await;
    let (cookie, access) = (browser.cookie.clone(), browser.access.clone());
    clock.advance(Duration::from_secs(3600));
    browser.get("/v1/auth/me").await.expect(401);
    let body = browser.refresh().await.expect(200);
    assert_eq!(body["user"]["email"], EMAIL);
    assert!(browser.cookie != cookie && browser.access != access);
    browser.get("/v1/auth/me").await.expect(200);
}

/// The thief comes first or the owner does: whoever is second gives it away.
#[tokio::test]
async fn a_token_that_was_used_before_ends_the_session() {
    let (mut browser, clock) = Browser::signed_up().await;
    let mut thief = browser.clone();
    browser.refresh().await.expect(200);
    clock.advance(GRACE + Duration::from_secs(1));
    thief.refresh().await.expect(401);
    browser.refresh().await.expect(401);
    browser.get("/v1/auth/me").await.expect(401);
    let activities = browser.app.store.activities();
    let user = browser.app.store.users().find_holder(EMAIL).await.unwrap().unwrap();
    let page = activities.list_by_account(user.default_account_id, Slice::default()).await.unwrap();
    let types: Vec<_> = page.rows.iter().map(|row| row.event_type.as_str()).collect();
    assert!(types.contains(&"session_reuse_detected"), "{types:?}");
}

#[tokio::test]
async fn two_windows_may_refresh_at_once() {
    let (mut browser, clock) = Browser::signed_up().await;
    let mut window = browser.clone();
    browser.refresh().await.expect(200);
    clock.advance(GRACE);
    window.refresh().await.expect(200);
    clock.advance(Duration::from_secs(3600));
    browser.refresh().await.expect(200);
}

#[tokio::test]
async fn other_sites_cannot_refresh() {
    let (mut browser, _) = Browser::signed_up().await;
    for headers in [[("origin", "https://evil.example")], [("sec-fetch-site", "cross-site")]] {
        browser.call("POST", "/v1/auth/refresh", None, &headers).await.expect(403);
        browser.call("POST", "/v1/auth/logout", None, &headers).await.expect(403);
    }
    let own = [("origin", "http://trial"), ("sec-fetch-site", "same-origin")];
    browser.call("POST", "/v1/auth/refresh", None, &own).await.expect(200);
}

#[tokio::test]
async fn nobody_without_a_cookie_refreshes() {
    let (app, _) = server();
    let mut browser = Browser::of(&app);
    browser.refresh().await.expect(401);
    browser.cookie = Some("ferryhook_refresh=nonsense".into());
    browser.refresh().await.expect(401);
}

#[tokio::test]
async fn sessions_are_listed_and_ended() {
    let (mut browser, clock) = Browser::signed_up().await;
    let mut phone = browser.another();
    clock.advance(Duration::from_secs(5));
    phone.log_in(PASSWORD).await.expect(200);
    let list = browser.get("/v1/auth/sessions").await.expect(200);
    let rows = list["data"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!((&rows[0]["isCurrent"], &rows[1]["isCurrent"]), (&json!(false), &json!(true)));
    assert_eq!(
        (&rows[0]["method"], &rows[0]["ipAddress"]),
        (&json!("password"), &json!("192.0.2.7"))
    );
    assert!(!list.to_string().to_lowercase().contains("hash"), "{list}");
    let id = rows[0]["sessionId"].as_str().unwrap();
    browser.delete(&format!("/v1/auth/sessions/{id}")).await.expect(204);
    phone.get("/v1/auth/me").await.expect(401);
    phone.refresh().await.expect(401);
    browser.delete(&format!("/v1/auth/sessions/{id}")).await.expect(404);
    browser.delete("/v1/auth/sessions/nonsense").await.expect(404);
}

/// Somebody else's session is like one that is not.
#[tokio::test]
async fn a_session_belongs_to_its_user() {
    let (mut browser, _) = Browser::signed_up().await;
    let mut other = browser.another();
    other.sign_up("eve@example.com").await.expect(201);
    let list = browser.get("/v1/auth/sessions").await.expect(200);
    let id = list["data"][0]["sessionId"].as_str().unwrap();
    other.delete(&format!("/v1/auth/sessions/{id}")).await.expect(404);
    browser.get("/v1/auth/me").await.expect(200);
}

#[tokio::test]
async fn everywhere_else_can_be_signed_out() {
    let (mut browser, _) = Browser::signed_up().await;
    let mut phone = browser.another();
    phone.log_in(PASSWORD).await.expect(200);
    browser.delete("/v1/auth/sessions").await.expect(204);
    phone.get("/v1/auth/me").await.expect(401);
    browser.get("/v1/auth/me").await.expect(200);
    browser.refresh().await.expect(200);
    let list = browser.get("/v1/auth/sessions").await.expect(200);
    assert_eq!(list["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_changed_password_ends_the_others() {
    let (mut browser, _) = Browser::signed_up().await;
    let mut phone = browser.another();
    phone.log_in(PASSWORD).await.expect(200);
    let change =
        |current: &str, new: &str| json!({ "currentPassword": current, "newPassword": new });
    let path = "/v1/auth/change-password";
    browser.post(path, change("wrong one", "another horse 8")).await.expect(403);
    browser.post(path, json!({ "newPassword": "another horse 8" })).await.expect(403);
    browser.post(path, change(PASSWORD, "12345678")).await.expect(400);
    browser.post(path, change(PASSWORD, "another horse 8")).await.expect(204);
    phone.get("/v1/auth/me").await.expect(401);
    phone.refresh().await.expect(401);
    browser.get("/v1/auth/me").await.expect(200);
    browser.refresh().await.expect(200);
    browser.another().log_in(PASSWORD).await.expect(401);
    browser.another().log_in("another horse 8").await.expect(200);
}
