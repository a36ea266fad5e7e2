//! A server that sells plans, with somebody who has signed up there.

use std::io::Write;

use ferryhook_core::Env;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::library::Library;
use super::recorder::{KEY, Recorder};
use crate::client::{Client, told};
use crate::ferry::{Answer, Ferry, run};

pub const SECRET: &str = "whsec_new_secret";
pub const FORMER_SECRET: &str = "whsec_former_secret";

pub struct Shop {
    pub stripe: Recorder,
    pub ferry: Ferry,
    pub folder: TempDir,
    pub client: Client,
    pub account: String,
    messages: u32,
}

impl Shop {
    /// New accounts get `free`; `pro` and `team` are sold.
    pub fn open() -> Self {
        let stripe = Recorder::start();
        let folder = tempfile::tempdir().unwrap();
        let secrets = format!("{SECRET},{FORMER_SECRET}");
        let variables = [
            ("STRIPE_API_KEY", KEY),
            ("STRIPE_WEBHOOK_SECRET", &*secrets),
            ("STRIPE_BASE_URL", &*stripe.url),
            ("FERRYHOOK_PUBLIC_URL", "https://ferry.example"),
            ("FERRYHOOK_SIGNUP", "open"),
            ("FERRYHOOK_API_REQUESTS_PER_MINUTE", "0"),
        ];
        let ferry = Ferry::start_in(&folder, &variables);
        plans(&folder, &["set", "free", "--default"]);
        plans(&folder, &["set", "pro", "--stripe-price", "price_pro"]);
        plans(&folder, &["set", "team", "--stripe-price", "price_team"]);
        let (client, account) = sign_up(&ferry, "one@example.com");
        Self { stripe, ferry, folder, client, account, messages: 0 }
    }

    pub fn subscription(&self) -> Value {
        told(&self.client.get("/v1/billing/subscription"), 200)
    }

    pub fn plan(&self) -> String {
        self.subscription()["planId"].as_str().unwrap().to_owned()
    }

    pub fn check_out(&self, plan: &str) -> Answer {
        self.client.post("/v1/billing/checkout", json!({ "planId": plan }))
    }

    /// Becomes a customer; their id.
    pub fn customer(&self) -> String {
        told(&self.check_out("pro"), 200);
        self.stripe.customers()[0]["id"].as_str().unwrap().to_owned()
    }

    /// A message as Stripe writes them, about an object as it was at some time.
    pub fn message(&mut self, kind: &str, object: &Value) -> String {
        self.messages += 1;
        let id = format!("evt_{}", self.messages);
        json!({
            "id": id, "object": "event", "type": kind, "api_version": "2026-10-28.endive",
            "created": now(), "data": { "object": object }, "livemode": false,
        })
        .to_string()
    }

    /// Signed by the library just now.
    pub fn deliver(&self, library: &mut Library, message: &str) -> Answer {
        let header = library.sign(message, SECRET, now());
        self.send(message, &header)
    }

    pub fn send(&self, message: &str, signature: &str) -> Answer {
        let headers =
            format!("stripe-signature: {signature}\r\ncontent-type: application/json\r\n");
        self.ferry.post_with("/webhooks/stripe", &headers, message.as_bytes())
    }

    /// Has a message made and delivered, which must be taken.
    pub fn hear(&mut self, library: &mut Library, kind: &str, object: &Value) {
        let message = self.message(kind, object);
        told(&self.deliver(library, &message), 200);
    }
}

/// Not with `eprintln`, which is shown only when a test fails.
pub fn skipped(reason: &str) {
    let _ = writeln!(std::io::stderr(), "\n!!! SKIPPED, NOT PASSED: {reason} !!!\n");
}

pub fn now() -> i64 {
    Env::system().now().as_seconds()
}

/// What `ferryhook plans` says as JSON, on whatever has the data there.
pub fn plans(folder: &TempDir, arguments: &[&str]) -> Value {
    let all = [&["plans"], arguments, &["--json"]].concat();
    let output = run(folder, &all, &[]);
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A client of a new account, and the account.
pub fn sign_up(ferry: &Ferry, email: &str) -> (Client, String) {
    let nobody = Client::of(ferry, "");
    let who = json!({ "email": email, "password": "correct horse battery", "name": "One" });
    let signed_in = told(&nobody.post("/v1/auth/signup", who), 201);
    let client = nobody.with(signed_in["accessToken"].as_str().unwrap());
    let me = told(&client.get("/v1/whoami"), 200);
    let account = me["accountId"].as_str().unwrap_or_else(|| panic!("{me:#}")).to_owned();
    (client, account)
}
