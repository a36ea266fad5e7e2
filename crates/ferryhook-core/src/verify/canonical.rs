//! Method, path, chosen headers and body, one a line, signed together.

use std::collections::BTreeMap;
use std::fmt::Write;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;

use super::encoding::to_hex;
use super::keys::Dated;
use super::options::{Options, Url};
use super::reason::{BadVerifier, Reason};
use super::scheme::{Canonical, Unit};
use super::template::path_and_query;
use super::{Request, clock, only_value};
use crate::{Headers, Timestamp};

/// Headers that one request may say are signed.
const HEADERS_MAX: usize = 100;

#[derive(Debug)]
pub(super) struct Checker {
    scheme: Canonical<'static>,
    keys: Vec<Dated<hmac::Key>>,
    url: Url,
    tolerance: Option<u32>,
}

impl Checker {
    pub(super) fn compile(
        scheme: Canonical<'static>,
        secrets: &[Dated<&str>],
        options: &Options<'_>,
    ) -> Result<Self, BadVerifier> {
        let key = |secret: &Dated<&str>| Dated {
            value: hmac::Key::new(hmac::HMAC_SHA256, secret.value.as_bytes()),
            until: secret.until,
        };
        let tolerance = options.tolerance()?.unwrap_or(Some(scheme.tolerance));
        let keys = secrets.iter().map(key).collect();
        Ok(Self { scheme, keys, url: Url::of(options), tolerance })
    }

    pub(super) fn is_present(&self, headers: &Headers) -> bool {
        headers.find(self.scheme.signature).is_some()
    }

    pub(super) fn check(&self, request: &Request<'_>, now: Timestamp) -> Result<(), Reason> {
        let signature = only_value(request.headers, self.scheme.signature)?;
        let listed = only_value(request.headers, self.scheme.signed_headers)?;
        let time = only_value(request.headers, self.scheme.timestamp)?;
        if listed.split(',').count() < 2 {
            let why = "it lists too few headers".into();
            return Err(Reason::Malformed(self.scheme.signed_headers.into(), why));
        }
        let head = self.head(request, listed, time)?;
        let mut matches = false;
        for key in self.keys.iter().filter(|key| key.is_valid(now)) {
            let expected = to_hex(tag(&key.value, &head, request.body).as_ref());
            matches |= verify_slices_are_equal(expected.as_bytes(), signature.as_bytes()).is_ok();
        }
        if !matches {
            return Err(Reason::Mismatch);
        }
        match self.tolerance {
            Some(tolerance) => {
                let unit = Unit::Milliseconds;
                clock::check(unit.parse(time)?, unit, now, tolerance)
            }
            None => Ok(()),
        }
    }

    /// The headers that make this request a signed one.
    pub(super) fn sign(
        &self,
        request: &Request<'_>,
        now: Timestamp,
    ) -> Result<Vec<(&'static str, String)>, Reason> {
        let Canonical { signature, signed_headers, timestamp, .. } = self.scheme;
        let (listed, time) = (format!("{signed_headers},{timestamp}"), now.as_millis().to_string());
        let head = self.head(request, &listed, &time)?;
        let key = self.keys.first().ok_or(Reason::NoValidSecret)?;
        let own = to_hex(tag(&key.value, &head, request.body).as_ref());
        Ok(vec![(signature, own), (signed_headers, listed), (timestamp, time)])
    }

    /// Everything before the body.
    fn head(&self, request: &Request<'_>, listed: &str, time: &str) -> Result<String, Reason> {
        let mut headers = BTreeMap::new();
        for name in listed.split(',').take(HEADERS_MAX) {
            if request.headers.find(name).is_some() {
                headers.insert(name, only_value(request.headers, name)?);
            }
        }
        headers.insert(self.scheme.timestamp, time);
        headers.insert(self.scheme.signed_headers, "");
        let names = headers.keys().copied().collect::<Vec<_>>().join(",");
        headers.insert(self.scheme.signed_headers, &names);
        let pairs: Vec<_> = headers.iter().map(|(name, value)| format!("{name}:{value}")).collect();
        let url = self.url.of_request(request.url);
        let path = canonical_path(&url);
        Ok(format!("{}\n{path}\n{}\n", request.method, pairs.join(";")))
    }
}

fn tag(key: &hmac::Key, head: &str, body: &[u8]) -> hmac::Tag {
    let mut context = hmac::Context::with_key(key);
    context.update(head.as_bytes());
    context.update(body);
    context.sign()
}

/// The query is escaped as a whole, and then path and query once more as a URI.
fn canonical_path(url: &str) -> String {
    let (path, query) = path_and_query(url);
    let query = query.split('?').next().unwrap_or_default();
    let mut whole = path.to_owned();
    if !query.is_empty() {
        whole.push('?');
        whole.push_str(&escaped(query, b"-_.!~*'()"));
    }
    escaped(&whole, b"-_.!~*'();/?:@&=+$,#")
}

fn escaped(text: &str, kept: &[u8]) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || kept.contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            // Writing into a text does not fail.
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

#[cfg(test)]
mod tests;
