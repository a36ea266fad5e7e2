//! Who sent this? Signatures and handshakes at the door, and what is refused there.

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ferryhook_core::Env;
use serde_json::{Value, json};

use crate::destination::Destination;
use crate::ferry::{Answer, show};
use crate::stage::{PATIENCE, PAUSE, Stage, told as told_of};

const SECRET: &str = "it is a secret to everybody";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hmac_sha256(secret: &str, text: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), text).as_ref().to_vec()
}

/// As GitHub signs, with a delivery id that tells copies apart.
fn post(stage: &Stage, delivery: &str, secret: &str, body: &str) -> Answer {
    let signature = hex(&hmac_sha256(secret, body.as_bytes()));
    let headers = format!(
        "x-hub-signature-256: sha256={signature}\r\nx-github-event: push\r\n\
         x-github-delivery: {delivery}\r\n"
    );
    stage.ferry.post_with(stage.path("code"), &headers, body.as_bytes())
}

fn code(destination: &Destination, more: Value) -> Value {
    let mut source = json!({
        "name": "code",
        "provider": "github",
        "signingSecret": SECRET,
        "connections": [{ "name": "ci", "url": destination.url("ci") }],
    });
    source.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    source
}

/// Rejections are written every few seconds.
fn rejections(stage: &Stage, source: &str, count: usize) -> Vec<Value> {
    let env = Env::system();
    let begun = env.elapsed();
    loop {
        let list = stage.ask(&["rejections", "list", "--source", source, "--json"]);
        let list = list["data"].as_array().unwrap().clone();
        if list.len() >= count {
            return list;
        }
        assert!(env.elapsed() - begun < PATIENCE, "still not there: {list:#?}");
        std::thread::sleep(PAUSE);
    }
}

