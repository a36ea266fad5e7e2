//! What a signature is read from.

use super::{headers, pieces, text};
use crate::verify::line::Line;
use crate::verify::{NoCertificates, Request, Verdict, Verifier};
use crate::{Map, Secret, samples};

/// `provider 0 secret 0 config 0 url 0 headers 0 body`
pub(super) fn header(data: &[u8]) {
    let [provider, secret, config, url, head, body] = pieces(data);
    let (provider, url, headers) = (text(provider), text(url), headers(head));
    let config: Map = serde_json::from_slice(config).unwrap_or_default();
    let request = Request { method: "POST", url: &url, headers: &headers, body };
    let check = |secret: &str| {
        let verifier = Verifier::new(&provider, &[Secret::new(secret.to_owned())], &config).ok()?;
        let verdict = verifier.check(&request, samples::CREATED, &NoCertificates);
        assert_eq!(verifier.check(&request, samples::CREATED, &NoCertificates), verdict);
        Some(verdict)
    };
    match check(&text(secret)) {
        Some(Verdict::NeedsCertificate(url)) => assert!(url.starts_with("https://"), "{url}"),
        Some(Verdict::Invalid(reason)) => assert!(!reason.to_string().is_empty()),
        Some(Verdict::Valid) | None => {}
    }
    if config.is_empty() {
        assert_ne!(check(""), Some(Verdict::Valid), "by an empty secret");
    }
}

/// One line as `ferryhook signature verify` reads it.
pub(super) fn line(data: &[u8]) {
    let Ok(line) = Line::parse(&text(data)) else { return };
    let verdict = |now| line.verdict(now).map_err(|error| error.to_string());
    assert_eq!(verdict(samples::CREATED), verdict(samples::CREATED));
}
