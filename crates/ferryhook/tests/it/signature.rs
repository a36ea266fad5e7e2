//! `ferryhook signature`: a line in, a line out.

use std::io::Write;
use std::process::{Output, Stdio};

use crate::ferry::{command, show, spawn};

fn signature(arguments: &[&str], input: &str) -> Output {
    let mut command = command(std::env::temp_dir());
    command.arg("signature").args(arguments);
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = spawn(pipes);
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// The first is the example of the provider's own documents.
#[test]
fn every_line_is_answered_whatever_is_in_it() {
    let right = r#"{"provider":"github","method":"POST","url":"","headers":{"X-Hub-Signature-256":"sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"},"body":"Hello, World!","secret":"It's a Secret to Everybody"}"#;
    let base64 =
        right.replace(r#""body":"Hello, World!""#, r#""bodyBase64":"SGVsbG8sIFdvcmxkIQ==""#);
    let wrong = right.replace("World", "world");
    let nobody = r#"{"provider":"nobody","secret":"s"}"#;
    let input = format!("{right}\n\n{base64}\n{wrong}\n{nobody}\nnonsense\n{{}}\n{right}");
    insta::assert_snapshot!(show(&signature(&["verify"], &input)), @r#"
    exit 0
    {"valid":true,"reason":"the signature is valid"}
    {"valid":true,"reason":"the signature is valid"}
    {"valid":false,"reason":"the signature does not match"}
    {"valid":false,"reason":"no provider is called \"nobody\""}
    {"valid":false,"reason":"the line is not understood: expected ident at line 1 column 2"}
    {"valid":false,"reason":"the line is not understood: missing field `provider` at line 1 column 2"}
    {"valid":true,"reason":"the signature is valid"}
    "#);
}

#[test]
fn the_doctor_is_asked() {
    let line = r#"{"provider":"github","headers":{"X-Hub-Signature-256":"sha256=dXEH6g6yUJ/CESIczphLijdXC211hsIsRvQ3nIsEPhc="},"body":"Hello, World!","secret":"It's a Secret to Everybody"}"#;
    insta::assert_snapshot!(show(&signature(&["verify", "--explain"], line)), @r#"
    exit 0
    {"valid":false,"reason":"the signature is written in base64 instead of hex"}
    "#);
}

#[test]
fn what_is_signed_is_verified() {
    for (provider, secret) in
        [("stripe", "whsec_x"), ("svix", "whsec_MDEyMzQ1Njc4OWFiY2RlZg=="), ("mailgun", "k")]
    {
        let arguments = ["sign", "--provider", provider, "--secret", secret, "--json"];
        let signed = signature(&arguments, "");
        assert!(signed.status.success(), "{}", show(&signed));
        let line = String::from_utf8(signed.stdout).unwrap();
        let verified = show(&signature(&["verify"], &line));
        assert!(verified.contains(r#"{"valid":true"#), "{line} {verified}");
    }
    let curl = show(&signature(
        &[
            "sign",
            "--provider",
            "github",
            "--secret",
            "s",
            "--url",
            "http://h.io/in/a",
            "--now",
            "1",
        ],
        "",
    ));
    insta::assert_snapshot!(curl, @r#"
    exit 0
    curl -X 'POST' 'http://h.io/in/a' \
      -H 'Content-Type: application/json' \
      -H 'x-hub-signature-256: sha256=e57a0290a278406b5b70b071e301e9862bf1e6cddf9289ca0829029037bcfaaa' \
      --data-binary '{"id":"evt_test_1","type":"test"}'
    "#);
}

#[test]
fn the_providers_are_listed() {
    let listed = show(&signature(&["providers"], ""));
    for line in ["adyen ", "custom ", "github ", "hubspot ", "zoom "] {
        assert!(listed.lines().any(|own| own.starts_with(line)), "{line}");
    }
    let json = show(&signature(&["providers", "--json"], ""));
    assert_eq!(json.lines().count(), listed.lines().count() - 1);
}
