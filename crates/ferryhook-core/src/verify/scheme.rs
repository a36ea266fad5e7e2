//! The schemes, as data: what a row of the provider table says about its signatures.
//!
//! Nothing here looks at a request. [`Verifier`](super::Verifier) turns a scheme, the secrets and
//! the settings of a source into something that does. A scheme borrows its words, so the same
//! types serve the table, where they are constants, and the source that describes its own.

mod signed;

pub use signed::{Algorithm, Digest, Encoding, KeyForm, Layout, Signed, TimePlace, Unit};

/// One way in which a provider proves that a request is its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme<'a> {
    /// Something is signed, and the signature is in a header.
    Signed(Signed<'a>),
    /// The URL and the fields of a form are signed.
    Form(Form<'a>),
    /// Fields of the body are signed, and the signature is one of them.
    Fields(Fields<'a>),
    /// A form of two fields: what is signed, and signatures with the name of their key.
    SignedField(SignedField<'a>),
    /// Signed with a key whose certificate is fetched.
    Certified(Certified),
    /// A token that says who sent it and what.
    Jwt(Jwt<'a>),
    /// Method, path, chosen headers and body, one a line.
    Canonical(Canonical<'a>),
    /// A secret that comes along: a token, or name and password.
    Token(Token<'a>),
}

impl Scheme<'_> {
    /// Whether there is only what the source itself puts into its URL.
    pub(crate) fn is_unsigned(&self) -> bool {
        let in_query = |place: &TokenPlace<'_>| matches!(place, TokenPlace::Query(_));
        matches!(self, Self::Token(own) if !own.basic && own.places.iter().all(in_query))
    }

    /// Where the proof is, in a few words.
    pub(crate) fn place(&self) -> String {
        match self {
            Self::Signed(scheme) => scheme.headers.join(" or "),
            Self::Form(scheme) => scheme.header.to_owned(),
            Self::Fields(_) | Self::SignedField(_) | Self::Certified(Certified::Sns) => {
                "in the body".to_owned()
            }
            Self::Certified(Certified::Paypal) => "paypal-transmission-sig".to_owned(),
            Self::Jwt(scheme) => scheme.header.unwrap_or("in the body").to_owned(),
            Self::Canonical(scheme) => scheme.signature.to_owned(),
            Self::Token(scheme) => {
                let mut places: Vec<_> = scheme.places.iter().map(TokenPlace::name).collect();
                if scheme.basic {
                    places.insert(0, "Basic in authorization".to_owned());
                }
                places.join(" or ")
            }
        }
    }
}

impl TokenPlace<'_> {
    fn name(&self) -> String {
        match self {
            Self::Header(name) => (*name).to_owned(),
            Self::Query(name) => format!("?{name}="),
            Self::Each(_, name) => format!("{name} in the body"),
        }
    }
}

/// The URL with the sorted fields of a form behind it, as base64 of an HMAC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form<'a> {
    pub header: &'a str,
    pub digest: Digest,
    /// Where the sender names another algorithm.
    pub settings_header: Option<&'a str>,
    /// Where the URL has the hash of a body that is no form.
    pub body_hash: Option<&'a str>,
    /// With dots between URL, fields and this header; the URL's own fields are sorted too.
    pub nonce_header: Option<&'a str>,
    /// Whether a field may have several values.
    pub may_repeat: bool,
}

/// An HMAC-SHA256 of fields of a JSON body, of a form, or of JSON in a field of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fields<'a> {
    pub key: KeyForm,
    /// A list of which every item is signed, and what is signed in each.
    pub each: Option<(&'a str, &'a str)>,
    /// Where the fields may be; the first that has a signature counts.
    pub bases: &'a [&'a str],
    pub signed: &'a [&'a str],
    pub separator: &'a str,
    /// Otherwise a field that is not there is an error.
    pub missing_is_empty: bool,
    pub signature: &'a str,
    pub encoding: Encoding,
    /// In seconds.
    pub time: Option<(&'a str, u32)>,
}

/// An HMAC-SHA1 whose key is the hash of the secret. Signatures are `key|signature`, with `&`
/// between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedField<'a> {
    pub signatures: &'a str,
    pub content: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certified {
    /// Signature and address of the certificate are in the body.
    Sns,
    /// They are in headers.
    Paypal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Jwt<'a> {
    /// The header it is in; `None` where the body is the token.
    pub header: Option<&'a str>,
    pub keys: JwtKeys,
    pub issuer: Issuer<'a>,
    /// Claims that must be there, besides those below.
    pub required: &'a [&'a str],
    pub body_hash: BodyHash<'a>,
    pub url: UrlClaim<'a>,
    /// Whether the sender writes `Bearer` before it in `Authorization`. Both are understood.
    pub bearer: bool,
    /// In seconds.
    pub leeway: u32,
    /// How old it may be by its own word.
    pub issued_within: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JwtKeys {
    /// HS256.
    Shared,
    /// HS256, HS384, HS512.
    AnyShared,
    /// ES256.
    P256,
    /// RS256.
    Rsa,
    /// What the key is made for: HS where it is no public key.
    Either,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Issuer<'a> {
    Any,
    Is(&'a str),
    /// As the source says, if it does.
    Setting(&'a [&'a str]),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyHash<'a> {
    None,
    Required(&'a str),
    /// Where there is a body.
    WithBody(&'a str),
    IfThere(&'a str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UrlClaim<'a> {
    None,
    Is(&'a str),
    /// The hash of the URL, in hex.
    Hash(&'a str),
}

/// An HMAC-SHA256 in hex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Canonical<'a> {
    pub signature: &'a str,
    pub signed_headers: &'a str,
    /// Milliseconds.
    pub timestamp: &'a str,
    pub tolerance: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// Whether name and password may come instead, as `Basic` in `Authorization`.
    pub basic: bool,
    /// Whether only those may come.
    pub only_basic: bool,
    pub places: &'a [TokenPlace<'a>],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenPlace<'a> {
    /// In `Authorization` the word `Bearer` may stand before it.
    Header(&'a str),
    Query(&'a str),
    /// A field of each item of a list in a JSON body.
    Each(&'a str, &'a str),
}
