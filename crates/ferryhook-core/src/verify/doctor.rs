//! The signature doctor: says in one sentence why a request was not verified.
//!
//! It tries what usually goes wrong: another secret, another encoding, a body that was written anew
//! on its way, another public URL, another provider. That is some hundred signatures for one
//! request, so it is asked by people who look at a rejection, never at the door.

mod bodies;
mod urls;

use super::keys::Dated;
use super::scheme::{Algorithm, Digest, Encoding, KeyForm, Scheme, Signed};
use super::{Certificates, Checker, Reason, Request, Verdict, Verifier};
use crate::providers::{self, Provider};
use crate::{Headers, Map, Secret, Timestamp};

/// A secret that is stored somewhere else, and what to call that place.
#[derive(Debug, Clone, Copy)]
pub struct Other<'a> {
    pub name: &'a str,
    pub secret: &'a Secret,
}

/// Secrets of other places that are tried.
const OTHERS_MAX: usize = 100;

/// One sentence, without a full stop at its end. Never has a secret in it.
pub fn explain(
    verifier: &Verifier,
    request: &Request<'_>,
    now: Timestamp,
    certificates: &dyn Certificates,
    others: &[Other<'_>],
) -> String {
    let reason = match verifier.check(request, now, certificates) {
        Verdict::Valid => return "the signature is valid".to_owned(),
        Verdict::NeedsCertificate(url) => {
            return format!("the certificate at {url} has not been fetched");
        }
        Verdict::Invalid(reason) => reason,
    };
    let case = Case { verifier, request, now, certificates };
    match &reason {
        Reason::TooOld { seconds, allowed } => format!(
            "the signature fits, but it was made {seconds} s ago and {allowed} s are allowed: the \
             sender's clock or ours is off by that much, or the request is an old one"
        ),
        Reason::FromTheFuture { seconds, allowed } => format!(
            "the signature fits, but its time lies {seconds} s ahead and {allowed} s are allowed: \
             the sender's clock or ours is off by that much"
        ),
        Reason::MissingHeader(_) => match case.other_provider() {
            Some(advice) => format!("{reason}; {advice}"),
            None => match case.known_header() {
                Some(advice) => format!("{reason}; {advice}"),
                None => format!(
                    "{reason}, and no other signature is there: the sender has no secret \
                     configured, or something on the way took it off"
                ),
            },
        },
        _ => {
            let advice = case
                .other_secret(others)
                .or_else(|| case.other_writing())
                .or_else(|| case.other_body())
                .or_else(|| case.other_url())
                .or_else(|| case.other_provider());
            match advice {
                Some(advice) => advice,
                None if reason == Reason::Mismatch => {
                    "no stored secret fits: the secret is another one, or the body was changed on \
                     the way"
                        .to_owned()
                }
                None => reason.to_string(),
            }
        }
    }
}

struct Case<'a> {
    verifier: &'a Verifier,
    request: &'a Request<'a>,
    now: Timestamp,
    certificates: &'a dyn Certificates,
}

