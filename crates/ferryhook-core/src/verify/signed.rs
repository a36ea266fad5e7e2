//! A signature in a header over a template: hmac, plain hash, Ed25519, ECDSA, RSA.

mod place;
mod sender;

use std::borrow::Cow;

use super::clock;
use super::keys::{Dated, Key};
use super::options::{Options, Url};
use super::reason::{BadVerifier, Reason};
use super::scheme::{Encoding, KeyForm, Signed, TimePlace, Unit};
use super::template::{Filling, Template};
use super::{Request, only_value};
use crate::dedup::Tree;
use crate::{Headers, Timestamp};
use place::{Found, Place};

/// A public key takes long, so of its signatures only so many are looked at.
const PUBLIC_SIGNATURES_MAX: usize = 4;
/// For each time beside a signature the body is hashed anew.
const TIMES_MAX: usize = 4;

/// A scheme with its keys and settings.
#[derive(Debug)]
pub(super) struct Checker {
    pub(super) keys: Vec<Dated<Key>>,
    pub(super) templates: Vec<Template>,
    pub(super) place: Place,
    pub(super) encoding: Encoding,
    pub(super) url: Url,
    time: Time,
    unit: Unit,
    tolerance: Option<u32>,
    requires: Vec<(String, String)>,
    agrees: Option<(String, String)>,
}

#[derive(Debug)]
enum Time {
    Nowhere,
    InSignature,
    Header(String),
    /// The name of the field, and how it is sought.
    Body(String, Tree),
}

impl Checker {
    pub(super) fn compile(
        scheme: &Signed<'_>,
        secrets: &[Dated<&str>],
        options: &Options<'_>,
    ) -> Result<Self, BadVerifier> {
        // Never for a shared secret: everybody knows a public key.
        let public = options.public_key().filter(|_| scheme.key == KeyForm::Public);
        let public = public.as_deref().map(|value| [Dated { value, until: None }]);
        let secrets = public.as_ref().map_or(secrets, |own| own.as_slice());
        if secrets.is_empty() {
            return Err(BadVerifier::NoSecret);
        }
        let templates = scheme.contents.iter().map(|text| Template::compile(text, options));
        let owned = |(one, two): &(&str, &str)| ((*one).to_owned(), (*two).to_owned());
        let bound = scheme.bound.and_then(|(header, setting)| {
            let own = options.find(&[setting, "appKey", "apiKey"])?;
            Some((header.to_owned(), own.into_owned()))
        });
        Ok(Self {
            keys: Key::all(scheme.algorithm, scheme.key, secrets)?,
            templates: templates.collect::<Result<_, _>>()?,
            place: Place::compile(scheme.headers, scheme.form),
            encoding: scheme.encoding,
            url: Url::of(options),
            time: match scheme.time {
                TimePlace::Nowhere => Time::Nowhere,
                TimePlace::InSignature => Time::InSignature,
                TimePlace::Header(name) => Time::Header(name.to_owned()),
                TimePlace::Body(name) => {
                    Time::Body(name.to_owned(), Tree::of(vec![name.to_owned()]))
                }
            },
            unit: scheme.unit,
            tolerance: options.tolerance()?.unwrap_or(scheme.tolerance),
            requires: scheme.requires.iter().map(owned).chain(bound).collect(),
            agrees: scheme.agrees.as_ref().map(owned),
        })
    }

    /// Whether the request is signed in this way, rightly or not.
    pub(super) fn is_present(&self, headers: &Headers) -> bool {
        let agrees = self.agrees.as_ref().is_none_or(|(name, value)| {
            headers.find(name).is_none_or(|own| own.trim().eq_ignore_ascii_case(value))
        });
        agrees && self.place.values(headers).next().is_some()
    }

