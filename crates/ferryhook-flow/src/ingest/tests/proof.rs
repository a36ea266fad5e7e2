//! What has to be proven at the door, and what becomes of it when it is not.

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ferryhook_core::event::Status;
use ferryhook_core::{Secret, source};
use ferryhook_net::client::{Guard, Outbound, Outgoing, Reply, Timing, Unsent, Why};

use super::*;

const SECRET: &str = "it is a secret to everybody";

/// Signs the address that was called and the body, and no time.
fn square() -> Source {
    Source {
        provider: "square".into(),
        signing_secret: Some(Secret::new(SECRET)),
        dedup_expression: Some("body.none".into()),
        ..plain()
    }
}

fn signed(url: &str, body: &str) -> Request<Full<Bytes>> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
    let tag = hmac::sign(&key, format!("{url}{body}").as_bytes());
    let request = Request::post(ADDRESS)
        .header("host", "inner")
        .header("x-forwarded-host", "hooks.example.com")
        .header("x-forwarded-proto", "https")
        .header("x-square-hmacsha256-signature", STANDARD.encode(tag));
    let mut request = request.body(Full::new(Bytes::from(body.to_owned()))).unwrap();
    request.extensions_mut().insert(Peer("10.0.0.1:1".parse().unwrap()));
    request
}

fn public(path: &str) -> String {
    format!("https://hooks.example.com{path}")
}

async fn mend(gate: &Gate, change: impl FnOnce(&mut Source)) {
    let was = gate.store.sources().find(samples::source().id).await.unwrap().unwrap();
    let mut now = was.record.clone();
    change(&mut now);
    let edit = ferryhook_store::repositories::Edit::ReplaceSource(was, now);
    gate.store.sources().edit(&[edit]).await.unwrap();
    gate.ingest.0.routes.forget(samples::source().id);
}

async fn kept(gate: &Gate) -> Vec<Stored<Rejection>> {
    gate.ingest.flush().await;
    let (id, slice) = (samples::source().id, Slice::default().limit(1000));
    gate.store.rejections().list_by_source(id, Window::ALWAYS, slice).await.unwrap().rows
}

/// By the address that the proxy in front was called at, then and later.
#[tokio::test]
async fn what_was_refused_behind_a_proxy_is_proven_by_the_same_address() {
    let gate = gate(Source { signing_secret: Some(Secret::new("old")), ..square() }).await;
    let refused = gate.send(signed(&public(ADDRESS), "{}")).await;
    assert_eq!((refused.status, &refused.body["code"]), (401, &json!("UNAUTHORIZED")));
    assert!(gate.events().await.is_empty());
    let rejection = kept(&gate).await.remove(0);
    assert_eq!(rejection.url, Some(public(ADDRESS)));
    let again = gate.ingest.readmit(&gate.store, rejection.clone()).await.unwrap_err();
    assert!(again.to_string().contains("refused again"), "{again}");

    mend(&gate, |source| source.signing_secret = Some(Secret::new(SECRET))).await;
    gate.clock.advance(Duration::from_secs(3600));
    let events = gate.ingest.readmit(&gate.store, rejection).await.unwrap();
    assert_eq!((events.len(), gate.events().await.len()), (1, 1));
    assert!(kept(&gate).await.is_empty());
}

/// Nothing tells these requests apart, so nothing but the rejection itself can.
#[tokio::test]
async fn many_who_let_the_same_in_let_it_in_once() {
    let gate = gate(Source { signing_secret: Some(Secret::new("old")), ..square() }).await;
    for _ in 0..3 {
        gate.send(signed(&public(ADDRESS), "{}")).await;
    }
    mend(&gate, |source| source.signing_secret = Some(Secret::new(SECRET))).await;
    let rejections = kept(&gate).await;
    let tries = rejections.iter().flat_map(|one| vec![one.clone(); 6]);
    let told =
        futures_util::future::join_all(tries.map(|one| gate.ingest.readmit(&gate.store, one)))
            .await;
    assert_eq!(told.iter().filter(|told| told.is_ok()).count(), 3);
    assert_eq!(gate.events().await.len(), 3);
}

/// In the order they came.
async fn marked(gate: &Gate) -> Vec<Event> {
    let mut events = gate.events().await;
    events.retain(|event| event.status == Status::SignatureFailed);
    events.sort_by_key(|event| event.id);
    events
}

