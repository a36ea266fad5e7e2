//! The real Stripe, with a key for tests: the only thing that can show that it takes what we send.
//!
//! `FERRYHOOK_TEST_STRIPE_KEY=sk_test_... FERRYHOOK_TEST_STRIPE_PRICE=price_...`, where the price is
//! a recurring one of that account.

use serde_json::json;

use super::shop::{SECRET, plans, sign_up, skipped};
use crate::client::told;
use crate::ferry::Ferry;

#[test]
fn the_real_one_sells_a_plan() {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let key = variable("FERRYHOOK_TEST_STRIPE_KEY");
    let (Some(key), Some(price)) = (key, variable("FERRYHOOK_TEST_STRIPE_PRICE")) else {
        return skipped("the real Stripe: FERRYHOOK_TEST_STRIPE_KEY is not set");
    };
    assert!(key.starts_with("sk_test_"), "only a key for tests is used in tests");
    let folder = tempfile::tempdir().unwrap();
    let variables = [
        ("STRIPE_API_KEY", &*key),
        ("STRIPE_WEBHOOK_SECRET", SECRET),
        ("FERRYHOOK_PUBLIC_URL", "https://ferry.example"),
        ("FERRYHOOK_SIGNUP", "open"),
    ];
    let ferry = Ferry::start_in(&folder, &variables);
    plans(&folder, &["set", "pro", "--stripe-price", &price]);
    let (client, _) = sign_up(&ferry, "one@example.com");
    for _ in 0..2 {
        let link = told(&client.post("/v1/billing/checkout", json!({ "planId": "pro" })), 200);
        let url = link["url"].as_str().unwrap();
        assert!(url.starts_with("https://checkout.stripe.com/"), "{url}");
    }
}
