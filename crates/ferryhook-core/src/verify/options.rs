//! The settings of a source that have to do with verification.
//!
//! A name is found however it is written: `publicUrl`, `public_url` and `public-url` are one.

use std::borrow::Cow;

use serde_json::Value;

use super::reason::BadVerifier;
use super::template::path_and_query;
use crate::Map;

#[derive(Debug, Clone, Copy)]
pub(super) struct Options<'a>(pub(super) &'a Map);

/// Names of a public key.
const PUBLIC_KEY: [&str; 4] = ["publicKey", "verificationKey", "jwk", "jwks"];
const CERTIFICATE: [&str; 4] = ["certificate", "cert", "certificatePem", "certPem"];
/// Which of several schemes counts.
const SCHEME: [&str; 3] = ["scheme", "version", "signatureVersion"];
const TOLERANCE: [&str; 2] = ["toleranceSeconds", "tolerance"];
/// What else is only there for verification. Addresses are not: handshakes have them too.
const OTHERS: [&str; 15] = [
    "webhookId",
    "topicArn",
    "username",
    "user",
    "password",
    "header",
    "headerName",
    "signatureHeader",
    "parameter",
    "queryParameter",
    "apiKey",
    "appKey",
    "key",
    "keyId",
    "issuer",
];

/// No sender's clock is a week off; a larger number was meant as milliseconds.
const TOLERANCE_SECONDS_MAX: u64 = 7 * 24 * 60 * 60;

impl<'a> Options<'a> {
    /// The first of these names that is there and not empty. Numbers and truth values are taken
    /// as they are written.
    pub(super) fn find(&self, names: &[&str]) -> Option<Cow<'a, str>> {
        names.iter().find_map(|name| self.one(name))
    }

    pub(super) fn require(&self, name: &str) -> Result<Cow<'a, str>, BadVerifier> {
        self.one(name).ok_or_else(|| BadVerifier::MissingSetting(name.to_owned().into()))
    }

    fn one(&self, name: &str) -> Option<Cow<'a, str>> {
        match self.value(name)? {
            Value::String(text) if text.is_empty() => None,
            Value::String(text) => Some(text.into()),
            Value::Number(number) => Some(number.to_string().into()),
            Value::Bool(truth) => Some(truth.to_string().into()),
            Value::Object(_) => Some(self.value(name)?.to_string().into()),
            Value::Null | Value::Array(_) => None,
        }
    }

    pub(super) fn value(&self, name: &str) -> Option<&'a Value> {
        self.0.iter().find(|(own, _)| same_name(own, name)).map(|(_, value)| value)
    }

    /// A public key, which is no secret and so may stand among the settings.
    pub(super) fn public_key(&self) -> Option<Cow<'a, str>> {
        self.find(&PUBLIC_KEY)
    }

    /// A certificate, or a public key in its place.
    pub(super) fn certificate(&self) -> Option<Cow<'a, str>> {
        self.find(&CERTIFICATE).or_else(|| self.public_key())
    }

    /// The scheme that alone counts.
    pub(super) fn scheme(&self) -> Option<Cow<'a, str>> {
        self.find(&SCHEME)
    }

    /// Whether a scheme is asked for, understood or not.
    pub(super) fn say_scheme(&self) -> bool {
        SCHEME.iter().any(|name| self.says(name))
    }

    /// Whether anything else says how to verify, understood or not.
    pub(super) fn say_how(&self) -> bool {
        let mut names = PUBLIC_KEY.iter().chain(&CERTIFICATE).chain(&TOLERANCE).chain(&OTHERS);
        names.any(|name| self.says(name))
    }

    fn says(&self, name: &str) -> bool {
        self.value(name).is_some_and(|value| !value.is_null())
    }

    /// How far clocks may be apart. `Some(None)`: the source wants no check.
    pub(super) fn tolerance(&self) -> Result<Option<Option<u32>>, BadVerifier> {
        let names = TOLERANCE;
        let Some(value) = names.iter().find_map(|name| self.value(name)) else { return Ok(None) };
        let bad = |why: &'static str| BadVerifier::Setting(names[0].into(), why.into());
        match value {
            Value::Null => Ok(None),
            Value::Bool(false) => Ok(Some(None)),
            value => {
                let seconds = value.as_u64().or_else(|| value.as_str()?.parse().ok());
                let seconds =
                    seconds.filter(|seconds| (1..=TOLERANCE_SECONDS_MAX).contains(seconds));
                let seconds = seconds.and_then(|seconds| u32::try_from(seconds).ok());
                let seconds = seconds
                    .ok_or_else(|| bad("it is a number of seconds from 1 to 604800, or false"))?;
                Ok(Some(Some(seconds)))
            }
        }
    }
}

/// What the source says about its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Url {
    /// Requests come here as they were sent.
    AsCalled,
    /// Just this text was signed.
    Exact(String),
    /// What is in front of us has another name, and perhaps another path.
    Public(String),
}

impl Url {
    pub(super) fn of(options: &Options<'_>) -> Self {
        let exact = options.find(&["notificationUrl", "callbackUrl", "webhookUrl", "url"]);
        match (exact, options.find(&["publicUrl"])) {
            (Some(exact), _) => Self::Exact(exact.into_owned()),
            (None, Some(public)) => Self::Public(public.into_owned()),
            (None, None) => Self::AsCalled,
        }
    }

    pub(super) fn of_request<'r>(&'r self, called: &'r str) -> Cow<'r, str> {
        let public = match self {
            Self::AsCalled => return called.into(),
            Self::Exact(url) => return url.as_str().into(),
            Self::Public(url) => url,
        };
        let ((path, query), (own_path, own_query)) =
            (path_and_query(called), path_and_query(public));
        if !own_query.is_empty() {
            return public.as_str().into();
        }
        let base = public.trim_end_matches('?');
        let mut url = match own_path {
            "/" => format!("{}{path}", base.trim_end_matches('/')),
            _ => base.to_owned(),
        };
        if !query.is_empty() {
            url.push('?');
            url.push_str(query);
        }
        url.into()
    }
}

fn same_name(one: &str, two: &str) -> bool {
    let plain = |name: &str| -> Vec<u8> {
        let kept = name.bytes().filter(|byte| !matches!(byte, b'_' | b'-' | b'.' | b' '));
        kept.map(|byte| byte.to_ascii_lowercase()).collect()
    };
    one == two || plain(one) == plain(two)
}

#[cfg(test)]
mod tests;
