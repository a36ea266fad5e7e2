//! Schemes that rows share or that are too long for one, and the words that rows are written in.

use super::Variant;
use crate::verify::TOLERANCE_SECONDS;
use crate::verify::scheme::Algorithm::{EcdsaP256, Ed25519};
use crate::verify::scheme::Digest::{Sha1, Sha256};
use crate::verify::scheme::Encoding::{Base64, Base64Lenient, Hex, HexAnyCase};
use crate::verify::scheme::TokenPlace::{Header, Query};
use crate::verify::scheme::Unit::{Either, Milliseconds, Rfc3339, Seconds};
use crate::verify::scheme::{
    BodyHash, Canonical, Digest, Fields, Form, Issuer, Jwt, JwtKeys, KeyForm, Scheme, Signed,
    TimePlace, Token, TokenPlace, UrlClaim,
};

/// The only way.
pub(super) const fn only(scheme: Scheme<'static>) -> Variant {
    named("", scheme)
}

pub(super) const fn named(name: &'static str, scheme: Scheme<'static>) -> Variant {
    Variant { name, scheme, only_asked: false }
}

/// Not unless a source asks for it.
pub(super) const fn asked(name: &'static str, scheme: Scheme<'static>) -> Variant {
    Variant { name, scheme, only_asked: true }
}

impl Signed<'static> {
    pub(super) const fn only(self) -> Variant {
        only(Scheme::Signed(self))
    }

    pub(super) const fn named(self, name: &'static str) -> Variant {
        named(name, Scheme::Signed(self))
    }

    pub(super) const fn asked(self, name: &'static str) -> Variant {
        asked(name, Scheme::Signed(self))
    }

    /// The time is in this header, in seconds.
    pub(super) const fn at(self, header: &'static str) -> Self {
        self.timed(TimePlace::Header(header), Seconds)
    }

    pub(super) const fn at_ms(self, header: &'static str) -> Self {
        self.timed(TimePlace::Header(header), Milliseconds)
    }

    pub(super) const fn at_either(self, header: &'static str) -> Self {
        self.timed(TimePlace::Header(header), Either)
    }
}

/// HMAC-SHA256 of the body, in hex.
pub(super) const fn hmac(headers: &'static [&'static str]) -> Signed<'static> {
    Signed::hmac(Sha256, headers)
}

/// The same where no library says how strictly the text is compared.
pub(super) const fn hmac_hex(headers: &'static [&'static str]) -> Signed<'static> {
    hmac(headers).written(HexAnyCase)
}

pub(super) const fn hmac_base64(headers: &'static [&'static str]) -> Signed<'static> {
    hmac(headers).written(Base64)
}

/// The same where the library decodes before it compares, or where there is none.
pub(super) const fn hmac_lenient(headers: &'static [&'static str]) -> Signed<'static> {
    hmac(headers).written(Base64Lenient)
}

/// `t=…,v1=…` over `{timestamp}.{body}`.
pub(super) const fn stripe_like(
    headers: &'static [&'static str],
    names: &'static [&'static str],
) -> Signed<'static> {
    hmac(headers).pairs(',', "t", names).over(&["{timestamp}.{body}"])
}

/// Standard Webhooks with these headers.
const fn standard(
    headers: &'static [&'static str],
    time: &'static str,
    content: &'static [&'static str],
) -> Signed<'static> {
    hmac_base64(headers)
        .keyed(KeyForm::Whsec)
        .versions("v1,", &[' '])
        .at(time)
        .over(content)
        .within(TOLERANCE_SECONDS)
}

const STANDARD_CONTENT: &[&str] = &["{header:webhook-id}.{timestamp}.{body}"];

pub(super) const STANDARD: Signed<'static> =
    standard(&["webhook-signature"], "webhook-timestamp", STANDARD_CONTENT);

/// With a public key, `whpk_…`.
pub(super) const STANDARD_V1A: Signed<'static> = Signed::public(Ed25519, &["webhook-signature"])
    .keyed(KeyForm::Whpk)
    .versions("v1a,", &[' '])
    .at("webhook-timestamp")
    .over(STANDARD_CONTENT)
    .written(Base64)
    .within(TOLERANCE_SECONDS);

