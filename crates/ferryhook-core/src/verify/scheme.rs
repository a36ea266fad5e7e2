//! The schemes, as data: what a row of the provider table says about its signatures.
//!
//! Nothing here looks at a request. [`Verifier`](super::Verifier) turns a scheme, the secrets and
//! the settings of a source into something that does. A scheme borrows its words, so the same
//! types serve the table, where they are constants, and the source that describes its own.

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

/// A signature in a header over a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signed<'a> {
    pub algorithm: Algorithm,
    pub key: KeyForm,
    /// What is signed, as a template; where documents disagree, each of them.
    pub contents: &'a [&'a str],
    /// The first of these that is there counts. A star at the end stands for any number.
    pub headers: &'a [&'a str],
    pub form: Layout<'a>,
    pub encoding: Encoding,
    pub time: TimePlace<'a>,
    pub unit: Unit,
    /// In seconds, either way. `None`: the provider's own library does not look at the time, so
    /// neither do we unless the source asks for it.
    pub tolerance: Option<u32>,
    /// Headers that must be there with just this value.
    pub requires: &'a [(&'a str, &'a str)],
    /// A header that must have this value if it is there.
    pub agrees: Option<(&'a str, &'a str)>,
    /// A header that must be what the source has under this setting, if it has it.
    pub bound: Option<(&'a str, &'a str)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digest {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    Hmac(Digest),
    /// A plain hash of a template that has the secret in it.
    Hash(Digest),
    Ed25519,
    /// The signature as DER.
    EcdsaP256(Digest),
    /// RSA with PKCS #1 v1.5 padding.
    Rsa(Digest),
}

/// How the secret's text becomes a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyForm {
    /// As it is.
    Text,
    Base64,
    Hex,
    /// Base64 behind `whsec_`, which may be missing.
    Whsec,
    /// Base64 behind `whsec_`; without that, the text as it is.
    WhsecOrText,
    /// The text as it is, and also what base64 behind `whsec_` stands for, if it does.
    TextOrWhsec,
    /// The text with the characters that HTML escapes undone.
    HtmlText,
    /// A public key behind `whpk_`; a secret that is something else is left to other schemes.
    Whpk,
    /// A public key: PEM, base64 or hex of DER or of the bare key, JWK, or JWKS.
    Public,
}

/// How the header is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout<'a> {
    /// The signature and nothing else.
    Bare,
    /// The signature behind a prefix.
    Prefix(&'a str),
    /// `t=…,v1=…`: names and values between separators. Any of the names has a signature.
    Pairs { separator: char, time: &'a str, names: &'a [&'a str] },
    /// As `Pairs`, and several such groups with spaces between them.
    PairGroups { separator: char, time: &'a str, names: &'a [&'a str] },
    /// A list whose elements start with a version: `v1,… v1,…` or `v1=…,v1=…`.
    Versions { version: &'a str, separators: &'a [char] },
    /// `time,signature,signature`.
    Positional,
    /// Base64 of a JSON object that has the signature in this field.
    Base64Json(&'a str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Lower case, as every library writes and compares it.
    Hex,
    HexAnyCase,
    /// With padding, as every library writes and compares it.
    Base64,
    /// Either alphabet, with or without padding.
    Base64Lenient,
    /// The alphabet for URLs, without padding.
    Base64Url,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimePlace<'a> {
    Nowhere,
    /// Beside the signature, where the form has a place for it.
    InSignature,
    Header(&'a str),
    /// A number at the top of a JSON body, and so part of what is signed.
    Body(&'a str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Seconds,
    Milliseconds,
    /// RFC 3339, in UTC where no zone is given.
    Rfc3339,
    /// Any of these, told apart by their looks.
    Either,
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

impl<'a> Signed<'a> {
    pub const fn hmac(digest: Digest, headers: &'a [&'a str]) -> Self {
        Self {
            algorithm: Algorithm::Hmac(digest),
            key: KeyForm::Text,
            contents: &["{body}"],
            headers,
            form: Layout::Bare,
            encoding: Encoding::Hex,
            time: TimePlace::Nowhere,
            unit: Unit::Seconds,
            tolerance: None,
            requires: &[],
            agrees: None,
            bound: None,
        }
    }

    pub const fn hash(digest: Digest, headers: &'a [&'a str]) -> Self {
        let mut scheme = Self::hmac(digest, headers);
        scheme.algorithm = Algorithm::Hash(digest);
        scheme
    }

    /// Signed with a private key; the source has the public one.
    pub const fn public(algorithm: Algorithm, headers: &'a [&'a str]) -> Self {
        let mut scheme = Self::hmac(Digest::Sha256, headers);
        scheme.algorithm = algorithm;
        scheme.key = KeyForm::Public;
        scheme
    }

    pub const fn over(mut self, contents: &'a [&'a str]) -> Self {
        self.contents = contents;
        self
    }

    pub const fn keyed(mut self, key: KeyForm) -> Self {
        self.key = key;
        self
    }

    pub const fn form(mut self, form: Layout<'a>) -> Self {
        self.form = form;
        self
    }

    pub const fn prefix(self, prefix: &'a str) -> Self {
        self.form(Layout::Prefix(prefix))
    }

    /// `t=…,v1=…`, with the time in it.
    pub const fn pairs(mut self, separator: char, time: &'a str, names: &'a [&'a str]) -> Self {
        self.time = TimePlace::InSignature;
        self.form(Layout::Pairs { separator, time, names })
    }

    pub const fn versions(self, version: &'a str, separators: &'a [char]) -> Self {
        self.form(Layout::Versions { version, separators })
    }

    pub const fn written(mut self, encoding: Encoding) -> Self {
        self.encoding = encoding;
        self
    }

    pub const fn timed(mut self, time: TimePlace<'a>, unit: Unit) -> Self {
        self.time = time;
        self.unit = unit;
        self
    }

    pub const fn unit(mut self, unit: Unit) -> Self {
        self.unit = unit;
        self
    }

    pub const fn within(mut self, seconds: u32) -> Self {
        self.tolerance = Some(seconds);
        self
    }

    /// The time is signed, and nobody looks at it.
    pub const fn untimed(mut self) -> Self {
        self.tolerance = None;
        self
    }

    pub const fn bound(mut self, header: &'a str, setting: &'a str) -> Self {
        self.bound = Some((header, setting));
        self
    }

    pub const fn requiring(mut self, headers: &'a [(&'a str, &'a str)]) -> Self {
        self.requires = headers;
        self
    }

    pub const fn agreeing(mut self, header: &'a str, value: &'a str) -> Self {
        self.agrees = Some((header, value));
        self
    }

    pub const fn scheme(self) -> Scheme<'a> {
        Scheme::Signed(self)
    }
}
