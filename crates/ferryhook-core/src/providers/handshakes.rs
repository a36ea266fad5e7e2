//! What providers ask before they send, for the rows that ask it. A row without handshakes asks
//! nothing, or is content with any 200: a test event of GitHub is taken in like every other.

use crate::handshake::Effect::{CallSns, Keep};
use crate::handshake::Keyed::{Braintree, Ebay, HmacSha256Base64, HmacSha256Hex};
use crate::handshake::Part::{Fixed, Given, Keyed, Number, Origin};
use crate::handshake::When::{Has, Is, Lacks};
use crate::handshake::{Acknowledgement, Handshake};

/// Abuse protection of CloudEvents over HTTP: may this origin send here, and how much?
const ORIGIN: Handshake = Handshake::on(&["OPTIONS"], &[Has("headers.webhook-request-origin")])
    .headers(&[
        ("Allow", Fixed("POST")),
        ("WebHook-Allowed-Origin", Origin("headers.webhook-request-origin")),
        ("WebHook-Allowed-Rate", Fixed("*")),
    ]);

pub(super) const ORIGINS: &[Handshake] = &[ORIGIN];

pub(super) const CHALLENGE: &[Handshake] =
    &[Handshake::get(&[Has("query.challenge")]).text(Given("query.challenge"))];

/// They look whether somebody is there.
pub(super) const PROBE: &[Handshake] = &[Handshake::on(&["HEAD"], &[])];

pub(super) const ASANA: &[Handshake] = &[Handshake::post(&[Has("headers.x-hook-secret")])
    .headers(&[("X-Hook-Secret", Given("headers.x-hook-secret"))])
    .effect(Keep("headers.x-hook-secret"))];

pub(super) const AWS_SNS: &[Handshake] = &[Handshake::post(&[
    Is("headers.x-amz-sns-message-type", "SubscriptionConfirmation"),
    Is("body.Type", "SubscriptionConfirmation"),
])
.effect(CallSns("body.SubscribeURL"))
.verified()];

const EVENT_GRID_CODE: &str = "body[0].data.validationCode|body.data.validationCode";

pub(super) const AZURE_EVENT_GRID: &[Handshake] = &[
    Handshake::post(&[
        Is("headers.aeg-event-type", "SubscriptionValidation"),
        Has(EVENT_GRID_CODE),
    ])
    .json(&[("validationResponse", Given(EVENT_GRID_CODE))]),
    ORIGIN,
];

pub(super) const BRAINTREE: &[Handshake] =
    &[Handshake::get(&[Has("query.bt_challenge")]).text(Keyed(Braintree, "query.bt_challenge"))];

pub(super) const DISCORD: &[Handshake] = &[
    Handshake::post(&[Is("body.type", "1"), Lacks("body.data.id")])
        .json(&[("type", Number(1))])
        .verified(),
    Handshake::post(&[Is("body.type", "0"), Lacks("body.event.type")]).status(204).verified(),
];

pub(super) const EBAY: &[Handshake] = &[Handshake::get(&[Has("query.challenge_code")])
    .json(&[("challengeResponse", Keyed(Ebay, "query.challenge_code"))])];

pub(super) const FRONT: &[Handshake] =
    &[Handshake::post(&[Has("headers.x-front-challenge")])
        .text(Given("headers.x-front-challenge"))];

pub(super) const LINKEDIN: &[Handshake] = &[Handshake::get(&[Has("query.challengeCode")]).json(&[
    ("challengeCode", Given("query.challengeCode")),
    ("challengeResponse", Keyed(HmacSha256Hex, "query.challengeCode")),
])];

pub(super) const MAILCHIMP: &[Handshake] = &[Handshake::on(&["GET", "HEAD"], &[])];

pub(super) const META: &[Handshake] =
    &[Handshake::get(&[Is("query.hub.mode", "subscribe"), Has("query.hub.challenge")])
        .token("query.hub.verify_token")
        .text(Given("query.hub.challenge"))];

pub(super) const MICROSOFT_GRAPH: &[Handshake] =
    &[Handshake::post(&[Has("query.validationToken")]).text(Given("query.validationToken"))];

pub(super) const MONDAY: &[Handshake] =
    &[Handshake::post(&[Has("body.challenge"), Lacks("body.event.type")])
        .json(&[("challenge", Given("body.challenge"))])];

pub(super) const NOTION: &[Handshake] =
    &[Handshake::post(&[Lacks("headers.x-notion-signature"), Has("body.verification_token")])
        .effect(Keep("body.verification_token"))];

pub(super) const OKTA: &[Handshake] =
    &[Handshake::get(&[Has("headers.x-okta-verification-challenge")])
        .json(&[("verification", Given("headers.x-okta-verification-challenge"))])];

pub(super) const RINGCENTRAL: &[Handshake] = &[Handshake::post(&[Has("headers.validation-token")])
    .headers(&[("Validation-Token", Given("headers.validation-token"))])];

pub(super) const SLACK: &[Handshake] =
    &[Handshake::post(&[Is("body.type", "url_verification"), Has("body.challenge")])
        .text(Given("body.challenge"))
        .verified()];

const SMARTCAR_CHALLENGE: &str = "body.data.challenge|body.payload.challenge";

pub(super) const SMARTCAR: &[Handshake] = &[
    Handshake::post(&[Is("body.eventType", "VERIFY"), Has(SMARTCAR_CHALLENGE)])
        .json(&[("challenge", Keyed(HmacSha256Hex, SMARTCAR_CHALLENGE))]),
    Handshake::post(&[Is("body.eventName", "verify"), Has(SMARTCAR_CHALLENGE)])
        .json(&[("challenge", Keyed(HmacSha256Hex, SMARTCAR_CHALLENGE))]),
];

pub(super) const STRAVA: &[Handshake] = &[Handshake::get(&[Has("query.hub.challenge")])
    .token("query.hub.verify_token")
    .json(&[("hub.challenge", Given("query.hub.challenge"))])];

pub(super) const TWITCH: &[Handshake] = &[Handshake::post(&[
    Is("headers.twitch-eventsub-message-type", "webhook_callback_verification"),
    Has("body.challenge"),
])
.text(Given("body.challenge"))
.verified()];

pub(super) const TWITTER: &[Handshake] = &[Handshake::get(&[Has("query.crc_token")])
    .json(&[("response_token", Keyed(HmacSha256Base64, "query.crc_token"))])];

/// Log drains ask once; what they send is signed.
pub(super) const VERCEL: &[Handshake] = &[Handshake::on(
    &["GET", "POST"],
    &[Has("headers.x-vercel-verify"), Lacks("headers.x-vercel-signature")],
)
.headers(&[("x-vercel-verify", Given("headers.x-vercel-verify"))])];

/// A form without a signature, when a webhook is saved.
pub(super) const WOOCOMMERCE: &[Handshake] =
    &[Handshake::post(&[Lacks("headers.x-wc-webhook-signature"), Has("body.webhook_id")])];

pub(super) const ZOOM: &[Handshake] = &[Handshake::post(&[
    Is("body.event", "endpoint.url_validation"),
    Has("body.payload.plainToken"),
])
.json(&[
    ("plainToken", Given("body.payload.plainToken")),
    ("encryptedToken", Keyed(HmacSha256Hex, "body.payload.plainToken")),
])
.verified()];

pub(super) const ACCEPTED: &Acknowledgement =
    &Acknowledgement { status: 200, content_type: "text/plain", body: "[accepted]" };

pub(super) const HELLO_API: &Acknowledgement =
    &Acknowledgement { status: 200, content_type: "text/plain", body: "Hello API Event Received" };
