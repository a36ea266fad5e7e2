use serde_json::json;

use super::*;
use crate::verify::{NoCertificates, Verdict, Verifier};
use crate::{Map, Secret};

const NOW: i64 = 1_700_000_000;
const P256: &str = r#"{"kty":"EC","crv":"P-256","kid":"k1",
    "x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
    "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#;

fn token(head: &Value, claims: &Value, key: &[u8]) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", part(head), part(claims));
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(tag.as_ref()))
}

fn check(provider: &str, secret: &str, header: &str, token: &str, body: &[u8]) -> Verdict {
    let headers = Headers::from_iter([(header, token)]);
    let verifier = Verifier::new(provider, &[Secret::new(secret)], &Map::new()).unwrap();
    let request = Request { method: "POST", url: "https://h.io/", headers: &headers, body };
    verifier.check(&request, Timestamp::from_seconds(NOW), &NoCertificates)
}

fn livekit(head: &Value, claims: &Value) -> String {
    let token = token(head, claims, b"secret");
    match check("livekit", "secret", "Authorization", &token, b"{}") {
        Verdict::Valid => "valid".to_owned(),
        Verdict::Invalid(reason) => reason.to_string(),
        Verdict::NeedsCertificate(url) => url,
    }
}

#[test]
fn a_token_holds_for_its_time_and_its_body() {
    let hash = "RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=";
    let head = json!({"alg": "HS256"});
    for (claims, said) in [
        (json!({"exp": NOW + 1, "sha256": hash}), "valid"),
        (json!({"exp": NOW - 9, "sha256": hash}), "valid"),
        (json!({"exp": NOW - 10, "sha256": hash}), "the token is not valid: it has expired"),
        (
            json!({"exp": NOW + 99, "nbf": NOW + 11, "sha256": hash}),
            "the token is not valid: it is not valid yet",
        ),
        (json!({"sha256": hash}), "the token is not valid: the claim exp is missing"),
        (
            json!({"exp": "soon", "sha256": hash}),
            "the token is not valid: a time in it is not a number",
        ),
        (json!({"exp": NOW + 1}), "the token is not valid: the claim sha256 is missing"),
        (
            json!({"exp": NOW + 1, "sha256": "AAAA"}),
            "the body is not as this provider writes it: its hash is not the one in the token",
        ),
        (
            json!({"exp": NOW + 1, "sha256": 3}),
            "the token is not valid: the claim sha256 is missing",
        ),
    ] {
        assert_eq!(livekit(&head, &claims), said, "{claims}");
    }
}

#[test]
fn the_token_does_not_choose_its_algorithm() {
    let claims = json!({"exp": NOW + 1, "sha256": "RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o="});
    let unknown = "the token is not valid: no key of this source is of its algorithm";
    for (head, said) in [
        (json!({"alg": "none"}), unknown),
        (json!({"alg": "HS384"}), unknown),
        (json!({"alg": "RS256"}), unknown),
        (json!({"alg": "hs256"}), unknown),
        (json!({}), unknown),
        (
            json!({"alg": "HS256", "crit": ["b64"]}),
            "the token is not valid: it asks for something that we do not know",
        ),
    ] {
        assert_eq!(livekit(&head, &claims), said, "{head}");
    }
    let unsigned = "eyJhbGciOiJub25lIn0.eyJleHAiOjE3MDAwMDAwMDF9.";
    assert!(check("livekit", "secret", "Authorization", unsigned, b"{}") != Verdict::Valid);
}

/// Whoever knows the public key could sign with it as if it were shared.
#[test]
fn a_public_key_signs_nothing() {
    let claims = json!({"iat": NOW, "request_body_sha256": to_hex(&sha256(b"{}"))});
    let token = token(&json!({"alg": "HS256", "kid": "k1"}), &claims, P256.as_bytes());
    for (provider, header) in
        [("plaid", "Plaid-Verification"), ("fusionauth", "X-FusionAuth-Signature-JWT")]
    {
        assert_ne!(check(provider, P256, header, &token, b"{}"), Verdict::Valid, "{provider}");
    }
    let pem = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----";
    let der = "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=";
    for secret in [pem, der, P256] {
        for provider in ["livekit", "fusionauth", "messagebird"] {
            let verifier = Verifier::new(provider, &[Secret::new(secret)], &Map::new());
            assert_eq!(verifier.is_err(), (provider, secret) != ("fusionauth", P256));
        }
    }
}
