//! Why a request was not verified, and why a source cannot verify any.

use std::borrow::Cow;

/// One sentence for the sender's developer. Never has a secret or an expected signature in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    #[error("the header {0} is missing")]
    MissingHeader(Cow<'static, str>),
    #[error("the header {0} came several times with different values")]
    RepeatedHeader(Cow<'static, str>),
    #[error("the header {0} is not as this provider writes it: {1}")]
    Malformed(Cow<'static, str>, Cow<'static, str>),
    #[error("the header {0} is not {1:?}")]
    HeaderValue(Cow<'static, str>, Cow<'static, str>),
    #[error("the body is not as this provider writes it: {0}")]
    Body(Cow<'static, str>),
    #[error("the URL is not as this provider calls it: {0}")]
    Url(Cow<'static, str>),
    #[error("the signature does not match")]
    Mismatch,
    #[error("the user name or the password is not the right one")]
    Credentials,
    #[error("the token is not the right one")]
    Token,
    #[error("the token is not valid: {0}")]
    Jwt(Cow<'static, str>),
    #[error("the timestamp {0:?} is not one")]
    NotATime(String),
    #[error("the timestamp is {seconds} s old, and {allowed} s are allowed")]
    TooOld { seconds: u64, allowed: u64 },
    #[error("the timestamp is {seconds} s in the future, and {allowed} s are allowed")]
    FromTheFuture { seconds: u64, allowed: u64 },
    #[error("the certificate must not be fetched from {0:?}")]
    CertificateUrl(String),
    #[error("the certificate cannot be used: {0}")]
    Certificate(Cow<'static, str>),
    #[error("every secret of this source has run out")]
    NoValidSecret,
}

/// Why nothing that arrives here could be verified. Such a source refuses everything.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadVerifier {
    #[error("no provider is called {0:?}")]
    UnknownProvider(String),
    #[error("{provider} has no scheme called {asked:?}; there is {known}")]
    UnknownScheme { provider: &'static str, asked: String, known: String },
    #[error("the secret is missing or empty")]
    NoSecret,
    #[error("the secret is not of the form that this provider gives out: {0}")]
    Secret(&'static str),
    #[error("the setting {0} is missing")]
    MissingSetting(Cow<'static, str>),
    #[error("the setting {0} is not usable: {1}")]
    Setting(Cow<'static, str>, Cow<'static, str>),
    #[error("the template {0:?} is not understood: {1}")]
    Template(String, &'static str),
}
