use super::*;

#[test]
fn a_command_survives_the_shell() {
    let draft = Draft {
        method: "POST".to_owned(),
        url: "http://localhost/in/a?b=1&c=2".to_owned(),
        headers: vec![("X-Sig".to_owned(), "it's".to_owned())],
        body: b"{\"a\":\"$HOME\"}".to_vec(),
    };
    assert_eq!(
        curl(&draft),
        "curl -X 'POST' 'http://localhost/in/a?b=1&c=2' \\\n  -H 'X-Sig: it'\\''s' \\\n  \
         --data-binary '{\"a\":\"$HOME\"}'"
    );
}

#[test]
fn the_type_of_a_body_is_guessed() {
    for (body, kind) in [
        (&b" {}"[..], "application/json"),
        (b"[]", "application/json"),
        (b"", "application/json"),
        (b"a=1&b", "application/x-www-form-urlencoded"),
        (b"\x00\x01", "application/octet-stream"),
    ] {
        assert_eq!(guess(body), kind);
    }
}
