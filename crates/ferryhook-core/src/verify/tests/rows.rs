//! One signed request and more for each provider, made by `scripts/signature_rows.py` without our
//! code, and what must not be valid, made from those.

use std::collections::BTreeSet;

use serde_json::Value;

use super::*;
use crate::verify::line::Line;

pub(super) const LINES: &str = include_str!("rows.jsonl");

/// Here a body can be changed unnoticed: the secret comes along, or only fields are signed.
const BODY_FREE: [&str; 20] = [
    "adyen",
    "aloware",
    "auth0",
    "azure-event-grid",
    "chargebee",
    "cloudevents",
    "dropbox-sign",
    "gitlab",
    "mailchimp",
    "mailgun",
    "microsoft-graph",
    "mollie",
    "monday",
    "okta",
    "pipedrive",
    "postmark",
    "ringcentral",
    "strava",
    "telegram",
    "custom",
];

/// Here an old request is as good as a new one: neither documents nor libraries look at a time.
const TIMELESS: [&str; 70] = [
    "adyen",
    "adyen-platform",
    "airtable",
    "alchemy",
    "aloware",
    "asana",
    "auth0",
    "aws-sns",
    "azure-event-grid",
    "bitbucket",
    "braintree",
    "calcom",
    "cashfree",
    "chargebee",
    "circle",
    "cloudevents",
    "coinbase-commerce",
    "discord",
    "docusign",
    "dropbox",
    "dropbox-sign",
    "ebay",
    "fusionauth",
    "github",
    "gitlab",
    "gocardless",
    "hubspot",
    "intercom",
    "jira",
    "klaviyo",
    "lemonsqueezy",
    "line",
    "linkedin",
    "mailchimp",
    "mandrill",
    "meta",
    "microsoft-graph",
    "modern-treasury",
    "mollie",
    "notion",
    "nylas",
    "okta",
    "pagerduty",
    "paypal",
    "paystack",
    "pipedrive",
    "plivo",
    "postmark",
    "pusher",
    "quickbooks",
    "razorpay",
    "replicate",
    "ringcentral",
    "sanity",
    "sendbird",
    "sendgrid",
    "sentry",
    "shopify",
    "smartcar",
    "square",
    "strava",
    "stream",
    "tally",
    "telegram",
    "tiktok-shop",
    "trello",
    "twilio",
    "twitter",
    "typeform",
    "vercel",
];
const TIMELESS_MORE: [&str; 6] = ["vonage", "webflow", "woocommerce", "xero", "zendesk", "zoom"];

/// Headers that say nothing about whether a request is signed, or not by themselves.
const PLAIN_HEADERS: [&str; 6] = [
    "content-type",
    "x-circle-key-id",
    "x-hubspot-signature-version",
    "x-contentful-topic",
    "box-signature-primary",
    "paypal-cert-url",
];

fn lines() -> impl Iterator<Item = (Line, Value)> {
    LINES.lines().map(|text| (Line::parse(text).unwrap(), serde_json::from_str(text).unwrap()))
}

fn name(line: &Line) -> &'static str {
    crate::providers::find(&line.provider).unwrap().name
}

fn verdict(changed: &Value) -> Option<Verdict> {
    Line::parse(&changed.to_string()).unwrap().verdict(Timestamp::default()).ok()
}

fn refused(changed: &Value) -> bool {
    verdict(changed) != Some(Verdict::Valid)
}

#[test]
fn every_row_is_valid() {
    for (line, value) in lines() {
        let verdict = line.verdict(Timestamp::default()).unwrap();
        assert_eq!(verdict, Verdict::Valid, "{value}");
    }
}

