//! A source that describes its sender's scheme in its own settings.
//!
//! | setting | values | unless given |
//! |---|---|---|
//! | `type` | `hmac`, `hash`, `ed25519`, `ecdsa-p256`, `rsa`, `jwt`, `token`, `basic` | `hmac` |
//! | `header` | where the signature (or token) is | |
//! | `algorithm` | `sha1`, `sha256`, `sha384`, `sha512`, also as `hmac-sha256` | `sha256` |
//! | `encoding` | `hex`, `base64`, `base64url` | `hex` |
//! | `template` | what is signed, such as `{timestamp}.{body}` | `{body}` |
//! | `prefix` | what stands before the signature, such as `sha256=` | nothing |
//! | `signatureKey`, `timestampKey`, `separator` | names in a header like `t=…,v1=…` | |
//! | `timestampHeader`, `timestampUnit` | `seconds`, `milliseconds`, `rfc3339`, `auto` | `auto` |
//! | `toleranceSeconds` | a number, or `false` | 300 |
//! | `secretEncoding` | `text`, `base64`, `hex`, `whsec` | `text` |

use std::borrow::Cow;

use super::clock::TOLERANCE_SECONDS;
use super::options::Options;
use super::reason::BadVerifier;
use super::scheme::{
    Algorithm, BodyHash, Digest, Encoding, Issuer, Jwt, JwtKeys, KeyForm, Layout, Scheme, Signed,
    TimePlace, Token, TokenPlace, Unit, UrlClaim,
};

/// Which scheme the settings mean. `None`: they say nothing, and the provider's own count.
pub(super) fn kind(options: &Options<'_>) -> Result<Option<Kind>, BadVerifier> {
    let said = options.find(&["type", "scheme"]);
    Ok(Some(match said.as_deref().map(plain).as_deref() {
        None if options.find(&["header", "signatureHeader", "template", "algorithm"]).is_none() => {
            return Ok(None);
        }
        None => match options.find(&["algorithm"]).as_deref().map(plain).as_deref() {
            Some("ed25519") => Kind::Signed(Algorithm::Ed25519),
            Some("ecdsap256" | "ecdsa") => Kind::Signed(Algorithm::EcdsaP256(Digest::Sha256)),
            _ => Kind::Signed(Algorithm::Hmac(digest(options)?)),
        },
        Some("hmac") => Kind::Signed(Algorithm::Hmac(digest(options)?)),
        Some("hash") => Kind::Signed(Algorithm::Hash(digest(options)?)),
        Some("ed25519") => Kind::Signed(Algorithm::Ed25519),
        Some("ecdsap256" | "ecdsa") => Kind::Signed(Algorithm::EcdsaP256(digest(options)?)),
        Some("rsa") => Kind::Signed(Algorithm::Rsa(digest(options)?)),
        Some("jwt") => Kind::Jwt,
        Some("token" | "statictoken") => Kind::Token,
        Some("basic") => Kind::Basic,
        Some(_) => {
            return Err(bad(
                "type",
                "it is hmac, hash, ed25519, ecdsa-p256, rsa, jwt, token or basic",
            ));
        }
    }))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Signed(Algorithm),
    Jwt,
    Token,
    Basic,
}

/// The settings as a scheme, handed on because it borrows from them.
pub(super) fn with_scheme<T>(
    kind: Kind,
    options: &Options<'_>,
    compile: impl FnOnce(&Scheme<'_>) -> Result<T, BadVerifier>,
) -> Result<T, BadVerifier> {
    let header = options.find(&["header", "signatureHeader"]);
    match kind {
        Kind::Signed(algorithm) => {
            let header = header.ok_or_else(|| BadVerifier::MissingSetting("header".into()))?;
            signed(algorithm, &header, options, compile)
        }
        Kind::Jwt => {
            let header = header.as_deref().or(JWT.header);
            compile(&Scheme::Jwt(Jwt { header, ..JWT }))
        }
        Kind::Token => {
            let places = [TokenPlace::Header(header.as_deref().unwrap_or("authorization"))];
            compile(&Scheme::Token(Token { basic: false, only_basic: false, places: &places }))
        }
        Kind::Basic => {
            compile(&Scheme::Token(Token { basic: true, only_basic: true, places: &[] }))
        }
    }
}

pub(super) const JWT: Jwt<'static> = Jwt {
    header: Some("authorization"),
    keys: JwtKeys::Either,
    issuer: Issuer::Setting(&["issuer"]),
    required: &[],
    body_hash: BodyHash::IfThere("request_body_sha256"),
    url: UrlClaim::None,
    bearer: true,
    leeway: 60,
    issued_within: None,
};

