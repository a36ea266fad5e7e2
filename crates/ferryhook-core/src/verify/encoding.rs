//! Signatures and keys as text.

use base64::Engine;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{
    self, GeneralPurpose, GeneralPurposeConfig, STANDARD, URL_SAFE_NO_PAD,
};

use super::scheme::Encoding;
use crate::signature::push_hex;

const INDIFFERENT: GeneralPurposeConfig = general_purpose::NO_PAD
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const LENIENT: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, INDIFFERENT);
const LENIENT_URL: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, INDIFFERENT);

impl Encoding {
    /// The strict forms accept exactly one text for the same bytes, so that comparing bytes is
    /// comparing texts.
    pub(super) fn decode(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Self::Hex if text.bytes().any(|byte| byte.is_ascii_uppercase()) => None,
            Self::Hex | Self::HexAnyCase => from_hex(text),
            Self::Base64 => STANDARD.decode(text).ok(),
            Self::Base64Lenient => base64(text),
            Self::Base64Url => URL_SAFE_NO_PAD.decode(text).ok(),
        }
    }

    pub(super) fn encode(self, bytes: &[u8]) -> String {
        match self {
            Self::Hex | Self::HexAnyCase => to_hex(bytes),
            Self::Base64 | Self::Base64Lenient => STANDARD.encode(bytes),
            Self::Base64Url => URL_SAFE_NO_PAD.encode(bytes),
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Hex | Self::HexAnyCase => "hex",
            Self::Base64 | Self::Base64Lenient => "base64",
            Self::Base64Url => "base64url",
        }
    }
}

pub(super) fn to_hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    push_hex(&mut text, bytes);
    text
}

pub(super) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    pairs.iter().map(|[high, low]| u8::try_from(digit(*high)? << 4 | digit(*low)?).ok()).collect()
}

/// Either alphabet, with or without padding: keys are pasted by people.
pub(super) fn base64(text: &str) -> Option<Vec<u8>> {
    let is_url = text.contains(['-', '_']);
    if is_url { LENIENT_URL.decode(text).ok() } else { LENIENT.decode(text).ok() }
}