/// Refused, kept, and let in when the secret is the right one after all.
#[test]
fn a_request_with_another_secret_is_refused_until_the_secret_is_mended() {
    let destination = Destination::kind();
    let mut stage = Stage::with(vec![code(&destination, json!({}))]);
    let good = post(&stage, "d-1", SECRET, r#"{"ref":"main"}"#);
    assert_eq!(good.status, 200, "{good:?}");
    assert_eq!(destination.wait_for(1)[0].body(), r#"{"ref":"main"}"#);

    let bad = post(&stage, "d-2", "a new secret", r#"{"ref":"next"}"#);
    assert_eq!(bad.status, 401, "{bad:?}");
    assert_eq!(bad.json()["code"], "UNAUTHORIZED");
    assert!(!bad.body.contains(SECRET), "{bad:?}");
    let unsigned = stage.ferry.post(stage.path("code"), b"{}");
    assert_eq!(unsigned.status, 401, "{unsigned:?}");

    let refused = rejections(&stage, "code", 2);
    assert!(refused.iter().all(|one| one["cause"] == "signature"), "{refused:#?}");
    let why = |one: &Value| one["detail"].as_str().unwrap().to_lowercase();
    // Two that came in the same millisecond stand in either order.
    let names_the_header = |one: &Value| why(one).contains("x-hub-signature-256 is missing");
    assert!(refused.iter().any(names_the_header), "{refused:#?}");

    let again = ["rejections", "readmit", "--source", "code", "--json"];
    let told = stage.run(&again);
    assert_eq!(told["events"], json!([]), "the secret is still another: {told}");
    assert_eq!(told["refused"].as_array().unwrap().len(), 2, "{told}");

    stage.apply(vec![code(&destination, json!({ "signingSecret": "a new secret" }))]);
    let told = stage.run(&again);
    assert_eq!(told["events"].as_array().unwrap().len(), 1, "{told}");
    assert_eq!(told["refused"].as_array().unwrap().len(), 1, "{told}");
    assert_eq!(destination.wait_for(2)[1].body(), r#"{"ref":"next"}"#);
    assert_eq!(rejections(&stage, "code", 1).len(), 1, "what is let in is no rejection any more");
    // For a day both are honoured.
    assert_eq!(post(&stage, "d-3", SECRET, "{}").status, 200);
    assert_eq!(post(&stage, "d-4", "a new secret", "{}").status, 200);
}

/// Taken in and marked; and a forgery does not take the place of the real event.
#[test]
fn a_source_can_keep_what_is_not_proven() {
    let destination = Destination::kind();
    let marking = json!({ "verificationMode": "mark" });
    let stage = Stage::with(vec![code(&destination, marking)]);
    let forged = post(&stage, "d-1", "a guess", r#"{"ref":"forged"}"#);
    assert_eq!(forged.status, 200, "{forged:?}");
    let event = stage.event(forged.json()["id"].as_str().unwrap());
    assert_eq!(event["status"], "signature_failed", "{event:#}");
    assert!(event["processingError"].is_string(), "{event:#}");

    let real = post(&stage, "d-1", SECRET, r#"{"ref":"real"}"#);
    assert_eq!((real.status, &real.json()["duplicate"]), (200, &Value::Null), "{real:?}");
    assert_eq!(destination.wait_for(1)[0].body(), r#"{"ref":"real"}"#);
}

/// Replayed, it is looked at again with the secret of today.
#[test]
fn what_was_marked_goes_out_when_the_secret_is_mended() {
    let destination = Destination::kind();
    let marking = |secret: &str| {
        code(&destination, json!({ "verificationMode": "mark", "signingSecret": secret }))
    };
    let mut stage = Stage::with(vec![marking("a typing error")]);
    let answer = post(&stage, "d-1", SECRET, r#"{"ref":"main"}"#);
    let event = answer.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(stage.event(&event)["status"], "signature_failed");

    let refused = show(&stage.command(&["replay", &event]));
    assert!(refused.starts_with("exit 1\n"), "{refused}");
    assert!(refused.contains("still does not hold"), "{refused}");

    stage.apply(vec![marking(SECRET)]);
    let told = stage.ask(&["replay", &event, "--json"]);
    assert_eq!(told["connections"][0]["connection"], "ci", "{told}");
    assert_eq!(destination.wait_for(1)[0].body(), r#"{"ref":"main"}"#);
    assert_eq!(told_of(&stage.wait_until_settled(&event)), "delivered / 200");
    let copy = post(&stage, "d-1", SECRET, r#"{"ref":"main"}"#);
    assert_eq!((&copy.json()["id"], &copy.json()["duplicate"]), (&json!(event), &json!(true)));
}

fn ask(stage: &Stage, request: &str, source: &str) -> Answer {
    let request = request.replace("PATH", stage.path(source)).replace('\n', "\r\n");
    Answer::parse(&stage.ferry.last_words(request.as_bytes()))
}

#[test]
fn handshakes_are_answered_at_once() {
    let source = |provider: &str, more: Value| {
        let mut source = json!({ "name": provider, "provider": provider });
        source.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        source
    };
    let secret = json!({ "signingSecret": SECRET });
    let stage = Stage::with(vec![
        source(
            "meta",
            json!({ "signingSecret": SECRET, "config": { "verifyToken": "let me in" } }),
        ),
        source("slack", secret.clone()),
        source("twitter", secret.clone()),
        source("microsoft-graph", secret),
        source("cloudevents", json!({})),
    ]);

    let challenge = "GET PATH?hub.mode=subscribe&hub.verify_token=let%20me%20in&hub.challenge=1158 HTTP/1.1\nhost: test\nconnection: close\n\n";
    let answer = ask(&stage, challenge, "meta");
    assert_eq!((answer.status, &*answer.body), (200, "1158"), "{answer:?}");
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert!(answer.header("content-type").unwrap().starts_with("text/plain"), "{answer:?}");
    let stranger = ask(&stage, &challenge.replace("let%20me", "show%20me"), "meta");
    assert_ne!(stranger.body, "1158", "{stranger:?}");

    let body = r#"{"token":"t","challenge":"3eZbrw1a","type":"url_verification"}"#;
    let at = Env::system().now().as_seconds();
    let signature = hex(&hmac_sha256(SECRET, format!("v0:{at}:{body}").as_bytes()));
    let headers =
        format!("x-slack-signature: v0={signature}\r\nx-slack-request-timestamp: {at}\r\n");
    let answer = stage.ferry.post_with(stage.path("slack"), &headers, body.as_bytes());
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.body.contains("3eZbrw1a"), "{answer:?}");

    let answer = ask(
        &stage,
        "GET PATH?crc_token=abc HTTP/1.1\nhost: test\nconnection: close\n\n",
        "twitter",
    );
    let token = format!("sha256={}", STANDARD.encode(hmac_sha256(SECRET, b"abc")));
    assert_eq!(answer.json(), json!({ "response_token": token }), "{answer:?}");

    let answer = ask(
        &stage,
        "POST PATH?validationToken=Validation%3A+Testing HTTP/1.1\nhost: test\nconnection: close\ncontent-length: 0\n\n",
        "microsoft-graph",
    );
    assert_eq!((answer.status, &*answer.body), (200, "Validation: Testing"), "{answer:?}");

    let answer = ask(
        &stage,
        "OPTIONS PATH HTTP/1.1\nhost: test\nconnection: close\nwebhook-request-origin: events.example.com\n\n",
        "cloudevents",
    );
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.header("webhook-allowed-origin"), Some("events.example.com"));
    // None of it was an event.
    assert_eq!(stage.ask(&["events", "list", "--json"])["data"], json!([]));
}

/// The first secret that the provider makes up is kept, and nobody can change it afterwards.
#[test]
fn a_secret_from_a_handshake_is_kept() {
    let destination = Destination::kind();
    let asana = || {
        let connections = json!([{ "name": "a", "url": destination.url("a") }]);
        json!({ "name": "work", "provider": "asana", "connections": connections })
    };
    let mut stage = Stage::with(vec![asana()]);
    let shake = |stage: &Stage, secret: &str| {
        let headers = format!("x-hook-secret: {secret}\r\n");
        stage.ferry.post_with(stage.path("work"), &headers, b"")
    };
    let answer = shake(&stage, "first");
    assert_eq!((answer.status, answer.header("x-hook-secret")), (200, Some("first")));
    shake(&stage, "second");
    stage.apply(vec![asana()]); // the file knows nothing of it, and leaves it alone

    let body = r#"{"events":[{"action":"added"}]}"#;
    let send = |secret: &str| {
        let headers =
            format!("x-hook-signature: {}\r\n", hex(&hmac_sha256(secret, body.as_bytes())));
        stage.ferry.post_with(stage.path("work"), &headers, body.as_bytes()).status
    };
    assert_eq!((send("second"), send("first")), (401, 200));
    destination.wait_for(1);
}
