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
