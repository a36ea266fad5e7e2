use crate::ferry::{Answer, Ferry, METRICS_TOKEN, run, show};

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

/// They are counted by account, and served where senders come in.
#[test]
fn metrics_are_for_whoever_has_the_token() {
    let asked = |ferry: &Ferry, proof: &str| {
        let head = "GET /metrics HTTP/1.1\r\nhost: test\r\nconnection: close\r\n";
        Answer::parse(&ferry.last_words(format!("{head}{proof}\r\n").as_bytes()))
    };
    let ferry = Ferry::start();
    for wrong in ["", "authorization: Bearer of-somebody-else\r\n"] {
        let answer = asked(&ferry, wrong);
        assert_eq!(answer.status, 401, "{answer:?}");
        assert!(!answer.body.contains("ferryhook_build_info"));
    }
    let proof = format!("authorization: Bearer {METRICS_TOKEN}\r\n");
    assert_eq!(asked(&ferry, &proof).status, 200);
    // Whoever sets none shows them to nobody; a token of nothing is none.
    let folder = tempfile::tempdir().unwrap();
    let shut = Ferry::start_in(&folder, &[("FERRYHOOK_METRICS_TOKEN", "")]);
    assert_eq!(asked(&shut, &proof).status, 404);
    assert_eq!(asked(&shut, "authorization: Bearer \r\n").status, 404);
    assert_eq!((shut.get("/healthz").status, shut.get("/readyz").status), (200, 200));
    let short = run(&folder, &["serve"], &[("FERRYHOOK_METRICS_TOKEN", "short")]);
    assert!(show(&short).contains("metrics.token must be 16 or more letters"), "{short:?}");
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
