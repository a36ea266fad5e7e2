use proptest::prelude::*;
use serde_json::json;

use super::*;

fn read(content_type: &str, body: &str) -> Option<Value> {
    document(&Headers::from_iter([("Content-Type", content_type)]), body.as_bytes())
}

#[test]
fn a_document_is_found_in_json_and_in_forms() {
    const FORM: &str = "application/x-www-form-urlencoded";
    let part = |name: &str| {
        format!("--b\r\nContent-Disposition: form-data; {name}\r\n\r\n{{\"a\":1}}\r\n--b--\r\n")
    };
    for (content_type, body, found) in [
        ("application/json", r#"{"a":1}"#.to_owned(), Some(json!({"a": 1}))),
        ("", r#"{"a":1}"#.to_owned(), Some(json!({"a": 1}))),
        (FORM, "a=1&b=x+y%21&c".to_owned(), Some(json!({"a": "1", "b": "x y!", "c": ""}))),
        (FORM, "json=%7B%22a%22%3A1%7D".to_owned(), Some(json!({"a": 1}))),
        ("multipart/form-data; boundary=b", part("name=\"json\""), Some(json!({"a": 1}))),
        ("multipart/form-data; boundary=\"b\"", part("name=json"), Some(json!({"a": 1}))),
        ("multipart/form-data; boundary=b", part("name=\"other\""), None),
        ("multipart/form-data; boundary=c", part("name=\"json\""), None),
        ("multipart/form-data", part("name=\"json\""), None),
        (FORM, "json=%7B".to_owned(), None),
        // What is JSON is read as such, or one could be verified and another delivered.
        (FORM, r#"{"a":"&json=%7B%7D&"}"#.to_owned(), Some(json!({"a": "&json=%7B%7D&"}))),
        (FORM, "json=%7B%7D&json=%7B%7D".to_owned(), None),
        (FORM, "a=1&b=2&a=3".to_owned(), Some(json!({"a": null, "b": "2"}))),
        (FORM, vec!["a=1"; 1001].join("&"), None),
        (
            "multipart/form-data; boundary=b",
            part("name=json").replace("--b--\r\n", &part("name=json")),
            None,
        ),
        ("multipart/form-data; boundary=b", part("name=json").replace("--b--", "--b\r\n"), None),
        (&format!("multipart/form-data; boundary={}", "-".repeat(71)), "-".repeat(200), None),
    ] {
        assert_eq!(read(content_type, &body), found, "{content_type} {body}");
    }
}

proptest! {
    #[test]
    fn no_form_breaks_it(kind in 0..3usize, body in "(--b|\r\n|name=\"json\"|[%&=+{}a-z0-9]|.){0,60}") {
        let kinds =
            ["multipart/form-data; boundary=b", "application/x-www-form-urlencoded", "text/plain"];
        let _ = read(kinds[kind], &body);
    }
}
