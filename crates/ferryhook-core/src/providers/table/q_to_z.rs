//! Providers from q to z.

use crate::providers::Batch::{At, Body, No};
use crate::providers::schemes::{
    QSTASH, SENDGRID, STANDARD, STANDARD_V1A, SVIX, TWILIO, UNSIGNED, VONAGE, WIX, hmac,
    hmac_base64, hmac_hex, hmac_lenient, only, stripe_like, token,
};
use crate::providers::{Provider, handshakes, row};
use crate::verify::scheme::Algorithm::Ed25519;
use crate::verify::scheme::Digest::Sha1;
use crate::verify::scheme::Encoding::{Base64, Base64Lenient, Base64Url, HexAnyCase};
use crate::verify::scheme::TokenPlace::Header;
use crate::verify::scheme::Unit::{Milliseconds, Rfc3339};
use crate::verify::scheme::{KeyForm, Layout, Signed, TimePlace};

pub(super) static PROVIDERS: &[Provider] = &[
    row("qstash", "headers.upstash-message-id", "", No).settled(&[only(QSTASH)]),
    row("quickbooks", "body.id", "body.type", Body)
        .experimental(&[hmac_lenient(&["intuit-signature"]).only()]),
    row("razorpay", "headers.x-razorpay-event-id", "body.event", No)
        .settled(&[hmac(&["x-razorpay-signature"]).only()]),
    row(
        "recurly",
        "{body.id}:{body.event_type}:{body.event_time}",
        "{body.object_type}.{body.event_type}",
        No,
    )
    .settled(&[hmac(&["recurly-signature"])
        .form(Layout::Positional)
        .timed(TimePlace::InSignature, Milliseconds)
        .over(&["{timestamp}.{body}"])
        .within(300)
        .only()]),
    row("replicate", "headers.webhook-id", "body.status", No).settled(&[STANDARD.untimed().only()]),
    row("resend", "headers.svix-id", "body.type", No).settled(&[SVIX.only()]),
    row("retell", "", "body.event", No).settled(&[hmac_hex(&["x-retell-signature"])
        .pairs(',', "v", &["d"])
        .unit(Milliseconds)
        .over(&["{body}{timestamp}"])
        .within(300)
        .only()]),
    row("revolut", "", "body.event", No).experimental(&[hmac_hex(&["revolut-signature"])
        .versions("v1=", &[',', ' '])
        .over(&["v1.{timestamp}.{body}"])
        .at_ms("revolut-request-timestamp")
        .within(300)
        .only()]),
    row("ringcentral", "body.uuid", "body.event", No)
        .asking(handshakes::RINGCENTRAL)
        .experimental(&[token(&[Header("verification-token")])]),
    row("sanity", "headers.idempotency-key", "", No).settled(&[stripe_like(
        &["sanity-webhook-signature"],
        &["v1"],
    )
    .written(Base64Url)
    .unit(Milliseconds)
    .only()]),
    row("sendbird", "", "body.category", No)
        .experimental(&[hmac_hex(&["x-sendbird-signature"]).only()]),
    row("sendgrid", "body.sg_event_id", "body.event", Body).settled(&[SENDGRID.only()]),
    row("sentry", "headers.request-id", "{headers.sentry-hook-resource}[.{body.action}]", No)
        .settled(&[hmac(&["sentry-hook-signature", "sentry-app-signature"]).only()]),
    // The event's id is shared by all subscriptions to a topic; this one is the delivery's.
    row(
        "shopify",
        "headers.x-shopify-webhook-id|headers.shopify-webhook-id",
        "headers.x-shopify-topic|headers.shopify-topic",
        No,
    )
    .settled(&[hmac_base64(&["x-shopify-hmac-sha256", "shopify-hmac-sha256"]).only()]),
    row("slack", "body.event_id", "body.event.type|body.type", No)
        .asking(handshakes::SLACK)
        .settled(&[hmac(&["x-slack-signature"])
            .prefix("v0=")
            .over(&["v0:{timestamp}:{body}"])
            .at("x-slack-request-timestamp")
            .within(300)
            .only()]),
    row("smartcar", "body.eventId", "body.eventType", No)
        .asking(handshakes::SMARTCAR)
        .settled(&[hmac(&["sc-signature"]).only()]),
    row("square", "body.event_id", "body.type", No).settled(&[hmac_base64(&[
        "x-square-hmacsha256-signature",
    ])
    .over(&["{url}{body}"])
    .only()]),
    row("standard-webhooks", "headers.webhook-id", "body.type", No)
        .settled(&[STANDARD.named("v1"), STANDARD_V1A.named("v1a")])
        .any(),
    row(
        "strava",
        "{body.object_type}:{body.object_id}:{body.aspect_type}:{body.event_time}",
        "{body.object_type}.{body.aspect_type}",
        No,
    )
    .asking(handshakes::STRAVA)
    .experimental(&[only(UNSIGNED)]),
    row("stream", "headers.x-webhook-id", "body.type", No)
        .settled(&[hmac(&["x-signature"]).only()]),
    row("stripe", "body.id", "body.type", No).settled(&[stripe_like(
        &["stripe-signature"],
        &["v1"],
    )
    .within(300)
    .only()]),
    row("svix", "headers.svix-id|headers.webhook-id", "body.type", No)
        // With an id of the other name beside it, the ledger would go by one that nobody signed.
        .settled(&[SVIX.only(), STANDARD.agreeing("svix-id", "").only()]),
    row("tally", "body.eventId", "body.eventType", No)
        .experimental(&[hmac_lenient(&["tally-signature"]).only()]),
    row("telegram", "body.update_id", "", No)
        .settled(&[token(&[Header("x-telegram-bot-api-secret-token")])]),
    row("telnyx", "body.data.id", "body.data.event_type", No).settled(&[Signed::public(
        Ed25519,
        &["telnyx-signature-ed25519"],
    )
    .over(&["{timestamp}|{body}"])
    .at("telnyx-timestamp")
    .within(300)
    .written(Base64)
    .only()]),
    row("tiktok-shop", "body.tts_notification_id", "body.type", No).experimental(&[hmac_hex(&[
        "authorization",
    ])
    .over(&["{config:appKey}{body}"])
    .only()]),
    row("trello", "body.action.id", "body.action.type", No).asking(handshakes::PROBE).experimental(
        &[Signed::hmac(Sha1, &["x-trello-webhook"])
            .written(Base64Lenient)
            .over(&["{body}{url}"])
            .only()],
    ),
    row(
        "twilio",
        "headers.i-twilio-idempotency-token",
        "body.MessageStatus|body.SmsStatus|body.CallStatus",
        No,
    )
    .settled(&[only(TWILIO)]),
    row("twitch", "headers.twitch-eventsub-message-id", "body.subscription.type", No)
        .asking(handshakes::TWITCH)
        .experimental(&[hmac_hex(&["twitch-eventsub-message-signature"])
            .prefix("sha256=")
            .over(&["{header:twitch-eventsub-message-id}{timestamp}{body}"])
            .timed(TimePlace::Header("twitch-eventsub-message-timestamp"), Rfc3339)
            .within(600)
            .only()]),
    row("twitter", "", "", No).asking(handshakes::TWITTER).experimental(&[hmac_lenient(&[
        "x-twitter-webhooks-signature",
    ])
    .prefix("sha256=")
    .only()]),
    row("typeform", "body.event_id", "body.event_type", No).experimental(&[hmac_lenient(&[
        "typeform-signature",
    ])
    .prefix("sha256=")
    .only()]),
    row("vercel", "body.id", "body.type", No)
        .asking(handshakes::VERCEL)
        .experimental(&[Signed::hmac(Sha1, &["x-vercel-signature"]).written(HexAnyCase).only()]),
    row("vonage", "", "", No).settled(&[only(VONAGE)]),
    row("webflow", "", "body.triggerType", No).settled(&[hmac(&["x-webflow-signature"])
        .over(&["{timestamp}:{body}"])
        .at_ms("x-webflow-timestamp")
        .only()]),
    row("wix", "", "", No).experimental(&[only(WIX)]),
    // Its delivery id is made of the current second, so two deliveries can share it.
    row("woocommerce", "", "headers.x-wc-webhook-topic", No)
        .asking(handshakes::WOOCOMMERCE)
        .settled(&[hmac_base64(&["x-wc-webhook-signature"]).keyed(KeyForm::HtmlText).only()]),
    row("workos", "body.id", "body.event", No).settled(&[stripe_like(
        &["workos-signature"],
        &["v1"],
    )
    .form(Layout::SpacedPairs { time: "t", names: &["v1"] })
    .unit(Milliseconds)
    .within(180)
    .only()]),
    row(
        "xero",
        "{body.resourceId}:{body.eventCategory}:{body.eventType}:{body.eventDateUtc}",
        "{body.eventCategory}.{body.eventType}",
        At("events"),
    )
    .experimental(&[hmac_lenient(&["x-xero-signature"]).only()]),
    row("zendesk", "body.id", "body.type", No).experimental(&[hmac_lenient(&[
        "x-zendesk-webhook-signature",
    ])
    .over(&["{timestamp}{body}"])
    .at_either("x-zendesk-webhook-signature-timestamp")
    .only()]),
    row("zoom", "", "body.event", No).asking(handshakes::ZOOM).settled(&[hmac(&[
        "x-zm-signature",
    ])
    .prefix("v0=")
    .over(&["v0:{timestamp}:{body}"])
    .at_either("x-zm-request-timestamp")
    .only()]),
];