/// What would have been refused, had its signature held, is not let in by the way round.
#[tokio::test]
async fn what_was_marked_is_held_to_its_declaration() {
    let marking = Source {
        signing_secret: Some(Secret::new("old")),
        verification_mode: Some(source::VerificationMode::Mark),
        ..declared::typed(square())
    };
    let gate = gate(marking).await;
    declared::declare(&gate, "paid", &json!({ "required": ["id"] })).await;
    let url = public(ADDRESS);
    for body in [r#"{"type":"paid"}"#, r#"{"type":"paid","id":1}"#] {
        assert_eq!(gate.send(signed(&url, body)).await.status, 200);
    }
    let [wrong, good] = &marked(&gate).await[..] else { panic!("not two") };
    mend(&gate, |source| source.signing_secret = Some(Secret::new(SECRET))).await;
    let told = gate.ingest.reverify(&gate.store, wrong).await.unwrap_err();
    assert!(matches!(told, NotVerified::NotAsDeclared { .. }), "{told}");
    assert_eq!(gate.said(), [r#"paid: "id" is a required property"#]);
    for _ in 0..2 {
        gate.ingest.reverify(&gate.store, good).await.unwrap();
    }
    assert_eq!(gate.said(), ["paid is proved"], "it is counted once");
    assert_eq!(marked(&gate).await.len(), 1);
}

/// As if it had been good from the beginning: it has its key, and what comes with the same key is
/// a copy.
#[tokio::test]
async fn what_was_marked_is_proven_once_the_secret_is_mended() {
    let mode = Some(source::VerificationMode::Mark);
    let wrong = Some(Secret::new("old"));
    let dedup = Some("body.id".to_owned());
    let marking = Source {
        signing_secret: wrong,
        verification_mode: mode,
        dedup_expression: dedup,
        ..square()
    };
    let gate = gate(marking).await;
    let url = public(ADDRESS);
    for body in [r#"{"id":1}"#, r#"{"id":1}"#, r#"[{"id":2}]"#] {
        assert_eq!(gate.send(signed(&url, body)).await.status, 200);
    }
    let [first, copy, list] = &marked(&gate).await[..] else { panic!("not three") };
    let told = gate.ingest.reverify(&gate.store, first).await.unwrap_err();
    assert!(matches!(told, NotVerified::Still { .. }), "{told}");

    mend(&gate, |source| source.signing_secret = Some(Secret::new(SECRET))).await;
    for _ in 0..2 {
        gate.ingest.reverify(&gate.store, first).await.unwrap();
    }
    let events = gate.events().await;
    let proven = events.iter().find(|event| event.id == first.id).unwrap();
    assert_eq!((proven.status, &proven.processing_error), (Status::Filtered, &None));
    assert!(proven.dedup_key.is_some());
    let told = gate.ingest.reverify(&gate.store, copy).await.unwrap_err();
    let NotVerified::Known { first: known, .. } = told else { panic!("{told}") };
    assert_eq!(known, Some(first.id));
    let again = gate.send(signed(&url, r#"{"id":1}"#)).await;
    assert_eq!(again.body["duplicate"], json!(true));

    // A list is taken apart at the door and nowhere else.
    mend(&gate, |source| drop(source.config.insert("split".to_owned(), json!(true)))).await;
    let told = gate.ingest.reverify(&gate.store, list).await.unwrap_err();
    assert!(matches!(told, NotVerified::Several(_)), "{told}");
    assert_eq!(marked(&gate).await.len(), 2, "the copy and the list stay as they were");
}

#[tokio::test]
async fn what_was_not_read_to_its_end_stays_out() {
    let gate = gate_with(plain(), counting::a_minute(0)).await;
    gate.post("x").await;
    let rejection = kept(&gate).await.remove(0);
    let told = gate.ingest.readmit(&gate.store, rejection).await.unwrap_err();
    assert!(matches!(told, NotReadmitted::Incomplete(_)), "{told}");
}

#[tokio::test]
async fn what_nobody_understands_proves_nothing() {
    let odd = Source { provider: "nobody".into(), ..square() };
    assert_eq!(gate(odd).await.post("{}").await.status, 401);
    let empty = Source { signing_secret: Some(Secret::new("")), ..square() };
    assert_eq!(gate(empty).await.post("{}").await.status, 401);
    let mode = Some(source::VerificationMode::Reject);
    let none = Source { signing_secret: None, verification_mode: mode, ..square() };
    assert_eq!(gate(none).await.post("{}").await.status, 401);
}

/// Certificates from somewhere that has none.
struct Nowhere(Mutex<Vec<String>>);

impl Outbound for Nowhere {
    fn send(&self, outgoing: Outgoing) -> BoxFuture<'_, Result<Reply, Unsent>> {
        self.0.lock().unwrap().push(outgoing.target.url().to_owned());
        let (why, message) = (Why::Refused, "nobody is there".to_owned());
        Box::pin(async move { Err(Unsent { why, message, timing: Timing::default() }) })
    }
}

/// It may be proven yet, so it is neither taken in nor refused for good; and strangers cannot make
/// us ask again and again, or anywhere else.
#[tokio::test]
async fn without_its_certificate_a_message_has_to_come_again() {
    let sns = Source { provider: "aws-sns".into(), signing_secret: None, ..square() };
    let mut gate = gate(sns).await;
    let nowhere = Arc::new(Nowhere(Mutex::default()));
    let outside = Outside { outbound: nowhere.clone(), guard: Guard::new(Vec::new()) };
    let settings = Settings { outside: Some(outside), ..Settings::default() };
    let (env, routes) = (gate.ingest.0.env.clone(), gate.ingest.0.routes.clone());
    let store = gate.store.clone();
    let tally = Tally::default();
    gate.ingest =
        Ingest::new(store, env, &gate.tasks, routes, gate.handed.clone(), &tally, settings);
    let message = |certificate: &str| {
        json!({
            "Type": "Notification", "MessageId": "1", "TopicArn": "arn:aws:sns:eu-west-1:1:t",
            "Message": "m", "Timestamp": "2026-01-01T00:00:00.000Z", "SignatureVersion": "2",
            "Signature": "AAAA", "SigningCertURL": certificate,
        })
        .to_string()
    };
    let real = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem";
    for _ in 0..3 {
        let answer = gate.post(&message(real)).await;
        assert_eq!((answer.status, answer.header("retry-after").is_some()), (503, true));
    }
    assert_eq!(gate.post(&message("https://sns.evil.example.com/a.pem")).await.status, 401);
    assert_eq!(*nowhere.0.lock().unwrap(), [real]);
    gate.clock.advance(limits::CERTIFICATE_PAUSE);
    gate.post(&message(real)).await;
    assert_eq!(nowhere.0.lock().unwrap().len(), 2);
}
