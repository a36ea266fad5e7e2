use super::*;
use crate::verify::{NoCertificates, Verdict, Verifier};
use crate::{Map, Secret};

#[test]
fn a_port_is_taken_off_and_put_on() {
    for (url, without, with) in [
        ("https://h.io/a?b=c:1", "https://h.io/a?b=c:1", "https://h.io:443/a?b=c:1"),
        ("http://h.io", "http://h.io", "http://h.io:80"),
        ("https://h.io:8443/a", "https://h.io/a", "https://h.io:8443/a"),
        ("https://u:p@h.io/a", "https://u:p@h.io/a", "https://u:p@h.io:443/a"),
        ("https://[::1]/a", "https://[::1]/a", "https://[::1]:443/a"),
        ("https://[::1]:8/a", "https://[::1]/a", "https://[::1]:8/a"),
        ("/a", "/a", "/a"),
        ("", "", ""),
    ] {
        assert_eq!(without_port(url), without, "{url}");
        assert_eq!(with_port(url), with, "{url}");
    }
}

#[test]
fn fields_are_sorted_and_repeated_values_count_once() {
    let fields = form_fields("b=2&a=2&a=1&a=1&c=").unwrap();
    assert_eq!(joined(fields, true).unwrap(), "a1a2b2c");
}

fn check(headers: &[(&str, &str)], url: &str, body: &[u8]) -> Verdict {
    let headers: Headers = headers.iter().copied().collect();
    let verifier = Verifier::new("twilio", &[Secret::new("s")], &Map::new()).unwrap();
    let request = Request { method: "POST", url, headers: &headers, body };
    verifier.check(&request, Timestamp::default(), &NoCertificates)
}

#[test]
fn an_algorithm_that_nobody_knows_is_refused() {
    let settings = ("X-Twilio-Webhooks-Signature-Settings", "key=k,algorithm=HMAC_MD5");
    let verdict = check(&[("X-Twilio-Signature", "AAAA"), settings], "https://h.io/", b"");
    let name = "x-twilio-webhooks-signature-settings".into();
    assert_eq!(
        verdict,
        Verdict::Invalid(Reason::Malformed(name, "the algorithm is unknown".into()))
    );
}

/// Otherwise the URL alone would be signed, and the body could be anything.
#[test]
fn a_body_that_is_no_form_needs_its_hash_in_the_url() {
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, b"s");
    let url = "https://h.io/";
    let signature = Encoding::Base64.encode(hmac::sign(&key, url.as_bytes()).as_ref());
    let headers = [("X-Twilio-Signature", &*signature), ("Content-Type", "application/json")];
    assert_eq!(check(&headers, url, b""), Verdict::Valid);
    let reason = Reason::Body("it is no form, and its hash is not in the URL".into());
    assert_eq!(check(&headers, url, b"{}"), Verdict::Invalid(reason));
}

fn signed(provider: &str, content: &str, form: &str) -> Verdict {
    let key = match provider {
        "plivo" => hmac::Key::new(hmac::HMAC_SHA256, b"s"),
        _ => hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, b"s"),
    };
    let signature = Encoding::Base64.encode(hmac::sign(&key, content.as_bytes()).as_ref());
    let headers = Headers::from_iter([
        ("Content-Type", "application/x-www-form-urlencoded"),
        ("X-Twilio-Signature", &*signature),
        ("X-Mandrill-Signature", &*signature),
        ("X-Plivo-Signature-V3", &*signature),
        ("X-Plivo-Signature-V3-Nonce", "n"),
    ]);
    let verifier = Verifier::new(provider, &[Secret::new("s")], &Map::new()).unwrap();
    let (url, body) = ("https://h.io/", form.as_bytes());
    let request = Request { method: "POST", url, headers: &headers, body };
    verifier.check(&request, Timestamp::default(), &NoCertificates)
}

/// What stands behind the last field that is read would not be signed.
#[test]
fn a_form_of_more_fields_than_are_read_is_refused() {
    let many = Verdict::Invalid(Reason::Body("it has too many fields".into()));
    for (provider, times) in [("twilio", 1), ("mandrill", 1), ("plivo", 1000)] {
        let form = vec!["Body=good"; 1000].join("&");
        let content = match provider {
            "plivo" => format!("https://h.io/?{}.n", "Bodygood".repeat(times)),
            _ => "https://h.io/Bodygood".to_owned(),
        };
        let whole = signed(provider, &content, &form);
        assert_eq!(whole == Verdict::Valid, provider != "mandrill", "{provider}");
        assert_eq!(signed(provider, &content, &format!("{form}&Body=EVIL")), many, "{provider}");
    }
}

/// Twilio's library takes a value that comes twice for one; nobody else does.
#[test]
fn a_field_that_comes_twice_counts_once_for_twilio_alone() {
    assert_eq!(signed("twilio", "https://h.io/a1", "a=1&a=1"), Verdict::Valid);
    assert_eq!(signed("mandrill", "https://h.io/a1", "a=1"), Verdict::Valid);
    let twice = Verdict::Invalid(Reason::Body("a field comes twice".into()));
    assert_eq!(signed("mandrill", "https://h.io/a1", "a=1&a=1"), twice);
    assert_eq!(signed("mandrill", "https://h.io/a1a2", "a=1&a=2"), twice);
    assert_eq!(signed("plivo", "https://h.io/?a1.n", "a=1"), Verdict::Valid);
    assert_ne!(signed("plivo", "https://h.io/?a1.n", "a=1&a=1"), Verdict::Valid);
}

/// Plivo signs URL, fields and nonce: a body that has no fields would be anybody's.
#[test]
fn plivo_signs_no_body_but_a_form() {
    let key = hmac::Key::new(hmac::HMAC_SHA256, b"s");
    let signature = Encoding::Base64.encode(hmac::sign(&key, b"https://h.io/.n").as_ref());
    let check = |method: &str, kind: &str, body: &str| {
        let headers = Headers::from_iter([
            ("Content-Type", kind),
            ("X-Plivo-Signature-V3", &*signature),
            ("X-Plivo-Signature-V3-Nonce", "n"),
        ]);
        let verifier = Verifier::new("plivo", &[Secret::new("s")], &Map::new()).unwrap();
        let (url, body) = ("https://h.io/", body.as_bytes());
        let request = Request { method, url, headers: &headers, body };
        verifier.check(&request, Timestamp::default(), &NoCertificates)
    };
    const FORM: &str = "application/x-www-form-urlencoded";
    assert_eq!(check("GET", "", ""), Verdict::Valid);
    assert_eq!(check("POST", "application/json", ""), Verdict::Valid);
    for (method, kind, body) in
        [("POST", "application/json", "{}"), ("GET", FORM, "a=1"), ("GET", "", "{}")]
    {
        assert_ne!(check(method, kind, body), Verdict::Valid, "{method} {kind} {body}");
    }
}
