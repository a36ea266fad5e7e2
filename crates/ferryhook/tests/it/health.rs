use crate::ferry::Ferry;

#[test]
fn a_fresh_server_lives_and_is_ready() {
    let ferry = Ferry::start();
    assert_eq!(ferry.get("/healthz").status, 200);
    assert_eq!(ferry.get("/readyz").status, 200);
}

#[test]
fn metrics_are_prometheus_text() {
    let answer = Ferry::start().get("/metrics");
    assert_eq!(answer.status, 200);
    let version = env!("CARGO_PKG_VERSION");
    let line = format!("ferryhook_build_info{{version=\"{version}\"}} 1");
    assert!(answer.body.lines().any(|has| has == line), "{answer:?}");
}

/// The body of an error and its header name the same request, and each request has another id.
#[test]
fn an_unknown_address_is_a_problem() {
    let ferry = Ferry::start();
    let answer = ferry.get("/nowhere");
    assert_eq!(answer.status, 404);
    assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    let problem: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(problem["code"], "NOT_FOUND");
    assert_eq!(problem["requestId"].as_str(), answer.header("x-request-id"));
    let next = ferry.get("/nowhere");
    assert_ne!(next.header("x-request-id"), answer.header("x-request-id"));
}
