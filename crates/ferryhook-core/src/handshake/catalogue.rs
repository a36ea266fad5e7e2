//! Who asks what. A provider without a line here asks nothing, or is content with any 200: a test
//! event of GitHub or Intercom is taken in like every other.

use super::kind::Effect::{CallSns, Keep};
use super::kind::Keyed::{Braintree, Ebay, HmacSha256Base64, HmacSha256Hex};
use super::kind::Part::{Fixed, Given, Keyed, Number, Origin};
use super::kind::When::{Has, Is, Lacks};
use super::kind::{Acknowledgement, Handshake};
use crate::providers;

/// What a provider asks. By name or by any other name of it.
pub fn handshakes_of(provider: &str) -> &'static [Handshake] {
    let own = name_of(provider);
    HANDSHAKES.iter().find(|(name, _)| *name == own).map_or(&[], |(_, list)| list)
}

pub fn acknowledgement_of(provider: &str) -> Option<&'static Acknowledgement> {
    let own = name_of(provider);
    ACKNOWLEDGEMENTS.iter().find(|(name, _)| *name == own).map(|(_, answer)| answer)
}

fn name_of(provider: &str) -> &str {
    providers::find(provider).map_or(provider, |provider| provider.name)
}

/// The providers that have one, for whoever writes them down.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let acknowledged = ACKNOWLEDGEMENTS.iter().map(|(name, _)| *name);
    HANDSHAKES.iter().map(|(name, _)| *name).chain(acknowledged)
}

/// Abuse protection of CloudEvents over HTTP: may this origin send here, and how much?
const ORIGIN: Handshake = Handshake::on(&["OPTIONS"], &[Has("headers.webhook-request-origin")])
    .headers(&[
        ("Allow", Fixed("POST")),
        ("WebHook-Allowed-Origin", Origin("headers.webhook-request-origin")),
        ("WebHook-Allowed-Rate", Fixed("*")),
    ]);

const CHALLENGE: Handshake =
    Handshake::get(&[Has("query.challenge")]).text(Given("query.challenge"));

/// They look whether somebody is there.
const PROBE: Handshake = Handshake::on(&["HEAD"], &[]);

