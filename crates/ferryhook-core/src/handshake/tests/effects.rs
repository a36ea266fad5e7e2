//! What is signed, kept or called.

use serde_json::json;

use super::*;

/// The first three were made by the providers' own libraries: npm braintree 3.40.0, smartcar
/// 10.4.0 and @zoom/rivet 0.4.0.
#[test]
fn a_challenge_is_signed() {
    let zoom = r#"{"event":"endpoint.url_validation","event_ts":1767225600000,"payload":{"plainToken":"qgg8vlvZRS6UYooatFL8Aw"}}"#;
    let smartcar =
        r#"{"eventType":"VERIFY","data":{"challenge":"9c9c9c9c-9c9c-9c9c-9c9c-9c9c9c9c9c9c"}}"#;
    let public = json!({"publicKey": "public_key_1"});
    let ebay = json!({
        "verificationToken": "71745723-d031-455c-bfa5-f90d11b4f20a",
        "publicUrl": "https://hooks.example.com/in/ebay",
    });
    let cases = [
        (
            asked("braintree", "GET", "bt_challenge=20f9f8ed05f77439fe955c977e4c8a53")
                .secret(Some("private_key_1"))
                .config(&public),
            "200 text/plain public_key_1|1738a807f1626940fc61b52f0aad8e83eae5a7a4",
        ),
        (
            asked("smartcar", "POST", "").secret(Some("amt-1")).body(smartcar),
            r#"200 application/json {"challenge":"7533399decd69e9b18f623db9d7ed9cb75997288c01b5387267745786248db91"}"#,
        ),
        (
            asked("zoom", "POST", "").secret(Some("zoom-secret-token-1")).body(zoom),
            r#"200 application/json {"plainToken":"qgg8vlvZRS6UYooatFL8Aw","encryptedToken":"0e5b0d12b8a75ee80179999fbb875d29b1469544a54e8863e0687da36bade919"} verified"#,
        ),
        (
            asked("twitter", "GET", "crc_token=challenge-1").secret(Some("consumer-secret")),
            r#"200 application/json {"response_token":"sha256=hbz/pRiNR70XBuZpAOCE6wJtpI25oS6CpybxrTZlcm8="}"#,
        ),
        (
            asked("linkedin", "GET", "challengeCode=890e4665-4dfe-4ab1-b689-ed553bceeed0")
                .secret(Some("client-secret")),
            r#"200 application/json {"challengeCode":"890e4665-4dfe-4ab1-b689-ed553bceeed0","challengeResponse":"8ab4bbad570533d66462deba280bde93c1cad8b543e7f526d3e962acaf6c391a"}"#,
        ),
        (
            asked("ebay", "GET", "challenge_code=a8628072-3d33-45ee-9004-bee86830a22d")
                .config(&ebay),
            r#"200 application/json {"challengeResponse":"f533b024a90b59e1fbe664cc4ab87f1bd6b4bbbf3e1d2fbc11f825e580e8d426"}"#,
        ),
        (
            asked("twitter", "GET", "crc_token=challenge-1").secret(None),
            "403 text/plain this source has no secret to answer with",
        ),
        (
            asked("twitter", "GET", "crc_token=challenge-1").secret(Some("")),
            "403 text/plain this source has no secret to answer with",
        ),
        (
            asked("braintree", "GET", "bt_challenge=20f9f8ed05f77439fe955c977e4c8a53"),
            "403 text/plain this source has no publicKey",
        ),
        (
            asked("braintree", "GET", "bt_challenge=notahexword").config(&public),
            "400 text/plain the challenge is not a plain word",
        ),
        (asked("ebay", "GET", "challenge_code=a"), "403 text/plain this source has no verifyToken"),
    ];
    for (asked, said) in cases {
        assert_eq!(asked.said(), said, "{}", asked.source.provider);
    }
}

/// Twitter signs a challenge just as it signs a body. Who could choose the challenge freely would
/// have the signature of any event.
#[test]
fn nobody_gets_a_body_signed() {
    let word = "400 text/plain the challenge is not a plain word";
    for challenge in ["%7B%22a%22%3A1%7D", "a+b", "%5B%5D", "a%22", "gr%C3%BCn", "%7B%7D"]
        .into_iter()
        .chain(["payload%3Dforged", "12345", "-1.5e3", "true", "null", "a%26b", "%3Cx%2F%3E"])
        .chain(["v0%3A1700000000%3A1", "eyJhbGciOiJIUzI1NiJ9.e30.x"])
    {
        let asked = asked("twitter", "GET", &format!("crc_token={challenge}"));
        assert_eq!(asked.said(), word, "{challenge}");
    }
    // As X, Zoom, Smartcar and LinkedIn write them.
    for challenge in [
        "MTljYWZhYTItMzI5Ni00ZDgzLTk1NjctMzNhZmM5MjQ0Zjkz",
        "qgg8vlvZRS6UYooatFL8Aw",
        "890e4665-4dfe-4ab1-b689-ed553bceeed0",
        "challenge_string",
    ] {
        assert!(
            asked("twitter", "GET", &format!("crc_token={challenge}")).said().starts_with("200")
        );
    }
    let long = "a".repeat(SIGNED_CHALLENGE_BYTES_MAX);
    assert!(asked("twitter", "GET", &format!("crc_token={long}")).said().starts_with("200"));
    assert_eq!(asked("twitter", "GET", &format!("crc_token={long}a")).said(), word);
}

#[test]
fn a_secret_is_kept_only_where_there_is_none() {
    let asana = || asked("asana", "POST", "").header("X-Hook-Secret", "b537207f20cbfa02");
    let notion = || asked("notion", "POST", "").body(r#"{"verification_token":"secret_tMrl"}"#);
    let cases = [
        (asana().secret(None), "200 - X-Hook-Secret=b537207f20cbfa02 keep b537207f20cbfa02"),
        (asana(), "nothing"),
        (notion().secret(None), "200 - keep secret_tMrl"),
        (notion(), "nothing"),
        (notion().secret(None).header("X-Notion-Signature", "sha256=x"), "nothing"),
    ];
    for (asked, said) in cases {
        assert_eq!(asked.said(), said, "{}", asked.source.provider);
    }
}

#[test]
fn only_amazon_is_called_back() {
    let confirm = |url: &str| {
        let body = json!({"Type": "SubscriptionConfirmation", "SubscribeURL": url});
        asked("aws-sns", "POST", "")
            .header("x-amz-sns-message-type", "SubscriptionConfirmation")
            .body(&body.to_string())
    };
    for good in [
        "https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription&Token=1",
        "https://sns.cn-north-1.amazonaws.com.cn/?Token=1",
    ] {
        assert_eq!(confirm(good).said(), format!("200 - call {good} verified"));
    }
    for bad in [
        "http://sns.us-west-2.amazonaws.com/",
        "https://sns.us-west-2.amazonaws.com.example.com/",
        "https://sns.us-west-2.amazonaws.com@example.com/",
        "https://sns.us-west-2.amazonaws.com:8443/",
        "https://example.com/?sns.us-west-2.amazonaws.com",
        "https://example.com#sns.us-west-2.amazonaws.com",
        "https://example.com\\.sns.us-west-2.amazonaws.com/",
        "https://s3.us-west-2.amazonaws.com/",
        "https://sns.a.b.amazonaws.com/",
        "https://sns..amazonaws.com/",
        "https://user:pass@sns.us-west-2.amazonaws.com/",
        "https://sns.us-west-2.amazonaws.com/ x",
    ] {
        assert_eq!(confirm(bad).said(), "400 text/plain the URL is not one of Amazon SNS", "{bad}");
    }
}
