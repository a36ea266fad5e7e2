//! Schemes in words.

use crate::providers::{Scheme, Variant};
use crate::verify::scheme::{
    Algorithm, BodyHash, Certified, Digest, Encoding, Issuer, JwtKeys, KeyForm, Signed, TimePlace,
    TokenPlace, UrlClaim,
};

pub(super) fn variant(own: &Variant) -> String {
    let asked = if own.only_asked { ", only if asked for" } else { "" };
    match own.name {
        "" => scheme(&own.scheme),
        name => format!("`{name}`{asked}: {}", scheme(&own.scheme)),
    }
}

fn scheme(scheme: &Scheme<'_>) -> String {
    match scheme {
        Scheme::Signed(own) => signed(own),
        Scheme::Form(own) => {
            let digest = digest(own.digest);
            format!("`{}`: HMAC-{digest}, base64, of the URL and the sorted fields", own.header)
        }
        Scheme::Fields(own) => {
            let fields: Vec<_> =
                own.signed.iter().map(|name| name.trim_start_matches('/')).collect();
            let each = own.each.map_or("", |_| " of each item");
            let within = own.time.map_or_else(String::new, |(_, within)| format!(", {within} s"));
            format!(
                "in the body: HMAC-SHA256, {}, of `{}`{each}{within}",
                encoding(own.encoding),
                fields.join("`, `")
            )
        }
        Scheme::SignedField(own) => {
            format!("form fields `{}` and `{}`: HMAC-SHA1, hex", own.signatures, own.content)
        }
        Scheme::Certified(Certified::Sns) => {
            "in the body: RSA with a certificate of Amazon".to_owned()
        }
        Scheme::Certified(Certified::Paypal) => {
            "`paypal-transmission-sig`: RSA with a certificate of PayPal".to_owned()
        }
        Scheme::Jwt(own) => {
            let place =
                own.header.map_or_else(|| "the body".to_owned(), |name| format!("`{name}`"));
            let keys = match own.keys {
                JwtKeys::Shared => "HS256",
                JwtKeys::AnyShared => "HS256, HS384 or HS512",
                JwtKeys::P256 => "ES256",
                JwtKeys::Rsa => "RS256",
                JwtKeys::Either => "HS256, ES256 or RS256",
            };
            let hash = match own.body_hash {
                BodyHash::None => ", the body is not covered".to_owned(),
                BodyHash::Required(claim) | BodyHash::WithBody(claim) => {
                    format!(", hash of the body in `{claim}`")
                }
                BodyHash::IfThere(claim) => {
                    format!(", hash of the body in `{claim}` if it is there")
                }
            };
            let url = match own.url {
                UrlClaim::None => String::new(),
                UrlClaim::Is(claim) => format!(", URL in `{claim}`"),
                UrlClaim::Hash(claim) => format!(", hash of the URL in `{claim}`"),
            };
            format!("{place}: JWT, {keys}{hash}{url}")
        }
        Scheme::Canonical(own) => format!(
            "`{}`: HMAC-SHA256, hex, of method, path, signed headers and body; {} s",
            own.signature, own.tolerance
        ),
        Scheme::Token(own) => {
            let mut ways = Vec::new();
            if own.basic {
                ways.push("name and password (`Basic`)".to_owned());
            }
            ways.extend(own.places.iter().map(|place| match place {
                TokenPlace::Header(name) => format!("token in `{name}`"),
                TokenPlace::Query(name) => format!("token in `?{name}=`"),
                TokenPlace::Each(list, field) => format!("token in each `{list}{field}`"),
            }));
            ways.join(", ")
        }
    }
}

