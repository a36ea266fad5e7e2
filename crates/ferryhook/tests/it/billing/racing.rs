//! Many who buy at once.

use std::collections::BTreeSet;
use std::thread;

use serde_json::json;

use super::recorder::{KEY, Recorder};
use super::shop::{SECRET, Shop, sign_up, skipped};
use crate::client::{Client, told};
use crate::ferry::{Ferry, run};

/// All at the same moment; everybody gets a page, and all of them are the same customer.
fn buy_at_once(stripe: &Recorder, clients: &[Client]) {
    stripe.hold_customers();
    thread::scope(|scope| {
        for client in clients {
            scope.spawn(|| {
                let answer = client.post("/v1/billing/checkout", json!({ "planId": "pro" }));
                told(&answer, 200);
            });
        }
    });
    assert_eq!(stripe.customers().len(), 1);
    let sessions = stripe.sessions();
    assert_eq!(sessions.len(), clients.len());
    let customers: BTreeSet<_> = sessions.iter().map(|session| &session["customer"]).collect();
    assert_eq!(customers.len(), 1);
    assert_eq!(stripe.complaints(), [""; 0]);
}

#[test]
fn of_many_who_buy_at_once_one_customer_is_made() {
    let shop = Shop::open();
    buy_at_once(&shop.stripe, &vec![shop.client.clone(); 4]);
}

/// Two servers on one store.
#[cfg(feature = "aws")]
#[test]
fn two_servers_make_one_customer() {
    let Ok(endpoint) = std::env::var("FERRYHOOK_TEST_DYNAMO") else {
        return skipped("two servers: FERRYHOOK_TEST_DYNAMO is not set");
    };
    let stripe = Recorder::start();
    let folder = tempfile::tempdir().unwrap();
    let prefix = format!("billing-{}-", std::process::id());
    let ledger = format!("{prefix}ledger");
    let variables = [
        ("FERRYHOOK_STORE", "dynamodb"),
        ("FERRYHOOK_MASTER_KEY", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="),
        ("DYNAMO_ENDPOINT", &*endpoint),
        ("DYNAMO_REGION", "us-west-2"),
        ("DYNAMO_TABLE_PREFIX", &*prefix),
        ("DYNAMO_TABLE_NAME", &*ledger),
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("AWS_EC2_METADATA_DISABLED", "true"),
        ("STRIPE_API_KEY", KEY),
        ("STRIPE_WEBHOOK_SECRET", SECRET),
        ("STRIPE_BASE_URL", &*stripe.url),
        ("FERRYHOOK_PUBLIC_URL", "https://ferry.example"),
        ("FERRYHOOK_SIGNUP", "open"),
        ("FERRYHOOK_API_REQUESTS_PER_MINUTE", "0"),
    ];
    let applied = run(&folder, &["schema", "apply"], &variables);
    assert!(applied.status.success(), "{applied:?}");
    let [one, other] = [(); 2].map(|()| Ferry::start_in(&folder, &variables));
    let sold = run(&folder, &["plans", "set", "pro", "--stripe-price", "price_pro"], &variables);
    assert!(sold.status.success(), "{sold:?}");
    let (client, _) = sign_up(&one, "one@example.com");
    let elsewhere = Client::of(&other, &client.credential);
    // It looks for the key of the token now, and not four times at once.
    told(&elsewhere.get("/v1/whoami"), 200);
    buy_at_once(&stripe, &[client.clone(), elsewhere.clone(), client, elsewhere]);
}
