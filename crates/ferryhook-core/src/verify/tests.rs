use super::*;

fn config(text: &str) -> Map {
    serde_json::from_str(text).unwrap()
}

fn check(provider: &str, secret: &str, headers: &[(&str, &str)], body: &[u8], now: i64) -> Verdict {
    let headers: Headers = headers.iter().copied().collect();
    let verifier = Verifier::new(provider, &[Secret::new(secret)], &Map::new()).unwrap();
    let request = Request {
        method: "POST",
        url: "https://hooks.example.com/in/src_1",
        headers: &headers,
        body,
    };
    verifier.check(&request, Timestamp::from_seconds(now), &NoCertificates)
}

/// The vector of the Standard Webhooks specification's own libraries.
#[test]
fn a_standard_webhook_is_verified() {
    let secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    let body = br#"{"email":"test@example.com","username":"test_user"}"#;
    let headers = [
        ("Webhook-Id", "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk"),
        ("webhook-timestamp", "1649367553"),
        ("webhook-signature", "v1,AAAA v2,x v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw="),
    ];
    let at = 1_649_367_553;
    assert_eq!(check("standard-webhooks", secret, &headers, body, at), Verdict::Valid);
    assert_eq!(check("standard-webhooks", secret, &headers, body, at + 300), Verdict::Valid);
    assert_eq!(
        check("standard-webhooks", secret, &headers, body, at + 301),
        Verdict::Invalid(Reason::TooOld { seconds: 301, allowed: 300 })
    );
    assert_eq!(
        check("standard-webhooks", secret, &headers, b"{}", at),
        Verdict::Invalid(Reason::Mismatch)
    );
    assert_eq!(
        check("standard-webhooks", secret, &headers[1..], body, at),
        Verdict::Invalid(Reason::MissingHeader("webhook-id".into()))
    );
}
