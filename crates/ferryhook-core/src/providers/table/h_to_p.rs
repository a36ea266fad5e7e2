//! Providers from h to p.

use crate::providers::Batch::{At, Body, No};
use crate::providers::schemes::{
    AUTHORIZATION, BASIC, BASIC_OR_TOKEN, HUBSPOT_V1, HUBSPOT_V2, HUBSPOT_V3, LIVEKIT, MAILGUN,
    MANDRILL, MESSAGEBIRD, MONDAY, PLAID, PLIVO, STANDARD, UNSIGNED, asked, hmac, hmac_hex,
    hmac_lenient, only, stripe_like, token,
};
use crate::providers::{Provider, handshakes, row};
use crate::verify::scheme::Digest::{Sha1, Sha512};
use crate::verify::scheme::Encoding::{Base64Lenient, HexAnyCase};
use crate::verify::scheme::TokenPlace::Each;
use crate::verify::scheme::Unit::{Milliseconds, Rfc3339, Seconds};
use crate::verify::scheme::{Certified, KeyForm, Layout, Scheme, Signed, TimePlace};

/// The documented form is type, object, subscription and, where there is one, the time; without
/// a time the event's own number, which is better than to take every later change for a copy.
/// Classic subscriptions have no object type; associations and merges name their object
/// differently. What the form would take for one event is told apart behind a mark of its own:
/// the portal, since one address serves many, and what else may happen to the same object in the
/// same millisecond. How often it was tried is not part of it.
const HUBSPOT_ID: &str = "[{body.objectTypeId}:]\
    {body.objectId|body.fromObjectId|body.primaryObjectId}:{body.subscriptionType}\
    [:{body.occurredAt|body.eventId}][@{body.portalId}][#{body.propertyName}]\
    [>{body.toObjectId}][~{body.associationType}][!{body.associationRemoved}]\
    [+{body.mergedObjectIds[0]}][&{body.messageId}]";

