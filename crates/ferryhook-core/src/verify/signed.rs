//! A signature in a header over a template: hmac, plain hash, Ed25519, ECDSA, RSA.

use std::borrow::Cow;

use serde_json::Value;

use super::clock;
use super::encoding::base64;
use super::keys::{Dated, Key};
use super::options::{Options, Url};
use super::reason::{BadVerifier, Reason};
use super::scheme::{Encoding, KeyForm, Layout, Signed, TimePlace, Unit};
use super::template::{Filling, Template};
use super::{Request, only_value, values};
use crate::{Headers, Timestamp};

/// Signatures that are looked at in one request. DocuSign sends up to 100.
pub(super) const SIGNATURES_MAX: usize = 128;

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

/// Where signatures are, and how they are written.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) headers: Vec<String>,
    form: Written,
}

#[derive(Debug)]
enum Written {
    Bare,
    Prefix(String),
    Pairs { groups: bool, separator: char, time: String, names: Vec<String> },
    Versions { version: String, separators: Vec<char> },
    Positional,
    Base64Json(String),
}

#[derive(Debug)]
enum Time {
    Nowhere,
    InSignature,
    Header(String),
    Body(String),
}

/// A signature as it was found, with the time beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) time: Option<&'a str>,
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
            Some((header.to_owned(), options.find(&[setting])?.into_owned()))
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
                TimePlace::Body(name) => Time::Body(name.to_owned()),
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
            Time::Body(name) => {
                let why = || Reason::Body(format!("{name} is missing or not a number").into());
                let body: Value = serde_json::from_slice(request.body).map_err(|_| why())?;
                match body.get(name) {
                    Some(Value::Number(number)) => Ok(Some(number.to_string().into())),
                    _ => Err(why()),
                }
            }
        }
    }

    pub(super) fn unit(&self) -> Unit {
        self.unit
    }

    /// The field of the body that has the time.
    pub(super) fn time_field(&self) -> Option<&str> {
        match &self.time {
            Time::Body(name) => Some(name),
            Time::Nowhere | Time::InSignature | Time::Header(_) => None,
        }
    }

    /// Headers that belong to the signature, with what a sender might write into them.
    pub(super) fn other_headers(&self, time: &str, id: &str) -> Vec<(String, String)> {
        let mut headers = self.requires.clone();
        headers.extend(self.agrees.clone());
        if let Time::Header(name) = &self.time {
            headers.push((name.clone(), time.to_owned()));
        }
        let named = self.templates.iter().take(1).flat_map(Template::headers);
        headers.extend(named.map(|name| (name.to_owned(), id.to_owned())));
        headers
    }

    /// What the sender signs.
    pub(super) fn content(&self, request: &Request<'_>, time: &str) -> Result<Vec<u8>, Reason> {
        let template = self.templates.first().ok_or(Reason::NoValidSecret)?;
        let url = self.url.of_request(request.url);
        template.filled(&Filling { request, url: &url, timestamp: time, secret: &[] })
    }

    /// The signature that the first key makes; empty for a key that cannot make any.
    pub(super) fn tag(&self, request: &Request<'_>, time: &str) -> Result<Vec<u8>, Reason> {
        let (Some(template), Some(key)) = (self.templates.first(), self.keys.first()) else {
            return Err(Reason::NoValidSecret);
        };
        if matches!(key.value, Key::Public(_)) {
            return Ok(Vec::new());
        }
        let url = self.url.of_request(request.url);
        let filling = Filling { request, url: &url, timestamp: time, secret: &[] };
        Ok(key.value.signature(template, &filling)?.as_ref().to_vec())
    }

    /// The header that a sender writes.
    pub(super) fn header(&self, signature: &[u8], time: &str) -> (String, String) {
        let text = self.encoding.encode(signature);
        let name = self.place.name().replace('*', "1");
        let value = match &self.place.form {
            Written::Bare => text,
            Written::Prefix(prefix) => format!("{prefix}{text}"),
            Written::Pairs { separator, time: time_name, names, .. } => {
                let own = names.first().map_or("", String::as_str);
                match time_name.as_str() {
                    "" => format!("{own}={text}"),
                    _ => format!("{time_name}={time}{separator}{own}={text}"),
                }
            }
            Written::Versions { version, .. } => format!("{version}{text}"),
            Written::Positional => format!("{time},{text}"),
            Written::Base64Json(name) => {
                let json = serde_json::json!({ name.as_str(): text }).to_string();
                Encoding::Base64.encode(json.as_bytes())
            }
        };
        (name, value)
    }

    fn check_time(&self, text: Option<&str>, now: Timestamp) -> Result<(), Reason> {
        let Some(tolerance) = self.tolerance else { return Ok(()) };
        match text {
            Some(text) => clock::check(self.unit.parse(text)?, self.unit, now, tolerance),
            None => Ok(()),
        }
    }
}

