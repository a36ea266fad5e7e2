//! The front door: what has to hold for each provider, and for every request whatever it is.

mod rows;

use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::providers::Confidence;
use crate::samples;

const AT: i64 = 1_649_367_553;

fn check(
    provider: &str,
    secrets: &[&str],
    headers: &[(&str, &str)],
    body: &[u8],
    now: i64,
) -> Verdict {
    let headers: Headers = headers.iter().copied().collect();
    let secrets: Vec<_> = secrets.iter().copied().map(Secret::new).collect();
    let verifier = Verifier::new(provider, &secrets, &Map::new()).unwrap();
    let url = "https://hooks.example.com/in/src_1";
    let request = Request { method: "POST", url, headers: &headers, body };
    verifier.check(&request, Timestamp::from_seconds(now), &NoCertificates)
}

static P256: LazyLock<serde_json::Value> = LazyLock::new(|| {
    json!({"kty": "EC", "crv": "P-256", "kid": "k1",
        "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"})
});

const STANDARD_SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const STANDARD_BODY: &[u8] = br#"{"email":"test@example.com","username":"test_user"}"#;
const STANDARD_HEADERS: [(&str, &str); 3] = [
    ("Webhook-Id", "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk"),
    ("webhook-timestamp", "1649367553"),
    ("webhook-signature", "v1,AAAA v2,x v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw="),
];

/// The vector that the libraries of the standard are tested with.
#[test]
fn a_standard_webhook_is_verified() {
    let check = |headers: &[_], body, now| {
        check("standard-webhooks", &[STANDARD_SECRET], headers, body, now)
    };
    let headers = &STANDARD_HEADERS;
    assert_eq!(check(headers, STANDARD_BODY, AT), Verdict::Valid);
    assert_eq!(check(headers, STANDARD_BODY, AT + 300), Verdict::Valid);
    assert_eq!(check(headers, STANDARD_BODY, AT - 300), Verdict::Valid);
    for (headers, body, now, reason) in [
        (
            &headers[..],
            STANDARD_BODY,
            AT + 301,
            "the timestamp is 301 s old, and 300 s are allowed",
        ),
        (
            headers,
            STANDARD_BODY,
            AT - 301,
            "the timestamp is 301 s in the future, and 300 s are allowed",
        ),
        (headers, b"{}", AT, "the signature does not match"),
        (&headers[1..], STANDARD_BODY, AT, "the header webhook-id is missing"),
        (&headers[..2], STANDARD_BODY, AT, "the header webhook-signature is missing"),
        (&headers[..1], STANDARD_BODY, AT, "the header webhook-signature is missing"),
    ] {
        match check(headers, body, now) {
            Verdict::Invalid(own) => assert_eq!(own.to_string(), reason),
            other => panic!("{reason}: {other:?}"),
        }
    }
}

/// Ed25519 signs the same bytes always alike, so this one can be written down.
#[test]
fn a_standard_webhook_is_verified_with_a_public_key() {
    let secret = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";
    let signature = "v1a,LFHB363YvoTm7xdMyZd/981dRSdVxW0u27ld7pRBYKa+E1Is4O8e+VFZlwtUB7muxeGaguMrB+8TDoJMHA5lCQ==";
    let [id, time, _] = STANDARD_HEADERS;
    let headers = [id, time, ("webhook-signature", signature)];
    let valid = |secrets: &[&str]| {
        check("standard-webhooks", secrets, &headers, STANDARD_BODY, AT) == Verdict::Valid
    };
    assert!(valid(&[secret]));
    assert!(valid(&[STANDARD_SECRET, secret]));
    assert!(!valid(&[STANDARD_SECRET]));
}

/// Everybody may know a public key, so a signature made with it as a secret proves nothing.
#[test]
fn a_public_key_is_never_taken_for_a_secret() {
    let public = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";
    for provider in ["svix", "openai", "polar", "gitlab", "stripe", "github"] {
        let verifier = Verifier::new(provider, &[Secret::new(public)], &Map::new());
        // GitLab's older scheme has no keys at all: there it is a token like any other.
        assert_eq!(verifier.is_err(), provider != "gitlab", "{provider}");
    }
    let config = json!({"publicKey": public}).as_object().cloned().unwrap();
    for provider in ["stripe", "svix", "github", "livekit", "twilio"] {
        let verifier = Verifier::new(provider, &[], &config);
        assert_eq!(verifier.err(), Some(BadVerifier::NoSecret), "{provider}");
    }
}

