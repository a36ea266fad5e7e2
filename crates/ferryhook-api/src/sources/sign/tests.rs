use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::trial::Trial;

async fn sign(trial: &Trial, source: Value) -> crate::trial::Said {
    let source = trial.post("/v1/sources", source).await.expect(201);
    let id = source["sourceId"].as_str().unwrap();
    let sample = json!({
        "method": "POST",
        "url": "http://127.0.0.1/in/x",
        "headers": [{ "name": "X-GitHub-Event", "value": "push" }],
        "bodyBase64": STANDARD.encode("Hello, World!"),
    });
    trial.post(&format!("/v1/sources/{id}/sign"), sample).await
}

fn header<'a>(signed: &'a Value, name: &str) -> Option<&'a str> {
    let headers = signed["headers"].as_array().unwrap();
    let own = headers.iter().find(|own| own["name"].as_str().unwrap().eq_ignore_ascii_case(name));
    own.map(|own| own["value"].as_str().unwrap())
}

/// The example of the provider's own documents.
#[tokio::test]
async fn a_sample_is_signed_with_a_secret_that_stays() {
    let trial = Trial::new().await;
    let secret = "It's a Secret to Everybody";
    let source = json!({ "name": "hub", "provider": "github", "signingSecret": secret });
    let signed = sign(&trial, source).await.expect(200);
    assert_eq!(signed["isSigned"], true);
    assert_eq!(header(&signed, "x-github-event"), Some("push"));
    let expected = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    assert_eq!(header(&signed, "x-hub-signature-256"), Some(expected));
}

#[tokio::test]
async fn where_the_proof_is_the_secret_nothing_is_told() {
    let trial = Trial::new().await;
    let source = json!({ "name": "bot", "provider": "telegram", "signingSecret": "hush-hush" });
    let problem = sign(&trial, source).await.expect(409);
    assert!(!problem.to_string().contains("hush-hush"), "{problem}");
}

#[tokio::test]
async fn without_a_secret_it_is_as_it_was() {
    let trial = Trial::new().await;
    let signed = sign(&trial, json!({ "name": "plain" })).await.expect(200);
    assert_eq!(
        (&signed["isSigned"], header(&signed, "x-hub-signature-256")),
        (&json!(false), None)
    );
}