pub(super) const SVIX: Signed<'static> =
    standard(&["svix-signature"], "svix-timestamp", &["{header:svix-id}.{timestamp}.{body}"]);

pub(super) const FINCH: Signed<'static> = standard(
    &["finch-signature"],
    "finch-timestamp",
    &["{header:finch-event-id}.{timestamp}.{body}"],
);

pub(super) const HUBSPOT_V3: Signed<'static> = hmac_base64(&["x-hubspot-signature-v3"])
    .over(&["{method}{url}{body}{timestamp}", "{method}{url-decoded}{body}{timestamp}"])
    .at_ms("x-hubspot-request-timestamp")
    .within(300);

pub(super) const HUBSPOT_V2: Signed<'static> = Signed::hash(Sha256, &["x-hubspot-signature"])
    .over(&["{secret}{method}{url}{body}", "{secret}{method}{url-decoded}{body}"])
    .agreeing("x-hubspot-signature-version", "v2");

pub(super) const HUBSPOT_V1: Signed<'static> = Signed::hash(Sha256, &["x-hubspot-signature"])
    .over(&["{secret}{body}"])
    .agreeing("x-hubspot-signature-version", "v1");

pub(super) const SENDGRID: Signed<'static> =
    Signed::public(EcdsaP256(Sha256), &["x-twilio-email-event-webhook-signature"])
        .over(&["{timestamp}{body}"])
        .at_either("x-twilio-email-event-webhook-timestamp")
        .written(Base64Lenient);

pub(super) const fn box_signature(headers: &'static [&'static str]) -> Signed<'static> {
    hmac_lenient(headers)
        .over(&["{body}{timestamp}"])
        .timed(TimePlace::Header("box-delivery-timestamp"), Rfc3339)
        .within(600)
        .requiring(&[("box-signature-version", "1"), ("box-signature-algorithm", "HmacSHA256")])
}

pub(super) const fn cloudinary(digest: Digest) -> Signed<'static> {
    Signed::hash(digest, &["x-cld-signature"])
        .over(&["{body}{timestamp}{secret}"])
        .at("x-cld-timestamp")
        .within(7200)
}

pub(super) const ADYEN_BODY: Scheme<'static> =
    Scheme::Signed(hmac_lenient(&["hmacsignature"]).keyed(KeyForm::Hex));

pub(super) const ADYEN_ITEMS: Scheme<'static> = Scheme::Fields(Fields {
    key: KeyForm::Hex,
    each: Some(("/notificationItems", "/NotificationRequestItem")),
    bases: &[""],
    signed: &[
        "/pspReference",
        "/originalReference",
        "/merchantAccountCode",
        "/merchantReference",
        "/amount/value",
        "/amount/currency",
        "/eventCode",
        "/success",
    ],
    separator: ":",
    missing_is_empty: true,
    signature: "/additionalData/hmacSignature",
    encoding: Base64Lenient,
    time: None,
});

/// The rest of the body is not signed: who holds one message can change it.
pub(super) const MAILGUN: Scheme<'static> = Scheme::Fields(Fields {
    key: KeyForm::Text,
    each: None,
    bases: &["/signature", "/parent-signature", ""],
    signed: &["/timestamp", "/token"],
    separator: "",
    missing_is_empty: false,
    signature: "/signature",
    encoding: Hex,
    time: Some(("/timestamp", 900)),
});

/// The rest of the body is not signed here either.
pub(super) const DROPBOX_SIGN: Scheme<'static> = Scheme::Fields(Fields {
    key: KeyForm::Text,
    each: None,
    bases: &["/event"],
    signed: &["/event_time", "/event_type"],
    separator: "",
    missing_is_empty: false,
    signature: "/event_hash",
    encoding: Hex,
    time: None,
});

pub(super) const TWILIO: Scheme<'static> = Scheme::Form(Form {
    header: "x-twilio-signature",
    digest: Sha1,
    settings_header: Some("x-twilio-webhooks-signature-settings"),
    body_hash: Some("bodySHA256"),
    nonce_header: None,
    may_repeat: true,
});

pub(super) const MANDRILL: Scheme<'static> = Scheme::Form(Form {
    header: "x-mandrill-signature",
    digest: Sha1,
    settings_header: None,
    body_hash: None,
    nonce_header: None,
    may_repeat: false,
});

