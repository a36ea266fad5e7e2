//! Verify: does a request come from whom its source says it does?
//!
//! A [`Verifier`] is compiled once for a source: the provider's scheme, the secrets made ready, the
//! settings read. Ingest asks it with the raw bytes of each request, before anything else looks at
//! them. It does no I/O: where a certificate is needed, it says which, and is asked again.
//!
//! It fails closed. An empty secret verifies nothing, an unknown provider or algorithm refuses to
//! compile, a header that cannot be read is an invalid signature. Signatures are compared in
//! constant time. Whatever a stranger sends, nothing here panics or takes longer than linear time.

pub mod doctor;
pub mod line;
pub mod scheme;
pub mod sign;

mod canonical;
mod certificate;
mod clock;
mod custom;
mod document;
mod encoding;
mod fields;
mod form;
mod jwt;
mod keys;
mod options;
mod public_key;
mod reason;
mod signed;
mod template;
mod token;

use bytes::Bytes;

use crate::providers::{self, Pick, Provider};
use crate::{Headers, Map, Secret, Source, Timestamp};
use keys::Dated;
use options::Options;
use scheme::{Certified, Scheme};

pub use clock::TOLERANCE_SECONDS;
pub use jwt::claims_signed_by;
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
    /// What it was made of, for the doctor.
    secrets: Vec<Dated<Secret>>,
    config: Map,
}

#[derive(Debug)]
enum Checker {
    Signed(signed::Checker),
    Form(form::Checker),
    Fields(fields::Checker),
    SignedField(fields::FieldChecker),
    Certified(certificate::Checker),
    Jwt(jwt::Checker),
    Canonical(canonical::Checker),
    Token(token::Checker),
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
        if secrets.is_empty() && !asked && !says_how(&source.provider, &source.config) {
            return Ok(None);
        }
        let Some(algorithm) = &source.signing_algorithm else {
            return Self::compile(&source.provider, &secrets, &source.config).map(Some);
        };
        if !custom::is_known_algorithm(algorithm) {
            let why = "nobody knows this algorithm".into();
            return Err(BadVerifier::Setting("signingAlgorithm".into(), why));
        }
        let mut config = source.config.clone();
        if describes(&source.provider, &source.config) && !config.contains_key("algorithm") {
            config.insert("algorithm".to_owned(), algorithm.clone().into());
        }
        Self::compile(&source.provider, &secrets, &config).map(Some)
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
        let made = |checkers| Self {
            provider,
            checkers,
            secrets: secrets.to_vec(),
            config: config.clone(),
        };
        let secrets = keys::present(secrets);
        if provider.name == CUSTOM
            && let Some(kind) = custom::kind(&options)?
        {
            let checker = custom::with_scheme(kind, &options, |scheme| {
                Checker::compile_custom(scheme, &secrets, &options)
            })?;
            return Ok(made(vec![checker]));
        }
        let asked = options.scheme();
        let schemes = provider.schemes_called(variant.or(asked.as_deref()))?;
        let mut checkers = Vec::new();
        for scheme in &schemes {
            match Checker::compile(scheme, &secrets, &options) {
                Ok(checker) => checkers.push(checker),
                // Its secrets are of another kind, and then another scheme has them.
                Err(BadVerifier::NoSecret) => {}
                Err(error) => return Err(error),
            }
        }
        if checkers.is_empty() { Err(BadVerifier::NoSecret) } else { Ok(made(checkers)) }
    }
}

const CUSTOM: &str = "custom";

/// Whether the source describes its sender's scheme itself, rightly or not.
fn describes(provider: &str, config: &Map) -> bool {
    let provider = providers::find(provider);
    let is_custom = provider.is_some_and(|provider| provider.name == CUSTOM);
    is_custom && !matches!(custom::kind(&Options(config)), Ok(None))
}

