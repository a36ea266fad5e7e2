use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_seconds(seconds)
}

/// The appendix of RFC 6238, cut to six digits; its secret is `12345678901234567890`.
#[test]
fn codes_are_those_of_the_standard() {
    let secret = Secret::new(base32(b"12345678901234567890"));
    assert_eq!(secret.expose(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
    let rows = [
        (59, "287082"),
        (1_111_111_109, "081804"),
        (1_111_111_111, "050471"),
        (1_234_567_890, "005924"),
        (2_000_000_000, "279037"),
        (20_000_000_000, "353130"),
    ];
    for (seconds, code) in rows {
        let step = u64::try_from(seconds).unwrap() / 30;
        assert_eq!(check(&secret, code, at(seconds), None), Some(step), "{seconds}");
        assert_eq!(check(&secret, code, at(seconds + 30), None), Some(step));
        assert_eq!(check(&secret, code, at(seconds - 30), None), Some(step));
        assert_eq!(check(&secret, code, at(seconds + 60), None), None);
        assert_eq!(check(&secret, code, at(seconds), Some(step)), None, "it was used");
        assert_eq!(check(&secret, code, at(seconds), Some(step - 1)), Some(step));
    }
    for wrong in ["", "28708", "287083", "0287082", "２８７０８２"] {
        assert_eq!(check(&secret, wrong, at(59), None), None, "{wrong}");
    }
}

#[test]
fn base32_comes_back() {
    for length in 0..40u8 {
        let bytes: Vec<u8> = (0..length).map(|n| n.wrapping_mul(37)).collect();
        assert_eq!(from_base32(&base32(&bytes)), Some(bytes));
    }
    assert_eq!(base32(b"foobar"), "MZXW6YTBOI");
    assert_eq!(from_base32("M1"), None);
}

#[test]
fn apps_get_a_url() {
    let url = url(&Secret::new("MZXW6YTBOI"), "ada+1@example.com");
    assert_eq!(
        url,
        "otpauth://totp/Ferryhook:ada%2B1@example.com?secret=MZXW6YTBOI&issuer=Ferryhook"
    );
}

#[test]
fn a_recovery_code_is_good_once() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let codes = recovery_codes(&env);
    let hashes: Vec<_> = codes.iter().map(|code| recovery_hash(code.expose())).collect();
    assert_eq!(codes.len(), RECOVERY_CODES);
    let typed = codes[3].expose().to_lowercase().replace('-', " ");
    let left = without(&typed, &hashes).unwrap();
    assert_eq!(left.len(), RECOVERY_CODES - 1);
    assert_eq!(without(&typed, &left), None);
    assert_eq!(without("", &hashes), None);
}