#[test]
fn an_empty_secret_verifies_nothing() {
    for provider in crate::providers::all() {
        for secrets in [&[][..], &[""], &["", ""]] {
            let secrets: Vec<_> = secrets.iter().copied().map(Secret::new).collect();
            let verifier = Verifier::new(provider.name, &secrets, &Map::new());
            // Here a certificate is the proof, and nobody has a secret.
            let fetches = provider.name == "aws-sns";
            assert_eq!(verifier.is_err(), !fetches, "{} {secrets:?}", provider.name);
        }
    }
    // Beside one that is there, it is as if it were not.
    let verdict =
        check("standard-webhooks", &["", STANDARD_SECRET], &STANDARD_HEADERS, STANDARD_BODY, AT);
    assert_eq!(verdict, Verdict::Valid);
}

#[test]
fn nobody_unknown_verifies() {
    let unknown = |provider: &str, config: &str| {
        let config: Map = serde_json::from_str(config).unwrap();
        Verifier::new(provider, &[Secret::new("s")], &config).unwrap_err().to_string()
    };
    assert_eq!(unknown("nobody", "{}"), "no provider is called \"nobody\"");
    assert_eq!(
        unknown("hubspot", r#"{"version":"v9"}"#),
        "hubspot has no scheme called \"v9\"; there is v3, v1, v2"
    );
    assert_eq!(
        unknown("custom", r#"{"header":"x","algorithm":"md5"}"#),
        "the setting algorithm is not usable: it is sha1, sha256, sha384 or sha512"
    );
}

/// A weaker signature does not save a stronger one, even if it is right.
#[test]
fn hubspot_does_not_fall_back() {
    let right = "2cb4a4a2a4d7fb0a0d9d5fd2ecd3a5d5e5a7d0d0b0a0c0f0e0d0c0b0a0908070";
    let v1 = encoding::to_hex(
        aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, b"secret{}").as_ref(),
    );
    let old = [("X-HubSpot-Signature", v1.as_str()), ("X-HubSpot-Signature-Version", "v1")];
    let new = [("X-HubSpot-Signature-v3", right), ("X-HubSpot-Request-Timestamp", "1649367553000")];
    assert_eq!(check("hubspot", &["secret"], &old, b"{}", AT), Verdict::Valid);
    let both = [old, new].concat();
    assert_ne!(check("hubspot", &["secret"], &both, b"{}", AT), Verdict::Valid);
    assert_ne!(check("hubspot (v3)", &["secret"], &old, b"{}", AT), Verdict::Valid);
}

#[test]
fn two_headers_that_disagree_are_refused() {
    let mut headers = STANDARD_HEADERS.to_vec();
    headers.push(("webhook-timestamp", "1649367553"));
    let check =
        |headers: &[_]| check("standard-webhooks", &[STANDARD_SECRET], headers, STANDARD_BODY, AT);
    assert_eq!(check(&headers), Verdict::Valid);
    headers.push(("WEBHOOK-TIMESTAMP", "1649367554"));
    let reason = Reason::RepeatedHeader("webhook-timestamp".into());
    assert_eq!(check(&headers), Verdict::Invalid(reason));
    // Of several signatures any may be the one.
    let mut headers = STANDARD_HEADERS.to_vec();
    headers.insert(0, ("webhook-signature", "v1,AAAA"));
    assert_eq!(check(&headers), Verdict::Valid);
}

#[test]
fn a_source_verifies_with_what_it_has() {
    let mut source = samples::source();
    source.provider = "github".to_owned();
    source.config = Map::new();
    source.signing_secret = None;
    source.previous_secrets.clear();
    source.signing_algorithm = None;
    source.verification_mode = None;
    assert!(Verifier::of(&source).unwrap().is_none());

    source.verification_mode = Some(crate::source::VerificationMode::Reject);
    assert_eq!(Verifier::of(&source).unwrap_err(), BadVerifier::NoSecret);

    source.signing_secret = Some(Secret::new("s"));
    assert!(Verifier::of(&source).unwrap().is_some());

    source.signing_algorithm = Some("hmac-sha3".to_owned());
    assert!(Verifier::of(&source).is_err());

    source.signing_algorithm = None;
    source.provider = "aws-sns".to_owned();
    (source.signing_secret, source.verification_mode) = (None, None);
    assert!(Verifier::of(&source).unwrap().is_some());
}

/// What a source says about its sender is a wish to verify, and so is a key.
#[test]
fn a_source_that_says_how_but_has_no_secret_refuses_everything() {
    let unknown_scheme = || BadVerifier::UnknownScheme {
        provider: "hubspot",
        asked: "v9".to_owned(),
        known: "v3, v1, v2".to_owned(),
    };
    for (provider, config, verifies) in [
        ("custom", json!({}), Ok(false)),
        ("custom", json!({"eventType": "body.type"}), Ok(false)),
        ("custom", json!({"header": "x-sig"}), Err(BadVerifier::NoSecret)),
        ("telnyx", json!({"publicKey": "Rst+nr8PsAx5tCZq8/Mi1QPFMlc4YhCMHCbkmHq9/yU="}), Ok(true)),
        ("chargebee", json!({"username": "u", "password": "p"}), Ok(true)),
        ("mollie", json!({"scheme": "classic"}), Ok(false)),
        ("mollie-classic", json!({}), Ok(false)),
        ("hubspot", json!({"scheme": "v3"}), Err(BadVerifier::NoSecret)),
        ("hubspot", json!({"signature_version": "v3"}), Err(BadVerifier::NoSecret)),
        ("hubspot", json!({"scheme": ["v3"]}), Err(BadVerifier::NoSecret)),
        ("hubspot", json!({"scheme": null}), Ok(false)),
        ("hubspot", json!({"scheme": "v9"}), Err(unknown_scheme())),
        ("nobody", json!({"scheme": "v3"}), Err(BadVerifier::UnknownProvider("nobody".into()))),
        ("plaid", json!({"jwks": {"keys": [P256.clone()]}}), Ok(true)),
        ("plaid", json!({"jwk": P256.clone()}), Ok(true)),
        ("plaid", json!({"jwks": [P256.clone()]}), Err(BadVerifier::NoSecret)),
        ("plaid", json!({"jwks": null}), Ok(false)),
        ("sendgrid", json!({"verificationKey": P256.clone()}), Ok(true)),
        ("sendgrid", json!({"verification_key": ""}), Err(BadVerifier::NoSecret)),
        ("paypal", json!({"certPem": ""}), Err(BadVerifier::MissingSetting("webhookId".into()))),
        ("github", json!({"toleranceSeconds": 60}), Err(BadVerifier::NoSecret)),
        ("livekit", json!({"apiKey": "API1"}), Err(BadVerifier::NoSecret)),
        ("chargebee", json!({"username": "u"}), Err(BadVerifier::NoSecret)),
        ("ebay", json!({"verifyToken": "t", "publicUrl": "https://h.io/"}), Ok(false)),
        ("stripe", json!({"split": false, "eventType": "body.type"}), Ok(false)),
        ("someone-else", json!({}), Ok(false)),
    ] {
        let mut source = samples::source();
        source.provider = provider.to_owned();
        source.config = config.as_object().cloned().unwrap();
        (source.signing_secret, source.verification_mode) = (None, None);
        source.previous_secrets.clear();
        source.signing_algorithm = None;
        let own = Verifier::of(&source).map(|verifier| verifier.is_some());
        assert_eq!(own, verifies, "{provider} {config}");
    }
}

/// Sources of before have an algorithm and no header: they get what custom sources get.
#[test]
fn an_algorithm_alone_describes_nothing() {
    let mut source = samples::source();
    source.provider = "custom".to_owned();
    source.signing_secret = Some(Secret::new("s"));
    for (config, algorithm, is_fit) in [
        (json!({}), "hmac-sha256", true),
        (json!({"header": "x-sig"}), "hmac-sha512", true),
        (json!({"header": "x-sig"}), "crc32", false),
        (json!({}), "crc32", false),
    ] {
        source.config = config.as_object().cloned().unwrap();
        source.signing_algorithm = Some(algorithm.to_owned());
        assert_eq!(Verifier::of(&source).is_ok(), is_fit, "{config} {algorithm}");
    }
}

#[test]
fn a_replaced_secret_counts_until_its_time_is_over() {
    let mut source = samples::source();
    source.provider = "standard-webhooks".to_owned();
    source.config = Map::new();
    source.signing_algorithm = None;
    source.signing_secret = Some(Secret::new("whsec_AAAA"));
    let until = Timestamp::from_seconds(AT + 10);
    let old = Secret::new(STANDARD_SECRET);
    source.previous_secrets = vec![crate::secret::Previous { secret: old, valid_until: until }];
    let verifier = Verifier::of(&source).unwrap().unwrap();
    let headers: Headers = STANDARD_HEADERS.into_iter().collect();
    let request = Request { method: "POST", url: "", headers: &headers, body: STANDARD_BODY };
    let check = |now| verifier.check(&request, Timestamp::from_seconds(now), &NoCertificates);
    assert_eq!(check(AT + 9), Verdict::Valid);
    assert_eq!(check(AT + 10), Verdict::Invalid(Reason::Mismatch));
}

/// An id that nobody signed must not stand beside one that somebody did: the ledger would go by it.
#[test]
fn svix_has_one_set_of_headers() {
    let mut headers = STANDARD_HEADERS.to_vec();
    let check = |headers: &[_]| check("svix", &[STANDARD_SECRET], headers, STANDARD_BODY, AT);
    assert_eq!(check(&headers), Verdict::Valid);
    headers.push(("svix-id", "another"));
    assert_ne!(check(&headers), Verdict::Valid);
}

/// A public key takes long, and so does a body that is hashed for each time that is given.
#[test]
fn a_stranger_does_not_say_how_long_it_takes() {
    let many = |name: &str| {
        let why = "it has too many signatures".into();
        Verdict::Invalid(Reason::Malformed(name.to_owned().into(), why))
    };
    let public = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";
    let own = "v1a,LFHB363YvoTm7xdMyZd/981dRSdVxW0u27ld7pRBYKa+E1Is4O8e+VFZlwtUB7muxeGaguMrB+8TDoJMHA5lCQ==";
    let [id, time, _] = STANDARD_HEADERS;
    let wrong = format!("v1a,{}== ", "A".repeat(86));
    for (others, verdict) in [(3, Verdict::Valid), (4, many("webhook-signature"))] {
        let value = format!("{}{own}", wrong.repeat(others));
        let headers = [id, time, ("webhook-signature", value.as_str())];
        assert_eq!(check("standard-webhooks", &[public], &headers, STANDARD_BODY, AT), verdict);
    }
    let groups = |count: i64| -> String {
        (0..count).map(|at| format!("t={},v1={} ", AT + at, "0".repeat(64))).collect()
    };
    for (count, verdict) in
        [(4, Verdict::Invalid(Reason::Mismatch)), (5, many("persona-signature"))]
    {
        let value = groups(count);
        let headers = [("Persona-Signature", value.as_str())];
        assert_eq!(check("persona", &["s"], &headers, STANDARD_BODY, AT), verdict);
    }
}

/// Every row's verifier, and the headers that it looks at. Threads share them, as those of ingest do.
static ALL: LazyLock<Vec<(Verifier, Vec<String>)>> = LazyLock::new(|| {
    let lines = rows::LINES.lines().map(|line| line::Line::parse(line).unwrap());
    lines
        .map(|line| {
            let headers = line.headers().unwrap();
            let names = headers.iter().map(|(name, _)| name.to_owned()).collect();
            (line.verifier().unwrap(), names)
        })
        .collect()
});

proptest! {
    /// Whatever is sent, there is an answer, and it is no.
    #[test]
    fn nothing_that_is_sent_breaks_it(
        value in "\\PC{0,40}|(v1|v1a|t|h1|sha256|Basic|Bearer)[=, ].{0,60}|[a-zA-Z0-9+/=_.-]{0,120}",
        other in "[0-9]{0,20}|.{0,20}",
        url in "(https?://)?[a-z.:@/?&=%0-9#]{0,40}",
        body in "\\PC{0,60}|[{\\[\":,}\\]a-zA-Z0-9]{0,60}",
    ) {
        for (verifier, names) in ALL.iter() {
            let headers: Headers = names
                .iter()
                .enumerate()
                .map(|(at, name)| (name.clone(), if at == 0 { value.clone() } else { other.clone() }))
                .collect();
            let request =
                Request { method: "POST", url: &url, headers: &headers, body: body.as_bytes() };
            let verdict = verifier.check(&request, Timestamp::from_seconds(AT), &NoCertificates);
            prop_assert_ne!(verdict, Verdict::Valid, "{}", verifier.provider());
        }
    }
}

/// Numbers of the catalogue, so that a row that falls out of the table is missed.
#[test]
fn the_table_has_whom_we_promise() {
    let count = |confidence| {
        crate::providers::all().filter(|provider| provider.confidence == confidence).count()
    };
    assert_eq!((count(Confidence::Settled), count(Confidence::Experimental)), (70, 47));
}