const HANDSHAKES: [(&str, &[Handshake]); 29] = [
    (
        "asana",
        &[Handshake::post(&[Has("headers.x-hook-secret")])
            .headers(&[("X-Hook-Secret", Given("headers.x-hook-secret"))])
            .effect(Keep("headers.x-hook-secret"))],
    ),
    (
        "aws-sns",
        &[Handshake::post(&[
            Is("headers.x-amz-sns-message-type", "SubscriptionConfirmation"),
            Is("body.Type", "SubscriptionConfirmation"),
        ])
        .effect(CallSns("body.SubscribeURL"))
        .verified()],
    ),
    (
        "azure-event-grid",
        &[
            Handshake::post(&[
                Is("headers.aeg-event-type", "SubscriptionValidation"),
                Has(EVENT_GRID_CODE),
            ])
            .json(&[("validationResponse", Given(EVENT_GRID_CODE))]),
            ORIGIN,
        ],
    ),
    (
        "braintree",
        &[Handshake::get(&[Has("query.bt_challenge")])
            .text(Keyed(Braintree, "query.bt_challenge"))],
    ),
    ("circle", &[PROBE]),
    ("cloudevents", &[ORIGIN]),
    (
        "discord",
        &[
            Handshake::post(&[Is("body.type", "1"), Lacks("body.data.id")])
                .json(&[("type", Number(1))])
                .verified(),
            Handshake::post(&[Is("body.type", "0"), Lacks("body.event.type")])
                .status(204)
                .verified(),
        ],
    ),
    ("dropbox", &[CHALLENGE]),
    (
        "ebay",
        &[Handshake::get(&[Has("query.challenge_code")])
            .json(&[("challengeResponse", Keyed(Ebay, "query.challenge_code"))])],
    ),
    (
        "front",
        &[Handshake::post(&[Has("headers.x-front-challenge")])
            .text(Given("headers.x-front-challenge"))],
    ),
    (
        "linkedin",
        &[Handshake::get(&[Has("query.challengeCode")]).json(&[
            ("challengeCode", Given("query.challengeCode")),
            ("challengeResponse", Keyed(HmacSha256Hex, "query.challengeCode")),
        ])],
    ),
    ("mailchimp", &[Handshake::on(&["GET", "HEAD"], &[])]),
    ("mandrill", &[PROBE]),
    (
        "meta",
        &[Handshake::get(&[Is("query.hub.mode", "subscribe"), Has("query.hub.challenge")])
            .token("query.hub.verify_token")
            .text(Given("query.hub.challenge"))],
    ),
    (
        "microsoft-graph",
        &[Handshake::post(&[Has("query.validationToken")]).text(Given("query.validationToken"))],
    ),
    (
        "monday",
        &[Handshake::post(&[Has("body.challenge"), Lacks("body.event.type")])
            .json(&[("challenge", Given("body.challenge"))])],
    ),
    (
        "notion",
        &[Handshake::post(&[Lacks("headers.x-notion-signature"), Has("body.verification_token")])
            .effect(Keep("body.verification_token"))],
    ),
    ("nylas", &[CHALLENGE]),
    (
        "okta",
        &[Handshake::get(&[Has("headers.x-okta-verification-challenge")])
            .json(&[("verification", Given("headers.x-okta-verification-challenge"))])],
    ),
    (
        "ringcentral",
        &[Handshake::post(&[Has("headers.validation-token")])
            .headers(&[("Validation-Token", Given("headers.validation-token"))])],
    ),
    (
        "slack",
        &[Handshake::post(&[Is("body.type", "url_verification"), Has("body.challenge")])
            .text(Given("body.challenge"))
            .verified()],
    ),
    (
        "smartcar",
        &[
            Handshake::post(&[Is("body.eventType", "VERIFY"), Has(SMARTCAR_CHALLENGE)])
                .json(&[("challenge", Keyed(HmacSha256Hex, SMARTCAR_CHALLENGE))]),
            Handshake::post(&[Is("body.eventName", "verify"), Has(SMARTCAR_CHALLENGE)])
                .json(&[("challenge", Keyed(HmacSha256Hex, SMARTCAR_CHALLENGE))]),
        ],
    ),
    (
        "strava",
        &[Handshake::get(&[Has("query.hub.challenge")])
            .token("query.hub.verify_token")
            .json(&[("hub.challenge", Given("query.hub.challenge"))])],
    ),
    ("trello", &[PROBE]),
    (
        "twitch",
        &[Handshake::post(&[
            Is("headers.twitch-eventsub-message-type", "webhook_callback_verification"),
            Has("body.challenge"),
        ])
        .text(Given("body.challenge"))
        .verified()],
    ),
    (
        "twitter",
        &[Handshake::get(&[Has("query.crc_token")])
            .json(&[("response_token", Keyed(HmacSha256Base64, "query.crc_token"))])],
    ),
    (
        // Log drains ask once; what they send is signed.
        "vercel",
        &[Handshake::on(
            &["GET", "POST"],
            &[Has("headers.x-vercel-verify"), Lacks("headers.x-vercel-signature")],
        )
        .headers(&[("x-vercel-verify", Given("headers.x-vercel-verify"))])],
    ),
    (
        // A form without a signature, when a webhook is saved.
        "woocommerce",
        &[Handshake::post(&[Lacks("headers.x-wc-webhook-signature"), Has("body.webhook_id")])],
    ),
    (
        "zoom",
        &[Handshake::post(&[
            Is("body.event", "endpoint.url_validation"),
            Has("body.payload.plainToken"),
        ])
        .json(&[
            ("plainToken", Given("body.payload.plainToken")),
            ("encryptedToken", Keyed(HmacSha256Hex, "body.payload.plainToken")),
        ])
        .verified()],
    ),
];

const EVENT_GRID_CODE: &str = "body[0].data.validationCode|body.data.validationCode";
const SMARTCAR_CHALLENGE: &str = "body.data.challenge|body.payload.challenge";

static ACKNOWLEDGEMENTS: [(&str, Acknowledgement); 2] = [
    ("adyen", Acknowledgement { status: 200, content_type: "text/plain", body: "[accepted]" }),
    (
        "dropbox-sign",
        Acknowledgement {
            status: 200,
            content_type: "text/plain",
            body: "Hello API Event Received",
        },
    ),
];
