use serde_json::json;

use super::*;

#[test]
fn a_value_lands_where_its_path_leads() {
    let mut body = json!({ "data": { "items": [{ "price": 1 }] } });
    for given in ["data.items.0.price=5", "data.note=hello world", "new.deep=true", "n=\"5\""] {
        set(&mut body, given).unwrap();
    }
    let wanted = json!({
        "data": { "items": [{ "price": 5 }], "note": "hello world" },
        "new": { "deep": true },
        "n": "5",
    });
    assert_eq!(body, wanted);
    assert!(set(&mut body, "data.items.7=1").is_err());
    assert!(set(&mut body, "data..x=1").is_err());
    assert!(set(&mut body, "nothing").is_err());
}

#[test]
fn a_header_has_a_name_and_a_value() {
    assert_eq!(header("X-A: b:c").unwrap(), ("X-A".to_owned(), "b:c".to_owned()));
    assert!(header("nothing").is_err());
}