    pub(super) fn check(&self, request: &Request<'_>, now: Timestamp) -> Result<(), Reason> {
        self.check_headers(request.headers)?;
        let found = self.place.find(request.headers)?;
        self.check_work(&found)?;
        if self.keys.iter().all(|key| !key.is_valid(now)) {
            return Err(Reason::NoValidSecret);
        }
        let header_time = self.time_beside(request)?;
        let url = self.url.of_request(request.url);
        let mut rest = found.as_slice();
        let mut unreadable = true;
        let mut outdated = None;
        // Signatures that share a time share what was signed: that is computed once per key.
        while let Some(first) = rest.first() {
            let same = rest.iter().take_while(|one| one.time == first.time).count();
            let (group, others) = rest.split_at(same);
            rest = others;
            let signatures: Vec<_> =
                group.iter().filter_map(|one| self.encoding.decode(&one.text)).collect();
            unreadable &= signatures.is_empty();
            let time = first.time.map(Cow::Borrowed).or_else(|| header_time.clone());
            let filling = Filling {
                request,
                url: &url,
                timestamp: time.as_deref().unwrap_or_default(),
                secret: &[],
            };
            if self.any_key_made(&signatures, &filling, now)? {
                match self.check_time(time.as_deref(), now) {
                    Ok(()) => return Ok(()),
                    Err(reason) => outdated = Some(reason),
                }
            }
        }
        Err(match outdated {
            Some(reason) => reason,
            None if unreadable => {
                let why = format!("the signature is not {}", self.encoding.name());
                Reason::Malformed(self.place.name().to_owned().into(), why.into())
            }
            None => Reason::Mismatch,
        })
    }

    /// Whoever sends the request does not say how long it takes.
    fn check_work(&self, found: &[Found<'_>]) -> Result<(), Reason> {
        let is_public = self.keys.iter().any(|key| matches!(key.value, Key::Public(_)));
        let times = found.chunk_by(|one, two| one.time == two.time).count();
        if times > TIMES_MAX || (is_public && found.len() > PUBLIC_SIGNATURES_MAX) {
            return Err(self.place.malformed("it has too many signatures"));
        }
        Ok(())
    }

    fn any_key_made(
        &self,
        signatures: &[Vec<u8>],
        filling: &Filling<'_>,
        now: Timestamp,
    ) -> Result<bool, Reason> {
        if signatures.is_empty() {
            return Ok(false);
        }
        for template in &self.templates {
            let mut matches = false;
            for key in self.keys.iter().filter(|key| key.is_valid(now)) {
                matches |= key.value.made_any(signatures, template, filling)?;
            }
            if matches {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn check_headers(&self, headers: &Headers) -> Result<(), Reason> {
        for (name, value) in &self.requires {
            let own = only_value(headers, name)?;
            if !own.eq_ignore_ascii_case(value) {
                return Err(Reason::HeaderValue(name.clone().into(), value.clone().into()));
            }
        }
        match &self.agrees {
            Some((name, value)) if headers.find(name).is_some() => {
                let own = only_value(headers, name)?;
                if own.eq_ignore_ascii_case(value) {
                    return Ok(());
                }
                Err(Reason::HeaderValue(name.clone().into(), value.clone().into()))
            }
            _ => Ok(()),
        }
    }

    /// The time, where it is not in the header of the signature.
    fn time_beside<'r>(&self, request: &Request<'r>) -> Result<Option<Cow<'r, str>>, Reason> {
        match &self.time {
            Time::Nowhere | Time::InSignature => Ok(None),
            Time::Header(name) => only_value(request.headers, name).map(|text| Some(text.into())),
            Time::Body(name, tree) => {
                let text = std::str::from_utf8(request.body).ok();
                let found = text.and_then(|text| tree.seek_raw(text).ok());
                let raw = found.and_then(|found| found.into_iter().next().flatten());
                let number =
                    raw.filter(|raw| raw.starts_with(|first: char| first.is_ascii_digit()));
                let why = || Reason::Body(format!("{name} is missing or not a number").into());
                number.map(|raw| Some(raw.into())).ok_or_else(why)
            }
        }
    }

    fn check_time(&self, text: Option<&str>, now: Timestamp) -> Result<(), Reason> {
        let Some(tolerance) = self.tolerance else { return Ok(()) };
        match text {
            Some(text) => clock::check(self.unit.parse(text)?, self.unit, now, tolerance),
            None => Ok(()),
        }
    }
}
