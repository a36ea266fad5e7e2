use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::samples;

const AT: Timestamp = Timestamp::from_millis(1_649_367_553_999);
const ID: &str = "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk";
const BODY: &[u8] = br#"{"email":"test@example.com","username":"test_user"}"#;

fn sign_one(secret: &str) -> Signed {
    sign([Secret::new(secret)].iter(), ID, AT, BODY)
}

/// The example that libraries for Standard Webhooks are tested with.
#[test]
fn the_standard_form_is_what_other_libraries_expect() {
    let signed = sign_one("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD");
    assert_eq!(signed.timestamp, 1_649_367_553);
    assert_eq!(signed.standard, "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=");
}

/// Computed over one text here, over its parts there.
#[test]
fn our_form_is_a_hex_hmac_over_time_and_body() {
    let key = hmac::Key::new(hmac::HMAC_SHA256, b"whsec_AAAA");
    let mut text = b"1649367553.".to_vec();
    text.extend_from_slice(BODY);
    let hex: String =
        hmac::sign(&key, &text).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(sign_one("whsec_AAAA").ferryhook, format!("t=1649367553,v1={hex}"));
}

#[test]
fn hex_and_mac_agree_with_a_published_vector() {
    let key = hmac::Key::new(hmac::HMAC_SHA256, b"Jefe");
    let mut hex = String::new();
    push_hex(&mut hex, mac(&key, &[b"what do ya want ", b"", b"for nothing?"]).as_ref());
    assert_eq!(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

/// Only a prefix with something decodable behind it names other bytes than the text.
#[test]
fn the_standard_key_is_decoded_or_the_text() {
    for (text, key) in [
        ("whsec_AAEC", Some(vec![0, 1, 2])),
        ("whsec_AAE=", Some(vec![0, 1])),
        ("whsec_AAE", Some(vec![0, 1])),
        ("whsec_", None),
        ("whsec_not base64!", None),
        ("AAEC", None),
        ("", None),
    ] {
        assert_eq!(standard_key(text), key, "{text}");
    }
}

#[test]
fn an_empty_secret_still_signs() {
    assert!(sign_one("").ferryhook.starts_with("t=1649367553,v1="));
}

#[test]
fn each_secret_that_is_valid_signs_once_the_current_one_first() {
    let mut connection = samples::connection();
    let old = |text: &str, until| Previous { secret: Secret::new(text), valid_until: until };
    connection.signing_secret = Secret::new("current");
    connection.previous_secrets = vec![
        old("valid", AT + Duration::from_millis(1)),
        old("over", AT),
        old("valid too", Timestamp::MAX),
    ];
    let secrets: Vec<_> = connection.signing_secrets(AT).map(Secret::expose).collect();
    assert_eq!(secrets, ["current", "valid", "valid too"]);

    let signed = Keys::of(&connection, AT).sign(ID, AT, BODY);
    assert_eq!(signed, sign(connection.signing_secrets(AT), ID, AT, BODY));
    let signed_early = Keys::of(&connection, Timestamp::default()).sign(ID, AT, BODY);
    assert_eq!(signed, signed_early, "keys that were cached run out too");
    let one_by_one: Vec<_> = secrets.iter().map(|text| sign_one(text)).collect();
    let ours: Vec<_> =
        one_by_one.iter().map(|one| &one.ferryhook["t=1649367553".len()..]).collect();
    assert_eq!(signed.ferryhook, format!("t=1649367553{}", ours.concat()));
    let standard: Vec<_> = one_by_one.iter().map(|one| one.standard.as_str()).collect();
    assert_eq!(signed.standard, standard.join(" "));
}

#[test]
fn a_connection_signs_with_a_bounded_number_of_secrets() {
    let mut connection = samples::connection();
    let old = |until| Previous { secret: Secret::new("old"), valid_until: until };
    connection.previous_secrets = [vec![old(AT); 100], vec![old(Timestamp::MAX); 100]].concat();
    assert_eq!(connection.signing_secrets(AT).count(), SECRETS_MAX);
    let signed = Keys::of(&connection, AT).sign(ID, AT, BODY);
    assert_eq!(signed.standard.split(' ').count(), SECRETS_MAX);
}

fn check(header: &str, secret: &str, now: Timestamp) -> Result<(), Unverified> {
    verify(header, [Secret::new(secret)].iter(), BODY, now, TOLERANCE)
}

#[test]
fn a_signature_is_good_for_five_minutes_either_way() {
    let header = sign_one("secret").ferryhook;
    let signed_at = Timestamp::from_seconds(AT.as_seconds());
    for (now, verdict) in [
        (AT, Ok(())),
        (signed_at + TOLERANCE, Ok(())),
        (signed_at + TOLERANCE + Duration::from_secs(1), Err(Unverified::Stale)),
        (signed_at - TOLERANCE, Ok(())),
        (signed_at - TOLERANCE - Duration::from_secs(1), Err(Unverified::Stale)),
    ] {
        assert_eq!(check(&header, "secret", now), verdict, "{now}");
    }
}

#[test]
fn what_is_not_ours_is_refused_and_named() {
    let good = sign_one("secret").ferryhook;
    let hex = &good["t=1649367553,v1=".len()..];
    let zeros = "0".repeat(64);
    let many = format!("t=1649367553{}", format!(",v1={zeros}").repeat(verify::SIGNATURES_MAX + 1));
    for (header, verdict) in [
        (good.clone(), Ok(())),
        (format!("t=1649367553,v1={zeros},v1={hex}"), Ok(())),
        (format!("t=1649367553, v0=later, v1={hex}"), Ok(())),
        (format!("v1={},t=1649367553", hex.to_uppercase()), Ok(())),
        (format!("t=1649367553,v1={zeros}"), Err(Unverified::Mismatch)),
        (format!("t=1649367554,v1={hex}"), Err(Unverified::Mismatch)),
        (format!("t=+1649367553,v1={hex}"), Err(Unverified::Malformed)),
        (format!("t=1649367553,t=1649367553,v1={hex}"), Err(Unverified::Malformed)),
        (format!("t=99999999999999999999,v1={hex}"), Err(Unverified::Malformed)),
        (format!("t=9223372036854775807,v1={hex}"), Err(Unverified::Stale)),
        (format!("t=1649367553,v1={}", &hex[1..]), Err(Unverified::Malformed)),
        (format!("t=1649367553,v1={}é", &hex[2..]), Err(Unverified::Malformed)),
        (format!("v1={hex}"), Err(Unverified::Malformed)),
        ("t=1649367553".to_owned(), Err(Unverified::Malformed)),
        (String::new(), Err(Unverified::Malformed)),
        (many, Err(Unverified::Malformed)),
    ] {
        assert_eq!(check(&header, "secret", AT), verdict, "{header}");
    }
    assert_eq!(check(&good, "Secret", AT), Err(Unverified::Mismatch));
    assert_eq!(verify(&good, [].iter(), BODY, AT, TOLERANCE), Err(Unverified::Mismatch));
}

proptest! {
    /// Whatever is signed is verified by every one of its secrets, and by nothing else.
    #[test]
    fn what_was_signed_is_verified(
        secrets in prop::collection::vec(".{0,40}", 1..SECRETS_MAX),
        body in prop::collection::vec(any::<u8>(), 0..300),
        millis in 0i64..4_000_000_000_000,
        flip in any::<prop::sample::Index>(),
    ) {
        let at = Timestamp::from_millis(millis);
        let secrets: Vec<_> = secrets.into_iter().map(Secret::new).collect();
        let header = sign(secrets.iter(), ID, at, &body).ferryhook;
        for secret in &secrets {
            let verdict = verify(&header, std::iter::once(secret), &body, at, Duration::ZERO);
            prop_assert_eq!(verdict, Ok(()));
        }
        if !body.is_empty() {
            let mut other = body.clone();
            other[flip.index(body.len())] ^= 1;
            let verdict = verify(&header, secrets.iter(), &other, at, Duration::ZERO);
            prop_assert_eq!(verdict, Err(Unverified::Mismatch));
        }
    }

    #[test]
    fn no_header_breaks_the_reader(header in "[tv1=, 0-9a-f]{0,200}|.{0,100}") {
        let _ = check(&header, "secret", AT);
    }
}
