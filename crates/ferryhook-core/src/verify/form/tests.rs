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
    let fields = form_fields("b=2&a=2&a=1&a=1&c=");
    assert_eq!(joined(fields), "a1a2b2c");
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
