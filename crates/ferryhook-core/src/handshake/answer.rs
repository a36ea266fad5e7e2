//! Makes the answer to a handshake that was recognised.

use aws_lc_rs::{constant_time, digest, hmac};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::compiled::Compiled;
use super::kind::{Content, Effect, Keyed, Part};
use super::{BadHandshake, CHALLENGE_BYTES_MAX, Reply, SIGNED_CHALLENGE_BYTES_MAX, Then, rule};
use crate::Secret;
use crate::dedup::Arriving;
use crate::signature::push_hex;

const TEXT: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";

/// What the source has that goes into answers.
#[derive(Debug, Clone, Default)]
pub(super) struct Secrets {
    signing: Option<Secret>,
    verify_token: Option<Secret>,
    public_key: Option<String>,
    address: Option<String>,
    origins: Option<Vec<String>>,
}

const VERIFY_TOKEN: [&str; 4] =
    ["verifyToken", "verify_token", "verificationToken", "verification_token"];
const ORIGINS: [&str; 2] = ["allowedOrigins", "allowed_origins"];

impl Secrets {
    /// What restricts the answers is understood or refused: ignored, it would allow everything.
    pub(super) fn of(
        signing_secret: Option<&Secret>,
        config: &crate::Map,
    ) -> Result<Self, BadHandshake> {
        let one = |names: &[&str]| {
            let found = names.iter().find_map(|name| config.get(*name)?.as_str());
            found.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let value = |names: &[&str]| {
            let mut values = names.iter().filter_map(|name| config.get(*name));
            values.find(|value| !value.is_null())
        };
        let signing = signing_secret.cloned();
        Ok(Self {
            signing: signing.filter(|secret| !secret.expose().is_empty()),
            verify_token: value(&VERIFY_TOKEN).map(verify_token).transpose()?,
            public_key: one(&["publicKey", "public_key"]),
            address: one(&[
                "notificationUrl",
                "notification_url",
                "url",
                "publicUrl",
                "public_url",
            ]),
            origins: value(&ORIGINS).map(origins).transpose()?,
        })
    }
}

fn verify_token(value: &Value) -> Result<Secret, BadHandshake> {
    match value {
        Value::String(text) if !text.is_empty() => Ok(Secret::new(text.clone())),
        Value::Number(number) => Ok(Secret::new(number.to_string())),
        _ => Err(BadHandshake::Setting(VERIFY_TOKEN[0], "a text that is not empty")),
    }
}

fn origins(value: &Value) -> Result<Vec<String>, BadHandshake> {
    let one = |value: &Value| value.as_str().map(str::to_ascii_lowercase);
    let list = match value {
        Value::Array(list) => list.iter().map(one).collect(),
        value => one(value).map(|origin| vec![origin]),
    };
    list.ok_or(BadHandshake::Setting(ORIGINS[0], "a list of texts"))
}

pub(super) struct Answering<'a> {
    pub(super) url: &'a str,
    pub(super) seen: &'a Arriving<'a>,
    pub(super) secrets: &'a Secrets,
}

