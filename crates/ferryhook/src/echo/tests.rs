use std::sync::Arc;

use axum::http::Request;
use ferryhook_core::{Id, Secret, Timestamp, samples, signature};
use ferryhook_store::engine::memory::Memory;
use http_body_util::BodyExt;
use tower::ServiceExt;

use super::*;

const BODY: &[u8] = br#"{"order":7}"#;

struct Bench {
    store: Store,
    env: Env,
}

impl Bench {
    /// With one connection that leads here.
    async fn new() -> Self {
        let env = Env::fixed("2026-01-01T00:00:00Z");
        let store = Store::new(Arc::new(Memory::new(env.clone())), env.clone());
        let owner = owner::ensure(&store, &env).await.unwrap();
        let connection = Connection {
            id: Id::new(&env),
            account_id: owner.account,
            name: "echo".into(),
            destination_url: Some("http://127.0.0.1:8080/_dev/echo".into()),
            signing_secret: Secret::new("hush"),
            ..samples::connection()
        };
        store.connections().create(&connection).await.unwrap();
        Self { store, env }
    }

    async fn says(&self, signature: Option<String>) -> String {
        let mut request = Request::post(PATH).header(outgoing::EVENT_ID, "evt_1");
        if let Some(signature) = signature {
            request = request.header(outgoing::SIGNATURE, signature);
        }
        let request = request.body(Body::from(BODY)).unwrap();
        let router = router(self.store.clone(), self.env.clone());
        let answer = router.oneshot(request).await.unwrap();
        let status = answer.status();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        format!("{status} {}", std::str::from_utf8(&body).unwrap())
    }
}

fn signed(secret: &str, at: Timestamp, body: &[u8]) -> Option<String> {
    Some(signature::sign([&Secret::new(secret)].into_iter(), "evt_1", at, body).ferryhook)
}

#[tokio::test]
async fn a_request_of_ours_is_recognised_and_others_are_not() {
    let bench = Bench::new().await;
    let now = bench.env.now();
    let said = [
        bench.says(signed("hush", now, BODY)).await,
        bench.says(None).await,
        bench.says(signed("guess", now, BODY)).await,
        bench.says(signed("hush", now, b"other")).await,
        bench.says(signed("hush", now - 2 * TOLERANCE, BODY)).await,
        bench.says(Some("v1=abc".into())).await,
    ];
    insta::assert_snapshot!(said.join("\n"), @r#"
    200 OK {"signature":"ok","event":"evt_1","connection":"echo","bytes":11}
    401 Unauthorized {"signature":"there is no signature"}
    401 Unauthorized {"signature":"no signature belongs to this body and secret"}
    401 Unauthorized {"signature":"no signature belongs to this body and secret"}
    401 Unauthorized {"signature":"the signature is too old, or from the future"}
    401 Unauthorized {"signature":"the signature header is not of the form t=<seconds>,v1=<hex>"}
    "#);
}

#[test]
fn only_our_own_address_is_here() {
    let here = |url: &str| {
        is_here(&Connection { destination_url: Some(url.into()), ..samples::connection() })
    };
    assert!(here("http://127.0.0.1:8080/_dev/echo"));
    assert!(here("http://127.0.0.1:1/_dev/echo"));
    assert!(here("http://[::1]:8080/_dev/echo"));
    assert!(!here("http://10.0.0.1:8080/_dev/echo"));
    assert!(!here("http://127.0.0.1:8080/_dev/echo/x"));
    assert!(!here("https://example.com/_dev/echo"));
    assert!(!here("http://127.0.0.1:8080.example.com/_dev/echo"));
}
