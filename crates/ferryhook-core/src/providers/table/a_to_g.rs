//! Providers from a to g.

use crate::providers::Batch::{At, Body, No};
use crate::providers::schemes::{
    ADYEN_BODY, ADYEN_ITEMS, AUTHORIZATION, BASIC, BASIC_OR_TOKEN, CONTENTFUL, DROPBOX_SIGN, FINCH,
    FUSIONAUTH, STANDARD, SVIX, asked, box_signature, cloudinary, hmac, hmac_base64, hmac_hex,
    hmac_lenient, named, only, stripe_like, token, token_in,
};
use crate::providers::{Provider, handshakes, row};
use crate::verify::scheme::Algorithm::{EcdsaP256, Ed25519};
use crate::verify::scheme::Digest::{Sha1, Sha256};
use crate::verify::scheme::Encoding::{Base64Lenient, HexAnyCase};
use crate::verify::scheme::TokenPlace::{Header, Query};
use crate::verify::scheme::Unit::Milliseconds;
use crate::verify::scheme::{Certified, KeyForm, Layout, Scheme, Signed, SignedField};

const ADYEN_ID: &str = "{body.NotificationRequestItem.pspReference}\
    :{body.NotificationRequestItem.eventCode}:{body.NotificationRequestItem.success}";

