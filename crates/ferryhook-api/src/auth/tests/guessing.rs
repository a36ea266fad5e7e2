//! What a stranger can find out: nothing, and slowly.

use std::time::Duration;

use ferryhook_core::User;
use ferryhook_core::user::Status;
use serde_json::{Value, json};

use super::browser::*;

fn without_id(mut body: Value) -> Value {
    body["requestId"] = Value::Null;
    body
}

#[tokio::test]
async fn a_wrong_password_and_an_unknown_address_are_answered_alike() {
    let (browser, _) = Browser::signed_up().await;
    let mut stranger = browser.another();
    let wrong = stranger.log_in("wrong horse 9").await;
    let body = json!({ "email": "nobody@example.com", "password": "wrong horse 9" });
    let unknown = stranger.post("/v1/auth/login", body).await;
    let names = |headers: &axum::http::HeaderMap| {
        headers.keys().map(|name| name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(&wrong.headers), names(&unknown.headers));
    let wrong = without_id(wrong.expect(401));
    assert_eq!(wrong, without_id(unknown.expect(401)));
    // Longer than any password can be.
    let long = stranger.log_in(&"x".repeat(1000)).await;
    assert_eq!(wrong, without_id(long.expect(401)));
    // Somebody who is not let in any more, with the right password.
    let users = browser.app.store.users();
    let was = users.find_holder(EMAIL).await.unwrap().unwrap();
    let now = User { status: Status::Suspended, ..was.record.clone() };
    users.replace(&was, now).await.unwrap();
    let suspended = stranger.log_in(PASSWORD).await;
    assert_eq!(wrong, without_id(suspended.expect(401)));
    let mut browser = browser;
    browser.get("/v1/auth/me").await.expect(401);
    browser.refresh().await.expect(401);
}

/// Where letters reach people, signing up says the same whether or not the address is known, and
/// the letter knows better.
#[tokio::test]
async fn signing_up_does_not_tell_who_is_known() {
    let (app, clock) = server();
    let mut browser = Browser::of(&with_mail(&app));
    let new = browser.sign_up(EMAIL).await;
    assert!(browser.cookie.is_none() && browser.access.is_none());
    let (subject, ticket) = browser.ticket_in_mail().await;
    assert_eq!(subject, "Confirm your address");
    clock.advance(Duration::from_secs(1));
    let known = browser.sign_up(EMAIL).await;
    assert_eq!(new.expect(202), known.expect(202));
    let (subject, _) = browser.ticket_in_mail().await;
    assert_eq!(subject, "You have an account already");
    // Nobody is in before the address is confirmed, and the right password is told so.
    browser.log_in(PASSWORD).await.expect(403);
    browser.log_in("wrong horse 9").await.expect(401);
    browser.post("/v1/auth/verify-email", json!({ "token": ticket })).await.expect(204);
    browser.log_in(PASSWORD).await.expect(200);
    let me = browser.get("/v1/auth/me").await.expect(200);
    assert_eq!(me["emailVerified"], true);
}

#[tokio::test]
async fn guesses_are_slowed_down() {
    let (browser, clock) = Browser::signed_up().await;
    let mut stranger = browser.another();
    for _ in 0..5 {
        stranger.log_in("wrong horse 9").await.expect(401);
    }
    let said = stranger.log_in(PASSWORD).await;
    assert_eq!(said.headers["retry-after"], "1");
    assert_eq!(said.expect(429)["code"], "RATE_LIMITED");
    clock.advance(Duration::from_secs(1));
    stranger.log_in(PASSWORD).await.expect(200);
    stranger.another().log_in("wrong horse 9").await.expect(401);
}

/// What takes time is bcrypt: it runs as often whoever is asked for, and whatever is typed.
#[tokio::test]
async fn signing_in_costs_as_much_for_nobody() {
    let (browser, _) = Browser::signed_up().await;
    let mut stranger = browser.another();
    let users = browser.app.store.users();
    let work = async |browser: &mut Browser, email: &str, password: &str| {
        let before = browser.app.auth.passwords.work_done();
        let body = json!({ "email": email, "password": password });
        browser.post("/v1/auth/login", body).await.expect(401);
        browser.app.auth.passwords.work_done() - before
    };
    let long = "x".repeat(1000);
    for email in [EMAIL, "nobody@example.com", "not an address"] {
        for password in ["wrong horse 9", "", &long] {
            assert_eq!(work(&mut stranger, email, password).await, 1, "{email} {password:.9}");
        }
    }
    // Nor does it for somebody who signs in elsewhere, or not at all any more.
    let was = users.find_holder(EMAIL).await.unwrap().unwrap();
    let without = User { password_hash: None, ..was.record.clone() };
    let was = users.replace(&was, without).await.unwrap();
    assert_eq!(work(&mut stranger, EMAIL, PASSWORD).await, 1);
    let gone = User { status: Status::Suspended, ..was.record.clone() };
    users.replace(&was, gone).await.unwrap();
    assert_eq!(work(&mut stranger, EMAIL, PASSWORD).await, 1);
}

/// Each departure is kept for ten minutes.
#[tokio::test]
async fn leaving_for_a_platform_has_a_pace() {
    let (app, clock) = server();
    let mut browser = Browser::of(&app);
    for place in 0..60 {
        let path = ["/v1/auth/github", "/v1/auth/google"][place % 2];
        assert_ne!(browser.get(path).await.status, 429, "{place}");
    }
    let said = browser.get("/v1/auth/github").await;
    assert!(said.headers.contains_key("retry-after"));
    assert_eq!(said.expect(429)["code"], "RATE_LIMITED");
    // Neither another address nor, after a while, the same one is concerned.
    let mut other = Browser { address: [192, 0, 2, 8].into(), ..browser.clone() };
    assert_ne!(other.get("/v1/auth/github").await.status, 429);
    clock.advance(Duration::from_secs(20 * 60));
    assert_ne!(browser.get("/v1/auth/github").await.status, 429);
}
