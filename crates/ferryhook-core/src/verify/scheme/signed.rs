//! A signature in a header, and the words to describe one with.

use super::Scheme;

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
    /// As `Pairs`, with a space behind each comma.
    SpacedPairs { time: &'a str, names: &'a [&'a str] },
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
