use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use ferryhook_core::env::ManualClock;
use ferryhook_core::{Connection, Env, Secret, samples};
use ferryhook_net::client::{Guard, Outbound, Outgoing, Reply, Timing, Unsent, Why};
use futures_util::future::{BoxFuture, join};
use hyper::{HeaderMap, Method};
use serde_json::json;
use tokio::sync::Notify;

use super::*;
use crate::limits;

/// A token endpoint: gives its answers one after the other, each when it is let, and remembers
/// what it was asked.
#[derive(Default)]
struct Endpoint {
    answers: Mutex<VecDeque<Result<(u16, String), Unsent>>>,
    asked: Mutex<Vec<Outgoing>>,
    /// Answers wait for this, if it is there.
    held: Option<Notify>,
}

impl Endpoint {
    fn giving(tokens: &[(&str, u64)]) -> Arc<Self> {
        let answer = |(token, seconds): &(&str, u64)| {
            Ok((200, json!({ "access_token": token, "expires_in": seconds }).to_string()))
        };
        Self::answering(tokens.iter().map(answer).collect())
    }

    fn answering(answers: Vec<Result<(u16, String), Unsent>>) -> Arc<Self> {
        Arc::new(Self { answers: Mutex::new(answers.into()), ..Self::default() })
    }

    fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl Outbound for Endpoint {
    fn send(&self, outgoing: Outgoing) -> BoxFuture<'_, Result<Reply, Unsent>> {
        self.asked.lock().unwrap().push(outgoing);
        Box::pin(async {
            if let Some(held) = &self.held {
                held.notified().await;
            }
            let answer = self.answers.lock().unwrap().pop_front().expect("asked too often");
            let (status, body) = answer?;
            let (headers, body) = (HeaderMap::new(), Bytes::from(body));
            Ok(Reply { status, headers, body, timing: Timing::default() })
        })
    }
}

/// An endpoint and those who fetch from it.
struct Desk {
    endpoint: Arc<Endpoint>,
    tokens: Tokens,
    env: Env,
    clock: Arc<ManualClock>,
}

impl Desk {
    fn at(endpoint: Arc<Endpoint>) -> Self {
        let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
        let tokens = Tokens::new(endpoint.clone(), Guard::new(Vec::new()), env.clone());
        Self { endpoint, tokens, env, clock }
    }

    async fn show(&self, connection: &Connection) -> Result<Shown, String> {
        show(&way(connection, &self.env), &self.tokens).await
    }

    /// The value of the header that is shown, or why none is.
    async fn shown(&self, connection: &Connection) -> String {
        match self.show(connection).await {
            Ok(shown) => shown.header.unwrap().1.to_str().unwrap().to_owned(),
            Err(error) => error,
        }
    }

    fn pass(&self, time: Duration) {
        self.clock.advance(time);
    }
}

fn way(connection: &Connection, env: &Env) -> Way {
    Way::new(connection.clone(), None, env.now())
}

fn connection(auth: &serde_json::Value) -> Connection {
    Connection { auth: Some(Secret::new(auth.to_string())), ..samples::connection() }
}

fn oauth2() -> Connection {
    named("we")
}

fn named(client: &str) -> Connection {
    connection(&json!({
        "type": "oauth2",
        "tokenUrl": "https://login.example.com/token",
        "clientId": client,
        "clientSecret": "hush",
        "scope": "orders",
    }))
}

fn unsent() -> Unsent {
    let message = "the destination refused the connection".to_owned();
    Unsent { why: Why::Refused, message, timing: Timing::default() }
}

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn what_is_ready_is_shown_as_it_is() {
    let desk = Desk::at(Endpoint::giving(&[]));
    let none = Connection { auth: None, ..samples::connection() };
    let shown = desk.show(&none).await.unwrap();
    assert!(shown.header.is_none() && shown.identity.is_none());

    let header = connection(&json!({ "type": "header", "name": "X-Key", "value": "hush" }));
    let shown = desk.show(&header).await.unwrap();
    let (name, value) = shown.header.clone().unwrap();
    assert_eq!((name.as_str(), value.to_str().unwrap()), ("x-key", "hush"));
    assert!(!format!("{shown:?}").contains("hush"), "{shown:?}");

    let basic = connection(&json!({ "type": "basic", "username": "a", "password": "b" }));
    assert_eq!(desk.shown(&basic).await, "Basic YTpi");
    let bearer = connection(&json!({ "type": "bearer", "token": "hush" }));
    assert_eq!(desk.shown(&bearer).await, "Bearer hush");
    assert_eq!(desk.endpoint.asked(), 0);
}

