use ferryhook_core::Env;

use super::{Limiter, Rates};
use crate::App;
use crate::trial::{Trial, app};

#[tokio::test]
async fn a_key_has_its_share_of_a_minute_and_is_told_so() {
    let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
    let rates = Rates { of_key: Some(2), of_person: None };
    let trial = Trial::over(App { limiter: Limiter::new(rates, env), ..app() }).await;
    let first = trial.get("/v1/whoami").await;
    assert_eq!(first.headers["ratelimit"], "\"default\";r=1;t=60");
    assert_eq!(first.headers["ratelimit-policy"], "\"default\";q=2;w=60");
    assert_eq!(first.headers["x-ratelimit-limit"], "2");
    assert_eq!(trial.get("/v1/whoami").await.headers["x-ratelimit-remaining"], "0");
    let third = trial.get("/v1/whoami").await;
    assert_eq!(third.headers["x-ratelimit-remaining"], "0");
    assert!(third.headers.contains_key("retry-after"));
    assert_eq!(third.expect(429)["code"], "RATE_LIMITED");
    // Another key has a share of its own, and a minute later there is room again.
    let other = trial.neighbour().await;
    assert_eq!(other.get("/v1/whoami").await.status, 200);
    clock.advance(std::time::Duration::from_secs(120));
    assert_eq!(trial.get("/v1/whoami").await.status, 200);
}