fn signed<T>(
    algorithm: Algorithm,
    header: &str,
    options: &Options<'_>,
    compile: impl FnOnce(&Scheme<'_>) -> Result<T, BadVerifier>,
) -> Result<T, BadVerifier> {
    let template = options.find(&["template", "content", "signedContent"]);
    let contents = [template.as_deref().unwrap_or("{body}")];
    let headers = [header];
    let prefix = options.find(&["prefix"]);
    let name = options.find(&["signatureKey"]);
    let names = [name.as_deref().unwrap_or_default()];
    let time_name = options.find(&["timestampKey"]);
    let separator = options.find(&["separator"]).and_then(|text| text.chars().next());
    let time_header = options.find(&["timestampHeader"]);
    let shared = matches!(algorithm, Algorithm::Hmac(_) | Algorithm::Hash(_));

    let mut scheme =
        Signed::public(algorithm, &headers).over(&contents).written(encoding(options)?);
    if shared {
        scheme = scheme.keyed(key_form(options)?);
    }
    if let Some(prefix) = &prefix {
        scheme = scheme.prefix(prefix);
    }
    if name.is_some() {
        let separator = separator.unwrap_or(',');
        scheme = match &time_name {
            Some(time) => scheme.pairs(separator, time, &names),
            None => scheme.form(Layout::Pairs { separator, time: "", names: &names }),
        };
    }
    scheme = scheme.unit(unit(options)?);
    if let Some(header) = &time_header {
        scheme = scheme.timed(TimePlace::Header(header), scheme.unit);
    }
    if scheme.time != TimePlace::Nowhere {
        scheme = scheme.within(TOLERANCE_SECONDS);
    }
    if contents[0].contains("{timestamp}") && scheme.time == TimePlace::Nowhere {
        return Err(BadVerifier::MissingSetting("timestampHeader".into()));
    }
    // Whoever knows one signature would know them all.
    if matches!(algorithm, Algorithm::Hash(_)) && !contents[0].contains("{secret}") {
        return Err(bad("template", "a plain hash needs {secret} in it"));
    }
    if !contents[0].contains('{') {
        return Err(bad("template", "it has nothing of the request in it"));
    }
    compile(&scheme.scheme())
}

/// Also for `signingAlgorithm` of a source.
pub(super) fn digest_called(name: &str) -> Option<Digest> {
    let name = plain(name);
    let bare = name.strip_prefix("hmac").unwrap_or(&name);
    Some(match bare {
        "sha1" => Digest::Sha1,
        "sha256" => Digest::Sha256,
        "sha384" => Digest::Sha384,
        "sha512" => Digest::Sha512,
        _ => return None,
    })
}

/// Whether a source may name it.
pub(super) fn is_known_algorithm(name: &str) -> bool {
    let others =
        ["ed25519", "ecdsap256", "ecdsap256sha256", "rsasha256", "rsa", "jwt", "basic", "token"];
    digest_called(name).is_some() || others.contains(&plain(name).as_str())
}

fn digest(options: &Options<'_>) -> Result<Digest, BadVerifier> {
    match options.find(&["algorithm", "hash", "digest"]) {
        None => Ok(Digest::Sha256),
        Some(name) => digest_called(&name)
            .ok_or_else(|| bad("algorithm", "it is sha1, sha256, sha384 or sha512")),
    }
}

fn encoding(options: &Options<'_>) -> Result<Encoding, BadVerifier> {
    Ok(match options.find(&["encoding"]).as_deref().map(plain).as_deref() {
        None | Some("hex") => Encoding::HexAnyCase,
        Some("base64") => Encoding::Base64Lenient,
        Some("base64url") => Encoding::Base64Lenient,
        Some(_) => return Err(bad("encoding", "it is hex, base64 or base64url")),
    })
}

fn key_form(options: &Options<'_>) -> Result<KeyForm, BadVerifier> {
    Ok(match options.find(&["secretEncoding", "keyEncoding"]).as_deref().map(plain).as_deref() {
        None | Some("text" | "utf8" | "raw") => KeyForm::Text,
        Some("base64") => KeyForm::Base64,
        Some("hex") => KeyForm::Hex,
        Some("whsec") => KeyForm::Whsec,
        Some(_) => return Err(bad("secretEncoding", "it is text, base64, hex or whsec")),
    })
}

fn unit(options: &Options<'_>) -> Result<Unit, BadVerifier> {
    Ok(match options.find(&["timestampUnit", "timestampFormat"]).as_deref().map(plain).as_deref() {
        None | Some("auto" | "unix") => Unit::Either,
        Some("s" | "seconds") => Unit::Seconds,
        Some("ms" | "milliseconds") => Unit::Milliseconds,
        Some("rfc3339" | "iso8601" | "iso") => Unit::Rfc3339,
        Some(_) => {
            return Err(bad("timestampUnit", "it is seconds, milliseconds, rfc3339 or auto"));
        }
    })
}

fn plain(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|one| one.to_ascii_lowercase()).collect()
}

fn bad(name: &'static str, why: &'static str) -> BadVerifier {
    BadVerifier::Setting(Cow::Borrowed(name), Cow::Borrowed(why))
}

#[cfg(test)]
mod tests;