/// Never without what the destination wants to see.
#[tokio::test]
async fn what_nobody_understands_is_not_left_out() {
    let desk = Desk::at(Endpoint::giving(&[]));
    let told = desk.shown(&samples::connection()).await;
    let cannot = "the credentials for the destination cannot be read: ";
    assert_eq!(told, format!("{cannot}auth must be a JSON object"));
    let pem = "-----BEGIN CERTIFICATE-----";
    let certificate = json!({ "certificate": pem, "privateKey": pem });
    let mtls = connection(&json!({ "type": "mtls", "clientCertificate": certificate }));
    let told = desk.shown(&mtls).await;
    assert!(
        told.starts_with(&format!("{cannot}auth.clientCertificate cannot be used: ")),
        "{told}"
    );
}

#[tokio::test]
async fn a_token_is_fetched_once_and_kept_until_shortly_before_its_end() {
    let desk = Desk::at(Endpoint::giving(&[("one", 3600), ("two", 10), ("three", 0), ("four", 1)]));
    assert_eq!(desk.shown(&oauth2()).await, "Bearer one");
    desk.pass(3539 * SECOND);
    assert_eq!(desk.shown(&oauth2()).await, "Bearer one");
    desk.pass(SECOND);
    assert_eq!(desk.shown(&oauth2()).await, "Bearer two", "a minute before its end");
    desk.pass(9 * SECOND - Duration::from_millis(1));
    assert_eq!(desk.shown(&oauth2()).await, "Bearer two");
    desk.pass(Duration::from_millis(1));
    assert_eq!(desk.shown(&oauth2()).await, "Bearer three", "a tenth of its life before its end");
    assert_eq!(desk.shown(&oauth2()).await, "Bearer four", "good for a single use");
    assert_eq!(desk.endpoint.asked(), 4);
}

#[tokio::test]
async fn an_endpoint_is_asked_as_it_wants_to_be() {
    let desk = Desk::at(Endpoint::giving(&[("one", 60)]));
    let shown = desk.show(&oauth2()).await.unwrap();
    assert!(shown.token.unwrap().is_new);
    assert!(!desk.show(&oauth2()).await.unwrap().token.unwrap().is_new);
    let asked = desk.endpoint.asked.lock().unwrap().pop().unwrap();
    assert_eq!(asked.method, Method::POST);
    assert_eq!(asked.target.url(), "https://login.example.com/token");
    assert_eq!(&asked.body[..], b"grant_type=client_credentials&scope=orders");
    let header = |name: &str| asked.headers[name].to_str().unwrap();
    assert_eq!(header("authorization"), "Basic d2U6aHVzaA==");
    assert_eq!(header("content-type"), "application/x-www-form-urlencoded");
    assert_eq!(header("accept"), "application/json");
    let half = Duration::from_millis(samples::connection().timeout_ms.unwrap().into()) / 2;
    assert_eq!(asked.timeout, half, "the other half is the destination's");
    assert!(!format!("{asked:?}").contains("d2U6aHVzaA"), "{asked:?}");
}

/// However many attempts begin at once.
#[tokio::test]
async fn one_request_serves_all_who_wait() {
    let mut endpoint = Endpoint::giving(&[("one", 60)]);
    Arc::get_mut(&mut endpoint).unwrap().held = Some(Notify::new());
    let desk = Desk::at(endpoint);
    let oauth2 = oauth2();
    let all = futures_util::future::join_all((0..50).map(|_| desk.shown(&oauth2)));
    let (all, ()) = join(all, async { desk.endpoint.held.as_ref().unwrap().notify_one() }).await;
    assert!(all.iter().all(|one| one == "Bearer one"), "{all:?}");
    assert_eq!(desk.endpoint.asked(), 1);
}

