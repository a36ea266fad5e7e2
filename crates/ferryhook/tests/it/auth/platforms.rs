//! Signing in through GitHub and Google, from the button to the session.

use serde_json::json;

use super::person::{EMAIL, PASSWORD, Person, Said};
use super::provider::{Github, OpenId};
use crate::ferry::Ferry;

/// What the server believes it is called; the tests know where it really is.
const PUBLIC: &str = "http://ferry.test";

/// Where the platform sends the browser back to, on the server's real address.
fn here(person: &Person, location: &str) -> String {
    let path = location.strip_prefix(PUBLIC).unwrap_or_else(|| panic!("{location}"));
    format!("http://{}{path}", person.home)
}

struct WithGithub {
    ferry: Ferry,
    github: Github,
}

impl WithGithub {
    fn start(signup: &str) -> Self {
        let github = Github::start();
        let ferry = Ferry::start_with(&[
            ("FERRYHOOK_SIGNUP", signup),
            ("FERRYHOOK_PUBLIC_URL", PUBLIC),
            ("GITHUB_CLIENT_ID", "ferry"),
            ("GITHUB_CLIENT_SECRET", "github-secret"),
            ("GITHUB_URL", &github.url),
            ("GITHUB_API_URL", &github.url),
        ]);
        Self { ferry, github }
    }

    /// Leaves, agrees there, and comes back.
    fn sign_in(&self, person: &mut Person) -> Said {
        let url = self.leave(person);
        let back = person.visit(&url, None).location().to_owned();
        person.visit(&here(person, &back), None)
    }

    fn leave(&self, person: &mut Person) -> String {
        let said = person.get("/v1/auth/github?next=/sources");
        said.location().to_owned()
    }
}

fn proven(email: &str) -> serde_json::Value {
    json!([
        { "email": "old@example.com", "primary": false, "verified": true, "visibility": null },
        { "email": email, "primary": true, "verified": true, "visibility": "private" },
    ])
}

#[test]
fn github_signs_somebody_up_and_in_again() {
    let with = WithGithub::start("open");
    with.github.sit_down(583_231, "ada", proven(EMAIL));
    let mut ada = Person::at(&with.ferry);
    let said = with.sign_in(&mut ada);
    assert_eq!(said.location(), "/sources");
    let me = ada.post("/v1/auth/refresh", &json!({})).expect(200)["user"].clone();
    assert_eq!((&me["email"], &me["emailVerified"]), (&json!(EMAIL), &json!(true)));
    assert_eq!((&me["githubLinked"], &me["hasPassword"]), (&json!(true), &json!(false)));
    // Again, from elsewhere and with another address there: the id is who they are.
    with.github.sit_down(583_231, "ada", proven("countess@example.com"));
    let mut phone = Person::at(&with.ferry);
    with.sign_in(&mut phone);
    let again = phone.post("/v1/auth/refresh", &json!({})).expect(200)["user"].clone();
    assert_eq!(again["userId"], me["userId"]);
    let sessions = phone.get("/v1/auth/sessions").expect(200);
    assert_eq!(sessions["data"][0]["method"], "github");
    assert_eq!(with.github.complaints(), [] as [&str; 0]);
}

/// Whoever wrote the address down first may be somebody else.
#[test]
fn an_unproven_address_is_handed_to_nobody() {
    let with = WithGithub::start("open");
    let mut eve = Person::at(&with.ferry);
    eve.sign_up(EMAIL).expect(201);
    with.github.sit_down(583_231, "ada", proven(EMAIL));
    let mut ada = Person::at(&with.ferry);
    with.sign_in(&mut ada).expect(409);
    // And one that GitHub has not verified leads nowhere either.
    let unproven = json!([{ "email": "bob@example.com", "primary": true, "verified": false }]);
    with.github.sit_down(7, "bob", unproven);
    with.sign_in(&mut Person::at(&with.ferry)).expect(403);
}