pub(super) const PLIVO: Scheme<'static> = Scheme::Form(Form {
    header: "x-plivo-signature-v3",
    digest: Sha256,
    settings_header: None,
    body_hash: None,
    nonce_header: Some("x-plivo-signature-v3-nonce"),
    may_repeat: true,
});

pub(super) const CONTENTFUL: Scheme<'static> = Scheme::Canonical(Canonical {
    signature: "x-contentful-signature",
    signed_headers: "x-contentful-signed-headers",
    timestamp: "x-contentful-timestamp",
    tolerance: 30,
});

const JWT: Jwt<'static> = Jwt {
    header: Some("authorization"),
    keys: JwtKeys::Shared,
    issuer: Issuer::Any,
    required: &[],
    body_hash: BodyHash::None,
    url: UrlClaim::None,
    bearer: false,
    leeway: 60,
    issued_within: None,
};

pub(super) const LIVEKIT: Scheme<'static> = Scheme::Jwt(Jwt {
    issuer: Issuer::Setting(&["apiKey", "key", "keyId", "issuer"]),
    required: &["exp"],
    body_hash: BodyHash::Required("sha256"),
    leeway: 10,
    ..JWT
});

pub(super) const MESSAGEBIRD: Scheme<'static> = Scheme::Jwt(Jwt {
    header: Some("messagebird-signature-jwt"),
    keys: JwtKeys::AnyShared,
    issuer: Issuer::Is("MessageBird"),
    required: &["jti"],
    body_hash: BodyHash::WithBody("payload_hash"),
    url: UrlClaim::Hash("url_hash"),
    leeway: 5,
    ..JWT
});

pub(super) const QSTASH: Scheme<'static> = Scheme::Jwt(Jwt {
    header: Some("upstash-signature"),
    issuer: Issuer::Is("Upstash"),
    body_hash: BodyHash::Required("body"),
    url: UrlClaim::Is("sub"),
    leeway: 5,
    ..JWT
});

/// Its library checks the token alone; where the token has a hash of the body, so do we.
pub(super) const VONAGE: Scheme<'static> = Scheme::Jwt(Jwt {
    body_hash: BodyHash::IfThere("payload_hash"),
    bearer: true,
    leeway: 5,
    ..JWT
});

pub(super) const PLAID: Scheme<'static> = Scheme::Jwt(Jwt {
    header: Some("plaid-verification"),
    keys: JwtKeys::P256,
    body_hash: BodyHash::Required("request_body_sha256"),
    issued_within: Some(TOLERANCE_SECONDS),
    ..JWT
});

pub(super) const FUSIONAUTH: Scheme<'static> = Scheme::Jwt(Jwt {
    header: Some("x-fusionauth-signature-jwt"),
    keys: JwtKeys::Either,
    body_hash: BodyHash::Required("request_body_sha256"),
    ..JWT
});

/// The body is not in the token.
pub(super) const MONDAY: Scheme<'static> = Scheme::Jwt(JWT);

/// The body is the token.
pub(super) const WIX: Scheme<'static> =
    Scheme::Jwt(Jwt { header: None, keys: JwtKeys::Rsa, ..JWT });

pub(super) const BASIC: Scheme<'static> =
    Scheme::Token(Token { basic: true, only_basic: true, places: &[] });

pub(super) const BASIC_OR_TOKEN: Scheme<'static> = Scheme::Token(Token {
    basic: true,
    only_basic: false,
    places: &[Header("authorization"), Query("token")],
});

pub(super) const AUTHORIZATION: Scheme<'static> = token_in(&[Header("authorization")]);

/// The provider signs nothing. A source may have a secret of its own in its URL.
pub(super) const UNSIGNED: Scheme<'static> =
    token_in(&[Query("secret"), Query("token"), Query("key")]);

pub(super) const fn token_in(places: &'static [TokenPlace<'static>]) -> Scheme<'static> {
    Scheme::Token(Token { basic: false, only_basic: false, places })
}

pub(super) const fn token(places: &'static [TokenPlace<'static>]) -> Variant {
    only(token_in(places))
}