/// Whoever asked is cut off; another asks anew, and those who wait are not left waiting.
#[tokio::test(start_paused = true)]
async fn a_question_that_is_cut_off_is_asked_again() {
    let mut endpoint = Endpoint::giving(&[("one", 60)]);
    Arc::get_mut(&mut endpoint).unwrap().held = Some(Notify::new());
    let desk = Desk::at(endpoint);
    let oauth2 = oauth2();
    let mut first = Box::pin(desk.shown(&oauth2));
    assert!(futures_util::poll!(&mut first).is_pending());
    let mut second = Box::pin(desk.shown(&oauth2));
    assert!(futures_util::poll!(&mut second).is_pending());
    drop(first);
    assert_eq!(second.await, "no token came in time");
    desk.endpoint.held.as_ref().unwrap().notify_one();
    assert_eq!(desk.shown(&oauth2).await, "Bearer one");
    assert_eq!(desk.endpoint.asked(), 2);
}

#[tokio::test]
async fn an_endpoint_that_fails_is_left_alone_for_a_moment() {
    let invalid = json!({ "error": "invalid_client" }).to_string();
    let good = json!({ "access_token": "good" }).to_string();
    let answers = vec![Err(unsent()), Ok((401, invalid)), Ok((200, good))];
    let desk = Desk::at(Endpoint::answering(answers));
    let away = "the token endpoint gave no answer: it refused the connection";
    assert_eq!(desk.shown(&oauth2()).await, away);
    assert_eq!(desk.shown(&oauth2()).await, away);
    assert_eq!(desk.endpoint.asked(), 1);
    desk.pass(limits::TOKEN_PAUSE);
    let refused = "the token endpoint answered 401: invalid_client";
    assert_eq!(desk.shown(&oauth2()).await, refused);
    desk.pass(limits::TOKEN_PAUSE);
    assert_eq!(desk.shown(&oauth2()).await, "Bearer good");
}

#[tokio::test]
async fn an_endpoint_inside_is_not_called() {
    let desk = Desk::at(Endpoint::giving(&[]));
    let inside = connection(&json!({
        "type": "oauth2",
        "tokenUrl": "http://169.254.169.254/token",
        "clientId": "we",
        "clientSecret": "hush",
    }));
    let told = desk.shown(&inside).await;
    assert_eq!(
        told,
        "the token endpoint cannot be called: 169.254.169.254 is not a public address"
    );
    assert_eq!(desk.endpoint.asked(), 0);
}

#[tokio::test]
async fn another_configuration_means_another_token() {
    let desk = Desk::at(Endpoint::giving(&[("one", 60), ("two", 60), ("three", 60)]));
    assert_eq!(desk.shown(&named("we")).await, "Bearer one");
    assert_eq!(desk.shown(&named("they")).await, "Bearer two");
    assert_eq!(desk.shown(&named("we")).await, "Bearer three", "what was before is forgotten");
    assert_eq!(desk.tokens.len(), 1);
}

#[tokio::test]
async fn a_token_that_is_refused_is_replaced_but_not_too_often() {
    let desk = Desk::at(Endpoint::giving(&[("one", 60), ("two", 60), ("three", 60)]));
    let id = oauth2().id;
    let first = desk.show(&oauth2()).await.unwrap().token.unwrap();
    desk.tokens.refused(id, &first);
    assert_eq!(desk.shown(&oauth2()).await, "Bearer one", "another would be no better");
    desk.pass(limits::TOKEN_PAUSE);
    assert_eq!(desk.shown(&oauth2()).await, "Bearer two");
    desk.tokens.refused(id, &first);
    desk.pass(limits::TOKEN_PAUSE);
    assert_eq!(desk.shown(&oauth2()).await, "Bearer two", "this one nobody refused");
    let second = desk.show(&oauth2()).await.unwrap().token.unwrap();
    desk.tokens.refused(id, &second);
    assert_eq!(desk.shown(&oauth2()).await, "Bearer three", "it was not young any more");
}

#[tokio::test]
async fn only_so_many_are_kept() {
    let many = limits::TOKENS_MAX + 10;
    let desk = Desk::at(Endpoint::giving(&vec![("one", 60); many]));
    for _ in 0..many {
        let connection = Connection { id: ferryhook_core::Id::new(&desk.env), ..oauth2() };
        assert_eq!(desk.shown(&connection).await, "Bearer one");
    }
    assert_eq!(desk.tokens.len(), limits::TOKENS_MAX);
}