impl Place {
    fn compile(headers: &[&str], form: Layout<'_>) -> Self {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let pairs = |groups, separator, time: &str, names: &[&str]| Written::Pairs {
            groups,
            separator,
            time: time.to_owned(),
            names: owned(names),
        };
        let form = match form {
            Layout::Bare => Written::Bare,
            Layout::Prefix(prefix) => Written::Prefix(prefix.to_owned()),
            Layout::Pairs { separator, time, names } => pairs(false, separator, time, names),
            Layout::PairGroups { separator, time, names } => pairs(true, separator, time, names),
            Layout::Versions { version, separators } => {
                Written::Versions { version: version.to_owned(), separators: separators.to_vec() }
            }
            Layout::Positional => Written::Positional,
            Layout::Base64Json(name) => Written::Base64Json(name.to_owned()),
        };
        Self { headers: owned(headers), form }
    }

    /// What to call it when it is missing.
    pub(super) fn name(&self) -> &str {
        self.headers.first().map_or("", String::as_str)
    }

    /// Every value of the first header that is there.
    fn values<'r>(&self, headers: &'r Headers) -> impl Iterator<Item = &'r str> {
        let name = self.headers.iter().find(|name| values(headers, name).next().is_some());
        name.into_iter().flat_map(|name| values(headers, name)).collect::<Vec<_>>().into_iter()
    }

    /// At least one.
    pub(super) fn find<'r>(&self, headers: &'r Headers) -> Result<Vec<Found<'r>>, Reason> {
        let mut found = Vec::new();
        let mut is_missing = true;
        for value in self.values(headers) {
            is_missing = false;
            self.read(value, &mut found);
            if found.len() > SIGNATURES_MAX {
                return Err(self.malformed("it has too many signatures"));
            }
        }
        if is_missing {
            return Err(Reason::MissingHeader(self.name().to_owned().into()));
        }
        if found.is_empty() {
            return Err(self.malformed(match self.form {
                Written::Bare => "it is empty",
                Written::Prefix(_) | Written::Versions { .. } => "the prefix is another one",
                Written::Pairs { .. } => "the time or the signature is missing",
                Written::Positional => "it is not a time and signatures",
                Written::Base64Json(_) => "it is not base64 of JSON with a signature",
            }));
        }
        Ok(found)
    }

    fn malformed(&self, why: &'static str) -> Reason {
        Reason::Malformed(self.name().to_owned().into(), why.into())
    }

    fn read<'r>(&self, value: &'r str, found: &mut Vec<Found<'r>>) {
        let some =
            |text: &'r str| (!text.is_empty()).then_some(Found { text: text.into(), time: None });
        match &self.form {
            Written::Bare => found.extend(some(value)),
            Written::Prefix(prefix) => {
                found.extend(value.strip_prefix(prefix.as_str()).and_then(some));
            }
            Written::Pairs { groups: false, separator, time, names } => {
                read_pairs(value, *separator, time, names, found);
            }
            Written::Pairs { groups: true, separator, time, names } => {
                for group in value.split_whitespace() {
                    read_pairs(group, *separator, time, names, found);
                }
            }
            Written::Versions { version, separators } => {
                let elements = value.split(separators.as_slice()).map(str::trim);
                let own = elements.filter_map(|one| one.strip_prefix(version.as_str()));
                found.extend(own.filter_map(some).take(SIGNATURES_MAX + 1));
            }
            Written::Base64Json(name) => {
                let json: Option<Value> =
                    base64(value).and_then(|bytes| serde_json::from_slice(&bytes).ok());
                let text = json.as_ref().and_then(|json| json.get(name)?.as_str());
                found.extend(text.map(|text| Found { text: text.to_owned().into(), time: None }));
            }
            Written::Positional => {
                let mut elements = value.split(',').map(str::trim);
                let time = elements.next();
                let signatures = elements.filter_map(some).take(SIGNATURES_MAX + 1);
                found.extend(signatures.map(|one| Found { time, ..one }));
            }
        }
    }
}

/// Nothing is found unless there is just one time, or several that agree.
fn read_pairs<'r>(
    value: &'r str,
    separator: char,
    time_name: &str,
    names: &[String],
    found: &mut Vec<Found<'r>>,
) {
    let pairs = || {
        let pairs = value.split(separator).filter_map(|pair| pair.split_once('='));
        pairs.map(|(name, text)| (name.trim(), text.trim()))
    };
    let mut times = pairs().filter(|(name, _)| *name == time_name).map(|(_, text)| text);
    let time = times.next().filter(|time| !time.is_empty());
    // A sender without times is one that a source describes itself.
    if (time.is_none() && !time_name.is_empty()) || times.any(|other| Some(other) != time) {
        return;
    }
    let signatures =
        pairs().filter(|(name, text)| !text.is_empty() && names.iter().any(|own| own == name));
    let signatures = signatures.take(SIGNATURES_MAX + 1);
    found.extend(signatures.map(|(_, text)| Found { text: text.into(), time }));
}
