mod echoes;
mod effects;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::providers::Provider;
use crate::{Map, samples};

fn source(provider: &str, secret: Option<&str>, config: &Value) -> Source {
    Source {
        provider: provider.to_owned(),
        signing_secret: secret.map(Secret::new),
        previous_secrets: Vec::new(),
        config: config.as_object().cloned().unwrap_or_else(Map::new),
        ..samples::source()
    }
}

struct Asked {
    source: Source,
    method: &'static str,
    url: String,
    headers: Headers,
    body: String,
}

fn asked(provider: &str, method: &'static str, query: &str) -> Asked {
    let url = match query {
        "" => "https://hooks.example.com/in/src".to_owned(),
        query => format!("https://hooks.example.com/in/src?{query}"),
    };
    let source = source(provider, Some("secret-1"), &json!({}));
    Asked { source, method, url, headers: Headers::default(), body: String::new() }
}

impl Asked {
    fn header(mut self, name: &str, value: &str) -> Self {
        let all: Vec<_> = self.headers.iter().map(|(n, v)| (n.to_owned(), v.to_owned())).collect();
        self.headers =
            all.into_iter().chain([(name.to_owned(), value.to_owned())]).collect::<Headers>();
        self
    }

    fn body(mut self, body: &str) -> Self {
        body.clone_into(&mut self.body);
        self
    }

    fn secret(mut self, secret: Option<&str>) -> Self {
        self.source.signing_secret = secret.map(Secret::new);
        self
    }

    fn config(mut self, config: &Value) -> Self {
        self.source.config = config.as_object().unwrap().clone();
        self
    }

    fn reply(&self) -> Option<Reply> {
        let handshakes = Handshakes::of(&self.source).unwrap();
        let Self { method, url, headers, body, .. } = self;
        let request = Request { method, url, headers, body: body.as_bytes() };
        handshakes.answer(&request)
    }

    /// Status, content type, own headers and body on one line; what else is to be done behind it.
    fn said(&self) -> String {
        let Some(reply) = self.reply() else { return "nothing".to_owned() };
        let headers = reply.headers.iter().filter(|(name, _)| name != "X-Content-Type-Options");
        let headers: String = headers.map(|(name, value)| format!(" {name}={value}")).collect();
        let kind = reply.content_type.map_or("-", |kind| kind.split(';').next().unwrap());
        let then = match &reply.then {
            Then::Nothing => String::new(),
            Then::Keep(secret) => format!(" keep {}", secret.expose()),
            Then::Call(url) => format!(" call {url}"),
        };
        let first = if reply.verified_first { " verified" } else { "" };
        let body = if reply.body.is_empty() { String::new() } else { format!(" {}", reply.body) };
        format!("{} {kind}{headers}{body}{then}{first}", reply.status)
    }
}

#[test]
fn an_origin_may_ask_to_send() {
    let ask = |provider: &str| {
        asked(provider, "OPTIONS", "").header("WebHook-Request-Origin", "eventgrid.azure.net")
    };
    let allowed =
        "200 - Allow=POST WebHook-Allowed-Origin=eventgrid.azure.net WebHook-Allowed-Rate=*";
    for provider in ["cloudevents", "azure-event-grid"] {
        assert_eq!(ask(provider).said(), allowed);
    }
    let listed = json!({"allowedOrigins": ["a.example", "EventGrid.azure.net"]});
    assert_eq!(ask("cloudevents").config(&listed).said(), allowed);
    let others = json!({"allowedOrigins": ["a.example"]});
    let refused = "403 text/plain this origin may not send here";
    assert_eq!(ask("cloudevents").config(&others).said(), refused);
    assert_eq!(asked("cloudevents", "OPTIONS", "").said(), "nothing");
}

/// A setting that is there and not understood must not count as one that is not there.
#[test]
fn a_setting_that_is_not_understood_is_refused() {
    let hub = "hub.mode=subscribe&hub.challenge=7&hub.verify_token=";
    let number = json!({"verifyToken": 12345});
    let right = asked("meta", "GET", &format!("{hub}12345")).config(&number);
    assert_eq!(right.said(), "200 text/plain 7");
    let wrong = asked("meta", "GET", &format!("{hub}1")).config(&number);
    assert_eq!(wrong.said(), "403 text/plain the verify token is not the one of this source");
    let ask = |origin: &str| {
        let one = json!({"allowedOrigins": "A.example"});
        asked("cloudevents", "OPTIONS", "").header("WebHook-Request-Origin", origin).config(&one)
    };
    assert_eq!(ask("b.example").said(), "403 text/plain this origin may not send here");
    assert!(ask("a.example").said().starts_with("200"));
    for (config, fits) in [
        (json!({"verifyToken": null, "allowed_origins": null}), true),
        (json!({"verifyToken": null, "verify_token": "t"}), true),
        (json!({"allowedOrigins": []}), true),
        (json!({"publicKey": {"kty": "EC"}}), true),
        (json!({"verifyToken": ""}), false),
        (json!({"verifyToken": true}), false),
        (json!({"verification_token": ["t"]}), false),
        (json!({"allowedOrigins": {"a.example": true}}), false),
        (json!({"allowedOrigins": ["a.example", 7]}), false),
        (json!({"allowedOrigins": false}), false),
    ] {
        assert_eq!(Handshakes::of(&source("meta", None, &config)).is_ok(), fits, "{config}");
    }
}

