//! From the first start to the last session.

use ferryhook_core::{Env, Secret, totp};
use serde_json::json;

use super::person::{EMAIL, PASSWORD, Person};
use crate::ferry::Ferry;

fn set_up_link(ferry: &Ferry) -> Option<String> {
    let words = ferry.greeting.split_whitespace();
    words.into_iter().find(|word| word.contains("/setup?token=")).map(str::to_owned)
}

/// The whole life of an installation: claimed by the page of its link, closed to strangers.
#[test]
fn the_first_start_prints_a_link_that_makes_an_owner() {
    let folder = tempfile::tempdir().unwrap();
    let ferry = Ferry::start_in(&folder, &[]);
    let link = set_up_link(&ferry).expect("a link");
    let mut ada = Person::at(&ferry);
    ada.sign_up("eve@example.com").expect(403);
    let page = ada.visit(&link, None);
    assert!(page.text.contains("<form method=\"post\">"), "{}", page.text);
    let token = link.split("token=").nth(1).unwrap();
    let weak = [("token", token), ("email", EMAIL), ("password", "short"), ("name", "")];
    assert_eq!(ada.visit(&link, Some(&weak)).status, 400);
    let form = [("token", token), ("email", EMAIL), ("password", PASSWORD), ("name", "Ada")];
    let said = ada.visit(&link, Some(&form));
    assert_eq!(said.status, 200, "{}", said.text);
    assert!(said.text.contains("is set up") && said.text.contains(EMAIL), "{}", said.text);
    assert_eq!(ada.clone().visit(&link, Some(&form)).status, 400, "once");
    // The page has signed her in; the dashboard would go on like this.
    ada.post("/v1/auth/refresh", &json!({})).expect(200);
    assert_eq!(ada.get("/v1/whoami").expect(200)["role"], "admin");
    ferry.stop();

    let ferry = Ferry::start_in(&folder, &[]);
    assert_eq!(set_up_link(&ferry), None, "there is an owner");
    let mut ada = Person::at(&ferry);
    ada.log_in("wrong horse 9").expect(401);
    ada.log_in(PASSWORD).expect(200);
    assert_eq!(ada.get("/v1/auth/me").expect(200)["name"], "Ada");
    ferry.stop();
}

/// Sessions outlive a restart, and so do the keys that sign.
#[test]
fn a_restart_signs_nobody_out() {
    let folder = tempfile::tempdir().unwrap();
    let open = [("FERRYHOOK_SIGNUP", "open")];
    let ferry = Ferry::start_in(&folder, &open);
    let mut ada = Person::at(&ferry);
    ada.sign_up(EMAIL).expect(201);
    let jar = ada.cookies.remove(&ada.home).unwrap();
    ferry.stop();
    let ferry = Ferry::start_in(&folder, &open);
    ada.home = ferry.address.clone();
    ada.cookies.insert(ada.home.clone(), jar);
    ada.get("/v1/auth/me").expect(200);
    ada.post("/v1/auth/refresh", &json!({})).expect(200);
    ada.get("/v1/auth/me").expect(200);
}

#[test]
fn a_token_that_was_used_before_ends_the_session_for_everybody() {
    let ferry = Ferry::start_with(&[("FERRYHOOK_SIGNUP", "open")]);
    let mut ada = Person::at(&ferry);
    ada.sign_up(EMAIL).expect(201);
    let mut thief = ada.clone();
    // Twice: what was replaced last still counts for ten seconds, for an answer that got lost.
    ada.post("/v1/auth/refresh", &json!({})).expect(200);
    ada.post("/v1/auth/refresh", &json!({})).expect(200);
    thief.post("/v1/auth/refresh", &json!({})).expect(401);
    ada.get("/v1/auth/me").expect(401);
    ada.post("/v1/auth/refresh", &json!({})).expect(401);
    // The password is still hers.
    ada.log_in(PASSWORD).expect(200);
}

#[test]
fn a_second_factor_from_its_offer_to_its_end() {
    let ferry = Ferry::start_with(&[("FERRYHOOK_SIGNUP", "open")]);
    let mut ada = Person::at(&ferry);
    ada.sign_up(EMAIL).expect(201);
    let offer = ada.post("/v1/auth/totp", &json!({})).expect(201);
    let secret = Secret::new(offer["secret"].as_str().unwrap());
    let code = totp::code(&secret, Env::system().now()).unwrap();
    let codes = ada.post("/v1/auth/totp/confirm", &json!({ "code": code })).expect(200);
    let recovery = codes["recoveryCodes"][0].as_str().unwrap().to_owned();
    let mut phone = Person::at(&ferry);
    let ticket = phone.log_in(PASSWORD).expect(200)["secondFactor"].clone();
    assert!(phone.access.is_none());
    let with = |code: &str| json!({ "secondFactor": ticket, "code": code });
    // This step's code was used to turn it on.
    phone.post("/v1/auth/login/totp", &with(&code)).expect(401);
    phone.post("/v1/auth/login/totp", &with(&recovery)).expect(200);
    let sessions = phone.get("/v1/auth/sessions").expect(200);
    assert_eq!(sessions["data"].as_array().unwrap().len(), 2);
    phone.delete("/v1/auth/sessions").expect(204);
    ada.get("/v1/auth/me").expect(401);
    let second = codes["recoveryCodes"][1].as_str().unwrap();
    let body = json!({ "password": PASSWORD, "code": second });
    phone.post("/v1/auth/totp/disable", &body).expect(204);
    Person::at(&ferry).log_in(PASSWORD).expect(200)["accessToken"].as_str().unwrap();
}
