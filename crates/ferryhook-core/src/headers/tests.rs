use super::*;

#[test]
fn order_and_repeats_survive_the_store() {
    let headers = Headers::from_iter([("X-B", "2"), ("x-a", "1"), ("X-B", "3")]);
    let stored = serde_json::to_value(&headers).unwrap();
    assert_eq!(stored, r#"[["X-B","2"],["x-a","1"],["X-B","3"]]"#);
    assert_eq!(serde_json::from_value::<Headers>(stored).unwrap(), headers);
}

#[test]
fn names_are_found_in_any_case_and_the_first_one_wins() {
    let headers = Headers::from_iter([("X-B", "2"), ("x-b", "3")]);
    assert_eq!(headers.find("x-B"), Some("2"));
    assert_eq!(headers.find("x-c"), None);
}

#[test]
fn text_that_is_not_a_list_of_pairs_is_an_error() {
    for text in ["", "{}", r#"[["a"]]"#, r#"[["a","b","c"]]"#] {
        assert!(serde_json::from_value::<Headers>(text.into()).is_err());
    }
}
