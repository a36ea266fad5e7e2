//! A new installation and whoever claims it.

use ferryhook_core::ticket::Purpose;
use serde_json::{Value, json};

use super::browser::*;
use crate::auth::{Signup, setup};
use crate::owner;

async fn link(browser: &Browser) -> Option<String> {
    let link = setup::link(&browser.app.store, &browser.app.env, "http://trial").await.unwrap()?;
    let ticket = link.strip_prefix("http://trial/setup?token=").unwrap();
    Some(ticket.to_owned())
}

fn claim(token: &str) -> Value {
    json!({ "token": token, "email": EMAIL, "password": PASSWORD, "name": "Ada" })
}

#[tokio::test]
async fn the_link_makes_an_owner_once() {
    let (app, _) = server();
    let mut browser = Browser::of(&closed(&app, Signup::Off));
    // Something was made before anybody came.
    let owner = owner::ensure(&app.store, &app.env).await.unwrap();
    let (first, second) = (link(&browser).await.unwrap(), link(&browser).await.unwrap());
    let said = browser.post("/v1/auth/setup", claim(&first)).await.expect(201);
    assert_eq!(said["account"]["accountId"], json!(owner.account));
    assert_eq!(said["account"]["role"], "admin");
    browser.get("/v1/whoami").await.expect(200);
    let mut thief = browser.another();
    thief.post("/v1/auth/setup", claim(&first)).await.expect(400);
    let other = json!({ "token": second, "email": "eve@example.com", "password": PASSWORD });
    thief.post("/v1/auth/setup", other).await.expect(409);
    assert_eq!(link(&browser).await, None, "there is an owner now");
    browser.another().log_in(PASSWORD).await.expect(200);
}

#[tokio::test]
async fn the_link_runs_out() {
    let (app, clock) = server();
    let mut browser = Browser::of(&app);
    let token = link(&browser).await.unwrap();
    let weak = json!({ "token": token, "email": EMAIL, "password": "short" });
    browser.post("/v1/auth/setup", weak).await.expect(400);
    clock.advance(Purpose::SetUp.lives());
    browser.post("/v1/auth/setup", claim(&token)).await.expect(400);
}

#[tokio::test]
async fn the_page_is_a_form_without_a_script() {
    let (app, _) = server();
    let mut browser = Browser::of(&app);
    let token = link(&browser).await.unwrap();
    let page = browser.get(&format!("/setup?token={token}")).await.expect(200);
    let page = page.as_str().unwrap();
    assert!(page.contains(&token) && page.contains("<form method=\"post\">"), "{page}");
    assert!(!page.contains("<script"), "{page}");
}
