mod coverage;
mod tenancy;

use std::future::{pending, ready};
use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, Response};
use ferryhook_core::Secret;
use http_body_util::BodyExt;
use tower::ServiceExt;

use super::{App, Settings, router};
use crate::{Readiness, trial};

fn app(readiness: Readiness) -> App {
    App { readiness: Arc::new(readiness), ..trial::app() }
}

fn ready_app() -> App {
    app(Readiness::new(|| ready(Ok(()))))
}

async fn ask(app: App, method: &str, path: &str) -> String {
    let request = Request::builder().method(method).uri(path);
    let request = request.body(Body::empty()).unwrap();
    show(router(app).oneshot(request).await.unwrap()).await
}

/// Status, headers and body, as a client would see them.
async fn show(response: Response<Body>) -> String {
    let mut shown = format!("{}\n", response.status());
    for (name, value) in response.headers() {
        shown += &format!("{name}: {}\n", value.to_str().unwrap());
    }
    let body = response.into_body().collect().await.unwrap().to_bytes();
    shown + "\n" + std::str::from_utf8(&body).unwrap()
}

#[tokio::test]
async fn a_living_process_says_so() {
    insta::assert_snapshot!(ask(ready_app(), "GET", "/healthz").await, @r#"
    200 OK
    content-type: application/json
    x-content-type-options: nosniff
    cache-control: no-store
    referrer-policy: no-referrer
    x-request-id: req_-OhqqeV-vdbDJw05
    content-length: 18

    {"status":"alive"}
    "#);
}

#[tokio::test]
async fn a_ready_process_says_so() {
    insta::assert_snapshot!(ask(ready_app(), "GET", "/readyz").await, @r#"
    200 OK
    content-type: application/json
    x-content-type-options: nosniff
    cache-control: no-store
    referrer-policy: no-referrer
    x-request-id: req_-OhqqeV-vdbDJw05
    content-length: 18

    {"status":"ready"}
    "#);
}

#[tokio::test]
async fn an_unready_process_says_why() {
    let app = app(Readiness::new(|| ready(Err("The store is away.".into()))));
    insta::assert_snapshot!(ask(app, "GET", "/readyz").await, @r#"
    503 Service Unavailable
    retry-after: 1
    x-content-type-options: nosniff
    cache-control: no-store
    referrer-policy: no-referrer
    content-type: application/problem+json
    x-request-id: req_-OhqqeV-vdbDJw05
    content-length: 159

    {"type":"/problems/UNAVAILABLE","title":"Not available now","status":503,"detail":"The store is away.","code":"UNAVAILABLE","requestId":"req_-OhqqeV-vdbDJw05"}
    "#);
}

/// A check that hangs is a check that failed.
#[tokio::test(start_paused = true)]
async fn a_slow_check_is_not_ready() {
    let answer = ask(app(Readiness::new(pending)), "GET", "/readyz").await;
    assert!(answer.starts_with("503") && answer.contains("took too long"), "{answer}");
}

#[tokio::test]
async fn a_draining_process_is_alive_and_not_ready() {
    let app = ready_app();
    app.readiness.drain();
    let answer = ask(app.clone(), "GET", "/readyz").await;
    assert!(answer.starts_with("503") && answer.contains("is stopping"), "{answer}");
    assert!(ask(app, "GET", "/healthz").await.starts_with("200"));
}

#[tokio::test]
async fn metrics_name_the_build() {
    let token = "a token of the operator";
    let settings = Settings { metrics_token: Some(Secret::new(token)), ..Settings::default() };
    let app = App { settings: Arc::new(settings), ..ready_app() };
    let with = async |header: &str| {
        let request = Request::get("/metrics").header("authorization", header);
        show(router(app.clone()).oneshot(request.body(Body::empty()).unwrap()).await.unwrap()).await
    };
    // Who is counted there is nobody else's business.
    assert!(ask(ready_app(), "GET", "/metrics").await.starts_with("404"), "without a token");
    assert!(ask(app.clone(), "GET", "/metrics").await.starts_with("401"));
    for wrong in ["Bearer", "Bearer ", "Bearer a token", "Basic a token of the operator", token] {
        assert!(with(wrong).await.starts_with("401"), "{wrong}");
    }
    let shown = with(&format!("Bearer {token}")).await;
    let shown = shown.lines().filter(|line| !line.starts_with("x-request-id"));
    insta::assert_snapshot!(shown.collect::<Vec<_>>().join("\n"), @r#"
    200 OK
    content-type: text/plain; version=0.0.4; charset=utf-8
    x-content-type-options: nosniff
    cache-control: no-store
    referrer-policy: no-referrer
    content-length: 141

    # HELP ferryhook_build_info Always 1; the labels say which build.
    # TYPE ferryhook_build_info gauge
    ferryhook_build_info{version="1.2.3"} 1
    "#);
}

#[tokio::test]
async fn an_unknown_address_is_a_problem() {
    insta::assert_snapshot!(ask(ready_app(), "GET", "/nowhere").await, @r#"
    404 Not Found
    x-content-type-options: nosniff
    cache-control: no-store
    referrer-policy: no-referrer
    content-type: application/problem+json
    x-request-id: req_-OhqqeV-vdbDJw05
    content-length: 162

    {"type":"/problems/NOT_FOUND","title":"Not found","status":404,"detail":"There is nothing at this address.","code":"NOT_FOUND","requestId":"req_-OhqqeV-vdbDJw05"}
    "#);
}

#[tokio::test]
async fn a_wrong_method_is_a_problem() {
    insta::assert_snapshot!(ask(ready_app(), "DELETE", "/healthz").await, @r#"
    405 Method Not Allowed
    x-content-type-options: nosniff
    cache-control: no-store
    referrer-policy: no-referrer
    content-type: application/problem+json
    x-request-id: req_-OhqqeV-vdbDJw05
    allow: GET,HEAD
    content-length: 195

    {"type":"/problems/METHOD_NOT_ALLOWED","title":"Method not allowed","status":405,"detail":"This address does not take that method.","code":"METHOD_NOT_ALLOWED","requestId":"req_-OhqqeV-vdbDJw05"}
    "#);
}

/// The address in `type` can be opened.
#[tokio::test]
async fn every_problem_has_its_page() {
    for code in crate::Code::ALL {
        let path = format!("/problems/{}", code.as_str());
        let page = ask(ready_app(), "GET", &path).await;
        assert!(page.starts_with("200") && page.contains(code.title()), "{page}");
    }
    let page = ask(ready_app(), "GET", "/problems/NO_SUCH").await;
    assert!(page.starts_with("404"), "{page}");
}

/// A handler that panics still answers, and its message stays inside.
#[tokio::test]
async fn a_panic_is_an_internal_problem() {
    let app = app(Readiness::new(|| -> std::future::Ready<_> { panic!("secret") }));
    insta::assert_snapshot!(ask(app, "GET", "/readyz").await, @r#"
    500 Internal Server Error
    content-type: application/problem+json
    x-request-id: req_-OhqqeV-vdbDJw05
    content-length: 173

    {"type":"/problems/INTERNAL_ERROR","title":"Internal error","status":500,"detail":"Something failed on our side.","code":"INTERNAL_ERROR","requestId":"req_-OhqqeV-vdbDJw05"}
    "#);
}