#[test]
fn who_only_looks_is_told_that_somebody_is_there() {
    for (provider, method, said) in [
        ("trello", "HEAD", "200 -"),
        ("circle", "HEAD", "200 -"),
        ("mandrill", "HEAD", "200 -"),
        ("mailchimp", "GET", "200 -"),
        ("mailchimp", "HEAD", "200 -"),
        ("trello", "GET", "nothing"),
        ("mailchimp", "POST", "nothing"),
        ("stripe", "HEAD", "nothing"),
    ] {
        assert_eq!(asked(provider, method, "").said(), said, "{provider} {method}");
    }
}

#[test]
fn a_source_may_answer_as_another_provider_or_not_at_all() {
    let meta = "hub.mode=subscribe&hub.challenge=7";
    let borrowed = asked("custom", "GET", meta).config(&json!({"handshake": "facebook"}));
    assert_eq!(borrowed.said(), "200 text/plain 7");
    assert_eq!(asked("custom", "GET", meta).said(), "nothing");
    let never = asked("meta", "GET", meta).config(&json!({"handshake": false}));
    assert_eq!(never.said(), "nothing");
    let unknown = Handshakes::of(&source("custom", None, &json!({"handshake": "stripe"})));
    assert_eq!(unknown.unwrap_err(), BadHandshake::Unknown("stripe".to_owned()));
    // His secret signs events in one way; what another provider signs may be just that.
    for (provider, config) in [
        ("custom", json!({"type": "jwt", "handshake": "twitter"})),
        ("stripe", json!({"handshake": "x"})),
        ("twitter", json!({"handshake": "zoom"})),
        ("nobody", json!({"handshake": "smartcar"})),
    ] {
        assert!(Handshakes::of(&source(provider, None, &config)).is_err(), "{provider} {config}");
    }
    assert!(Handshakes::of(&source("twitter", None, &json!({"handshake": "X"}))).is_ok());
    let shape = Handshakes::of(&source("custom", None, &json!({"handshake": 1})));
    assert_eq!(shape.unwrap_err(), BadHandshake::Shape);
}

#[test]
fn the_head_turns_most_requests_away() {
    let handshakes = |provider| Handshakes::of(&source(provider, None, &json!({}))).unwrap();
    let none = Headers::default();
    assert!(!handshakes("stripe").may_answer("POST", None, &none));
    assert!(!handshakes("meta").may_answer("POST", None, &none));
    assert!(!handshakes("meta").may_answer("GET", Some("x=1"), &none));
    assert!(!handshakes("twitch").may_answer("POST", None, &none));
    assert!(!handshakes("asana").may_answer("POST", None, &none));
    assert!(handshakes("slack").may_answer("POST", None, &none));
}

#[test]
fn some_want_to_hear_a_certain_answer() {
    let said = |provider| {
        let handshakes = Handshakes::of(&source(provider, None, &json!({}))).unwrap();
        handshakes.acknowledgement().map(|answer| answer.body.clone())
    };
    assert_eq!(said("adyen").as_deref(), Some("[accepted]"));
    assert_eq!(said("dropbox-sign").as_deref(), Some("Hello API Event Received"));
    assert_eq!(said("stripe"), None);
}

#[test]
fn every_line_of_the_catalogue_is_understood() {
    let asking: Vec<_> = providers::all().filter(|own| !own.handshakes.is_empty()).collect();
    assert_eq!(asking.len(), 29);
    for Provider { name, handshakes, .. } in asking {
        for handshake in *handshakes {
            assert!(Compiled::of(handshake).is_some(), "{name}: {handshake:?}");
            let parts = match handshake.content {
                Content::Empty => Vec::new(),
                Content::Text(part) => vec![part],
                Content::Json(fields) => fields.iter().map(|(_, part)| *part).collect(),
            };
            let all = parts.into_iter().chain(handshake.headers.iter().map(|(_, part)| *part));
            for part in all {
                if let Part::Given(place) | Part::Keyed(_, place) | Part::Origin(place) = part {
                    assert!(rule(place).is_some(), "{name}: {place}");
                }
            }
        }
    }
}

proptest! {
    /// Whatever a stranger sends, there is no panic, and what comes back is bounded and typed.
    #[test]
    fn strangers_get_short_answers(
        which in 0..29usize,
        method in prop_oneof!["GET", "POST", "HEAD", "OPTIONS"],
        query in "[ -~]{0,300}",
        header in prop_oneof!["x-hook-secret", "validation-token", "webhook-request-origin"],
        value in "\\PC{0,200}",
        body in "\\PC{0,400}",
    ) {
        let mut asking = providers::all().filter(|own| !own.handshakes.is_empty());
        let name = asking.nth(which).unwrap().name;
        let handshakes = Handshakes::of(&source(name, Some("s"), &json!({}))).unwrap();
        let headers = Headers::from_iter([(header, value)]);
        let url = format!("https://hooks.example.com/in/src?{query}");
        let request = Request { method: &method, url: &url, headers: &headers, body: body.as_bytes() };
        if let Some(reply) = handshakes.answer(&request) {
            prop_assert!(reply.body.len() <= 8 * CHALLENGE_BYTES_MAX);
            prop_assert_eq!(reply.body.is_empty(), reply.content_type.is_none());
        }
    }
}
