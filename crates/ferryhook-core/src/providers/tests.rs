use proptest::prelude::*;

use super::*;
use crate::Headers;

mod document;
mod keys;

#[test]
fn the_table_is_sorted_and_every_expression_in_it_is_understood() {
    assert!(all().is_sorted_by(|one, two| one.name < two.name));
    for provider in all() {
        for expression in [provider.id, provider.event_type] {
            let understood = expression.is_empty() || Rule::parse(expression).is_ok();
            assert!(understood, "{}: {expression}", provider.name);
        }
        if let Batch::At(path) = provider.batch {
            assert!(crate::dedup::body_path(path).is_ok(), "{}: {path}", provider.name);
        }
    }
}

#[test]
fn events_of_known_providers_have_a_key_and_a_type() {
    let classic = r#"{"eventId":9,"subscriptionId":1,"portalId":62,"occurredAt":1700,
        "subscriptionType":"contact.propertyChange","attemptNumber":0,"objectId":123,
        "propertyName":"email"}"#;
    let object = r#"{"objectTypeId":"0-1","objectId":123,"subscriptionType":"object.creation",
        "occurredAt":1700,"attemptNumber":3}"#;
    let adyen = r#"{"NotificationRequestItem":{"pspReference":"P1","eventCode":"AUTHORISATION",
        "success":"true"}}"#;
    for (provider, header, body, key, event_type) in [
        ("stripe", "", r#"{"id":"evt_1","type":"charge.succeeded"}"#, "evt_1", "charge.succeeded"),
        ("Stripe", "", r#"{"id":"evt_1","type":"charge.succeeded"}"#, "evt_1", "charge.succeeded"),
        ("github", "X-GitHub-Delivery: guid\nX-GitHub-Event: push", "{}", "guid", "push"),
        (
            "shopify",
            "X-Shopify-Webhook-Id: w\nX-Shopify-Topic: orders/create",
            "",
            "w",
            "orders/create",
        ),
        (
            "aloware",
            "",
            r#"{"event":"InboundSMS","body":{"id":719285063}}"#,
            "719285063#InboundSMS",
            "InboundSMS",
        ),
        ("aloware", "", r#"{"id":719285063}"#, "719285063", ""),
        ("hubspot", "", object, "0-1:123:object.creation:1700", "object.creation"),
        (
            "hubspot",
            "",
            classic,
            "123:contact.propertyChange:1700@62#email",
            "contact.propertyChange",
        ),
        (
            "slack",
            "",
            r#"{"type":"event_callback","event_id":"Ev1","event":{"type":"message"}}"#,
            "Ev1",
            "message",
        ),
        ("sendgrid", "", r#"{"sg_event_id":"s1","event":"open"}"#, "s1", "open"),
        ("clerk", "svix-id: msg_1", r#"{"type":"user.created"}"#, "msg_1", "user.created"),
        ("standard-webhooks", "webhook-id: msg_1", r#"{"type":"a.b"}"#, "msg_1", "a.b"),
        (
            "linear",
            "Linear-Delivery: l",
            r#"{"type":"Issue","action":"create"}"#,
            "l",
            "Issue.create",
        ),
        ("adyen", "", adyen, "P1:AUTHORISATION:true", "AUTHORISATION"),
        (
            "mollie",
            "",
            r#"{"id":"event_1","type":"payment-link.paid"}"#,
            "payment-link.paid:event_1",
            "payment-link.paid",
        ),
        ("mollie", "Content-Type: application/x-www-form-urlencoded", "id=tr_1", "", ""),
        (
            "twilio",
            "Content-Type: application/x-www-form-urlencoded",
            "MessageSid=SM1&MessageStatus=sent",
            "",
            "sent",
        ),
        (
            "cloudevents",
            "ce-id: 1\nce-source: /s\nce-specversion: 1.0\nce-type: a.b",
            r#"{"id":"other"}"#,
            "/s:1",
            "a.b",
        ),
        (
            "cloudevents",
            "ce-id: a%20%E2%82%AC\nce-source: /s\nce-specversion: 1.0\nce-type: a%2Eb",
            "",
            "/s:a €",
            "a.b",
        ),
        (
            "cloudevents",
            "Content-Type: application/cloudevents+json\nce-id: stray\nce-source: /stray\n\
             ce-specversion: 1.0\nce-type: stray",
            r#"{"id":"1","source":"/s","type":"a.b"}"#,
            "/s:1",
            "a.b",
        ),
        ("cloudevents", "", r#"{"id":"1","source":"/s","type":"a.b"}"#, "/s:1", "a.b"),
        (
            "pipedrive",
            "",
            r#"{"meta":{"id":5,"action":"updated","object":"deal"}}"#,
            "",
            "updated.deal",
        ),
        (
            "woocommerce",
            "X-WC-Webhook-Delivery-ID: x\nX-WC-Webhook-Topic: order.created",
            "{}",
            "",
            "order.created",
        ),
        // What is signed goes before what anybody may write.
        (
            "aws-sns",
            "x-amz-sns-message-id: other",
            r#"{"MessageId":"m1","Type":"Notification"}"#,
            "m1",
            "Notification",
        ),
        (
            "gitlab",
            "Idempotency-Key: other\nwebhook-id: w1\nX-Gitlab-Event: Push",
            "",
            "w1",
            "Push",
        ),
        ("gitlab", "Idempotency-Key: i1", "", "i1", ""),
        ("box", "box-delivery-id: other", r#"{"id":"b1","trigger":"T"}"#, "b1", "T"),
        ("telegram", "", r#"{"update_id":10,"message":{}}"#, "10", ""),
        ("custom", "", r#"{"id":"1","type":"x"}"#, "", ""),
        ("", "", "{}", "", ""),
    ] {
        let headers: Headers = header.lines().filter_map(|line| line.split_once(": ")).collect();
        let body = body.to_owned().into();
        let arriving = Arriving { headers: &headers, query: None, path: None, body: &body };
        let found = Rule::of_provider(provider).and_then(|rule| rule.key(&arriving));
        assert_eq!(found.unwrap_or_default(), key, "{provider} {header}");
        assert_eq!(
            event_type_of(provider, &arriving).unwrap_or_default(),
            event_type,
            "{provider}"
        );
    }
}

/// A retry of the same notification differs only in how often it was tried.
#[test]
fn a_retry_by_hubspot_is_the_same_event() {
    let key = |attempt: u8, property: &str| {
        let body = format!(
            r#"{{"objectId":1,"subscriptionType":"contact.propertyChange","occurredAt":5,
                "attemptNumber":{attempt},"propertyName":"{property}"}}"#
        );
        let (headers, body) = (Headers::default(), body.into());
        let arriving = Arriving { headers: &headers, query: None, path: None, body: &body };
        Rule::of_provider("hubspot").unwrap().key(&arriving)
    };
    assert_eq!(key(0, "email"), key(1, "email"));
    assert_ne!(key(0, "email"), key(0, "phone"));
}

proptest! {
    #[test]
    fn any_name_may_be_asked_for(name in ".{0,80}") {
        let _ = find(&name);
    }
}

#[test]
fn a_provider_is_found_under_the_names_that_people_know() {
    for (name, found) in [
        ("Stripe", "stripe"),
        (" github ", "github"),
        ("hubspot (v3)", "hubspot"),
        ("HubSpot_v1", "hubspot"),
        ("adyen (standard)", "adyen"),
        ("adyen (platform)", "adyen-platform"),
        ("meta (facebook, instagram, whatsapp)", "meta"),
        ("auth0 (log streams)", "auth0"),
        ("whatsapp", "meta"),
        ("standard_webhooks", "standard-webhooks"),
        ("aws sns", "aws-sns"),
    ] {
        assert_eq!(find(name).map(|provider| provider.name), Some(found), "{name}");
    }
    assert!(find("").is_none());
    assert!(find("nobody").is_none());
    for (alias, name, _) in ALIASES {
        assert!(find(name).is_some(), "{alias}");
    }
}
