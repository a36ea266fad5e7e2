use crate::verify::{NoCertificates, Request, Verdict, Verifier};
use crate::{Headers, Map, Secret, Timestamp};

fn compiled(config: &str) -> Result<Verifier, String> {
    let config: Map = serde_json::from_str(config).unwrap();
    Verifier::new("custom", &[Secret::new("secret")], &config).map_err(|error| error.to_string())
}

#[test]
fn settings_that_mean_nothing_are_refused() {
    for (config, why) in [
        (r#"{"type":"magic"}"#, "the setting type is not usable"),
        (r#"{"type":"hmac"}"#, "the setting header is missing"),
        (r#"{"header":"x","algorithm":"md5"}"#, "the setting algorithm is not usable"),
        (r#"{"header":"x","encoding":"base32"}"#, "the setting encoding is not usable"),
        (r#"{"header":"x","secretEncoding":"rot13"}"#, "the setting secretEncoding is not usable"),
        (r#"{"header":"x","timestampUnit":"years"}"#, "the setting timestampUnit is not usable"),
        (
            r#"{"header":"x","template":"{nothing}"}"#,
            "the template \"{nothing}\" is not understood",
        ),
        (r#"{"header":"x","template":"constant"}"#, "the setting template is not usable"),
        (
            r#"{"header":"x","template":"{timestamp}.{body}"}"#,
            "the setting timestampHeader is missing",
        ),
        (r#"{"type":"hash","header":"x"}"#, "the setting template is not usable"),
        (r#"{"type":"basic"}"#, "the secret is not of the form"),
        (r#"{"type":"rsa","header":"x"}"#, "the secret is not of the form"),
        (r#"{"header":"x","toleranceSeconds":-1}"#, "the setting toleranceSeconds is not usable"),
    ] {
        let error = compiled(config).map(|_| ()).unwrap_err();
        assert!(error.starts_with(why), "{config}: {error}");
    }
}

#[test]
fn settings_are_understood_in_either_way_of_writing() {
    for config in [
        r#"{"header":"X-Sig"}"#,
        r#"{"signature_header":"X-Sig","algorithm":"SHA-512","encoding":"Base64"}"#,
        r#"{"header":"X-Sig","timestamp_header":"X-T","template":"{timestamp}.{body}"}"#,
        r#"{"header":"X-Sig","signatureKey":"s","timestampKey":"t","template":"{timestamp}{body}"}"#,
        r#"{"type":"token","header":"X-Token"}"#,
        r#"{"type":"jwt"}"#,
        "{}",
    ] {
        assert!(compiled(config).is_ok(), "{config}");
    }
}

/// `{"alg":"HS256"}.{}` under the key `secret`.
#[test]
fn a_token_is_where_the_source_says() {
    let token = "eyJhbGciOiJIUzI1NiJ9.e30.XmNK3GpH3Ys_7wsYBfq4C3M6goz71I7dTgUkuIa5lyQ";
    let valid = |config: &str, header: &str| {
        let headers = Headers::from_iter([(header, token)]);
        let request = Request { method: "POST", url: "", headers: &headers, body: b"{}" };
        let verdict =
            compiled(config).unwrap().check(&request, Timestamp::default(), &NoCertificates);
        verdict == Verdict::Valid
    };
    assert!(valid(r#"{"type":"jwt"}"#, "Authorization"));
    assert!(!valid(r#"{"type":"jwt"}"#, "X-Token"));
    assert!(valid(r#"{"type":"jwt","header":"x-token"}"#, "X-Token"));
    assert!(!valid(r#"{"type":"jwt","header":"x-token"}"#, "Authorization"));
}
