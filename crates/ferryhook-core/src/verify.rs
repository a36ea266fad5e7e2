//! Verify: does a request come from whom its source says it does?
//!
//! A [`Verifier`] is compiled once for a source: the provider's scheme, the secrets made ready, the
//! settings read. Ingest asks it with the raw bytes of each request, before anything else looks at
//! them. It does no I/O: where a certificate is needed, it says which, and is asked again.
//!
//! It fails closed. An empty secret verifies nothing, an unknown provider or algorithm refuses to
//! compile, a header that cannot be read is an invalid signature. Signatures are compared in
//! constant time. Whatever a stranger sends, nothing here panics or takes longer than linear time.

pub mod scheme;

mod certificate;
mod clock;
mod encoding;
mod keys;
mod options;
mod public_key;
mod reason;
mod signed;
mod template;

use bytes::Bytes;

use crate::providers::{self, Pick, Provider};
use crate::{Headers, Map, Secret, Source, Timestamp};
use keys::Dated;
use options::Options;
use scheme::Scheme;

pub use clock::TOLERANCE_SECONDS;
pub use keys::SECRETS_MAX;
pub use reason::{BadVerifier, Reason};

/// A request, as it was sent.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    pub method: &'a str,
    /// The full public URL, as the sender called it.
    pub url: &'a str,
    pub headers: &'a Headers,
    pub body: &'a [u8],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Valid,
    Invalid(Reason),
    /// Fetch what is at this URL (its host has been checked), put it into [`Certificates`], and
    /// ask again.
    NeedsCertificate(String),
}

/// Certificates that have been fetched. Whoever fetches them keeps them, also that there is none.
pub trait Certificates {
    /// PEM or DER.
    fn find(&self, url: &str) -> Option<Bytes>;
}

/// Nobody has fetched any.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCertificates;

impl Certificates for NoCertificates {
    fn find(&self, _: &str) -> Option<Bytes> {
        None
    }
}

/// What a source verifies its requests with.
#[derive(Debug)]
pub struct Verifier {
    provider: &'static Provider,
    checkers: Vec<Checker>,
}

#[derive(Debug)]
enum Checker {
    Signed(signed::Checker),
}

impl Verifier {
    /// `None`: this source does not verify. It has no secret, and nobody asked for it.
    pub fn of(source: &Source) -> Result<Option<Self>, BadVerifier> {
        let current =
            source.signing_secret.iter().map(|secret| Dated { value: secret.clone(), until: None });
        let previous = source
            .previous_secrets
            .iter()
            .map(|old| Dated { value: old.secret.clone(), until: Some(old.valid_until) });
        let secrets: Vec<_> = current.chain(previous).collect();
        let asked = source.verification_mode.is_some() || source.signing_algorithm.is_some();
        if secrets.is_empty() && !asked && !says_how(&source.config) {
            return Ok(None);
        }
        Self::compile(&source.provider, &secrets, &source.config).map(Some)
    }

    /// With secrets that do not run out, the newest first.
    pub fn new(provider: &str, secrets: &[Secret], config: &Map) -> Result<Self, BadVerifier> {
        let secrets: Vec<_> =
            secrets.iter().map(|value| Dated { value: value.clone(), until: None }).collect();
        Self::compile(provider, &secrets, config)
    }

    /// The provider, by its name in the table.
    pub fn provider(&self) -> &'static str {
        self.provider.name
    }

    pub fn check(
        &self,
        request: &Request<'_>,
        now: Timestamp,
        certificates: &dyn Certificates,
    ) -> Verdict {
        let present = self.checkers.iter().filter(|checker| checker.is_present(request));
        let mut verdict = None;
        for checker in present {
            let own = checker.check(request, now, certificates);
            if own == Verdict::Valid || self.provider.pick == Pick::First {
                return own;
            }
            verdict.get_or_insert(own);
        }
        verdict.unwrap_or_else(|| match self.checkers.first() {
            Some(checker) => checker.check(request, now, certificates),
            None => Verdict::Invalid(Reason::NoValidSecret),
        })
    }

    fn compile(
        provider: &str,
        secrets: &[Dated<Secret>],
        config: &Map,
    ) -> Result<Self, BadVerifier> {
        let (provider, variant) = providers::resolve(provider)
            .ok_or_else(|| BadVerifier::UnknownProvider(provider.chars().take(64).collect()))?;
        let options = Options(config);
        let asked = options.find(&["scheme", "version", "signatureVersion"]);
        let schemes = provider.schemes_called(variant.or(asked.as_deref()))?;
        let checkers = schemes
            .iter()
            .map(|scheme| Checker::compile(scheme, secrets, &options))
            .collect::<Result<_, _>>()?;
        Ok(Self { provider, checkers })
    }
}

/// Whether the settings have something that is only there for verification.
fn says_how(config: &Map) -> bool {
    let options = Options(config);
    options.find(&["publicKey", "certificate", "webhookId", "scheme"]).is_some()
}

impl Checker {
    fn compile(
        scheme: &Scheme<'_>,
        secrets: &[Dated<Secret>],
        options: &Options<'_>,
    ) -> Result<Self, BadVerifier> {
        match scheme {
            Scheme::Signed(scheme) => {
                let secrets = keys::present(secrets)?;
                signed::Checker::compile(scheme, &secrets, options).map(Self::Signed)
            }
        }
    }

    fn is_present(&self, request: &Request<'_>) -> bool {
        match self {
            Self::Signed(checker) => checker.is_present(request.headers),
        }
    }

    fn check(
        &self,
        request: &Request<'_>,
        now: Timestamp,
        _certificates: &dyn Certificates,
    ) -> Verdict {
        match self {
            Self::Signed(checker) => checker.check(request, now).into(),
        }
    }
}

impl From<Result<(), Reason>> for Verdict {
    fn from(result: Result<(), Reason>) -> Self {
        result.map_or_else(Self::Invalid, |()| Self::Valid)
    }
}

/// Every value under this name, without the spaces around it. A star at the end of the name stands
/// for any number.
fn values<'r>(headers: &'r Headers, name: &str) -> impl Iterator<Item = &'r str> {
    let numbered = name.strip_suffix('*');
    headers
        .iter()
        .filter(move |(own, _)| match numbered {
            None => own.eq_ignore_ascii_case(name),
            Some(start) => own.get(..start.len()).is_some_and(|head| {
                let digits = &own[start.len()..];
                let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
                head.eq_ignore_ascii_case(start) && is_number
            }),
        })
        .map(|(_, value)| value.trim())
}

/// The value under this name. Two that differ are refused: who signed one of them did not mean
/// the other.
fn only_value<'r>(headers: &'r Headers, name: &str) -> Result<&'r str, Reason> {
    let mut all = values(headers, name);
    let first = all.next().filter(|value| !value.is_empty());
    let first = first.ok_or_else(|| Reason::MissingHeader(name.to_owned().into()))?;
    if all.any(|other| other != first) {
        return Err(Reason::RepeatedHeader(name.to_owned().into()));
    }
    Ok(first)
}

#[cfg(test)]
mod tests;
