//! Schemes that several rows share, and the words that rows are written in.

use super::Variant;
use crate::verify::TOLERANCE_SECONDS;
use crate::verify::scheme::Digest::Sha256;
use crate::verify::scheme::{Encoding, KeyForm, Scheme, Signed, TimePlace, Unit};

/// The only way.
pub(super) const fn one(scheme: Scheme<'static>) -> Variant {
    Variant { name: "", scheme, only_asked: false }
}

pub(super) const fn named(name: &'static str, scheme: Scheme<'static>) -> Variant {
    Variant { name, scheme, only_asked: false }
}

/// Not unless a source asks for it.
pub(super) const fn asked(name: &'static str, scheme: Scheme<'static>) -> Variant {
    Variant { name, scheme, only_asked: true }
}

/// HMAC-SHA256 of the body.
pub(super) const fn hmac(headers: &'static [&'static str]) -> Signed<'static> {
    Signed::hmac(Sha256, headers)
}

/// The same where no library says how strictly the text is compared.
pub(super) const fn hmac_hex(headers: &'static [&'static str]) -> Signed<'static> {
    hmac(headers).written(Encoding::HexAnyCase)
}

pub(super) const fn hmac_base64(headers: &'static [&'static str]) -> Signed<'static> {
    hmac(headers).written(Encoding::Base64)
}

/// `t=…,v1=…` over `{timestamp}.{body}`.
pub(super) const fn stripe_like(
    headers: &'static [&'static str],
    names: &'static [&'static str],
) -> Signed<'static> {
    hmac(headers).pairs(',', "t", names).over(&["{timestamp}.{body}"])
}

/// Standard Webhooks with these three headers.
const fn standard(
    headers: &'static [&'static str],
    time: &'static str,
    content: &'static [&'static str],
) -> Signed<'static> {
    hmac_base64(headers)
        .keyed(KeyForm::Whsec)
        .versions("v1,", &[' '])
        .timed(TimePlace::Header(time), Unit::Seconds)
        .over(content)
        .within(TOLERANCE_SECONDS)
}

pub(super) const STANDARD: Signed<'static> = standard(
    &["webhook-signature"],
    "webhook-timestamp",
    &["{header:webhook-id}.{timestamp}.{body}"],
);

pub(super) const SVIX: Signed<'static> =
    standard(&["svix-signature"], "svix-timestamp", &["{header:svix-id}.{timestamp}.{body}"]);

pub(super) const FINCH: Signed<'static> = standard(
    &["finch-signature"],
    "finch-timestamp",
    &["{header:finch-event-id}.{timestamp}.{body}"],
);
