//! Without a key of Stripe, and what is refused with one.

use serde_json::json;

use super::shop::{Shop, sign_up};
use crate::client::told;
use crate::ferry::Ferry;

#[test]
fn without_a_key_billing_says_that_it_is_off() {
    let ferry = Ferry::start_with(&[("FERRYHOOK_SIGNUP", "open")]);
    let (client, _) = sign_up(&ferry, "one@example.com");
    for path in ["/v1/billing/checkout", "/v1/billing/portal", "/webhooks/stripe"] {
        let answer = client.post(path, json!({ "planId": "pro" }));
        let problem = match path {
            "/v1/billing/portal" => told(&client.post(path, json!({})), 409),
            _ => told(&answer, 409),
        };
        assert_eq!(problem["code"], "BILLING_OFF", "{path}");
    }
    let plans = told(&client.get("/v1/billing/plans"), 200);
    let plans = plans["data"].as_array().unwrap();
    let ids: Vec<_> = plans.iter().map(|plan| plan["planId"].as_str().unwrap()).collect();
    assert_eq!(ids, ["free", "self_hosted", "starter", "pro", "team"]);
    assert!(plans.iter().all(|plan| plan["canBuy"] == false));
    let shown = told(&client.get("/v1/billing/subscription"), 200);
    assert_eq!(
        shown,
        json!({
            "planId": "self_hosted", "planName": "Self-hosted", "isBillingOn": false,
            "cancelAtPeriodEnd": false,
        })
    );
}

#[test]
fn only_what_is_sold_is_bought_and_only_by_the_root() {
    let shop = Shop::open();
    for plan in ["free", "gold", ""] {
        assert_eq!(told(&shop.check_out(plan), 400)["errors"][0]["pointer"], "/planId", "{plan}");
    }
    let order = |urls| {
        let mut order = json!({ "planId": "pro" });
        order.as_object_mut().unwrap().extend::<serde_json::Map<_, _>>(urls);
        shop.client.post("/v1/billing/checkout", order)
    };
    for bad in [
        "https://evil.example/",
        "//evil.example",
        "/billing",
        "javascript:alert(1)",
        "https://ferry.example@evil.example/",
        "http://ferry.example/",
    ] {
        let urls = json!({ "successUrl": bad }).as_object().unwrap().clone();
        assert_eq!(told(&order(urls), 400)["errors"][0]["pointer"], "/successUrl", "{bad}");
    }
    assert!(shop.stripe.requests().is_empty(), "nobody was asked for any of this");
    let own = "https://ferry.example/done?id={CHECKOUT_SESSION_ID}";
    told(&order(json!({ "successUrl": own }).as_object().unwrap().clone()), 200);
    assert_eq!(shop.stripe.sessions()[0]["success_url"], own);

    let child = json!({ "accountName": "child", "accountType": "division" });
    let child = told(&shop.client.post("/v1/accounts", child), 201);
    let beneath = shop.client.in_account(child["accountId"].as_str().unwrap());
    for (path, body) in [("checkout", json!({ "planId": "pro" })), ("portal", json!({}))] {
        let answer = beneath.post(&format!("/v1/billing/{path}"), body);
        assert_eq!(told(&answer, 403)["code"], "FORBIDDEN");
    }
    let shown = told(&beneath.get("/v1/billing/subscription"), 200);
    assert_eq!(shown["planId"], "free", "the owner's plan holds for all beneath");
    let (stranger, _) = sign_up(&shop.ferry, "two@example.com");
    let answer = stranger.post("/v1/billing/portal", json!({}));
    assert_eq!(told(&answer, 409)["code"], "CONFLICT", "they have bought nothing");
}
