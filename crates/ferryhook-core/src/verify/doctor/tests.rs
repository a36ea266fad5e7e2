use serde_json::json;

use super::*;
use crate::verify::NoCertificates;
use crate::verify::encoding::to_hex;
use aws_lc_rs::hmac;

const AT: i64 = 1_700_000_000;

fn mac(algorithm: hmac::Algorithm, secret: &[u8], content: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(algorithm, secret), content).as_ref().to_vec()
}

fn sha256(secret: &str, content: &[u8]) -> Vec<u8> {
    mac(hmac::HMAC_SHA256, secret.as_bytes(), content)
}

fn diagnose(provider: &str, secret: &str, headers: &[(&str, String)], body: &[u8]) -> String {
    let url = "http://hooks.example.com/in/src_1";
    let headers: Headers = headers.iter().cloned().collect();
    let verifier = Verifier::new(provider, &[Secret::new(secret)], &Map::new()).unwrap();
    let request = Request { method: "POST", url, headers: &headers, body };
    let elsewhere = Secret::new("elsewhere");
    let others = [Other { name: "the source orders", secret: &elsewhere }];
    explain(&verifier, &request, Timestamp::from_seconds(AT), &NoCertificates, &others)
}

fn github(signature: &str) -> [(&'static str, String); 1] {
    [("X-Hub-Signature-256", format!("sha256={signature}"))]
}

#[test]
fn it_says_what_is_wrong() {
    let body: &[u8] = br#"{"b": 1, "a": "x"}"#;
    let right = to_hex(&sha256("s", body));
    let base64 = |bytes: &[u8]| Encoding::Base64.encode(bytes);
    let slack = |secret: &str, at: i64| {
        let content = [format!("v0:{at}:").as_bytes(), body].concat();
        [
            ("X-Slack-Signature", format!("v0={}", to_hex(&sha256(secret, &content)))),
            ("X-Slack-Request-Timestamp", at.to_string()),
        ]
    };
    let square = |url: &str| {
        let content = [url.as_bytes(), body].concat();
        [("x-square-hmacsha256-signature", base64(&sha256("s", &content)))]
    };
    for (diagnosis, expected) in [
        (diagnose("github", "s", &github(&right), body), "the signature is valid"),
        (
            diagnose("github", "s", &[], body),
            "the header x-hub-signature-256 is missing, and no other signature is there: the \
             sender has no secret configured, or something on the way took it off",
        ),
        (
            diagnose("stripe", "s", &github(&right), body),
            "the header stripe-signature is missing; it is signed as github does, and fits",
        ),
        (
            diagnose("stripe", "s", &github(&to_hex(&sha256("t", body))), body),
            "the header stripe-signature is missing; the request looks like one of github",
        ),
        (
            diagnose("github", "s", &github(&to_hex(&sha256("elsewhere", body))), body),
            "the secret of the source orders fits: it is stored in another place",
        ),
        (
            diagnose("github", " s\n", &github(&right), body),
            "the stored secret has spaces around it; without them it fits",
        ),
        (
            diagnose("github", "\"s\"", &github(&right), body),
            "the stored secret has quotes around it; without them it fits",
        ),
        (
            diagnose("github", "s", &github(&base64(&sha256("s", body))), body),
            "the signature is written in base64 instead of hex",
        ),
        (
            diagnose("shopify", "s", &[("X-Shopify-Hmac-Sha256", right.clone())], body),
            "the signature is written in hex instead of base64",
        ),
        (
            diagnose("github", "s", &github(&right.to_uppercase()), body),
            "the signature is right, but its hex is not written as this provider writes it",
        ),
        (
            diagnose("github", "s", &github(&to_hex(&mac(hmac::HMAC_SHA512, b"s", body))), body),
            "it is signed with SHA-512, which this provider does not use",
        ),
        (
            diagnose("github", "s", &github(&to_hex(&sha256("s", br#"{"b":1,"a":"x"}"#))), body),
            "the body was changed on the way: the signature fits it as JSON without spaces",
        ),
        (
            diagnose("github", "s", &github(&to_hex(&sha256("s", br#"{"a":"x","b":1}"#))), body),
            "the body was changed on the way: the signature fits it as JSON without spaces, its \
             names sorted",
        ),
        (
            diagnose("github", "s", &github(&right), b"{\"b\":1,\"a\":\"x\"}"),
            "the body was changed on the way: the signature fits it as JSON with a space behind \
             colons and commas",
        ),
        (
            diagnose("slack", "s", &slack("s", AT - 412), body),
            "the signature fits, but it was made 412 s ago and 300 s are allowed: the sender's \
             clock or ours is off by that much, or the request is an old one",
        ),
        (
            diagnose("slack", "s", &slack("s", AT + 412), body),
            "the signature fits, but its time lies 412 s ahead and 300 s are allowed: the \
             sender's clock or ours is off by that much",
        ),
        (
            diagnose("slack", "s", &slack("t", AT), body),
            "no stored secret fits: the secret is another one, or the body was changed on the way",
        ),
        (
            diagnose("square", "s", &square("https://hooks.example.com/in/src_1/"), body),
            "the sender signed for another URL: it fits https://hooks.example.com/in/src_1/ (see \
             the setting publicUrl)",
        ),
        (
            diagnose("zoom", "s", &[("x-zm-signature", "nonsense".to_owned())], body),
            "the header x-zm-signature is not as this provider writes it: the prefix is another one",
        ),
    ] {
        assert_eq!(diagnosis, expected);
    }
}

/// A secret that has run out is told apart from one that never was.
#[test]
fn a_replaced_secret_is_recognised() {
    let body = b"{}";
    let until = Timestamp::from_seconds(AT - 60);
    let secrets = [
        Dated { value: Secret::new("new"), until: None },
        Dated { value: Secret::new("old"), until: Some(until) },
    ];
    let verifier = Verifier::compile("github", &secrets, &Map::new()).unwrap();
    let headers: Headers = github(&to_hex(&sha256("old", body))).into_iter().collect();
    let request = Request { method: "POST", url: "", headers: &headers, body };
    let now = Timestamp::from_seconds(AT);
    assert_eq!(
        explain(&verifier, &request, now, &NoCertificates, &[]),
        format!("it is signed with a secret that was replaced and counted until {until}")
    );
}

/// What Svix decodes Stripe does not, and people paste either into the wrong place.
#[test]
fn another_reading_of_the_secret_is_recognised() {
    let secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZg==";
    let content = format!("{AT}.{{}}");
    let signature = to_hex(&mac(hmac::HMAC_SHA256, b"0123456789abcdef", content.as_bytes()));
    let header = [("Stripe-Signature", format!("t={AT},v1={signature}"))];
    assert_eq!(
        diagnose("stripe", secret, &header, b"{}"),
        "the sender uses the secret decoded from base64"
    );
}

/// Bodies that Python wrote have their characters escaped.
#[test]
fn an_escaped_body_is_recognised() {
    let sent = br#"{"name":"Zo\u00eb \ud83d\ude00"}"#;
    let arrived = json!({"name": "Zoë 😀"}).to_string();
    let header = github(&to_hex(&sha256("s", sent)));
    assert_eq!(
        diagnose("github", "s", &header, arrived.as_bytes()),
        "the body was changed on the way: the signature fits it as JSON whose characters beyond \
         ASCII are escaped"
    );
}
