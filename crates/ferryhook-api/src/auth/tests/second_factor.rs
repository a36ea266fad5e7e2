//! Two proofs instead of one.

use std::time::Duration;

use ferryhook_core::Secret;
use ferryhook_core::totp;
use serde_json::{Value, json};

use super::browser::*;

/// What the app shows now.
fn code(browser: &Browser, secret: &str) -> String {
    totp::code(&Secret::new(secret), browser.app.env.now()).unwrap()
}

async fn enrolled()
-> (Browser, std::sync::Arc<ferryhook_core::env::ManualClock>, String, Vec<String>) {
    let (mut browser, clock) = Browser::signed_up().await;
    let offer = browser.post("/v1/auth/totp", json!({})).await.expect(201);
    let secret = offer["secret"].as_str().unwrap().to_owned();
    assert!(offer["otpauthUrl"].as_str().unwrap().starts_with("otpauth://totp/Ferryhook:ada@"));
    let wrong = json!({ "code": "000000" });
    browser.post("/v1/auth/totp/confirm", wrong).await.expect(400);
    let right = json!({ "code": code(&browser, &secret) });
    let codes = browser.post("/v1/auth/totp/confirm", right).await.expect(200);
    let codes = codes["recoveryCodes"].as_array().unwrap().iter();
    let codes = codes.map(|code| code.as_str().unwrap().to_owned()).collect();
    clock.advance(Duration::from_secs(60));
    (browser, clock, secret, codes)
}

async fn first_step(browser: &mut Browser) -> Value {
    let said = browser.log_in(PASSWORD).await.expect(200);
    assert!(said.get("accessToken").is_none() && browser.cookie.is_none(), "{said}");
    said["secondFactor"].clone()
}

async fn second_step(browser: &mut Browser, ticket: &Value, code: &str) -> Said {
    browser.post("/v1/auth/login/totp", json!({ "secondFactor": ticket, "code": code })).await
}

#[tokio::test]
async fn an_offer_is_not_yet_a_factor() {
    let (mut browser, _) = Browser::signed_up().await;
    browser.post("/v1/auth/totp", json!({})).await.expect(201);
    browser.another().log_in(PASSWORD).await.expect(200)["accessToken"].as_str().unwrap();
}

#[tokio::test]
async fn a_password_is_then_not_enough() {
    let (browser, clock, secret, _) = enrolled().await;
    let mut phone = browser.another();
    let ticket = first_step(&mut phone).await;
    second_step(&mut phone, &ticket, "000000").await.expect(401);
    let right = code(&browser, &secret);
    second_step(&mut phone, &ticket, &right).await.expect(200);
    phone.get("/v1/auth/me").await.expect(200);
    // The ticket is used up, and so is the code.
    second_step(&mut browser.another(), &ticket, &right).await.expect(401);
    let mut thief = browser.another();
    let ticket = first_step(&mut thief).await;
    second_step(&mut thief, &ticket, &right).await.expect(401);
    clock.advance(Duration::from_secs(30));
    second_step(&mut thief, &ticket, &code(&browser, &secret)).await.expect(200);
}

#[tokio::test]
async fn a_ticket_has_few_tries() {
    let (browser, clock, secret, _) = enrolled().await;
    let mut thief = browser.another();
    let ticket = first_step(&mut thief).await;
    for _ in 0..5 {
        second_step(&mut thief, &ticket, "000000").await.expect(401);
    }
    // Neither this ticket nor a new one helps before some time has passed.
    clock.advance(Duration::from_secs(30));
    second_step(&mut thief, &ticket, &code(&browser, &secret)).await.expect(401);
    let ticket = first_step(&mut thief).await;
    second_step(&mut thief, &ticket, "000000").await.expect(401);
    second_step(&mut thief, &ticket, "000000").await.expect(429);
    clock.advance(Duration::from_secs(2));
    second_step(&mut thief, &ticket, &code(&browser, &secret)).await.expect(200);
}

#[tokio::test]
async fn a_recovery_code_is_good_once() {
    let (browser, _, _, codes) = enrolled().await;
    let mut phone = browser.another();
    let ticket = first_step(&mut phone).await;
    let typed = codes[3].to_lowercase();
    let said = second_step(&mut phone, &ticket, &typed).await.expect(200);
    assert_eq!(said["user"]["recoveryCodesLeft"], 9);
    let mut thief = browser.another();
    let ticket = first_step(&mut thief).await;
    second_step(&mut thief, &ticket, &typed).await.expect(401);
}

