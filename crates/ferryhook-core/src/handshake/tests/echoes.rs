//! What comes back as it was sent.

use serde_json::json;

use super::*;

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