pub(super) static PROVIDERS: &[Provider] = &[
    row("hubspot", HUBSPOT_ID, "body.subscriptionType", Body).settled(&[
        HUBSPOT_V3.named("v3"),
        HUBSPOT_V1.named("v1"),
        HUBSPOT_V2.named("v2"),
    ]),
    row("intercom", "body.id", "body.topic", No).experimental(&[Signed::hmac(
        Sha1,
        &["x-hub-signature"],
    )
    .prefix("sha1=")
    .written(HexAnyCase)
    .only()]),
    row("jira", "headers.x-atlassian-webhook-identifier", "body.webhookEvent", No)
        .experimental(&[hmac_hex(&["x-hub-signature"]).prefix("sha256=").only()]),
    row("klaviyo", "body.external_id", "body.topic", At("data")).experimental(&[hmac_hex(&[
        "klaviyo-signature",
    ])
    .over(&["{body}{timestamp}"])
    .at_either("klaviyo-timestamp")
    .only()]),
    row("knock", "body.id", "body.type", No).experimental(&[stripe_like(
        &["x-knock-signature"],
        &["s"],
    )
    .written(Base64Lenient)
    .unit(Milliseconds)
    .within(300)
    .only()]),
    row("lemonsqueezy", "", "headers.x-event-name|body.meta.event_name", No)
        .experimental(&[hmac_hex(&["x-signature"]).only()]),
    row("line", "body.webhookEventId", "body.type", At("events"))
        .settled(&[hmac_lenient(&["x-line-signature"]).only()]),
    row("linear", "headers.linear-delivery", "{body.type}[.{body.action}]", No).settled(&[hmac(
        &["linear-signature"],
    )
    .timed(TimePlace::Body("webhookTimestamp"), Milliseconds)
    .within(60)
    .only()]),
    row("linkedin", "body.notificationId", "body.type", No)
        .asking(handshakes::LINKEDIN)
        .experimental(&[hmac_hex(&["x-li-signature"]).over(&["hmacsha256={body}"]).only()]),
    row("lithic", "headers.webhook-id", "body.event_type", No).settled(&[STANDARD.only()]),
    row("livekit", "body.id", "body.event", No).settled(&[only(LIVEKIT)]),
    row("mailchimp", "", "body.type", No)
        .asking(handshakes::MAILCHIMP)
        .experimental(&[only(UNSIGNED)]),
    row("mailgun", "body.event-data.id", "body.event-data.event", No).settled(&[only(MAILGUN)]),
    row("mandrill", "", "", No).asking(handshakes::PROBE).experimental(&[only(MANDRILL)]),
    row("messagebird", "", "", No).settled(&[only(MESSAGEBIRD)]),
    row("meta", "", "body.object", At("entry")).asking(handshakes::META).settled(&[hmac(&[
        "x-hub-signature-256",
    ])
    .prefix("sha256=")
    .only()]),
    row("microsoft-graph", "body.id", "body.changeType", At("value"))
        .asking(handshakes::MICROSOFT_GRAPH)
        .experimental(&[token(&[Each("/value", "clientState")])]),
    row("modern-treasury", "headers.x-webhook-id", "{headers.x-topic}[.{body.event}]", No)
        .settled(&[hmac(&["x-signature"]).only()]),
    // The classic form sends a payment's id with each of its changes, and no type.
    row("mollie", "{body.type}:{body.id}", "body.type", No)
        .settled(&[
            hmac(&["x-mollie-signature"]).prefix("sha256=").only(),
            // Its library takes it without the prefix too.
            hmac(&["x-mollie-signature"]).only(),
            asked("classic", UNSIGNED),
        ])
        .any(),
    row("monday", "body.event.triggerUuid", "body.event.type", No)
        .asking(handshakes::MONDAY)
        .experimental(&[only(MONDAY)]),
    row("mux", "body.id", "body.type", No)
        .settled(&[stripe_like(&["mux-signature"], &["v1"]).within(300).only()]),
    row("notion", "body.id", "body.type", No).asking(handshakes::NOTION).experimental(&[hmac_hex(
        &["x-notion-signature"],
    )
    .prefix("sha256=")
    .only()]),
    row("nylas", "body.id", "body.type", No)
        .asking(handshakes::CHALLENGE)
        .settled(&[hmac(&["x-nylas-signature"]).only()]),
    row("okta", "body.uuid|body.eventId", "body.eventType", At("data.events"))
        .asking(handshakes::OKTA)
        .experimental(&[only(AUTHORIZATION)]),
    row("openai", "headers.webhook-id|body.id", "body.type", No)
        .settled(&[
            STANDARD.keyed(KeyForm::WhsecOrText).written(Base64Lenient).only(),
            STANDARD.keyed(KeyForm::WhsecOrText).written(Base64Lenient).versions("", &[' ']).only(),
        ])
        .any(),
    row("orb", "body.id", "body.type", No).settled(&[hmac(&["x-orb-signature"])
        .versions("v1=", &[' ', ','])
        .over(&["v1:{timestamp}:{body}"])
        .timed(TimePlace::Header("x-orb-timestamp"), Rfc3339)
        .within(300)
        .only()]),
    row("paddle", "body.event_id", "body.event_type", No).settled(&[hmac(&["paddle-signature"])
        .pairs(';', "ts", &["h1"])
        .over(&["{timestamp}:{body}"])
        .within(5)
        .only()]),
    row("pagerduty", "body.event.id", "body.event.event_type", No).settled(&[hmac(&[
        "x-pagerduty-signature",
    ])
    .versions("v1=", &[',', ' '])
    .only()]),
    row("paypal", "body.id", "body.event_type", No)
        .settled(&[only(Scheme::Certified(Certified::Paypal))]),
    row("paystack", "", "body.event", No).experimental(&[Signed::hmac(
        Sha512,
        &["x-paystack-signature"],
    )
    .written(HexAnyCase)
    .only()]),
    row("persona", "body.data.id", "body.data.attributes.name", No).experimental(&[hmac_hex(&[
        "persona-signature",
    ])
    .form(Layout::PairGroups { separator: ',', time: "t", names: &["v1"] })
    .timed(TimePlace::InSignature, Seconds)
    .over(&["{timestamp}.{body}"])
    .within(300)
    .only()]),
    // In the first version the id is that of the object; only the second has an entity id.
    row(
        "pipedrive",
        "{body.meta.entity_id}:{body.meta.id}",
        "{body.meta.action}.{body.meta.entity|body.meta.object}",
        No,
    )
    .experimental(&[only(BASIC)]),
    row("plaid", "", "{body.webhook_type}.{body.webhook_code}", No).settled(&[only(PLAID)]),
    row("plivo", "", "body.Event", No).settled(&[only(PLIVO)]),
    row("polar", "headers.webhook-id", "body.type", No)
        .settled(&[STANDARD.keyed(KeyForm::TextOrWhsec).only()]),
    row("postmark", "", "body.RecordType", No).experimental(&[only(BASIC_OR_TOKEN)]),
    row("pusher", "", "body.name", At("events"))
        .settled(&[hmac(&["x-pusher-signature"]).bound("x-pusher-key", "key").only()]),
];