impl Case<'_> {
    fn other_secret(&self, others: &[Other<'_>]) -> Option<String> {
        for old in &self.verifier.secrets {
            if let Some(until) = old.until.filter(|until| *until <= self.now)
                && self.fits_with(&old.value)
            {
                return Some(format!(
                    "it is signed with a secret that was replaced and counted until {until}"
                ));
            }
        }
        for secret in &self.verifier.secrets {
            let text = secret.value.expose();
            if text.trim() != text && self.fits_with(&Secret::new(text.trim())) {
                return Some(
                    "the stored secret has spaces around it; without them it fits".to_owned(),
                );
            }
            let quoted = text.trim_matches(['"', '\'']);
            if quoted != text && self.fits_with(&Secret::new(quoted)) {
                return Some(
                    "the stored secret has quotes around it; without them it fits".to_owned(),
                );
            }
        }
        let other = others.iter().take(OTHERS_MAX).find(|other| self.fits_with(other.secret))?;
        Some(format!("the secret of {} fits: it is stored in another place", other.name))
    }

    /// Another encoding or algorithm, or another reading of the secret.
    fn other_writing(&self) -> Option<String> {
        let secrets = self.valid_secrets();
        for scheme in self.signed_schemes() {
            for encoding in [Encoding::HexAnyCase, Encoding::Base64Lenient] {
                if self.compiles_and_fits(scheme.written(encoding), &secrets) {
                    let (found, expected) = (encoding.name(), scheme.encoding.name());
                    if found == expected {
                        return Some(format!(
                            "the signature is right, but its {found} is not written as this \
                             provider writes it"
                        ));
                    }
                    return Some(format!(
                        "the signature is written in {found} instead of {expected}"
                    ));
                }
            }
            let Algorithm::Hmac(own) = scheme.algorithm else { continue };
            for (digest, name) in
                [(Digest::Sha1, "SHA-1"), (Digest::Sha256, "SHA-256"), (Digest::Sha512, "SHA-512")]
            {
                let other = Signed { algorithm: Algorithm::Hmac(digest), ..scheme };
                if digest != own && self.compiles_and_fits(other, &secrets) {
                    return Some(format!(
                        "it is signed with {name}, which this provider does not use"
                    ));
                }
            }
            for (form, name) in [
                (KeyForm::Text, "as it is, without decoding it"),
                (KeyForm::Whsec, "decoded from base64"),
                (KeyForm::Hex, "decoded from hex"),
            ] {
                if form != scheme.key && self.compiles_and_fits(scheme.keyed(form), &secrets) {
                    return Some(format!("the sender uses the secret {name}"));
                }
            }
        }
        None
    }

    fn other_body(&self) -> Option<String> {
        let fits = |body: &[u8]| self.fits(&Request { body, ..*self.request });
        let (name, _) = bodies::variants(self.request.body).find(|(_, body)| fits(body))?;
        Some(format!("the body was changed on the way: the signature fits it {name}"))
    }

    fn other_url(&self) -> Option<String> {
        let url = urls::variants(self.request.url)
            .find(|url| self.fits(&Request { url, ..*self.request }))?;
        Some(format!(
            "the sender signed for another URL: it fits {url} (see the setting publicUrl)"
        ))
    }

    fn other_provider(&self) -> Option<String> {
        let secrets = self.valid_secrets();
        let fits = |provider: &&'static Provider| {
            let other = Verifier::compile(provider.name, &secrets, &timeless(&Map::new()));
            other.is_ok_and(|other| {
                // A secret that merely comes along says nothing about who sent it.
                let is_token = other.checkers.iter().any(|own| matches!(own, Checker::Token(_)));
                !is_token && self.passes(&other, self.request)
            })
        };
        let own = self.verifier.provider.name;
        let other =
            providers::all().filter(|other| other.name != own && other.name != super::CUSTOM);
        let fitting =
            other.filter(|provider| carries(provider, self.request.headers)).find(fits)?;
        Some(format!("it is signed as {} does, and fits", fitting.name))
    }

    /// A signature that nobody asked for.
    fn known_header(&self) -> Option<String> {
        let own = self.verifier.provider.name;
        let other = providers::all().find(|other| {
            other.name != own && other.name != super::CUSTOM && carries(other, self.request.headers)
        })?;
        Some(format!("the request looks like one of {}", other.name))
    }

    fn valid_secrets(&self) -> Vec<Dated<Secret>> {
        self.verifier.secrets.iter().filter(|one| one.is_valid(self.now)).cloned().collect()
    }

    fn fits_with(&self, secret: &Secret) -> bool {
        let secrets = [Dated { value: secret.clone(), until: None }];
        let config = timeless(&self.verifier.config);
        let other = Verifier::compile(self.verifier.provider.name, &secrets, &config);
        other.is_ok_and(|other| self.passes(&other, self.request))
    }

    fn fits(&self, request: &Request<'_>) -> bool {
        let config = timeless(&self.verifier.config);
        let own = Verifier::compile(self.verifier.provider.name, &self.valid_secrets(), &config);
        own.is_ok_and(|own| self.passes(&own, request))
    }

    fn passes(&self, verifier: &Verifier, request: &Request<'_>) -> bool {
        verifier.check(request, self.now, self.certificates) == Verdict::Valid
    }

    /// Those of the provider; a source that describes its own has none in the table.
    fn signed_schemes(&self) -> Vec<Signed<'static>> {
        let schemes = self.verifier.provider.schemes_called(None).unwrap_or_default();
        let signed = schemes.into_iter().filter_map(|scheme| match scheme {
            Scheme::Signed(signed) => Some(signed),
            _ => None,
        });
        signed.collect()
    }

    fn compiles_and_fits(&self, scheme: Signed<'_>, secrets: &[Dated<Secret>]) -> bool {
        let config = timeless(&self.verifier.config);
        let options = super::options::Options(&config);
        let secrets = super::keys::present(secrets);
        let checker = super::signed::Checker::compile(&scheme, &secrets, &options);
        checker.is_ok_and(|checker| checker.check(self.request, self.now).is_ok())
    }
}

/// The same settings, but whoever asks knows that the time is not what is wrong.
fn timeless(config: &Map) -> Map {
    let mut config = config.clone();
    config.remove("tolerance");
    config.insert("toleranceSeconds".to_owned(), false.into());
    config
}

/// Whether the request has the header that this provider signs in.
fn carries(provider: &Provider, headers: &Headers) -> bool {
    provider.schemes.iter().any(|variant| match variant.scheme {
        Scheme::Signed(scheme) => {
            let named = |name: &&&str| **name != "authorization";
            let mut names = scheme.headers.iter().filter(named);
            names.any(|name| super::values(headers, name).next().is_some())
        }
        Scheme::Form(scheme) => headers.find(scheme.header).is_some(),
        Scheme::Canonical(scheme) => headers.find(scheme.signature).is_some(),
        Scheme::Jwt(scheme) => {
            let own = scheme.header.filter(|name| *name != "authorization");
            own.is_some_and(|name| headers.find(name).is_some())
        }
        Scheme::Fields(_) | Scheme::SignedField(_) | Scheme::Certified(_) | Scheme::Token(_) => {
            false
        }
    })
}

#[cfg(test)]
mod tests;
