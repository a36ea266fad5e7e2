//! What we ask of Stripe, beside what its own library asks for the same thing.

use serde_json::json;

use super::library::Library;
use super::recorder::{KEY, Recorder, Request};
use super::shop::Shop;
use crate::client::told;

/// The same method, address, proof, version, kind of body and form, and a key where there is one.
#[test]
fn every_call_is_the_one_that_the_library_makes() {
    let Some(mut library) = Library::start() else { return };
    let shop = Shop::open();
    let (link, account) = (told(&shop.check_out("pro"), 200), &shop.account);
    assert_eq!(link, json!({ "url": "https://checkout.stripe.com/c/pay/cs_0" }));
    let link = told(&shop.client.post("/v1/billing/portal", json!({})), 200);
    assert_eq!(link["url"], "https://billing.stripe.com/p/session/bps_1");
    // With a customer, the next one is preceded by a look at what they have.
    told(&shop.check_out("team"), 200);
    let ours = shop.stripe.requests();

    let user = ours[0].form["metadata[user_id]"].clone();
    let theirs = Recorder::start();
    let mut call = |name: &str, parameters| library.call(&theirs.url, KEY, name, parameters);
    let customer = json!({
        "email": "one@example.com", "name": "One",
        "metadata": { "account_id": account, "user_id": user },
    });
    call("customers.create", customer);
    let session = |price: &str| {
        json!({
            "mode": "subscription",
            "line_items": [{ "price": price, "quantity": 1 }],
            "customer": "cus_0",
            "client_reference_id": account,
            "success_url":
                "https://ferry.example/billing?checkout=done&session={CHECKOUT_SESSION_ID}",
            "cancel_url": "https://ferry.example/billing?checkout=cancelled",
            "subscription_data": { "metadata": { "account_id": account } },
            "allow_promotion_codes": true,
        })
    };
    call("checkout.sessions.create", session("price_pro"));
    let portal = json!({ "customer": "cus_0", "return_url": "https://ferry.example/billing" });
    call("billingPortal.sessions.create", portal);
    let all = json!({ "customer": "cus_0", "status": "all", "limit": 20 });
    call("subscriptions.list", all);
    call("checkout.sessions.create", session("price_team"));

    let theirs_asked = theirs.requests();
    let shown = |requests: &[Request]| {
        requests.iter().map(|request| format!("{request:#?}")).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(shown(&ours), shown(&theirs_asked));
    assert_eq!(theirs.complaints(), [""; 0]);
    assert_eq!(shop.stripe.complaints(), [""; 0]);
}

/// A fault that passes is not seen by anybody, and makes nothing twice.
#[test]
fn what_fails_is_asked_again() {
    let shop = Shop::open();
    shop.stripe.fail_next(2);
    told(&shop.check_out("pro"), 200);
    assert_eq!((shop.stripe.customers().len(), shop.stripe.sessions().len()), (1, 1));
    shop.stripe.fail_next(3);
    let answer = shop.client.post("/v1/billing/portal", json!({}));
    assert_eq!(told(&answer, 503)["code"], "UNAVAILABLE");
    assert_eq!(shop.stripe.complaints(), [""; 0]);
}
