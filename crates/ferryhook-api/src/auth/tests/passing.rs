//! In and out again.

use serde_json::json;

use super::browser::*;
use crate::auth::Signup;

#[tokio::test]
async fn signing_up_makes_a_user_with_an_account() {
    let (mut browser, _) = Browser::signed_up().await;
    let me = browser.get("/v1/auth/me").await.expect(200);
    assert_eq!((&me["email"], &me["name"]), (&json!(EMAIL), &json!("Ada")));
    let who = browser.get("/v1/whoami").await.expect(200);
    assert_eq!(who["role"], "admin");
    assert_eq!(who["accountId"], me["defaultAccountId"]);
}

#[tokio::test]
async fn the_answer_is_the_promised_one() {
    let (app, _) = server();
    let mut browser = Browser::of(&app);
    let answer = browser.sign_up(EMAIL).await;
    let cookie = answer.headers["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.starts_with("ferryhook_refresh=usr_"), "{cookie}");
    assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
    let body = answer.expect(201);
    let names: Vec<_> = body.as_object().unwrap().keys().collect();
    assert_eq!(names, ["accessToken", "expiresIn", "user", "account"]);
    assert_eq!(body["expiresIn"], 3600);
    let text = body.to_string();
    assert!(!text.contains("$2b$") && !text.contains("totp"), "{text}");
}

#[tokio::test]
async fn a_password_opens_the_door_again() {
    let (browser, _) = Browser::signed_up().await;
    let mut other = browser.another();
    let body = other.log_in(PASSWORD).await.expect(200);
    assert_eq!(body["user"]["email"], EMAIL);
    assert_eq!(body["account"]["role"], "admin");
    other.get("/v1/auth/me").await.expect(200);
    // However the address is written.
    let body = json!({ "email": " ADA@Example.COM ", "password": PASSWORD });
    browser.another().post("/v1/auth/login", body).await.expect(200);
}

#[tokio::test]
async fn logging_out_ends_it_at_once() {
    let (mut browser, _) = Browser::signed_up().await;
    let mut copy = browser.clone();
    browser.post("/v1/auth/logout", json!({})).await.expect(204);
    assert_eq!(browser.cookie, None);
    copy.get("/v1/auth/me").await.expect(401);
    copy.refresh().await.expect(401);
    browser.post("/v1/auth/logout", json!({})).await.expect(204);
}

#[tokio::test]
async fn an_address_is_taken_once() {
    let (browser, _) = Browser::signed_up().await;
    let said = browser.another().sign_up("Ada@Example.com").await.expect(409);
    assert_eq!(said["code"], "CONFLICT");
}

#[tokio::test]
async fn what_is_not_well_formed_is_said() {
    let (app, _) = server();
    let mut browser = Browser::of(&app);
    for (email, password, pointer) in [
        ("ada", PASSWORD, "/email"),
        ("ada@", PASSWORD, "/email"),
        ("ada@example.com\nbcc: x@y", PASSWORD, "/email"),
        ("Ada <ada@example.com>", PASSWORD, "/email"),
        (EMAIL, "short", "/password"),
        (EMAIL, "password123", "/password"),
        (EMAIL, &"x1".repeat(40), "/password"),
    ] {
        let body = json!({ "email": email, "password": password });
        let said = browser.post("/v1/auth/signup", body).await.expect(400);
        assert_eq!(said["errors"][0]["pointer"], pointer, "{said}");
    }
    let body = json!({ "email": EMAIL, "password": PASSWORD, "role": "admin" });
    browser.post("/v1/auth/signup", body).await.expect(400);
}

#[tokio::test]
async fn signing_up_can_be_closed() {
    let (app, _) = server();
    for signup in [Signup::Invite, Signup::Off] {
        Browser::of(&closed(&app, signup)).sign_up(EMAIL).await.expect(403);
    }
}

#[tokio::test]
async fn a_profile_is_changed_by_its_owner() {
    let (mut browser, _) = Browser::signed_up().await;
    let body = json!({ "name": "Countess", "lastName": "Lovelace", "preferences": { "a": 1 } });
    let me = browser.call("PATCH", "/v1/auth/me", Some(body), &[]).await.expect(200);
    assert_eq!((&me["name"], &me["preferences"]["a"]), (&json!("Countess"), &json!(1)));
    let said = browser.get("/v1/auth/me").await;
    let tag = said.headers["etag"].to_str().unwrap().to_owned();
    assert_eq!(said.expect(200)["lastName"], "Lovelace");
    let body = json!({ "lastName": "" });
    let stale = [("if-match", "\"other\"")];
    browser.call("PATCH", "/v1/auth/me", Some(body.clone()), &stale).await.expect(412);
    let right = [("if-match", tag.as_str())];
    let me = browser.call("PATCH", "/v1/auth/me", Some(body), &right).await.expect(200);
    assert_eq!(me.get("lastName"), None);
    for bad in
        [json!({ "email": "x@y.z" }), json!({ "status": "active" }), json!({ "name": "a\nb" })]
    {
        browser.call("PATCH", "/v1/auth/me", Some(bad), &[]).await.expect(400);
    }
}

/// Keys are for programs, and what concerns a person only is not theirs to do.
#[tokio::test]
async fn a_key_is_nobody() {
    let trial = crate::trial::Trial::new().await;
    for path in ["/v1/auth/me", "/v1/auth/sessions"] {
        trial.get(path).await.expect(403);
    }
}

#[tokio::test]
async fn the_public_keys_are_shown() {
    let (app, _) = server();
    let keys = Browser::of(&app).get("/.well-known/jwks.json").await.expect(200);
    assert_eq!(keys["keys"][0]["alg"], "ES256");
    assert!(keys["keys"][0].get("d").is_none());
}
