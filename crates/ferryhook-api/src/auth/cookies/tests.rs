use axum::body::Body;
use axum::http::Request;
use ferryhook_core::session::Session;
use ferryhook_core::{Env, samples};

use super::*;
use crate::trial;

fn visit(is_secure: bool) -> Visit {
    let request = Request::builder().body(Body::empty()).unwrap();
    let mut visit = Visit::of(&request, &trial::app());
    visit.is_secure = is_secure;
    visit
}

fn headers(fields: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        headers.append(*name, HeaderValue::from_str(value).unwrap());
    }
    headers
}

#[test]
fn a_cookie_is_as_narrow_as_it_can_be() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let user = samples::user();
    let (_, token) = Session::begin(&user, session::Method::Password, None, None, &env);
    let text = token.to_text();
    let shown = |visit: &Visit| {
        let cookie = keep_token(visit, &token).unwrap();
        cookie.to_str().unwrap().replace(&text, "TOKEN")
    };
    assert_eq!(
        shown(&visit(true)),
        "__Host-ferryhook_refresh=TOKEN; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict; Secure"
    );
    assert_eq!(
        shown(&visit(false)),
        "ferryhook_refresh=TOKEN; Path=/v1/auth; Max-Age=2592000; HttpOnly; SameSite=Strict"
    );
    let sent = headers(&[("cookie", &format!("a=b; ferryhook_refresh={text}; c=d"))]);
    assert_eq!(super::token(&visit(false), &sent), Some(token));
    assert_eq!(super::token(&visit(true), &sent), None, "over TLS only the other name counts");
}

/// Which of two is ours nobody can know; one of them may have been planted.
#[test]
fn two_of_one_name_are_none() {
    let sent = headers(&[("cookie", "ferryhook_refresh=a"), ("cookie", "ferryhook_refresh=b")]);
    assert_eq!(Cookie::Refresh.read(&visit(false), &sent), None);
}

#[test]
fn other_sites_are_refused() {
    let base = "https://ferry.example/base";
    let may = |fields: &[(&'static str, &str)]| require_own_site(&headers(fields), base).is_ok();
    assert!(may(&[]), "a program");
    assert!(may(&[("host", "a:1"), ("origin", "http://a:1"), ("sec-fetch-site", "same-origin")]));
    assert!(may(&[("host", "inside"), ("origin", "https://ferry.example")]), "behind a proxy");
    assert!(!may(&[("host", "a:1"), ("origin", "http://evil")]));
    assert!(!may(&[("host", "a:1"), ("origin", "http://a:2")]));
    assert!(!may(&[("host", "a:1"), ("origin", "null")]));
    assert!(!may(&[("origin", "http://")]));
    assert!(!may(&[("sec-fetch-site", "cross-site")]));
    assert!(!may(&[("sec-fetch-site", "same-site")]), "a neighbour on the same domain");
}