#[test]
fn every_provider_has_a_row() {
    let tested: BTreeSet<_> = lines().map(|(line, _)| name(&line)).collect();
    let missing: Vec<_> = crate::providers::all()
        .map(|provider| provider.name)
        .filter(|name| !tested.contains(name))
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn another_secret_does_not_fit() {
    let other = |text: &str| -> String {
        let at = text.len() * 3 / 5;
        let changed = text.char_indices().map(|(own, character)| match character {
            _ if own != at => character,
            'a' | 'A' => 'b',
            _ => 'a',
        });
        changed.collect()
    };
    let mut tried = 0;
    for (_, mut value) in lines() {
        let secret = match value.get("secret") {
            Some(Value::String(secret)) if !secret.starts_with('{') => Value::from(other(secret)),
            Some(Value::Array(list)) => {
                list.iter().map(|one| other(one.as_str().unwrap())).collect()
            }
            _ => continue,
        };
        // A secret in the URL is changed there and not here.
        value["secret"] = secret;
        assert!(refused(&value), "{value}");
        tried += 1;
    }
    assert!(tried > 150);
}

#[test]
fn a_changed_body_is_noticed() {
    let mut tried = 0;
    for (line, mut value) in lines() {
        if BODY_FREE.contains(&name(&line))
            && !line.headers().unwrap().iter().any(|(name, _)| {
                ["hmacsignature", "webhook-signature", "x-sig", "x-mollie-signature"]
                    .contains(&name.to_ascii_lowercase().as_str())
            })
        {
            continue;
        }
        let mut body = line.body().unwrap();
        match body.iter().rposition(u8::is_ascii_alphanumeric) {
            Some(at) => body[at] = if body[at] == b'7' { b'8' } else { b'7' },
            None => body.push(b'1'),
        }
        let get = value["method"] == "GET";
        value["body"] = String::from_utf8_lossy(&body).into_owned().into();
        value.as_object_mut().unwrap().remove("bodyBase64");
        assert!(get || refused(&value), "{value}");
        tried += 1;
    }
    assert!(tried > 120);
}

#[test]
fn a_missing_header_is_noticed() {
    for (_, value) in lines() {
        let names: Vec<_> = value["headers"].as_object().unwrap().keys().cloned().collect();
        for name in names {
            if PLAIN_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
                continue;
            }
            let mut changed = value.clone();
            changed["headers"].as_object_mut().unwrap().remove(&name);
            assert!(refused(&changed), "without {name}: {value}");
        }
    }
}

#[test]
fn names_of_headers_may_be_written_in_any_case_and_values_with_spaces() {
    for (_, mut value) in lines() {
        let headers: Map = value["headers"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| {
                (name.to_uppercase(), format!("  {} ", value.as_str().unwrap()).into())
            })
            .collect();
        value["headers"] = headers.into();
        assert_eq!(verdict(&value), Some(Verdict::Valid), "{value}");
    }
}

/// Three hours are too many for everyone who looks at the time at all, either way.
#[test]
fn an_old_request_is_refused_where_the_provider_says_when_it_was_sent() {
    for (line, value) in lines() {
        let has_time = value["headers"].as_object().unwrap().keys().any(|name| {
            let name = name.to_ascii_lowercase();
            name == "webhook-timestamp" || name == "x-hubspot-signature-v3"
        });
        let is_timed = match name(&line) {
            "gitlab" | "hubspot" => has_time,
            // Those that are timed have it in their settings, or are one of our own.
            "custom" => {
                let config = value["config"].to_string();
                has_time
                    || config.contains("timestamp")
                    || config == "null"
                    || config.contains("jwt")
            }
            name => !TIMELESS.contains(&name) && !TIMELESS_MORE.contains(&name),
        };
        for away in [3 * 60 * 60, -3 * 60 * 60] {
            let mut changed = value.clone();
            changed["now"] = (value["now"].as_i64().unwrap() + away).into();
            assert_eq!(refused(&changed), is_timed, "{away}: {value}");
        }
    }
}

/// What the libraries that compare text refuse is refused: another way of writing the same bytes.
#[test]
fn a_signature_is_compared_as_its_library_does() {
    let (_, value) = lines().find(|(line, _)| line.provider == "stripe").unwrap();
    let mut upper = value.clone();
    let header = value["headers"]["Stripe-Signature"].as_str().unwrap();
    let (time, signature) = header.split_once(",v1=").unwrap();
    upper["headers"]["Stripe-Signature"] = format!("{time},v1={}", signature.to_uppercase()).into();
    assert!(refused(&upper));
    for (provider, header) in [("line", "X-Line-Signature"), ("shopify", "X-Shopify-Hmac-SHA256")] {
        let (_, mut value) = lines().find(|(line, _)| line.provider == provider).unwrap();
        let bare = value["headers"][header].as_str().unwrap().trim_end_matches('=').to_owned();
        value["headers"][header] = bare.into();
        assert_eq!(refused(&value), provider == "shopify", "{provider}");
    }
}