pub(super) static PROVIDERS: &[Provider] = &[
    row("adyen", ADYEN_ID, "body.NotificationRequestItem.eventCode", At("notificationItems"))
        .acknowledged(handshakes::ACCEPTED)
        .settled(&[named("standard", ADYEN_ITEMS), asked("platform", ADYEN_BODY)]),
    row("adyen-platform", "", "body.type", No).settled(&[only(ADYEN_BODY)]),
    row("airtable", "", "", No).experimental(&[hmac_hex(&["x-airtable-content-mac"])
        .keyed(KeyForm::Base64)
        .prefix("hmac-sha256=")
        .only()]),
    row("airwallex", "body.id", "body.name", No).experimental(&[hmac_hex(&["x-signature"])
        .over(&["{timestamp}{body}"])
        .at_ms("x-timestamp")
        .within(300)
        .only()]),
    row("alchemy", "body.id", "body.type", No)
        .experimental(&[hmac_hex(&["x-alchemy-signature"]).only()]),
    // The communication's id, as the ledger was first specified. One call may raise several
    // events about itself, so the name of the event, where it has one, tells them apart.
    row("aloware", "{body.body.id|body.id}[#{body.event}]", "body.event", No)
        .settled(&[only(BASIC_OR_TOKEN)]),
    row("anthropic", "headers.webhook-id", "body.data.type|body.type", No)
        .settled(&[STANDARD.only()]),
    row("asana", "", "{body.resource.resource_type}.{body.action}", At("events"))
        .asking(handshakes::ASANA)
        .experimental(&[hmac_hex(&["x-hook-signature"]).only()]),
    row("auth0", "body.log_id", "body.data.type", Body).experimental(&[only(AUTHORIZATION)]),
    row("aws-sns", "body.MessageId|headers.x-amz-sns-message-id", "body.Type", No)
        .asking(handshakes::AWS_SNS)
        .settled(&[only(Scheme::Certified(Certified::Sns))]),
    row("azure-event-grid", "body.id", "body.eventType|body.type", Body)
        .asking(handshakes::AZURE_EVENT_GRID)
        .settled(&[token(&[
            Header("aeg-sas-key"),
            Header("authorization"),
            Query("code"),
            Query("secret"),
        ])]),
    row("bigcommerce", "headers.webhook-id|body.hash", "body.scope", No)
        .experimental(&[STANDARD.keyed(KeyForm::TextOrWhsec).only()]),
    row("bitbucket", "headers.x-request-uuid", "headers.x-event-key", No)
        .experimental(&[hmac_hex(&["x-hub-signature"]).prefix("sha256=").only()]),
    row("box", "body.id|headers.box-delivery-id", "body.trigger", No)
        .settled(&[
            box_signature(&["box-signature-primary"]).named("primary"),
            box_signature(&["box-signature-secondary"]).named("secondary"),
        ])
        .any(),
    row("braintree", "", "", No).asking(handshakes::BRAINTREE).settled(&[only(
        Scheme::SignedField(SignedField { signatures: "bt_signature", content: "bt_payload" }),
    )]),
    row(
        "calcom",
        "{body.triggerEvent}:{body.payload.uid}:{body.createdAt}",
        "body.triggerEvent",
        No,
    )
    .settled(&[hmac(&["x-cal-signature-256"]).only()]),
    row("calendly", "", "body.event", No).experimental(&[stripe_like(
        &["calendly-webhook-signature"],
        &["v1"],
    )
    .written(HexAnyCase)
    .within(180)
    .only()]),
    row("cashfree", "", "body.type", No).settled(&[hmac_base64(&["x-webhook-signature"])
        .over(&["{timestamp}{body}"])
        .at_either("x-webhook-timestamp")
        .only()]),
    row("chargebee", "body.id", "body.event_type", No).settled(&[only(BASIC)]),
    row("circle", "body.notificationId", "body.notificationType", No)
        .asking(handshakes::PROBE)
        .experimental(&[Signed::public(EcdsaP256(Sha256), &["x-circle-signature"])
            .written(Base64Lenient)
            .only()]),
    row("clerk", "headers.svix-id", "body.type", No).settled(&[SVIX.only()]),
    row(
        "cloudevents",
        "{cloudevent.source|body.source}:{cloudevent.id|body.id}",
        "cloudevent.type|body.type",
        No,
    )
    .asking(handshakes::ORIGINS)
    .settled(&[token(&[Header("authorization"), Query("access_token")])]),
    row("cloudinary", "", "body.notification_type", No)
        .settled(&[cloudinary(Sha1).named("sha1"), cloudinary(Sha256).named("sha256")])
        .any(),
    row("coinbase-commerce", "body.event.id", "body.event.type", No)
        .settled(&[hmac(&["x-cc-webhook-signature"]).only()]),
    row("contentful", "headers.x-contentful-idempotency-key", "headers.x-contentful-topic", No)
        .settled(&[only(CONTENTFUL)]),
    row("courier", "", "body.type", No).experimental(&[stripe_like(
        &["courier-signature"],
        &["signature"],
    )
    .written(HexAnyCase)
    .unit(Milliseconds)
    .within(300)
    .only()]),
    row("custom", "", "", No)
        .settled(&[
            STANDARD.keyed(KeyForm::TextOrWhsec).named("standard"),
            stripe_like(&["x-ferryhook-signature"], &["v1"]).within(300).named("ferryhook"),
        ])
        .any(),
    row("customerio", "body.event_id", "{body.object_type}.{body.metric}", No).experimental(&[
        hmac_hex(&["x-cio-signature"])
            .over(&["v0:{timestamp}:{body}"])
            .at_either("x-cio-timestamp")
            .within(300)
            .only(),
    ]),
    row("discord", "body.id", "body.event.type|body.type", No).asking(handshakes::DISCORD).settled(
        &[Signed::public(Ed25519, &["x-signature-ed25519"])
            .over(&["{timestamp}{body}"])
            .at_either("x-signature-timestamp")
            .written(HexAnyCase)
            .only()],
    ),
    row(
        "docusign",
        "{body.data.envelopeId}:{body.event}:{body.generatedDateTime}[:{body.data.recipientId}]",
        "body.event",
        No,
    )
    .experimental(&[hmac_lenient(&["x-docusign-signature-*"]).only()]),
    row("dropbox", "", "", No)
        .asking(handshakes::CHALLENGE)
        .experimental(&[hmac_hex(&["x-dropbox-signature"]).only()]),
    row("dropbox-sign", "", "body.event.event_type", No)
        .acknowledged(handshakes::HELLO_API)
        .settled(&[only(DROPBOX_SIGN)]),
    row("ebay", "body.notification.notificationId", "body.metadata.topic", No)
        .asking(handshakes::EBAY)
        .experimental(&[Signed::public(EcdsaP256(Sha1), &["x-ebay-signature"])
            .form(Layout::Base64Json("signature"))
            .written(Base64Lenient)
            .only()]),
    row("elevenlabs", "{body.type}:{body.data.conversation_id}", "body.type", No)
        .settled(&[stripe_like(&["elevenlabs-signature"], &["v0"]).within(1800).only()]),
    row("finch", "headers.finch-event-id", "body.event_type", No).settled(&[FINCH.only()]),
    row("front", "body.payload.id", "body.type", No).asking(handshakes::FRONT).experimental(&[
        hmac_lenient(&["x-front-signature"])
            .over(&["{timestamp}:{body}"])
            .at_either("x-front-request-timestamp")
            .within(300)
            .only(),
    ]),
    row("fusionauth", "body.event.id", "body.event.type", No).experimental(&[only(FUSIONAUTH)]),
    row("github", "headers.x-github-delivery", "headers.x-github-event", No).settled(&[
        hmac(&["x-hub-signature-256"]).prefix("sha256=").only(),
        Signed::hmac(Sha1, &["x-hub-signature"]).prefix("sha1=").asked("sha1"),
    ]),
    row("gitlab", "headers.webhook-id|headers.idempotency-key", "headers.x-gitlab-event", No)
        .settled(&[
            STANDARD.keyed(KeyForm::TextOrWhsec).named("signature"),
            named("token", token_in(&[Header("x-gitlab-token")])),
        ])
        .any(),
    row(
        "gocardless",
        "body.meta.webhook_id|body.id",
        "{body.resource_type}.{body.action}",
        At("events"),
    )
    .settled(&[hmac_hex(&["webhook-signature"]).only()]),
];
