//! The URL and the fields of a form, sorted and signed together.

use std::borrow::Cow;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::{digest, hmac};

use super::document::form_fields;
use super::encoding::to_hex;
use super::keys::Dated;
use super::options::{Options, Url};
use super::reason::{BadVerifier, Reason};
use super::scheme::{Digest, Encoding, Form};
use super::template::path_and_query;
use super::{Request, only_value};
use crate::{Headers, Timestamp};

const SIGNATURES_MAX: usize = 16;

#[derive(Debug)]
pub(super) struct Checker {
    scheme: Form<'static>,
    keys: Vec<Dated<Keys>>,
    url: Url,
}

/// One secret, for either algorithm that a request may name.
#[derive(Debug)]
struct Keys {
    sha1: Box<hmac::Key>,
    sha256: Box<hmac::Key>,
}

#[derive(Debug, Clone, Copy)]
enum Algorithm {
    Sha1,
    Sha256,
}

impl Keys {
    fn of(&self, algorithm: Algorithm) -> &hmac::Key {
        match algorithm {
            Algorithm::Sha1 => &self.sha1,
            Algorithm::Sha256 => &self.sha256,
        }
    }
}

type Field<'a> = (Cow<'a, str>, Cow<'a, str>);

impl Checker {
    pub(super) fn compile(
        scheme: Form<'static>,
        secrets: &[Dated<&str>],
        options: &Options<'_>,
    ) -> Result<Self, BadVerifier> {
        let key =
            |digest: Digest, text: &str| Box::new(hmac::Key::new(digest.hmac(), text.as_bytes()));
        let keys = secrets.iter().map(|one| Dated {
            value: Keys {
                sha1: key(Digest::Sha1, one.value),
                sha256: key(Digest::Sha256, one.value),
            },
            until: one.until,
        });
        Ok(Self { scheme, keys: keys.collect(), url: Url::of(options) })
    }

    pub(super) fn is_present(&self, headers: &Headers) -> bool {
        headers.find(self.scheme.header).is_some()
    }

    pub(super) fn check(&self, request: &Request<'_>, now: Timestamp) -> Result<(), Reason> {
        let text = only_value(request.headers, self.scheme.header)?;
        let signatures: Vec<_> = text
            .split(',')
            .take(SIGNATURES_MAX)
            .filter_map(|one| Encoding::Base64.decode(one.trim()))
            .collect();
        if signatures.is_empty() {
            let why = "the signature is not base64".into();
            return Err(Reason::Malformed(self.scheme.header.into(), why));
        }
        let algorithm = self.algorithm(request.headers)?;
        for content in self.contents(request)? {
            let mut matches = false;
            for keys in self.keys.iter().filter(|keys| keys.is_valid(now)) {
                let expected = hmac::sign(keys.value.of(algorithm), content.as_bytes());
                for signature in &signatures {
                    matches |= verify_slices_are_equal(expected.as_ref(), signature).is_ok();
                }
            }
            if matches {
                return Ok(());
            }
        }
        Err(Reason::Mismatch)
    }

    /// What the sender would have written.
    pub(super) fn sign(&self, request: &Request<'_>) -> Result<(&'static str, String), Reason> {
        let contents = self.contents(request)?;
        let (Some(content), Some(keys)) = (contents.first(), self.keys.first()) else {
            return Err(Reason::NoValidSecret);
        };
        let key = keys.value.of(self.algorithm(request.headers)?);
        let tag = hmac::sign(key, content.as_bytes());
        Ok((self.scheme.header, Encoding::Base64.encode(tag.as_ref())))
    }

    pub(super) fn nonce_header(&self) -> Option<&'static str> {
        self.scheme.nonce_header
    }

    /// An algorithm that nobody knows is refused.
    fn algorithm(&self, headers: &Headers) -> Result<Algorithm, Reason> {
        let Some(name) = self.scheme.settings_header.filter(|name| headers.find(name).is_some())
        else {
            return Ok(match self.scheme.digest {
                Digest::Sha1 => Algorithm::Sha1,
                Digest::Sha256 | Digest::Sha384 | Digest::Sha512 => Algorithm::Sha256,
            });
        };
        let settings = only_value(headers, name).unwrap_or_default();
        let named = settings.split(',').find_map(|part| {
            let (key, value) = part.split_once('=')?;
            (key.trim() == "algorithm").then(|| value.trim()).filter(|value| !value.is_empty())
        });
        match named.map(str::to_ascii_uppercase).as_deref() {
            None | Some("HMAC_SHA1") => Ok(Algorithm::Sha1),
            Some("HMAC_SHA256") => Ok(Algorithm::Sha256),
            Some(_) => Err(Reason::Malformed(name.into(), "the algorithm is unknown".into())),
        }
    }

    /// Everything that may have been signed.
    fn contents(&self, request: &Request<'_>) -> Result<Vec<String>, Reason> {
        let url = self.url.of_request(request.url);
        if let Some(nonce) = self.scheme.nonce_header {
            let nonce = only_value(request.headers, nonce)?;
            return Ok(vec![dotted(&url, request, nonce)?]);
        }
        let hashed = self.scheme.body_hash.and_then(|name| query_value(&url, name));
        let is_form = is_form(request.headers, hashed.is_none());
        let mut tails = Vec::new();
        if let Some(hash) = hashed {
            let own = to_hex(digest::digest(&digest::SHA256, request.body).as_ref());
            if verify_slices_are_equal(own.as_bytes(), hash.as_bytes()).is_ok() {
                tails.push(String::new());
            } else if !is_form {
                return Err(Reason::Body("its hash is not the one in the URL".into()));
            }
        }
        if is_form {
            tails.push(joined(form(request.body)?, self.scheme.may_repeat)?);
        } else if request.body.is_empty() {
            tails.push(String::new());
        }
        if tails.is_empty() {
            return Err(Reason::Body("it is no form, and its hash is not in the URL".into()));
        }
        let mut contents = Vec::new();
        for url in [without_port(&url), with_port(&url)] {
            contents.extend(tails.iter().map(|tail| format!("{url}{tail}")));
        }
        Ok(contents)
    }
}