#[test]
fn a_code_comes_back_once_and_to_the_browser_that_left() {
    let with = WithGithub::start("open");
    with.github.sit_down(583_231, "ada", proven(EMAIL));
    let mut ada = Person::at(&with.ferry);
    let url = with.leave(&mut ada);
    let back = ada.visit(&url, None).location().to_owned();
    let back = here(&ada, &back);
    // Another browser, which was given the link.
    Person::at(&with.ferry).visit(&back, None).expect(403);
    // The state was used up by that, for everybody.
    ada.visit(&back, None).expect(403);
    // A code that GitHub does not know (any more), which it says with status 200.
    let url = with.leave(&mut ada);
    let back = here(&ada, ada.clone().visit(&url, None).location());
    let wrong = back.replace("code=code-", "code=other-");
    ada.visit(&wrong, None).expect(403);
    // Somebody who said no there.
    let url = with.leave(&mut ada);
    let state = url.split("state=").nth(1).unwrap().split('&').next().unwrap();
    let path = format!("/v1/auth/github/callback?error=access_denied&state={state}");
    let said = ada.get(&path).expect(403);
    assert!(said["detail"].as_str().unwrap().contains("access_denied"), "{said}");
}

#[test]
fn a_closed_server_takes_nobody_new() {
    let with = WithGithub::start("invite");
    with.github.sit_down(583_231, "ada", proven(EMAIL));
    with.sign_in(&mut Person::at(&with.ferry)).expect(403);
}

#[test]
fn what_is_not_configured_says_so() {
    let ferry = Ferry::start();
    let mut ada = Person::at(&ferry);
    for platform in ["github", "google"] {
        let said = ada.get(&format!("/v1/auth/{platform}")).expect(404);
        assert!(said["detail"].as_str().unwrap().contains("no client id"), "{said}");
    }
    let leads_away = ada.get("/v1/auth/github?next=//evil.example");
    assert_eq!(leads_away.status, 400);
}

/// A certified provider, a real round trip: discovery, PKCE, nonce, its keys, its cookies.
#[test]
fn google_signs_somebody_in() {
    let redirect = format!("{PUBLIC}/v1/auth/google/callback");
    let Some(provider) = OpenId::start(&redirect) else { return };
    let ferry = Ferry::start_with(&[
        ("FERRYHOOK_SIGNUP", "open"),
        ("FERRYHOOK_PUBLIC_URL", PUBLIC),
        ("GOOGLE_CLIENT_ID", "ferry"),
        ("GOOGLE_CLIENT_SECRET", "ferry-secret"),
        ("GOOGLE_ISSUER", &provider.issuer),
    ]);
    let mut ada = Person::at(&ferry);
    let said = through_google(&mut ada, "ada");
    assert_eq!(said.location(), "/");
    let me = ada.post("/v1/auth/refresh", &json!({})).expect(200)["user"].clone();
    assert_eq!((&me["email"], &me["googleLinked"]), (&json!(EMAIL), &json!(true)));
    // Somebody with a password, whose address is proven, is linked.
    ada.post("/v1/auth/change-password", &json!({ "newPassword": PASSWORD })).expect(204);
    let mut phone = Person::at(&ferry);
    through_google(&mut phone, "ada");
    let again = phone.post("/v1/auth/refresh", &json!({})).expect(200)["user"].clone();
    assert_eq!(again["userId"], me["userId"]);
    through_google(&mut Person::at(&ferry), "unproven-bob").expect(403);
}

/// Signs in at the provider, agrees, and comes back: as many pages as it takes.
fn through_google(person: &mut Person, name: &str) -> Said {
    let mut url = person.get("/v1/auth/google").location().to_owned();
    let origin: String = url.split('/').take(3).collect::<Vec<_>>().join("/");
    for _ in 0..12 {
        let said = person.visit(&url, None);
        url = if said.status == 200 {
            let form = [("prompt", "login"), ("login", name), ("password", "any")];
            let asks = if said.text.contains("value=\"consent\"") { "consent" } else { "login" };
            let form = if asks == "consent" { vec![("prompt", "consent")] } else { form.to_vec() };
            let action = said.text.split("action=\"").nth(1).unwrap().split('"').next().unwrap();
            person.visit(action, Some(&form)).location().to_owned()
        } else {
            said.location().to_owned()
        };
        if url.starts_with('/') {
            url = format!("{origin}{url}");
        }
        if url.starts_with(PUBLIC) {
            return person.visit(&here(person, &url), None);
        }
    }
    panic!("the provider does not come to an end: {url}");
}
