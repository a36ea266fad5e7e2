//! Signatures whose key is in a certificate that the sender names.
//!
//! The name is a stranger's word, so its host is checked before anybody fetches it: the trust lies
//! in the provider's own host, reached by TLS. A certificate that the source has in its settings
//! is used instead.

use aws_lc_rs::signature::ParsedPublicKey;
use rustls_pki_types::CertificateDer;
use serde_json::{Map, Value};
use webpki::EndEntityCert;

use super::encoding::base64;
use super::keys::Dated;
use super::options::Options;
use super::public_key::{self, parsed, pem};
use super::reason::{BadVerifier, Reason};
use super::scheme::{Algorithm, Certified, Digest};
use super::{Certificates, Request, Verdict, only_value};
use crate::limits::URL_BYTES_MAX;

#[derive(Debug)]
pub(super) struct Checker {
    scheme: Certified,
    /// As text, because the algorithm comes with the request.
    pinned: Option<String>,
    webhook_ids: Vec<String>,
    topics: Vec<String>,
}

impl Checker {
    pub(super) fn compile(
        scheme: Certified,
        secrets: &[Dated<&str>],
        options: &Options<'_>,
    ) -> Result<Self, BadVerifier> {
        let is_key = |text: &str| text.contains("-----BEGIN") || text.trim().starts_with('{');
        let pinned = options.certificate();
        let (keys, ids): (Vec<&str>, Vec<&str>) =
            secrets.iter().map(|one| one.value).partition(|text| is_key(text));
        let pinned = pinned.map(|text| text.into_owned()).or(keys.first().map(|&text| text.into()));
        if let Some(text) = &pinned {
            public_key::parse(text, Algorithm::Rsa(Digest::Sha256))?;
        }
        let webhook_ids: Vec<String> = match options.find(&["webhookId"]) {
            Some(id) => vec![id.into_owned()],
            None => ids.into_iter().map(str::to_owned).collect(),
        };
        if scheme == Certified::Paypal && webhook_ids.is_empty() {
            return Err(BadVerifier::MissingSetting("webhookId".into()));
        }
        let topics = match options.value("topicArn") {
            Some(Value::Array(list)) => {
                list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            _ => options.find(&["topicArn"]).into_iter().map(|one| one.into_owned()).collect(),
        };
        Ok(Self { scheme, pinned, webhook_ids, topics })
    }

    pub(super) fn check(&self, request: &Request<'_>, certificates: &dyn Certificates) -> Verdict {
        let asked = match self.scheme {
            Certified::Sns => self.sns(request),
            Certified::Paypal => self.paypal(request),
        };
        match asked {
            Ok(asked) => self.answer(&asked, certificates),
            Err(reason) => Verdict::Invalid(reason),
        }
    }

    fn answer(&self, asked: &Asked, certificates: &dyn Certificates) -> Verdict {
        let key = match &self.pinned {
            Some(text) => {
                public_key::parse(text, asked.algorithm).ok().and_then(|mut keys| keys.pop())
            }
            None => match certificates.find(&asked.url) {
                Some(bytes) => public_key_in(&bytes, asked.algorithm),
                None => return Verdict::NeedsCertificate(asked.url.clone()),
            },
        };
        let Some(key) = key else {
            let why = "it has no RSA key of 2048 bits or more".into();
            return Verdict::Invalid(Reason::Certificate(why));
        };
        let matches =
            asked.contents.iter().any(|one| key.verify_sig(one, &asked.signature).is_ok());
        if matches { Verdict::Valid } else { Verdict::Invalid(Reason::Mismatch) }
    }

    fn sns(&self, request: &Request<'_>) -> Result<Asked, Reason> {
        let body: Map<String, Value> = serde_json::from_slice(request.body)
            .map_err(|_| Reason::Body("it is not a JSON object".into()))?;
        let text = |name: &str| match body.get(name) {
            Some(Value::String(text)) => Ok(text.as_str()),
            _ => Err(Reason::Body(format!("the field {name} is missing").into())),
        };
        for name in ["Message", "MessageId", "Timestamp", "TopicArn"] {
            text(name)?;
        }
        let topic = text("TopicArn")?;
        if !self.topics.is_empty() && !self.topics.iter().any(|own| own == topic) {
            return Err(Reason::Body("it is of another topic".into()));
        }
        let url = text("SigningCertURL").or_else(|_| text("SigningCertUrl"))?;
        if !is_sns_certificate(url) {
            return Err(Reason::CertificateUrl(url.chars().take(200).collect()));
        }
        let algorithm = Algorithm::Rsa(match text("SignatureVersion")? {
            "1" => Digest::Sha1,
            "2" => Digest::Sha256,
            _ => return Err(Reason::Body("the version of the signature is unknown".into())),
        });
        let signature = base64(text("Signature")?)
            .ok_or_else(|| Reason::Body("the signature is not base64".into()))?;
        let content = |names: &[&str]| {
            let mut content = Vec::new();
            for name in names {
                if let Ok(value) = text(name) {
                    for piece in [name, "\n", value, "\n"] {
                        content.extend_from_slice(piece.as_bytes());
                    }
                }
            }
            content
        };
        const PLAIN: [&str; 7] =
            ["Message", "MessageId", "Subject", "SubscribeURL", "Timestamp", "TopicArn", "Type"];
        const CONTROL: [&str; 8] = [
            "Message",
            "MessageId",
            "Subject",
            "SubscribeURL",
            "Timestamp",
            "Token",
            "TopicArn",
            "Type",
        ];
        let contents = match text("Type")? {
            "Notification" => vec![content(&PLAIN)],
            "SubscriptionConfirmation" => {
                text("SubscribeURL").and(text("Token"))?;
                vec![content(&CONTROL)]
            }
            // The documents sign the token here too; the library in use leaves it out.
            "UnsubscribeConfirmation" => {
                text("SubscribeURL").and(text("Token"))?;
                vec![content(&CONTROL), content(&PLAIN)]
            }
            _ => return Err(Reason::Body("the type is unknown".into())),
        };
        Ok(Asked { url: url.to_owned(), algorithm, signature, contents })
    }

    fn paypal(&self, request: &Request<'_>) -> Result<Asked, Reason> {
        let header = |name: &str| only_value(request.headers, name);
        let (id, time) = (header("paypal-transmission-id")?, header("paypal-transmission-time")?);
        let signature = base64(header("paypal-transmission-sig")?).ok_or_else(|| {
            let why = "the signature is not base64".into();
            Reason::Malformed("paypal-transmission-sig".into(), why)
        })?;
        let algorithm = header("paypal-auth-algo")?;
        if !algorithm.eq_ignore_ascii_case("SHA256withRSA") {
            let name = "paypal-auth-algo".into();
            return Err(Reason::HeaderValue(name, "SHA256withRSA".into()));
        }
        let url = match header("paypal-cert-url") {
            Ok(url) if is_paypal_certificate(url) => url,
            Ok(url) => return Err(Reason::CertificateUrl(url.chars().take(200).collect())),
            Err(_) if self.pinned.is_some() => "",
            Err(reason) => return Err(reason),
        };
        let checksum = crc32(request.body);
        let content = |own: &String| format!("{id}|{time}|{own}|{checksum}").into_bytes();
        Ok(Asked {
            url: url.to_owned(),
            algorithm: Algorithm::Rsa(Digest::Sha256),
            signature,
            contents: self.webhook_ids.iter().map(content).collect(),
        })
    }
}

/// What remains to be done once the key is there.
struct Asked {
    url: String,
    algorithm: Algorithm,
    signature: Vec<u8>,
    contents: Vec<Vec<u8>>,
}

fn is_sns_certificate(url: &str) -> bool {
    let Some((host, path)) = https_parts(url) else { return false };
    let region = host.strip_prefix("sns.").and_then(|rest| {
        rest.strip_suffix(".amazonaws.com").or_else(|| rest.strip_suffix(".amazonaws.com.cn"))
    });
    let is_region = |region: &str| {
        let is_fit = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        region.len() >= 3 && region.bytes().all(is_fit)
    };
    region.is_some_and(is_region) && path.ends_with(".pem")
}

fn is_paypal_certificate(url: &str) -> bool {
    let Some((host, path)) = https_parts(url) else { return false };
    host.ends_with(".paypal.com") && path.starts_with("/v1/notifications/certs/")
}

/// Host and path of a URL that is as plain as a provider's own: no port, no user, no query, and
/// nothing that two parsers might read differently.
fn https_parts(url: &str) -> Option<(&str, &str)> {
    let rest = url.strip_prefix("https://")?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/~".contains(&byte);
    if url.len() > URL_BYTES_MAX || !rest.bytes().all(is_plain) || rest.contains("..") {
        return None;
    }
    let (host, _) = rest.split_once('/')?;
    let is_host = !host.bytes().any(|byte| byte.is_ascii_uppercase() || byte == b'_');
    is_host.then(|| (host, &rest[host.len()..]))
}

/// PEM or DER.
fn public_key_in(bytes: &[u8], algorithm: Algorithm) -> Option<ParsedPublicKey> {
    let text = std::str::from_utf8(bytes).ok();
    let der = text.and_then(pem).unwrap_or_else(|| bytes.to_vec());
    parsed(public_key::verification(algorithm)?, &public_key_of(&der)?)
}

/// The `SubjectPublicKeyInfo` of a certificate, or `None` if the bytes are none.
pub(super) fn public_key_of(der: &[u8]) -> Option<Vec<u8>> {
    let certificate = CertificateDer::from(der);
    let certificate = EndEntityCert::try_from(&certificate).ok()?;
    Some(certificate.subject_public_key_info().as_ref().to_vec())
}

/// The checksum of ZIP and PNG, which PayPal signs in place of the body.
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = table();
    let step = |sum: u32, byte: &u8| (sum >> 8) ^ TABLE[usize::from(sum as u8 ^ byte)];
    !bytes.iter().fold(!0, step)
}

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 256 {
        let mut sum = at as u32;
        let mut bit = 0;
        while bit < 8 {
            sum = if sum & 1 == 1 { (sum >> 1) ^ 0xEDB8_8320 } else { sum >> 1 };
            bit += 1;
        }
        table[at] = sum;
        at += 1;
    }
    table
}

#[cfg(test)]
mod tests;
