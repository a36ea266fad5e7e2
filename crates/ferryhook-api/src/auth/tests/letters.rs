//! What letters are good for.

use std::time::Duration;

use ferryhook_core::ticket::Purpose;
use serde_json::json;

use super::browser::*;
use crate::mail::Mailer;

async fn forgot(browser: &mut Browser) -> String {
    let body = json!({ "email": EMAIL });
    browser.post("/v1/auth/forgot-password", body).await.expect(202);
    let (subject, ticket) = browser.ticket_in_mail().await;
    assert_eq!(subject, "Choose a new password");
    ticket
}

#[tokio::test]
async fn a_lost_password_is_replaced() {
    let (mut browser, _) = Browser::signed_up().await;
    let mut other = browser.another();
    let ticket = forgot(&mut other).await;
    let body = json!({ "token": ticket, "password": "another horse 8" });
    let weak = json!({ "token": ticket, "password": "12345678" });
    other.post("/v1/auth/reset-password", weak).await.expect(400);
    other.post("/v1/auth/reset-password", body.clone()).await.expect(204);
    let again = other.post("/v1/auth/reset-password", body).await.expect(400);
    assert!(again["detail"].as_str().unwrap().contains("not valid"), "{again}");
    // Everybody is signed out, with whatever they had.
    browser.get("/v1/auth/me").await.expect(401);
    browser.refresh().await.expect(401);
    other.log_in(PASSWORD).await.expect(401);
    other.log_in("another horse 8").await.expect(200);
}

/// Of two letters the first that is used makes the other one void.
#[tokio::test]
async fn an_older_letter_is_void() {
    let (mut browser, _) = Browser::signed_up().await;
    let (older, newer) = (forgot(&mut browser).await, forgot(&mut browser).await);
    let with = |ticket: &str| json!({ "token": ticket, "password": "another horse 8" });
    browser.post("/v1/auth/reset-password", with(&newer)).await.expect(204);
    browser.post("/v1/auth/reset-password", with(&older)).await.expect(400);
}

#[tokio::test]
async fn a_letter_runs_out() {
    let (mut browser, clock) = Browser::signed_up().await;
    let ticket = forgot(&mut browser).await;
    clock.advance(Purpose::ResetPassword.lives());
    let body = json!({ "token": ticket, "password": "another horse 8" });
    browser.post("/v1/auth/reset-password", body).await.expect(400);
}

/// The answer is the same, and nobody gets a letter.
#[tokio::test]
async fn strangers_get_no_letters() {
    let (mut browser, _) = Browser::signed_up().await;
    browser.settle().await;
    let before = browser.app.auth.mail.kept().len();
    let known = browser.post("/v1/auth/forgot-password", json!({ "email": EMAIL })).await;
    let body = json!({ "email": "nobody@example.com" });
    let unknown = browser.post("/v1/auth/forgot-password", body.clone()).await;
    assert_eq!(known.expect(202), unknown.expect(202));
    browser.post("/v1/auth/verify-email/resend", body).await.expect(202);
    browser.settle().await;
    assert_eq!(browser.app.auth.mail.kept().len(), before + 1);
}

#[tokio::test]
async fn an_address_is_confirmed_by_a_button() {
    let (mut browser, _) = Browser::signed_up().await;
    let (_, ticket) = browser.ticket_in_mail().await;
    // Opening the link, as mail programs do, changes nothing.
    let page = browser.get(&format!("/verify-email?token={ticket}%22%3E%3Cscript")).await;
    let policy = page.headers["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.contains("default-src 'none'"), "{policy}");
    let page = page.expect(200);
    assert!(!page.as_str().unwrap().contains("<script"), "{page}");
    assert_eq!(browser.get("/v1/auth/me").await.expect(200)["emailVerified"], false);
    browser.post("/v1/auth/verify-email", json!({ "token": ticket })).await.expect(204);
    assert_eq!(browser.get("/v1/auth/me").await.expect(200)["emailVerified"], true);
    browser.post("/v1/auth/verify-email", json!({ "token": ticket })).await.expect(400);
}

#[tokio::test]
async fn another_letter_can_be_asked_for() {
    let (mut browser, clock) = Browser::signed_up().await;
    let (_, first) = browser.ticket_in_mail().await;
    clock.advance(Duration::from_secs(1));
    let body = json!({ "email": EMAIL });
    browser.post("/v1/auth/verify-email/resend", body).await.expect(202);
    let (_, second) = browser.ticket_in_mail().await;
    assert_ne!(first, second);
    browser.post("/v1/auth/verify-email", json!({ "token": second })).await.expect(204);
}

/// Whoever floods somebody's mailbox is told to wait, as are strangers.
#[tokio::test]
async fn letters_are_not_for_flooding() {
    let (mut browser, _) = Browser::signed_up().await;
    for email in [EMAIL, "nobody@example.com"] {
        let body = json!({ "email": email });
        for _ in 0..5 {
            browser.post("/v1/auth/forgot-password", body.clone()).await.expect(202);
        }
        browser.post("/v1/auth/forgot-password", body).await.expect(429);
    }
}

#[tokio::test]
async fn a_server_without_mail_says_so() {
    let (app, _) = server();
    let mut browser = Browser::of(&with(&app, |auth| auth.mail = Mailer::nowhere()));
    browser.sign_up(EMAIL).await.expect(201);
    for path in ["/v1/auth/forgot-password", "/v1/auth/verify-email/resend"] {
        let said = browser.post(path, json!({ "email": EMAIL })).await.expect(503);
        assert!(said["detail"].as_str().unwrap().contains("cannot send mail"), "{said}");
    }
}