/// Whether there is something that is only there for verification, or nothing is needed for it.
pub fn says_how(provider: &str, config: &Map) -> bool {
    let options = Options(config);
    let describes = describes(provider, config);
    let provider = providers::find(provider);
    let needs_nothing = provider.is_some_and(|provider| {
        let mut own = provider.schemes.iter().map(|own| own.scheme);
        own.any(|scheme| scheme == Scheme::Certified(Certified::Sns))
    });
    // One that is unknown was asked for too; one that signs nothing asks for nothing.
    let asks = |name: &str| match provider.map(|provider| provider.schemes_called(Some(name))) {
        Some(Ok(schemes)) => !schemes.iter().all(Scheme::is_unsigned),
        Some(Err(_)) | None => true,
    };
    let names_scheme = options.say_scheme() && options.scheme().as_deref().is_none_or(asks);
    options.say_how() || names_scheme || describes || needs_nothing
}

impl Checker {
    fn compile(
        scheme: &Scheme<'static>,
        secrets: &[Dated<&str>],
        options: &Options<'_>,
    ) -> Result<Self, BadVerifier> {
        let needed = || if secrets.is_empty() { Err(BadVerifier::NoSecret) } else { Ok(secrets) };
        match *scheme {
            Scheme::Signed(_) | Scheme::Token(_) => Self::compile_custom(scheme, secrets, options),
            Scheme::Form(scheme) => {
                form::Checker::compile(scheme, needed()?, options).map(Self::Form)
            }
            Scheme::Fields(scheme) => {
                fields::Checker::compile(scheme, needed()?, options).map(Self::Fields)
            }
            Scheme::SignedField(scheme) => {
                let checker = fields::FieldChecker::compile(scheme, needed()?, options);
                Ok(Self::SignedField(checker))
            }
            Scheme::Certified(scheme) => {
                certificate::Checker::compile(scheme, secrets, options).map(Self::Certified)
            }
            Scheme::Jwt(scheme) => jwt::Checker::compile(scheme, secrets, options).map(Self::Jwt),
            Scheme::Canonical(scheme) => {
                canonical::Checker::compile(scheme, needed()?, options).map(Self::Canonical)
            }
        }
    }

    /// Those that a source may describe itself; they keep nothing of the scheme's own words.
    fn compile_custom(
        scheme: &Scheme<'_>,
        secrets: &[Dated<&str>],
        options: &Options<'_>,
    ) -> Result<Self, BadVerifier> {
        match scheme {
            Scheme::Token(scheme) => {
                token::Checker::compile(scheme, secrets, options).map(Self::Token)
            }
            Scheme::Signed(scheme) => {
                signed::Checker::compile(scheme, secrets, options).map(Self::Signed)
            }
            Scheme::Jwt(scheme) => {
                let checker = jwt::Checker::compile(custom::JWT, secrets, options)?;
                Ok(Self::Jwt(match scheme.header {
                    Some(name) => checker.in_header(name),
                    None => checker,
                }))
            }
            _ => Err(BadVerifier::Setting("type".into(), "it cannot be described".into())),
        }
    }

    fn is_present(&self, request: &Request<'_>) -> bool {
        match self {
            Self::Signed(checker) => checker.is_present(request.headers),
            Self::Form(checker) => checker.is_present(request.headers),
            Self::Jwt(checker) => checker.is_present(request.headers),
            Self::Canonical(checker) => checker.is_present(request.headers),
            Self::Token(checker) => checker.is_present(request),
            Self::Fields(_) | Self::SignedField(_) | Self::Certified(_) => true,
        }
    }

    fn check(
        &self,
        request: &Request<'_>,
        now: Timestamp,
        certificates: &dyn Certificates,
    ) -> Verdict {
        match self {
            Self::Signed(checker) => checker.check(request, now).into(),
            Self::Form(checker) => checker.check(request, now).into(),
            Self::Fields(checker) => checker.check(request, now).into(),
            Self::SignedField(checker) => checker.check(request, now).into(),
            Self::Certified(checker) => checker.check(request, certificates),
            Self::Jwt(checker) => checker.check(request, now).into(),
            Self::Canonical(checker) => checker.check(request, now).into(),
            Self::Token(checker) => checker.check(request, now).into(),
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
