//! How Stripe is called when it fails, and where people may be sent back to. The whole of it, with
//! Stripe's own library, is tried on the binary.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::Request;
use ferryhook_core::{Env, Secret, Subscription, User};
use ferryhook_net::Guard;
use ferryhook_net::client::{Outbound, Outgoing, Reply, Timing, Unsent, Why};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::objects::Customer;
use super::stripe::{Settings as StripeSettings, Stripe, StripeError};
use super::{Billing, Settings, reading, return_url};
use crate::trial::{Trial, app};
use crate::visit::Visit;

/// What Stripe is to answer, one after the other, and what it was asked.
#[derive(Clone, Default)]
struct Script(Arc<Mutex<(VecDeque<Answer>, Vec<Outgoing>)>>);

type Answer = Option<(u16, Vec<(&'static str, &'static str)>, Value)>;

impl Script {
    fn of(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self(Arc::new(Mutex::new((answers.into_iter().collect(), Vec::new()))))
    }

    fn asked(&self) -> Vec<Outgoing> {
        self.0.lock().unwrap().1.clone()
    }
}

impl Outbound for Script {
    fn send(&self, outgoing: Outgoing) -> BoxFuture<'_, Result<Reply, Unsent>> {
        let mut script = self.0.lock().unwrap();
        script.1.push(outgoing);
        let timing = Timing::default();
        let sent = match script.0.pop_front().flatten() {
            None => Err(Unsent { why: Why::Timeout, message: "no answer".to_owned(), timing }),
            Some((status, headers, body)) => {
                let headers = headers.into_iter().map(|(name, value)| {
                    (HeaderName::from_static(name), HeaderValue::from_static(value))
                });
                let headers: HeaderMap = headers.collect();
                Ok(Reply { status, headers, body: body.to_string().into(), timing })
            }
        };
        async move { sent }.boxed()
    }
}

/// Of the runtime's own clock, which these tests have stopped.
#[allow(clippy::disallowed_methods, reason = "the pauses are the runtime's")]
fn moment() -> Instant {
    Instant::now()
}

fn settings() -> StripeSettings {
    StripeSettings {
        api_key: Secret::new("sk_test"),
        webhook_secrets: vec![Secret::new("whsec_1")],
        base_url: "https://stripe.example".to_owned(),
    }
}

fn stripe(script: &Script) -> Stripe {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    Stripe::new(settings(), Arc::new(script.clone()), Guard::new(Vec::new()), env)
}

fn said(status: u16) -> Answer {
    Some((status, Vec::new(), json!({ "error": { "message": "because" } })))
}

fn fine() -> Answer {
    Some((200, Vec::new(), json!({ "id": "cus_1" })))
}

async fn posted(script: &Script) -> Result<Value, StripeError> {
    stripe(script).post("/v1/customers", &[("metadata[a]", "b c".to_owned())]).await
}

/// The same call, with the same key, after a pause that grows.
#[tokio::test(start_paused = true)]
async fn what_passes_is_asked_again_with_the_same_key() {
    for first in [said(409), said(429), said(500), said(503), None] {
        let script = Script::of([first.clone(), first, fine()]);
        let begun = moment();
        posted(&script).await.unwrap();
        let took = begun.elapsed();
        let within = Duration::from_millis(750)..=Duration::from_millis(1500);
        assert!(within.contains(&took), "{took:?}");
        let asked = script.asked();
        assert_eq!(asked.len(), 3);
        let key = |one: &Outgoing| one.headers["idempotency-key"].clone();
        assert!(asked.iter().all(|one| key(one) == key(&asked[0])));
        assert!(asked.iter().all(|one| one.body == "metadata%5Ba%5D=b+c"));
    }
}

#[tokio::test(start_paused = true)]
async fn there_is_an_end_to_asking() {
    let script = Script::of([said(500), said(500), said(500), fine()]);
    assert!(matches!(posted(&script).await, Err(StripeError::Away(_))));
    assert_eq!(script.asked().len(), 3);
}

/// What it refuses is refused, and where it says whether to ask again it is obeyed.
#[tokio::test(start_paused = true)]
async fn stripe_knows_best_whether_to_ask_again() {
    for status in [400, 401, 402, 403, 404] {
        let script = Script::of([said(status), fine()]);
        let refused = posted(&script).await.unwrap_err();
        assert_eq!(refused.to_string(), format!("Stripe refused with {status}: because"));
    }
    let told = |status, word| Some((status, vec![("stripe-should-retry", word)], json!({})));
    assert!(posted(&Script::of([told(500, "false"), fine()])).await.is_err());
    assert!(posted(&Script::of([told(400, "true"), fine()])).await.is_ok());
    let script = Script::of([Some((429, vec![("retry-after", "3")], json!({}))), fine()]);
    let begun = moment();
    posted(&script).await.unwrap();
    assert_eq!(begun.elapsed(), Duration::from_secs(3));
    let long = Script::of([Some((429, vec![("retry-after", "86400")], json!({}))), fine()]);
    let begun = moment();
    posted(&long).await.unwrap();
    assert!(begun.elapsed() <= Duration::from_secs(5));
}

#[tokio::test]
async fn an_answer_that_is_not_understood_is_none() {
    let script = Script::of([Some((200, Vec::new(), json!({ "object": "customer" })))]);
    let odd = stripe(&script).get::<Customer>("/v1/customers/cus_1", &[]).await;
    assert!(matches!(odd, Err(StripeError::Odd(_))));
    let asked = &script.asked()[0];
    assert!(asked.headers.get("idempotency-key").is_none(), "only what changes something has one");
    assert_eq!(asked.headers["stripe-version"], super::stripe::VERSION);
    assert!(!format!("{:?}", stripe(&script)).contains("sk_test"));
}