fn is_form(headers: &Headers, otherwise: bool) -> bool {
    let said = headers.find("content-type").map(|value| value.trim().to_ascii_lowercase());
    match said.as_deref() {
        None | Some("") => otherwise,
        Some(kind) => kind.starts_with("application/x-www-form-urlencoded"),
    }
}

fn form(body: &[u8]) -> Result<Vec<Field<'_>>, Reason> {
    let text = std::str::from_utf8(body).map_err(|_| Reason::Body("it is not text".into()))?;
    form_fields(text).ok_or_else(|| Reason::Body("it has too many fields".into()))
}

/// Sorted by name, and the same value of one name only once: just as Twilio's library does. Who
/// is said never to repeat a name is held to it.
fn joined(mut fields: Vec<Field<'_>>, may_repeat: bool) -> Result<String, Reason> {
    fields.sort();
    if !may_repeat && fields.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return Err(Reason::Body("a field comes twice".into()));
    }
    fields.dedup();
    Ok(fields.iter().flat_map(|(name, value)| [&**name, &**value]).collect())
}

fn query_value<'a>(url: &'a str, name: &str) -> Option<Cow<'a, str>> {
    let fields = form_fields(path_and_query(url).1)?;
    fields.into_iter().find(|(own, _)| own == name).map(|(_, value)| value)
}

/// The URL with its own fields sorted, the fields of the form, and the nonce.
fn dotted(url: &str, request: &Request<'_>, nonce: &str) -> Result<String, Reason> {
    let (path, query) = path_and_query(url);
    let end = url.find("://").map_or(0, |at| at + 3);
    let host_end = url[end..].find(['/', '?', '#']).map_or(url.len(), |at| end + at);
    let mut content = url[..host_end].to_owned();
    if url[host_end..].starts_with('/') {
        content.push_str(path);
    }
    let many = || Reason::Url("it has too many parameters".into());
    let mut query = form_fields(query).ok_or_else(many)?;
    let mut fields = Vec::new();
    if !request.method.eq_ignore_ascii_case("GET") && is_form(request.headers, true) {
        fields = form(request.body)?;
    } else if !request.body.is_empty() {
        return Err(Reason::Body("it is no form, so nobody signed it".into()));
    }
    query.sort();
    fields.sort();
    if !query.is_empty() || !fields.is_empty() {
        content.push('?');
    }
    for (at, (name, value)) in query.iter().enumerate() {
        content.push_str(if at == 0 { "" } else { "&" });
        content.push_str(name);
        content.push('=');
        content.push_str(value);
    }
    if !query.is_empty() && !fields.is_empty() {
        content.push('.');
    }
    content.extend(fields.iter().flat_map(|(name, value)| [&**name, &**value]));
    content.push('.');
    content.push_str(nonce);
    Ok(content)
}

/// Where host and port are in a URL, and the port if it has one.
fn authority(url: &str) -> Option<(usize, usize, Option<usize>)> {
    let start = url.find("://")? + 3;
    let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |at| start + at);
    let host = url[start..end].rfind('@').map_or(start, |at| start + at + 1);
    let bracket = url[host..end].rfind(']').map_or(host, |at| host + at);
    let port = url[bracket..end].find(':').map(|at| bracket + at);
    Some((start, end, port))
}

fn without_port(url: &str) -> Cow<'_, str> {
    match authority(url) {
        Some((_, end, Some(port))) => format!("{}{}", &url[..port], &url[end..]).into(),
        _ => url.into(),
    }
}

fn with_port(url: &str) -> Cow<'_, str> {
    match authority(url) {
        Some((_, end, None)) => {
            let is_secure = url.get(..6).is_some_and(|head| head.eq_ignore_ascii_case("https:"));
            let port = if is_secure { 443 } else { 80 };
            format!("{}:{port}{}", &url[..end], &url[end..]).into()
        }
        _ => url.into(),
    }
}

#[cfg(test)]
mod tests;
