use bytes::Bytes;
use serde_json::json;

use super::*;
use crate::verify::{NoCertificates, Verifier};
use crate::{Headers, Timestamp};

#[test]
fn certificates_are_fetched_from_the_provider_and_from_nobody_else() {
    for (url, is_own) in [
        ("https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem", true),
        ("https://sns.cn-north-1.amazonaws.com.cn/a.pem", true),
        ("http://sns.eu-west-1.amazonaws.com/a.pem", false),
        ("HTTPS://sns.eu-west-1.amazonaws.com/a.pem", false),
        ("https://sns.eu-west-1.amazonaws.com.evil.com/a.pem", false),
        ("https://sns.eu-west-1.amazonaws.com@evil.com/a.pem", false),
        ("https://evil.com/sns.eu-west-1.amazonaws.com/a.pem", false),
        ("https://evil.com#sns.eu-west-1.amazonaws.com/a.pem", false),
        ("https://evil.com\\.sns.eu-west-1.amazonaws.com/a.pem", false),
        ("https://sns.eu-west-1.amazonaws.com:444/a.pem", false),
        ("https://sns.eu-west-1.amazonaws.com:443/a.pem", false),
        ("https://sns.eu-west-1.amazonaws.com/a.pem?x=1", false),
        ("https://sns.eu-west-1.amazonaws.com/a?x=.pem", false),
        ("https://sns.eu-west-1.amazonaws.com/a.txt", false),
        ("https://sns.eu-west-1.amazonaws.com/../a.pem", false),
        ("https://sns.eu-west-1.amazonaws.com", false),
        ("https://sns.a.b.amazonaws.com/a.pem", false),
        ("https://sns.eu.amazonaws.com/a.pem", false),
        ("https://sns..amazonaws.com/a.pem", false),
        ("https://mysns.eu-west-1.amazonaws.com/a.pem", false),
        ("https://bucket.s3.amazonaws.com/a.pem", false),
        ("https://sns.eu-west-1.amazonaws.com/a b.pem", false),
        (" https://sns.eu-west-1.amazonaws.com/a.pem", false),
        ("", false),
    ] {
        assert_eq!(is_sns_certificate(url), is_own, "{url}");
    }
    for (url, is_own) in [
        ("https://api.paypal.com/v1/notifications/certs/CERT-1", true),
        ("https://api.sandbox.paypal.com/v1/notifications/certs/CERT-1", true),
        ("https://api.paypal.com/other/CERT-1", false),
        ("https://paypal.com.evil.com/v1/notifications/certs/CERT-1", false),
        ("https://evilpaypal.com/v1/notifications/certs/CERT-1", false),
        ("http://api.paypal.com/v1/notifications/certs/CERT-1", false),
        ("https://api.paypal.com:8443/v1/notifications/certs/CERT-1", false),
    ] {
        assert_eq!(is_paypal_certificate(url), is_own, "{url}");
    }
}

#[test]
fn the_checksum_is_the_usual_one() {
    assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    assert_eq!(crc32(b""), 0);
}

struct Rubbish;

impl Certificates for Rubbish {
    fn find(&self, _: &str) -> Option<Bytes> {
        Some(Bytes::from_static(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"))
    }
}

#[test]
fn a_certificate_is_asked_for_once_its_host_is_known() {
    let url = "https://sns.eu-west-1.amazonaws.com/a.pem";
    let verdict = |config: Value, url: &str, certificates: &dyn Certificates| {
        let body = json!({
            "Type": "Notification", "MessageId": "1", "TopicArn": "arn:1", "Message": "m",
            "Timestamp": "t", "SignatureVersion": "1", "Signature": "AAAA", "SigningCertURL": url,
        });
        let verifier = Verifier::new("aws-sns", &[], config.as_object().unwrap()).unwrap();
        let (headers, body) = (Headers::default(), body.to_string());
        let request = Request { method: "POST", url: "", headers: &headers, body: body.as_bytes() };
        verifier.check(&request, Timestamp::default(), certificates)
    };
    assert_eq!(verdict(json!({}), url, &NoCertificates), Verdict::NeedsCertificate(url.to_owned()));
    let evil = "https://evil.com/a.pem";
    assert_eq!(
        verdict(json!({}), evil, &NoCertificates),
        Verdict::Invalid(Reason::CertificateUrl(evil.to_owned()))
    );
    assert!(matches!(verdict(json!({}), url, &Rubbish), Verdict::Invalid(Reason::Certificate(_))));
    // Anybody with an account can have SNS sign something: whose topic it is has to be checked.
    let verdict = verdict(json!({"topicArn": ["arn:2", "arn:3"]}), url, &NoCertificates);
    assert_eq!(verdict, Verdict::Invalid(Reason::Body("it is of another topic".into())));
}