fn signed(own: &Signed<'_>) -> String {
    let algorithm = match own.algorithm {
        Algorithm::Hmac(hash) => format!("HMAC-{}", digest(hash)),
        Algorithm::Hash(hash) => format!("plain {}", digest(hash)),
        Algorithm::Ed25519 => "Ed25519".to_owned(),
        Algorithm::EcdsaP256(hash) => format!("ECDSA P-256 with {}", digest(hash)),
        Algorithm::Rsa(hash) => format!("RSA with {}", digest(hash)),
    };
    let contents: Vec<_> =
        own.contents.iter().map(|text| format!("`{}`", text.replace('|', "\\|"))).collect();
    let time = match (own.time, own.tolerance) {
        (TimePlace::Nowhere, _) => "",
        (_, None) => "; any age",
        (_, Some(seconds)) => &format!("; {seconds} s"),
    };
    format!(
        "`{}`: {algorithm}, {}, of {}{time}",
        own.headers.join("` or `"),
        encoding(own.encoding),
        contents.join(" or "),
    )
}

fn digest(own: Digest) -> &'static str {
    match own {
        Digest::Sha1 => "SHA1",
        Digest::Sha256 => "SHA256",
        Digest::Sha384 => "SHA384",
        Digest::Sha512 => "SHA512",
    }
}

fn encoding(own: Encoding) -> &'static str {
    match own {
        Encoding::Hex | Encoding::HexAnyCase => "hex",
        Encoding::Base64 | Encoding::Base64Lenient => "base64",
        Encoding::Base64Url => "base64url",
    }
}

pub(super) fn secret(scheme: &Scheme<'_>) -> &'static str {
    match scheme {
        Scheme::Signed(Signed { key, .. }) => match key {
            KeyForm::Text | KeyForm::HtmlText => "text",
            KeyForm::Base64 => "base64",
            KeyForm::Hex => "hex",
            KeyForm::Whsec => "base64, `whsec_` before it or not",
            KeyForm::WhsecOrText => "base64 behind `whsec_`, else text",
            KeyForm::TextOrWhsec => "text, or base64 behind `whsec_`",
            KeyForm::Whpk => "public key behind `whpk_`",
            KeyForm::Public => "public key",
        },
        Scheme::Fields(own) if own.key == KeyForm::Hex => "hex",
        Scheme::Form(_) | Scheme::Fields(_) | Scheme::SignedField(_) | Scheme::Canonical(_) => {
            "text"
        }
        Scheme::Certified(_) => "none",
        Scheme::Jwt(own) => match own.keys {
            JwtKeys::Shared | JwtKeys::AnyShared => "text",
            JwtKeys::P256 | JwtKeys::Rsa => "public key",
            JwtKeys::Either => "text or public key",
        },
        Scheme::Token(own) if own.only_basic => "`name:password`",
        Scheme::Token(own) if own.basic => "token or `name:password`",
        Scheme::Token(_) => "token",
    }
}

pub(super) fn settings(scheme: &Scheme<'_>) -> Vec<String> {
    let url = || vec!["publicUrl".to_owned()];
    match scheme {
        Scheme::Signed(own) => {
            let mut names = Vec::new();
            for content in own.contents {
                if content.contains("{url") {
                    names.extend(url());
                }
                let asked = content.split("{config:").skip(1);
                names.extend(asked.filter_map(|rest| Some(rest.split_once('}')?.0.to_owned())));
            }
            names.extend(own.bound.map(|(_, setting)| setting.to_owned()));
            names
        }
        Scheme::Form(_) => url(),
        Scheme::SignedField(_) => vec!["publicKey".to_owned()],
        Scheme::Certified(Certified::Sns) => vec!["topicArn".to_owned(), "certificate".to_owned()],
        Scheme::Certified(Certified::Paypal) => {
            vec!["webhookId".to_owned(), "certificate".to_owned()]
        }
        Scheme::Jwt(own) => {
            let issuer = match own.issuer {
                Issuer::Setting(names) => names.first().map(|name| (*name).to_owned()),
                Issuer::Any | Issuer::Is(_) => None,
            };
            issuer
                .into_iter()
                .chain(if own.url == UrlClaim::None { Vec::new() } else { url() })
                .collect()
        }
        Scheme::Fields(_) | Scheme::Canonical(_) | Scheme::Token(_) => Vec::new(),
    }
}
