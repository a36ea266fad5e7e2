use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
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
fn a_challenge_in_the_query_comes_back() {
    let hub = "hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=meaty%20hamster";
    let token = json!({"verifyToken": "meaty hamster"});
    let other = json!({"verify_token": "other"});
    let cases = [
        (asked("meta", "GET", hub).config(&token), "200 text/plain 1158201444"),
        (asked("whatsapp", "GET", hub).config(&token), "200 text/plain 1158201444"),
        (asked("meta", "GET", hub), "200 text/plain 1158201444"),
        (
            asked("meta", "GET", hub).config(&other),
            "403 text/plain the verify token is not the one of this source",
        ),
        (
            asked("meta", "GET", "hub.mode=subscribe&hub.challenge=1").config(&token),
            "403 text/plain the verify token is not the one of this source",
        ),
        (asked("meta", "POST", hub).config(&token), "nothing"),
        (asked("meta", "GET", "hub.mode=unsubscribe&hub.challenge=1"), "nothing"),
        (asked("meta", "GET", ""), "nothing"),
        (
            asked("strava", "GET", "hub.verify_token=STRAVA&hub.challenge=15f7d1a91c1f40f8"),
            r#"200 application/json {"hub.challenge":"15f7d1a91c1f40f8"}"#,
        ),
        (asked("dropbox", "GET", "challenge=a%2Bb"), "200 text/plain a+b"),
        (asked("nylas", "GET", "challenge=bc609b38"), "200 text/plain bc609b38"),
        (
            asked("microsoft-graph", "POST", "validationToken=Validation%3A+Testing+client"),
            "200 text/plain Validation: Testing client",
        ),
        (asked("microsoft-graph", "POST", ""), "nothing"),
        (asked("github", "GET", "challenge=1"), "nothing"),
    ];
    for (asked, said) in cases {
        assert_eq!(asked.said(), said, "{} {}", asked.source.provider, asked.url);
    }
}