/// Why a handshake is not answered as it wishes.
struct Refused(u16, &'static str);

impl Answering<'_> {
    /// `None` where the request is better taken for an ordinary one.
    pub(super) fn reply(&self, own: &Compiled) -> Option<Reply> {
        let is_taken = matches!(own.handshake.effect, Effect::Keep(_));
        if is_taken && self.secrets.signing.is_some() {
            return None;
        }
        Some(self.made(own).unwrap_or_else(|Refused(status, why)| Reply {
            status,
            content_type: Some(TEXT),
            headers: vec![no_sniffing()],
            body: why.to_owned(),
            then: Then::Nothing,
            verified_first: false,
        }))
    }

    fn made(&self, own: &Compiled) -> Result<Reply, Refused> {
        let handshake = own.handshake;
        self.check_token(handshake.token)?;
        let mut headers = Vec::new();
        for (name, part) in handshake.headers {
            let value = self.part(part)?;
            let is_visible = value.bytes().all(|byte| (0x20..0x7f).contains(&byte));
            if !is_visible {
                return Err(Refused(400, "the challenge cannot be sent back in a header"));
            }
            headers.push(((*name).to_owned(), value));
        }
        let (content_type, body) = match handshake.content {
            Content::Empty => (None, String::new()),
            Content::Text(part) => (Some(TEXT), self.part(&part)?),
            Content::Json(fields) => (Some(JSON), self.json(fields)?),
        };
        if content_type.is_some() {
            headers.push(no_sniffing());
        }
        let then = match handshake.effect {
            Effect::Nothing => Then::Nothing,
            Effect::Keep(place) => Then::Keep(Secret::new(self.given(place)?)),
            Effect::CallSns(place) => Then::Call(self.sns_url(place)?),
        };
        let (status, verified_first) = (handshake.status, handshake.verified_first);
        Ok(Reply { status, content_type, headers, body, then, verified_first })
    }

    fn json(&self, fields: &[(&str, Part)]) -> Result<String, Refused> {
        let mut object = Map::new();
        for (name, part) in fields {
            let value = match part {
                Part::Number(number) => (*number).into(),
                part => self.part(part)?.into(),
            };
            object.insert((*name).to_owned(), value);
        }
        Ok(Value::Object(object).to_string())
    }

    fn part(&self, part: &Part) -> Result<String, Refused> {
        match part {
            Part::Given(place) => self.given(place),
            Part::Fixed(text) => Ok((*text).to_owned()),
            Part::Number(number) => Ok(number.to_string()),
            Part::Keyed(how, place) => self.keyed(*how, &self.given(place)?),
            Part::Origin(place) => self.origin(self.given(place)?),
        }
    }

    fn given(&self, place: &str) -> Result<String, Refused> {
        let found = rule(place).and_then(|rule| rule.whole(self.seen));
        let found = found.ok_or(Refused(400, "there is no challenge"))?;
        if found.len() > CHALLENGE_BYTES_MAX {
            return Err(Refused(400, "the challenge is too long"));
        }
        Ok(found)
    }

    fn check_token(&self, place: Option<&str>) -> Result<(), Refused> {
        let (Some(place), Some(token)) = (place, &self.secrets.verify_token) else { return Ok(()) };
        let given = rule(place).and_then(|rule| rule.whole(self.seen)).unwrap_or_default();
        constant_time::verify_slices_are_equal(given.as_bytes(), token.expose().as_bytes())
            .map_err(|_| Refused(403, "the verify token is not the one of this source"))
    }

    /// A word that nobody takes for an event, whose signature would be made the same way: no
    /// braces, quotes or spaces, no fields of a form, no time before a body, no token.
    fn keyed(&self, how: Keyed, challenge: &str) -> Result<String, Refused> {
        const NO_WORD: Refused = Refused(400, "the challenge is not a plain word");
        let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || b"-_+/.~".contains(&byte);
        let is_short = challenge.len() <= SIGNED_CHALLENGE_BYTES_MAX;
        let is_token = challenge.matches('.').nth(1).is_some();
        if !is_short || is_token || !challenge.bytes().all(is_fit) {
            return Err(NO_WORD);
        }
        // A number is JSON too. Only these sign a challenge as they sign a body.
        let signs_bodies = matches!(how, Keyed::HmacSha256Hex | Keyed::HmacSha256Base64);
        if signs_bodies && serde_json::from_str::<IgnoredAny>(challenge).is_ok() {
            return Err(NO_WORD);
        }
        let mut text = String::new();
        match how {
            Keyed::HmacSha256Hex => {
                push_hex(&mut text, self.hmac_sha256(challenge)?.as_ref());
            }
            Keyed::HmacSha256Base64 => {
                text.push_str("sha256=");
                STANDARD.encode_string(self.hmac_sha256(challenge)?, &mut text);
            }
            Keyed::Braintree => {
                let public = self.secrets.public_key.as_ref();
                text.push_str(public.ok_or(Refused(403, "this source has no publicKey"))?);
                text.push('|');
                let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
                if !(20..=32).contains(&challenge.len()) || !challenge.bytes().all(is_hex) {
                    return Err(NO_WORD);
                }
                let private = self.signing()?.expose().as_bytes();
                let key = digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, private);
                let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, key.as_ref());
                push_hex(&mut text, hmac::sign(&key, challenge.as_bytes()).as_ref());
            }
            Keyed::Ebay => {
                let token = self.secrets.verify_token.as_ref();
                let token = token.ok_or(Refused(403, "this source has no verifyToken"))?;
                let called = self.url.split(['?', '#']).next().unwrap_or_default();
                let address = self.secrets.address.as_deref().unwrap_or(called);
                let mut hash = digest::Context::new(&digest::SHA256);
                for part in [challenge, token.expose(), address] {
                    hash.update(part.as_bytes());
                }
                push_hex(&mut text, hash.finish().as_ref());
            }
        }
        Ok(text)
    }

    fn hmac_sha256(&self, challenge: &str) -> Result<hmac::Tag, Refused> {
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.signing()?.expose().as_bytes());
        Ok(hmac::sign(&key, challenge.as_bytes()))
    }

    fn signing(&self) -> Result<&Secret, Refused> {
        self.secrets
            .signing
            .as_ref()
            .ok_or(Refused(403, "this source has no secret to answer with"))
    }

    fn origin(&self, origin: String) -> Result<String, Refused> {
        let is_allowed = self.secrets.origins.as_ref().is_none_or(|allowed| {
            allowed.iter().any(|own| *own == "*" || own.eq_ignore_ascii_case(&origin))
        });
        is_allowed.then_some(origin).ok_or(Refused(403, "this origin may not send here"))
    }

    fn sns_url(&self, place: &str) -> Result<String, Refused> {
        let url = self.given(place)?;
        is_of_sns(&url).then_some(url).ok_or(Refused(400, "the URL is not one of Amazon SNS"))
    }
}

/// `https://sns.{region}.amazonaws.com/…`, also in China; no user, no port.
fn is_of_sns(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("https://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let base = host.strip_suffix(".amazonaws.com").or(host.strip_suffix(".amazonaws.com.cn"));
    let region = base.and_then(|base| base.strip_prefix("sns."));
    let is_region = |text: &str| {
        text.len() >= 3 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    is_plain && region.is_some_and(is_region)
}

fn no_sniffing() -> (String, String) {
    ("X-Content-Type-Options".to_owned(), "nosniff".to_owned())
}
