//! docs/providers.md says what the table says: the parts of it between marks are made of the
//! table and of the vectors, and a test holds them fast. To write them anew:
//! `FERRYHOOK_WRITE_DOCS=1 cargo test -p ferryhook-core --lib the_documents`

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::*;
use crate::handshake::{self, Content, Effect, Handshake, Keyed, Part, When};
use crate::verify::scheme::{
    Algorithm, BodyHash, Certified, Digest, Encoding, Issuer, JwtKeys, KeyForm, Signed, TimePlace,
    TokenPlace, UrlClaim,
};

#[derive(Deserialize)]
struct Vector {
    provider: String,
    by: String,
    tier: String,
    note: String,
    valid: bool,
}

#[test]
fn the_documents_say_what_the_table_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/providers.md");
    let written = std::fs::read_to_string(&path).expect("docs/providers.md");
    let vectors = vectors();
    let made = replaced(&written, "providers", &providers_table(&vectors));
    let made = replaced(&made, "differences", &differences_table(&vectors));
    if std::env::var_os("FERRYHOOK_WRITE_DOCS").is_some() {
        std::fs::write(&path, &made).expect("docs/providers.md");
    } else {
        let stale = made.lines().zip(written.lines()).find(|(made, written)| made != written);
        assert_eq!(stale, None, "write it anew: FERRYHOOK_WRITE_DOCS=1 cargo test the_documents");
        assert_eq!(made, written);
    }
}

/// The text with what stands between the marks of this name replaced.
fn replaced(text: &str, name: &str, with: &str) -> String {
    let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = text.split_once(&start).expect("the mark that starts");
    let (_, after) = rest.split_once(&end).expect("the mark that ends");
    format!("{before}{start}{with}{end}{after}")
}

fn vectors() -> Vec<Vector> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read = |path: &PathBuf| -> Vec<Vector> {
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    files.iter().flat_map(read).collect()
}

fn providers_table(vectors: &[Vector]) -> String {
    let mut judges: BTreeMap<&str, (usize, BTreeSet<&str>)> = BTreeMap::new();
    for vector in vectors {
        let Some(own) = find(&vector.provider) else { panic!("{}", vector.provider) };
        let (count, names) = judges.entry(own.name).or_default();
        *count += 1;
        names.extend(vector.by.split(", "));
    }
    let mut text = String::from(
        "| provider | how it signs | secret | settings | event id | event type | handshake | judged by |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for provider in all() {
        let mark = match provider.confidence {
            Confidence::Settled => "",
            Confidence::Experimental => " \\*",
        };
        let schemes = provider.schemes;
        let how: Vec<_> = schemes.iter().map(variant).collect();
        let secrets: BTreeSet<_> = schemes.iter().map(|own| secret(&own.scheme)).collect();
        let settings: BTreeSet<_> = schemes
            .iter()
            .flat_map(|own| settings(&own.scheme))
            .chain(asked_for(provider))
            .collect();
        let code = |expression: &str| match expression {
            "" => String::new(),
            text => format!("`{}`", text.replace('|', "\\|")),
        };
        let batch = match provider.batch {
            Batch::No => String::new(),
            Batch::Body => " (each of a list)".to_owned(),
            Batch::At(path) => format!(" (each of `{path}`, if split)"),
        };
        let judged = judges.get(provider.name).map_or_else(String::new, |(count, names)| {
            let names: Vec<_> = names.iter().copied().collect();
            format!("{} ({count})", names.join(", "))
        });
        let settings: Vec<_> = settings.into_iter().map(|name| format!("`{name}`")).collect();
        writeln!(
            text,
            "| {}{mark} | {} | {} | {} | {}{batch} | {} | {} | {judged} |",
            provider.name,
            how.join("; "),
            secrets.into_iter().collect::<Vec<_>>().join(" or "),
            settings.join(", "),
            code(provider.id),
            code(provider.event_type),
            handshakes(provider.name),
        )
        .unwrap();
    }
    text
}

/// Empty secrets are told about in the text: nearly every library takes them.
fn differences_table(vectors: &[Vector]) -> String {
    let mut text = String::from(
        "| provider | request, and what the libraries say | we say |\n|---|---|---|\n",
    );
    let edge =
        |vector: &&Vector| vector.tier == "edge" && !vector.note.starts_with("an empty secret");
    for vector in vectors.iter().filter(edge) {
        let ours = if vector.valid { "valid" } else { "not valid" };
        writeln!(text, "| {} | {} | {ours} |", vector.provider, vector.note.replace('|', "\\|"))
            .unwrap();
    }
    text
}

fn variant(own: &Variant) -> String {
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

fn secret(scheme: &Scheme<'_>) -> &'static str {
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

fn settings(scheme: &Scheme<'_>) -> Vec<String> {
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

/// What handshakes ask the source for, and which of several schemes it means.
fn asked_for(provider: &Provider) -> Vec<String> {
    let mut names = Vec::new();
    if provider.schemes.iter().any(|own| !own.name.is_empty()) {
        names.push("scheme".to_owned());
    }
    for own in handshake::handshakes_of(provider.name) {
        let parts = parts(own);
        if own.token.is_some()
            || parts.iter().any(|part| matches!(part, Part::Keyed(Keyed::Ebay, _)))
        {
            names.push("verifyToken".to_owned());
        }
        if parts.iter().any(|part| matches!(part, Part::Origin(_))) {
            names.push("allowedOrigins".to_owned());
        }
    }
    names
}

fn parts(own: &Handshake) -> Vec<Part> {
    let content = match own.content {
        Content::Empty => Vec::new(),
        Content::Text(part) => vec![part],
        Content::Json(fields) => fields.iter().map(|(_, part)| *part).collect(),
    };
    content.into_iter().chain(own.headers.iter().map(|(_, part)| *part)).collect()
}

fn handshakes(provider: &str) -> String {
    let mut all: Vec<_> = handshake::handshakes_of(provider).iter().map(one_handshake).collect();
    if let Some(answer) = handshake::acknowledgement_of(provider) {
        all.push(format!("events are answered `{}`", answer.body));
    }
    all.dedup();
    all.join("; ")
}

fn one_handshake(own: &Handshake) -> String {
    let when: Vec<_> = own
        .when
        .iter()
        .filter_map(|when| match when {
            When::Has(place) => Some(format!("`{}`", place.replace('|', "\\|"))),
            When::Is(place, value) => Some(format!("`{place}` = `{value}`")),
            When::Lacks(_) => None,
        })
        .collect();
    let is_keyed = parts(own).iter().any(|part| matches!(part, Part::Keyed(..)));
    let answer = match (own.content, own.headers, own.effect) {
        (.., Effect::Keep(_)) => "keeps the secret".to_owned(),
        (.., Effect::CallSns(_)) => "calls the URL".to_owned(),
        (Content::Text(_), ..) if is_keyed => "signed, as text".to_owned(),
        (Content::Json(_), ..) if is_keyed => "signed, as JSON".to_owned(),
        (Content::Text(_), ..) => "echoed as text".to_owned(),
        (Content::Json(_), ..) => "answered as JSON".to_owned(),
        (Content::Empty, [], _) => own.status.to_string(),
        (Content::Empty, ..) => "answered in headers".to_owned(),
    };
    let first = if own.verified_first { ", if the signature holds" } else { "" };
    format!("{} {}: {answer}{first}", own.methods.join(" or "), when.join(", ")).replace(" :", ":")
}