#[test]
fn a_challenge_in_the_body_comes_back() {
    let slack = r#"{"token":"t","challenge":"3eZbrw1aB","type":"url_verification"}"#;
    let grid = r#"[{"id":"1","eventType":"Microsoft.EventGrid.SubscriptionValidationEvent","data":{"validationCode":"512d38b6"}}]"#;
    let cases = [
        (asked("slack", "POST", "").body(slack), "200 text/plain 3eZbrw1aB verified"),
        (
            asked("slack", "POST", "").body(r#"{"type":"event_callback","challenge":"x"}"#),
            "nothing",
        ),
        // A body that only talks about it.
        (
            asked("slack", "POST", "")
                .body(r#"{"type":"event_callback","event":{"text":"url_verification challenge"}}"#),
            "nothing",
        ),
        (
            asked("twitch", "POST", "")
                .header("Twitch-Eventsub-Message-Type", "webhook_callback_verification")
                .body(r#"{"challenge":"pogchamp-kappa"}"#),
            "200 text/plain pogchamp-kappa verified",
        ),
        (
            asked("twitch", "POST", "")
                .header("Twitch-Eventsub-Message-Type", "notification")
                .body(r#"{"challenge":"pogchamp-kappa"}"#),
            "nothing",
        ),
        (
            asked("monday", "POST", "").body(r#"{"challenge":"3eZbrw1a\"B"}"#),
            r#"200 application/json {"challenge":"3eZbrw1a\"B"}"#,
        ),
        (
            asked("monday", "POST", "").body(r#"{"challenge":"x","event":{"type":"create"}}"#),
            "nothing",
        ),
        (
            asked("azure-event-grid", "POST", "")
                .header("aeg-event-type", "SubscriptionValidation")
                .body(grid),
            r#"200 application/json {"validationResponse":"512d38b6"}"#,
        ),
        (
            asked("azure-event-grid", "POST", "")
                .header("aeg-event-type", "Notification")
                .body(grid),
            "nothing",
        ),
        (
            asked("discord", "POST", "").body(r#"{"id":"1","type":1,"version":1}"#),
            r#"200 application/json {"type":1} verified"#,
        ),
        (asked("discord", "POST", "").body(r#"{"application_id":"1","type":0}"#), "204 - verified"),
        (
            asked("discord", "POST", "").body(r#"{"type":1,"event":{"type":"X"},"data":{"id":1}}"#),
            "nothing",
        ),
        (
            asked("woocommerce", "POST", "")
                .header("Content-Type", "application/x-www-form-urlencoded")
                .body("webhook_id=7"),
            "200 -",
        ),
        (
            asked("woocommerce", "POST", "")
                .header("X-WC-Webhook-Signature", "s")
                .body(r#"{"webhook_id":7}"#),
            "nothing",
        ),
    ];
    for (asked, said) in cases {
        assert_eq!(asked.said(), said, "{} {}", asked.source.provider, asked.body);
    }
}

#[test]
fn a_header_comes_back() {
    let cases = [
        (
            asked("ringcentral", "POST", "").header("Validation-Token", "abc"),
            "200 - Validation-Token=abc",
        ),
        (asked("front", "POST", "").header("X-Front-Challenge", "abc"), "200 text/plain abc"),
        (
            asked("okta", "GET", "").header("X-Okta-Verification-Challenge", "a\"b"),
            r#"200 application/json {"verification":"a\"b"}"#,
        ),
        (asked("okta", "POST", "").header("X-Okta-Verification-Challenge", "a"), "nothing"),
        (asked("vercel", "POST", "").header("x-vercel-verify", "v1"), "200 - x-vercel-verify=v1"),
        (
            asked("vercel", "POST", "")
                .header("x-vercel-verify", "v1")
                .header("x-vercel-signature", "s"),
            "nothing",
        ),
        (
            asked("ringcentral", "POST", "").header("Validation-Token", "gr\u{fc}n"),
            "400 text/plain the challenge cannot be sent back in a header",
        ),
    ];
    for (asked, said) in cases {
        assert_eq!(asked.said(), said, "{}", asked.source.provider);
    }
}

/// The first three were made by the providers' own libraries: npm braintree 3.40.0, smartcar
/// 10.4.0 and @zoom/rivet 0.4.0.
#[test]
fn a_challenge_is_signed() {
    let zoom = r#"{"event":"endpoint.url_validation","event_ts":1767225600000,"payload":{"plainToken":"qgg8vlvZRS6UYooatFL8Aw"}}"#;
    let smartcar =
        r#"{"eventType":"VERIFY","data":{"challenge":"9c9c9c9c-9c9c-9c9c-9c9c-9c9c9c9c9c9c"}}"#;
    let public = json!({"publicKey": "public_key_1"});
    let ebay = json!({
        "verificationToken": "71745723-d031-455c-bfa5-f90d11b4f20a",
        "publicUrl": "https://hooks.example.com/in/ebay",
    });
    let cases = [
        (
            asked("braintree", "GET", "bt_challenge=20f9f8ed05f77439fe955c977e4c8a53")
                .secret(Some("private_key_1"))
                .config(&public),
            "200 text/plain public_key_1|1738a807f1626940fc61b52f0aad8e83eae5a7a4",
        ),
        (
            asked("smartcar", "POST", "").secret(Some("amt-1")).body(smartcar),
            r#"200 application/json {"challenge":"7533399decd69e9b18f623db9d7ed9cb75997288c01b5387267745786248db91"}"#,
        ),
        (
            asked("zoom", "POST", "").secret(Some("zoom-secret-token-1")).body(zoom),
            r#"200 application/json {"plainToken":"qgg8vlvZRS6UYooatFL8Aw","encryptedToken":"0e5b0d12b8a75ee80179999fbb875d29b1469544a54e8863e0687da36bade919"} verified"#,
        ),
        (
            asked("twitter", "GET", "crc_token=challenge-1").secret(Some("consumer-secret")),
            r#"200 application/json {"response_token":"sha256=hbz/pRiNR70XBuZpAOCE6wJtpI25oS6CpybxrTZlcm8="}"#,
        ),
        (
            asked("linkedin", "GET", "challengeCode=890e4665-4dfe-4ab1-b689-ed553bceeed0")
                .secret(Some("client-secret")),
            r#"200 application/json {"challengeCode":"890e4665-4dfe-4ab1-b689-ed553bceeed0","challengeResponse":"8ab4bbad570533d66462deba280bde93c1cad8b543e7f526d3e962acaf6c391a"}"#,
        ),
        (
            asked("ebay", "GET", "challenge_code=a8628072-3d33-45ee-9004-bee86830a22d")
                .config(&ebay),
            r#"200 application/json {"challengeResponse":"f533b024a90b59e1fbe664cc4ab87f1bd6b4bbbf3e1d2fbc11f825e580e8d426"}"#,
        ),
        (
            asked("twitter", "GET", "crc_token=challenge-1").secret(None),
            "403 text/plain this source has no secret to answer with",
        ),
        (
            asked("twitter", "GET", "crc_token=challenge-1").secret(Some("")),
            "403 text/plain this source has no secret to answer with",
        ),
        (
            asked("braintree", "GET", "bt_challenge=20f9f8ed05f77439fe955c977e4c8a53"),
            "403 text/plain this source has no publicKey",
        ),
        (
            asked("braintree", "GET", "bt_challenge=notahexword").config(&public),
            "400 text/plain the challenge is not a plain word",
        ),
        (asked("ebay", "GET", "challenge_code=a"), "403 text/plain this source has no verifyToken"),
    ];
    for (asked, said) in cases {
        assert_eq!(asked.said(), said, "{}", asked.source.provider);
    }
}

/// Twitter signs a challenge just as it signs a body. Who could choose the challenge freely would
/// have the signature of any event.
#[test]
fn nobody_gets_a_body_signed() {
    let word = "400 text/plain the challenge is not a plain word";
    for challenge in ["%7B%22a%22%3A1%7D", "a+b", "%5B%5D", "a%22", "gr%C3%BCn", "%7B%7D"] {
        let asked = asked("twitter", "GET", &format!("crc_token={challenge}"));
        assert_eq!(asked.said(), word, "{challenge}");
    }
    let long = "a".repeat(SIGNED_CHALLENGE_BYTES_MAX);
    assert!(asked("twitter", "GET", &format!("crc_token={long}")).said().starts_with("200"));
    assert_eq!(asked("twitter", "GET", &format!("crc_token={long}a")).said(), word);
}

#[test]
fn a_secret_is_kept_only_where_there_is_none() {
    let asana = || asked("asana", "POST", "").header("X-Hook-Secret", "b537207f20cbfa02");
    let notion = || asked("notion", "POST", "").body(r#"{"verification_token":"secret_tMrl"}"#);
    let cases = [
        (asana().secret(None), "200 - X-Hook-Secret=b537207f20cbfa02 keep b537207f20cbfa02"),
        (asana(), "nothing"),
        (notion().secret(None), "200 - keep secret_tMrl"),
        (notion(), "nothing"),
        (notion().secret(None).header("X-Notion-Signature", "sha256=x"), "nothing"),
    ];
    for (asked, said) in cases {
        assert_eq!(asked.said(), said, "{}", asked.source.provider);
    }
}

#[test]
fn only_amazon_is_called_back() {
    let confirm = |url: &str| {
        let body =
            json!({"Type": "SubscriptionConfirmation", "SubscribeURL": url, "TopicArn": "arn:1"});
        asked("aws-sns", "POST", "")
            .header("x-amz-sns-message-type", "SubscriptionConfirmation")
            .body(&body.to_string())
    };
    for good in [
        "https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription&Token=1",
        "https://sns.cn-north-1.amazonaws.com.cn/?Token=1",
    ] {
        assert_eq!(confirm(good).said(), format!("200 - call {good} verified"));
    }
    for bad in [
        "http://sns.us-west-2.amazonaws.com/",
        "https://sns.us-west-2.amazonaws.com.example.com/",
        "https://sns.us-west-2.amazonaws.com@example.com/",
        "https://sns.us-west-2.amazonaws.com:8443/",
        "https://example.com/?sns.us-west-2.amazonaws.com",
        "https://example.com#sns.us-west-2.amazonaws.com",
        "https://example.com\\.sns.us-west-2.amazonaws.com/",
        "https://s3.us-west-2.amazonaws.com/",
        "https://sns.a.b.amazonaws.com/",
        "https://sns..amazonaws.com/",
        "https://user:pass@sns.us-west-2.amazonaws.com/",
        "https://sns.us-west-2.amazonaws.com/ x",
    ] {
        assert_eq!(confirm(bad).said(), "400 text/plain the URL is not one of Amazon SNS", "{bad}");
    }
    let own = confirm("https://sns.us-west-2.amazonaws.com/").config(&json!({"topicArn": "arn:2"}));
    assert_eq!(own.said(), "403 text/plain this source is for another topic");
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
fn what_is_echoed_is_short_and_never_a_page() {
    let page = asked("dropbox", "GET", "challenge=%3Cscript%3Ealert(1)%3C/script%3E");
    let reply = page.reply().unwrap();
    assert_eq!(reply.content_type, Some("text/plain; charset=utf-8"));
    let nosniff = ("X-Content-Type-Options".to_owned(), "nosniff".to_owned());
    assert_eq!(reply.headers, [nosniff]);
    let long = "a".repeat(CHALLENGE_BYTES_MAX);
    assert_eq!(asked("dropbox", "GET", &format!("challenge={long}")).reply().unwrap().body, long);
    let longer = asked("dropbox", "GET", &format!("challenge={long}a"));
    assert_eq!(longer.said(), "400 text/plain the challenge is too long");
    let injected = asked("ringcentral", "POST", "").header("Validation-Token", "a\r\nX: y");
    assert_eq!(injected.said(), "400 text/plain the challenge cannot be sent back in a header");
}

#[test]
fn a_large_body_is_no_handshake() {
    let padding = "x".repeat(HANDSHAKE_BODY_BYTES_MAX);
    let body = format!(r#"{{"type":"url_verification","challenge":"a","p":"{padding}"}}"#);
    assert_eq!(asked("slack", "POST", "").body(&body).said(), "nothing");
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
        handshakes.acknowledgement().map(|answer| answer.body)
    };
    assert_eq!(said("adyen"), Some("[accepted]"));
    assert_eq!(said("dropbox-sign"), Some("Hello API Event Received"));
    assert_eq!(said("stripe"), None);
}

#[test]
fn every_line_of_the_catalogue_is_understood() {
    for name in catalogue::names() {
        let provider = crate::providers::find(name);
        assert!(provider.is_some_and(|own| own.name == name), "{name} is not in the table");
        for handshake in handshakes_of(name) {
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
        let name = catalogue::names().nth(which).unwrap();
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
