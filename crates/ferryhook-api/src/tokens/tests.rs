use std::sync::Arc;

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use ferryhook_core::env::ManualClock;
use ferryhook_core::samples;
use ferryhook_core::token_key::{KEPT_FOR, SIGNS_FOR};
use ferryhook_store::engine::memory::Memory;
use serde_json::{Value, json};

use super::*;

struct Bench {
    tokens: Tokens,
    store: Store,
    env: Env,
    clock: Arc<ManualClock>,
}

fn bench() -> Bench {
    let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
    let store = Store::new(Arc::new(Memory::new(env.clone())), env.clone());
    let tokens = Tokens::new(store.clone(), env.clone(), "https://ferry.example");
    Bench { tokens, store, env, clock }
}

impl Bench {
    async fn issue(&self) -> String {
        self.tokens.issue(samples::user().id, samples::session().id).await.unwrap()
    }

    async fn complaint(&self, token: &str) -> String {
        self.tokens.verify(token).await.unwrap_err().to_string()
    }
}

fn json(part: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

#[tokio::test]
async fn a_token_says_who_and_for_an_hour() {
    let bench = bench();
    let token = bench.issue().await;
    let parts: Vec<_> = token.split('.').collect();
    assert_eq!(json(parts[0])["alg"], "ES256");
    let now = bench.env.now().as_seconds();
    assert_eq!(
        json(parts[1]),
        json!({
            "iss": "https://ferry.example", "aud": "ferryhook-api",
            "sub": samples::user().id, "sid": samples::session().id,
            "iat": now, "exp": now + 3600,
        })
    );
    let claims = bench.tokens.verify(&token).await.unwrap();
    assert_eq!((claims.user, claims.session), (samples::user().id, samples::session().id));
    bench.clock.advance(LIVES - Duration::from_secs(1));
    bench.tokens.verify(&token).await.unwrap();
    bench.clock.advance(Duration::from_secs(1));
    assert_eq!(bench.complaint(&token).await, "its time is over");
}

/// What the public half in the list verifies is what we signed.
#[tokio::test]
async fn strangers_can_check_it() {
    let bench = bench();
    let token = bench.issue().await;
    let jwk = bench.tokens.jwks().await.unwrap().keys.remove(0);
    let (signed, signature) = token.rsplit_once('.').unwrap();
    assert_eq!(json(token.split('.').next().unwrap())["kid"], jwk.kid);
    let coordinate = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
    let point = [vec![4], coordinate(&jwk.x), coordinate(&jwk.y)].concat();
    let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
    key.verify(signed.as_bytes(), &URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
}

/// Signed by our own key, and still not ours to accept.
async fn signed(bench: &Bench, head: Value, claims: Value) -> String {
    let key = bench.tokens.ring.signing().await.unwrap();
    let signed = format!("{}.{}", part(&head), part(&claims));
    let signature = key.pair.sign(&SystemRandom::new(), signed.as_bytes()).unwrap();
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

#[tokio::test]
async fn what_is_not_ours_is_refused() {
    let bench = bench();
    let token = bench.issue().await;
    let parts: Vec<_> = token.split('.').collect();
    let (head, claims) = (json(parts[0]), json(parts[1]));
    let with = |value: &Value, name: &str, field: Value| {
        let mut value = value.clone();
        value[name] = field;
        value
    };
    let now = bench.env.now().as_seconds();
    for (bad_head, bad_claims) in [
        (with(&head, "alg", json!("none")), claims.clone()),
        (with(&head, "alg", json!("HS256")), claims.clone()),
        (with(&head, "kid", json!("0000000000000000")), claims.clone()),
        (with(&head, "jwk", json!({})), claims.clone()),
        (with(&head, "jku", json!("https://evil.example")), claims.clone()),
        (with(&head, "crit", json!(["x"])), claims.clone()),
        (head.clone(), with(&claims, "aud", json!("other"))),
        (head.clone(), with(&claims, "aud", json!(["ferryhook-api"]))),
        (head.clone(), with(&claims, "iss", json!("https://evil.example"))),
        (head.clone(), with(&claims, "exp", json!((now + 60).to_string()))),
        (head.clone(), with(&claims, "exp", Value::Null)),
        (head.clone(), with(&claims, "sub", json!("usr_1"))),
    ] {
        let bad = signed(&bench, bad_head.clone(), bad_claims.clone()).await;
        assert_eq!(
            bench.complaint(&bad).await,
            "it is not a token of ours",
            "{bad_head}{bad_claims}"
        );
    }
    let late = signed(&bench, head.clone(), with(&claims, "iat", json!(now + 31))).await;
    assert_eq!(bench.complaint(&late).await, "its time is over");
    let fine = signed(&bench, head, claims.clone()).await;
    bench.tokens.verify(&fine).await.unwrap();
    // A signature of something else.
    let other = part(&with(&claims, "exp", json!(now + 7200)));
    let forged = format!("{}.{other}.{}", parts[0], parts[2]);
    assert_eq!(bench.complaint(&forged).await, "its signature does not hold");
    for bad in ["", "a.b", "a.b.c", &format!("{token}."), &format!("{token}{}", "A".repeat(3000))] {
        bench.tokens.verify(bad).await.unwrap_err();
    }
}

#[tokio::test]
async fn keys_take_turns() {
    let bench = bench();
    let first = bench.issue().await;
    bench.clock.advance(SIGNS_FOR - Duration::from_secs(60));
    let last = bench.issue().await;
    assert_eq!(first.split('.').next(), last.split('.').next(), "the same key");
    bench.clock.advance(Duration::from_secs(60));
    let next = bench.issue().await;
    assert_ne!(last.split('.').next(), next.split('.').next());
    bench.tokens.verify(&last).await.unwrap();
    assert_eq!(bench.tokens.jwks().await.unwrap().keys.len(), 2);
    bench.clock.advance(KEPT_FOR - SIGNS_FOR);
    bench.issue().await;
    assert_eq!(bench.tokens.jwks().await.unwrap().keys.len(), 1);
}

/// Another server of the same installation has its own copy of the keys.
#[tokio::test]
async fn a_key_of_another_server_is_looked_up() {
    let bench = bench();
    bench.issue().await;
    let other = Tokens::new(bench.store.clone(), bench.env.clone(), "https://ferry.example");
    let token = other.issue(samples::user().id, samples::session().id).await.unwrap();
    bench.tokens.verify(&token).await.unwrap();
    assert_eq!(bench.store.token_keys().list().await.unwrap().len(), 1, "they share one");
    // The next month, seen first by the other.
    bench.clock.advance(SIGNS_FOR);
    let token = other.issue(samples::user().id, samples::session().id).await.unwrap();
    bench.tokens.verify(&token).await.unwrap();
}
