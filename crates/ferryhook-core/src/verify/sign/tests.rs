use super::*;
use crate::verify::{NoCertificates, Verdict};
use crate::{Map, providers};

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_123);
const ED25519_SEED: &str = "3737373737373737373737373737373737373737373737373737373737373737";

fn config(provider: &str) -> Map {
    let config = match provider {
        "tiktok-shop" => json!({"appKey": "app"}),
        _ => json!({}),
    };
    config.as_object().cloned().unwrap()
}

fn secret(provider: &str) -> &'static str {
    match provider {
        "adyen" | "adyen-platform" => "abababababababababababababababab",
        "airtable" | "finch" => "MDEyMzQ1Njc4OWFiY2RlZg==",
        "standard-webhooks" | "svix" | "clerk" | "resend" | "anthropic" | "lithic"
        | "replicate" => "whsec_MDEyMzQ1Njc4OWFiY2RlZg==",
        "chargebee" | "pipedrive" => "user:password",
        "discord" | "telnyx" => ED25519_SEED,
        _ => "a-secret",
    }
}

/// What is signed here is verified there, for everyone who can be signed for.
#[test]
fn a_signed_sample_is_valid() {
    let mut not_signed = Vec::new();
    for provider in providers::all() {
        let draft = Draft {
            method: "POST".to_owned(),
            url: "https://hooks.example.com/in/src_1?a=1".to_owned(),
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: br#"{"id":"evt_1","type":"test"}"#.to_vec(),
        };
        let draft = match provider.name {
            "mandrill" | "twilio" | "plivo" => {
                Draft { headers: Vec::new(), body: b"A=1&B=x%20y".to_vec(), ..draft }
            }
            _ => draft,
        };
        let (secret, config) = (Secret::new(secret(provider.name)), config(provider.name));
        let signed = match sign(provider.name, &secret, &config, draft, NOW) {
            Ok(signed) => signed,
            Err(CannotSign::Certificate(name) | CannotSign::PrivateKey(name)) => {
                not_signed.push(name);
                continue;
            }
            Err(CannotSign::Verifier(error)) => {
                assert!(matches!(error, BadVerifier::Secret(_) | BadVerifier::MissingSetting(_)));
                not_signed.push(provider.name);
                continue;
            }
            Err(error) => panic!("{}: {error}", provider.name),
        };
        let public = private_key(provider.name, &secret).map(|(_, public)| Secret::new(public));
        let verifier = Verifier::new(provider.name, &[public.unwrap_or(secret)], &config).unwrap();
        let verdict = signed.look(|request| verifier.check(request, NOW, &NoCertificates));
        assert_eq!(verdict, Verdict::Valid, "{} {signed:?}", provider.name);
    }
    assert_eq!(
        not_signed,
        ["aws-sns", "circle", "ebay", "paypal", "plaid", "sendgrid", "wix"],
        "these have keys of their own"
    );
}

/// As the providers write their headers.
#[test]
fn a_sample_is_written_as_the_provider_writes_it() {
    let header = |provider: &str, name: &str| {
        let draft = Draft {
            method: "POST".to_owned(),
            url: String::new(),
            headers: Vec::new(),
            body: b"{}".to_vec(),
        };
        let signed = sign(provider, &Secret::new("s"), &Map::new(), draft, NOW).unwrap();
        signed.headers.into_iter().find(|(own, _)| own == name).unwrap().1
    };
    for (provider, name, start) in [
        ("livekit", "authorization", "ey"),
        ("monday", "authorization", "ey"),
        ("vonage", "authorization", "Bearer ey"),
        ("stripe", "stripe-signature", "t=1700000000,v1="),
        ("workos", "workos-signature", "t=1700000000123, v1="),
    ] {
        let value = header(provider, name);
        assert!(value.starts_with(start), "{provider}: {value}");
    }
}