#[tokio::test]
async fn taking_it_off_needs_both() {
    let (mut browser, _, secret, _) = enrolled().await;
    let path = "/v1/auth/totp/disable";
    let with = |password: &str, code: &str| json!({ "password": password, "code": code });
    let right = code(&browser, &secret);
    browser.post(path, with("wrong horse 9", &right)).await.expect(403);
    browser.post(path, with(PASSWORD, "000000")).await.expect(403);
    browser.post(path, with(PASSWORD, &right)).await.expect(204);
    assert_eq!(browser.app.auth.mail.kept()[0].1.subject, "The second factor is off");
    browser.another().log_in(PASSWORD).await.expect(200)["accessToken"].as_str().unwrap();
    browser.post(path, with(PASSWORD, &right)).await.expect(409);
}

#[tokio::test]
async fn it_is_on_once() {
    let (mut browser, _, secret, _) = enrolled().await;
    browser.post("/v1/auth/totp", json!({})).await.expect(409);
    let right = json!({ "code": code(&browser, &secret) });
    browser.post("/v1/auth/totp/confirm", right).await.expect(409);
}

/// Whoever found a browser open, or a token, does not thereby decide how its owner signs in.
#[tokio::test]
async fn turning_it_on_needs_proof_once_more() {
    let (mut browser, clock) = Browser::signed_up().await;
    let path = "/v1/auth/totp";
    let confirm = "/v1/auth/totp/confirm";
    clock.advance(Duration::from_secs(11 * 60));
    browser.post(path, json!({})).await.expect(403);
    browser.call("POST", path, None, &[]).await.expect(403);
    browser.post(path, json!({ "password": "wrong horse 9" })).await.expect(403);
    let offer = browser.post(path, json!({ "password": PASSWORD })).await.expect(201);
    let secret = offer["secret"].as_str().unwrap().to_owned();
    let with = |code: &str, password: &str| json!({ "code": code, "password": password });
    let right = code(&browser, &secret);
    browser.post(confirm, json!({ "code": right })).await.expect(403);
    browser.post(confirm, with(&right, "wrong horse 9")).await.expect(403);
    browser.post(confirm, with(&right, PASSWORD)).await.expect(200);
}

/// Just after signing in nobody is asked twice.
#[tokio::test]
async fn a_fresh_sign_in_is_proof_enough() {
    let (browser, clock) = Browser::signed_up().await;
    clock.advance(Duration::from_secs(60 * 60));
    let mut phone = browser.another();
    phone.log_in(PASSWORD).await.expect(200);
    clock.advance(Duration::from_secs(9 * 60));
    phone.call("POST", "/v1/auth/totp", None, &[]).await.expect(201);
}

/// Sessions that began without it are no way around it.
#[tokio::test]
async fn turning_it_on_ends_other_sessions_and_is_told() {
    let (mut browser, _) = Browser::signed_up().await;
    let mut other = browser.another();
    other.log_in(PASSWORD).await.expect(200);
    let offer = browser.post("/v1/auth/totp", json!({})).await.expect(201);
    let right = json!({ "code": code(&browser, offer["secret"].as_str().unwrap()) });
    browser.post("/v1/auth/totp/confirm", right).await.expect(200);
    other.get("/v1/auth/me").await.expect(401);
    other.refresh().await.expect(401);
    assert_eq!(browser.get("/v1/auth/me").await.expect(200)["twoFactorEnabled"], true);
    browser.refresh().await.expect(200);
    let letters = browser.app.auth.mail.kept();
    assert_eq!(letters[0].1.subject, "A second factor is on");
    assert_eq!(letters[0].1.to, EMAIL);
}

/// Without a password it is the sign-in that has to be new.
#[tokio::test]
async fn one_without_a_password_signs_in_again() {
    let (mut browser, clock) = Browser::signed_up().await;
    let users = browser.app.store.users();
    let was = users.find_holder(EMAIL).await.unwrap().unwrap();
    let now = ferryhook_core::User { password_hash: None, ..was.record.clone() };
    users.replace(&was, now).await.unwrap();
    clock.advance(Duration::from_secs(11 * 60));
    browser.post("/v1/auth/totp", json!({})).await.expect(403);
    browser.post("/v1/auth/totp", json!({ "password": "" })).await.expect(403);
    let new = json!({ "newPassword": "another horse 8" });
    browser.post("/v1/auth/change-password", new).await.expect(403);
}
