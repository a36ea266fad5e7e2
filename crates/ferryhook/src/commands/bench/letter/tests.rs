use super::*;

#[test]
fn a_letter_carries_its_number_and_its_address() {
    let mut letter = Letter::new("/in/one");
    for (path, number) in [("/in/one", 0), ("/in/two", 42), ("/in/one", u32::MAX)] {
        let text = String::from_utf8(letter.write(path, number).to_vec()).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with(&format!("POST {path} HTTP/1.1\r\n")), "{head}");
        assert_eq!(number_of(body.as_bytes()), Some(number));
    }
}

#[test]
fn its_body_is_one_kibibyte_of_json() {
    let body = body();
    assert_eq!(body.len(), BODY_BYTES);
    let order: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(order["type"], "order.completed");
}

#[test]
fn a_body_carries_its_number_without_a_letter() {
    let mut enclosed = Enclosed::new();
    for number in [7, u32::MAX, 0] {
        let body = enclosed.numbered(number);
        assert_eq!((body.len(), number_of(&body)), (BODY_BYTES, Some(number)));
    }
}

#[test]
fn a_strange_body_has_no_number() {
    for body in ["", "{}", r#"{"number":"12"#, r#"{"number":"12345x7890""#] {
        assert_eq!(number_of(body.as_bytes()), None, "{body}");
    }
}
