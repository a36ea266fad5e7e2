use super::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parcel {
    parcel_id: String,
    weight: u64,
    ratio: f64,
    fragile: bool,
    #[serde(default)]
    note: Option<String>,
    label: Label,
    tags: Vec<String>,
    extra: serde_json::Value,
    #[serde(with = "raw")]
    seal: Bytes,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Label {
    Plain,
    Printed { at: i64 },
    Pair(i64, String),
    Single(bool),
}

mod raw {
    use bytes::Bytes;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &Bytes, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_bytes(bytes)
    }
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Bytes, D::Error> {
        Bytes::deserialize(d)
    }
}

fn parcel(label: Label) -> Parcel {
    Parcel {
        parcel_id: "p".into(),
        weight: u64::MAX,
        ratio: 0.1,
        fragile: true,
        note: None,
        label,
        tags: vec!["a".into(), String::new()],
        extra: serde_json::json!({"deep": [1, -2, 3.5, null, {"x": "y"}]}),
        seal: Bytes::from_static(&[0, 255, 1]),
    }
}

#[test]
fn a_record_turns_into_an_item_and_back() {
    for label in
        [Label::Plain, Label::Printed { at: -7 }, Label::Pair(1, "z".into()), Label::Single(false)]
    {
        let record = parcel(label);
        let item = to_item(&record).unwrap();
        assert_eq!(item.get("parcelId"), Some(&"p".into()));
        assert_eq!(item.get("note"), None, "an absent option is no attribute");
        assert_eq!(item.bytes(), Item::from_iter(item.clone()).bytes(), "packed or not");
        assert_eq!(from_item::<Parcel>(item).unwrap(), record);
    }
}

#[test]
fn whole_floats_are_integers_and_nan_is_refused() {
    assert_eq!(Number::from_f64(3.0), Some(Number::Int(3)));
    assert_eq!(Number::from_f64(3.5), Some(Number::Float(3.5)));
    assert_eq!(Number::from_f64(f64::NAN), None);
    let item: Item = [("x".into(), Value::Number(Number::Float(1e200)))].into_iter().collect();
    assert!(matches!(item.check(), Err(StoreError::OutOfBounds(_))));
}

#[test]
fn nesting_has_a_bound() {
    let nest = |depth: usize| {
        let value = (0..depth).fold(Value::Null, |inner, _| Value::List(vec![inner]));
        Item::from_iter([("x".into(), value)]).check()
    };
    assert!(nest(limits::ITEM_DEPTH_MAX - 1).is_ok());
    assert!(nest(limits::ITEM_DEPTH_MAX).is_err());
}

#[test]
fn adding_to_what_is_no_number_is_refused() {
    let mut item: Item = [("x".into(), Value::from("text"))].into_iter().collect();
    assert!(item.add(&"x".into(), 1).is_err());
    item.add(&"y".into(), 2).unwrap();
    item.add(&"y".into(), 3).unwrap();
    assert_eq!(item.get("y"), Some(&5.into()));
    item.set("y".into(), i64::MAX.into());
    assert!(item.add(&"y".into(), 1).is_err(), "an overflow is refused");
}
