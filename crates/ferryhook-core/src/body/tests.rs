use super::*;
use proptest::prelude::*;

#[test]
fn text_is_stored_as_text_and_the_rest_as_bytes() {
    let stored = |bytes: &'static [u8]| serde_json::to_value(Body::from(bytes)).unwrap();
    assert_eq!(stored(b"{\"a\":1}"), serde_json::json!("{\"a\":1}"));
    assert_eq!(stored(b""), serde_json::json!(""));
    assert_eq!(stored(b"\xff\x00"), serde_json::json!([255, 0]));
}

#[test]
fn debug_shows_the_length_only() {
    assert_eq!(format!("{:?}", Body::from("card 4242")), "Body(9 bytes)");
}

proptest! {
    #[test]
    fn any_bytes_come_back_as_they_were(bytes: Vec<u8>) {
        let body = Body::from(bytes);
        let text = serde_json::to_string(&body).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Body>(&text).unwrap(), &body);
        let value = serde_json::to_value(&body).unwrap();
        prop_assert_eq!(serde_json::from_value::<Body>(value).unwrap(), body);
    }
}
