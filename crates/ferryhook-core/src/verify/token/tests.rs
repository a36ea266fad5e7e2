use crate::verify::{NoCertificates, Reason, Request, Verdict, Verifier};
use crate::{Headers, Map, Secret, Timestamp};

fn check(provider: &str, secret: &str, headers: &[(&str, &str)], url: &str, body: &str) -> Verdict {
    let headers: Headers = headers.iter().copied().collect();
    let verifier = Verifier::new(provider, &[Secret::new(secret)], &Map::new()).unwrap();
    let request = Request { method: "POST", url, headers: &headers, body: body.as_bytes() };
    verifier.check(&request, Timestamp::default(), &NoCertificates)
}

#[test]
fn name_and_password_are_split_at_the_first_colon() {
    // user:pa:ss, user:pa, user, and what is no base64
    for (value, verdict) in [
        ("Basic dXNlcjpwYTpzcw==", Verdict::Valid),
        ("basic dXNlcjpwYTpzcw==", Verdict::Valid),
        ("Basic dXNlcjpwYQ==", Verdict::Invalid(Reason::Credentials)),
        ("Basic dXNlcg==", Verdict::Invalid(Reason::Credentials)),
        ("Basic ~", Verdict::Invalid(Reason::Credentials)),
        (
            "Bearer dXNlcjpwYTpzcw==",
            Verdict::Invalid(Reason::MissingHeader("authorization".into())),
        ),
    ] {
        let own = check("chargebee", "user:pa:ss", &[("Authorization", value)], "", "");
        assert_eq!(own, verdict, "{value}");
    }
}

#[test]
fn every_item_has_to_carry_the_token() {
    for (body, is_valid) in [
        (r#"{"value":[{"clientState":"s"}]}"#, true),
        (r#"{"value":[{"clientState":"s"},{"clientState":"s"}]}"#, true),
        (r#"{"value":[{"clientState":"s"},{"clientState":"t"}]}"#, false),
        (r#"{"value":[{"clientState":"s"},{}]}"#, false),
        (r#"{"value":[]}"#, false),
        (r#"{"value":"s"}"#, false),
        ("s", false),
    ] {
        let own = check("microsoft-graph", "s", &[], "", body);
        assert_eq!(own == Verdict::Valid, is_valid, "{body}");
    }
}

#[test]
fn a_token_in_the_url_is_unescaped() {
    for (url, is_valid) in [
        ("https://h.io/in/a?secret=a%20b", true),
        ("https://h.io/in/a?secret=a+b", true),
        ("https://h.io/in/a?secret=", false),
        ("https://h.io/in/a?secret=x&secret=a%20b", false),
        ("https://h.io/in/a#secret=a%20b", false),
        ("https://h.io/in/a", false),
    ] {
        assert_eq!(check("mailchimp", "a b", &[], url, "") == Verdict::Valid, is_valid, "{url}");
    }
}