fn billing(return_urls: &[&str], script: &Script) -> Billing {
    let return_urls = return_urls.iter().map(|url| (*url).to_owned()).collect();
    let outbound: Arc<dyn Outbound> = Arc::new(script.clone());
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let settings = Settings { stripe: Some(settings()), return_urls };
    Billing::new(settings, &outbound, &Guard::new(Vec::new()), env).unwrap()
}

#[tokio::test]
async fn people_come_back_to_us_or_to_where_the_operator_allows() {
    let mut app = app();
    app.billing = Arc::new(billing(&["https://app.example/x"], &Script::default()));
    let checked = |url: Option<&str>| return_url::checked(&app, url, "/url", "?a=b");
    assert_eq!(checked(None).unwrap(), "http://trial/billing?a=b");
    for fine in ["http://trial/", "http://trial/a?b={CHECKOUT_SESSION_ID}", "https://app.example/y"]
    {
        assert_eq!(checked(Some(fine)).unwrap(), fine);
    }
    let long = format!("http://trial/{}", "a".repeat(3_000));
    for bad in [
        "",
        "/billing",
        "//trial/",
        "https://trial/",
        "http://trial:8080/",
        "http://trial.evil.example/",
        "http://me@trial/",
        "https://app.example.evil/",
        "http://app.example/",
        "javascript:alert(1)",
        "data:text/html,x",
        &long,
    ] {
        assert!(checked(Some(bad)).is_err(), "{bad}");
    }
}

/// A customer from before there were subscriptions here is theirs, unless somebody else has it.
#[tokio::test]
async fn an_older_customer_is_adopted_once() {
    let script = Script::of([
        Some((200, Vec::new(), json!({ "url": "https://stripe.example/pay" }))),
        Some((200, Vec::new(), json!({ "id": "cus_new" }))),
        Some((200, Vec::new(), json!({ "url": "https://stripe.example/pay" }))),
    ]);
    let mut app = app();
    app.billing = Arc::new(billing(&[], &script));
    let trial = Trial::over(app).await;
    let neighbour = trial.neighbour().await;
    let plans = ferryhook_core::plan::seeded(trial.app.env.now());
    let plans: Vec<_> =
        plans.into_iter().map(|plan| plan.with_stripe_price(Some("price_1"))).collect();
    trial.app.store.plans().seed(&plans).await.unwrap();
    let order = json!({ "planId": "pro" });
    trial.post("/v1/billing/checkout", order.clone()).await.expect(200);
    neighbour.post("/v1/billing/checkout", order).await.expect(200);
    let customer = async |user: &User| {
        let found = trial.app.store.subscriptions().find(user.id).await.unwrap();
        found.unwrap().record.stripe_customer_id.unwrap()
    };
    assert_eq!(customer(&trial.user).await, "cus_1");
    assert_eq!(customer(&neighbour.user).await, "cus_new");
}

/// A Stripe whose first answer is on its way for as long as it is held, and old when it arrives.
struct Slow {
    asked: mpsc::UnboundedSender<()>,
    held: Mutex<Option<oneshot::Receiver<()>>>,
    status: Mutex<&'static str>,
}

impl Outbound for Slow {
    fn send(&self, _: Outgoing) -> BoxFuture<'_, Result<Reply, Unsent>> {
        let status = *self.status.lock().unwrap();
        let held = self.held.lock().unwrap().take();
        let body = json!({ "data": [{
            "id": "sub_1", "status": status, "created": 1,
            "items": { "data": [{ "price": { "id": "price_1" } }] },
        }] });
        async move {
            self.asked.send(()).unwrap();
            if let Some(held) = held {
                held.await.unwrap();
            }
            let (headers, timing) = (HeaderMap::new(), Timing::default());
            Ok(Reply { status: 200, headers, body: body.to_string().into(), timing })
        }
        .boxed()
    }
}

/// Two messages at once: the one that asked first hears last, and what it heard is over by then.
#[tokio::test]
async fn an_older_answer_is_never_written_over_a_younger_one() {
    let (asked, mut was_asked) = mpsc::unbounded_channel();
    let (release, held) = oneshot::channel();
    let held = Mutex::new(Some(held));
    let slow = Arc::new(Slow { asked, held, status: Mutex::new("active") });
    let trial = Trial::new().await;
    let (app, user) = (&trial.app, &trial.user);
    let plans =
        ferryhook_core::plan::seeded(app.env.now()).into_iter().map(|plan| match &*plan.id {
            "pro" => plan.with_stripe_price(Some("price_1")),
            _ => plan,
        });
    app.store.plans().seed(&plans.collect::<Vec<_>>()).await.unwrap();
    app.store.users().change_plan(user, "free").await.unwrap();
    let new = Subscription::new(user, trial.account.id, &app.env);
    let new = app.store.subscriptions().begin(&new).await.unwrap();
    app.store.subscriptions().set_customer(&new, "cus_1").await.unwrap();
    let guard = Guard::new(Vec::new());
    let stripe = Stripe::new(settings(), slow.clone(), guard, app.env.clone());
    let visit = Visit::of(&Request::default(), app);

    let first = reading::read(app, &stripe, &visit, user.id);
    let second = async {
        was_asked.recv().await.unwrap();
        *slow.status.lock().unwrap() = "canceled";
        let settled = reading::read(app, &stripe, &visit, user.id).await.unwrap().unwrap();
        assert_eq!(settled.plan_id, None);
        release.send(()).unwrap();
    };
    let (first, ()) = tokio::join!(first, second);
    let settled = first.unwrap().unwrap();
    assert_eq!((&settled.plan_id, settled.is_open()), (&None, false));
    assert_eq!(app.store.users().find(user.id).await.unwrap().unwrap().plan, "free");
}
