use super::*;
use crate::value::Item;
use proptest::prelude::*;

fn any_value() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::json;
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|value| json!(value)),
        any::<i64>().prop_map(|value| json!(value)),
        any::<u64>().prop_map(|value| json!(value)),
        (-1e100..1e100).prop_map(|value| json!(value)),
        "\\PC{0,20}".prop_map(|value| json!(value)),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(|list| json!(list)),
            prop::collection::btree_map("[a-z]{0,3}", inner, 0..6).prop_map(|map| json!(map)),
        ]
    })
}

fn any_record() -> impl Strategy<Value = serde_json::Value> {
    prop::collection::btree_map("[a-d]{1,3}|eventId|status|body", any_value(), 0..12)
        .prop_map(|map| serde_json::json!(map))
}

/// The same by another way.
fn open(value: &serde_json::Value) -> Value {
    match value {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(*value),
        serde_json::Value::Number(number) => Value::Number(match number.as_u64() {
            Some(number) => Number::from_u64(number),
            None => match number.as_i64() {
                Some(number) => Number::Int(number),
                None => Number::from_f64(number.as_f64().unwrap()).unwrap(),
            },
        }),
        serde_json::Value::String(text) => Value::Text(text.clone()),
        serde_json::Value::Array(list) => Value::List(list.iter().map(open).collect()),
        serde_json::Value::Object(map) => {
            Value::Map(map.iter().map(|(name, value)| (name.clone(), open(value))).collect())
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_record_is_packed_as_its_item_would_be(record in any_record()) {
        let attributes = record.as_object().unwrap().iter();
        let attributes = attributes.map(|(name, value)| (Name::from(name.clone()), open(value)));
        let expected: Item = attributes.filter(|(_, value)| *value != Value::Null).collect();
        let (rest, apart) = pack_beside(&record, &["body", "a"]).unwrap();
        prop_assert_eq!(rest.size() + apart.size(), expected.bytes());
        prop_assert!(apart.attributes().all(|attribute| ["body", "a"].contains(&attribute.name)));
        let sizes: usize = rest.attributes().map(|attribute| attribute.size).sum();
        prop_assert_eq!(sizes, rest.size());
        let mut item = Item::from(rest);
        prop_assert_eq!(item.len(), item.iter().count());
        item.extend(Item::from(apart));
        prop_assert_eq!(&item, &expected);
        let packed = item.into_packed();
        prop_assert_eq!(take_attributes(&mut packed.as_slice()).map(Item::from_iter), Some(expected));
    }

    #[test]
    fn a_print_differs_when_the_attributes_do(one in any_record(), other in any_record()) {
        let names = ["body", "a", "status"];
        let print = |record| pack_and_print(record, &names).unwrap();
        let apart = |record| Item::from(pack_beside(record, &names).unwrap().1);
        prop_assert_eq!(print(&one).1 == print(&other).1, apart(&one) == apart(&other));
        prop_assert_eq!(print(&one).1, print(&one).1);
        let rest = pack_beside(&one, &names).unwrap().0;
        let printed = print(&one).0;
        prop_assert_eq!(printed.as_bytes(), rest.as_bytes());
    }
}

/// More than one byte can count, at the top and below.
#[test]
fn there_may_be_many() {
    let many: serde_json::Map<_, _> = (0..300).map(|n| (format!("n{n}"), n.into())).collect();
    let mut record = many.clone();
    record.insert("list".into(), (0..1000).collect());
    record.insert("map".into(), many.into());
    let packed = pack(&record).unwrap();
    assert_eq!(packed.len(), 302);
    let expected: Item = record.iter().map(|(name, n)| (name.clone().into(), open(n))).collect();
    assert_eq!(packed.size(), expected.bytes());
    assert_eq!(Item::from(packed), expected);
}

#[test]
fn what_not_every_engine_keeps_is_told() {
    let nest = |depth| {
        let value = (0..depth).fold(serde_json::json!(1), |inner, _| serde_json::json!([inner]));
        pack(&serde_json::json!({ "x": value })).unwrap()
    };
    assert!(nest(limits::ITEM_DEPTH_MAX - 1).check().is_ok());
    assert!(matches!(nest(limits::ITEM_DEPTH_MAX).check(), Err(StoreError::OutOfBounds(_))));
    let tiny = pack(&serde_json::json!({ "x": 1e-200 })).unwrap();
    assert!(matches!(tiny.check(), Err(StoreError::OutOfBounds(_))));
}

#[test]
fn a_number_may_have_more_room_than_it_needs() {
    for number in [0, 1, 127, 128, 300, 16_383, 16_384, u64::MAX] {
        let mut bytes = Vec::new();
        push_varint(&mut bytes, number);
        assert_eq!(varint_width(number), bytes.len());
        for room in bytes.len()..=9.max(bytes.len()) {
            let mut wide = vec![0; room];
            set_varint(&mut wide, number);
            assert_eq!(take_varint(&mut wide.as_slice()), Some(number));
        }
    }
}

#[test]
fn only_a_struct_is_an_item() {
    assert!(pack(&7).is_err());
    assert!(pack(&"text").is_err());
    assert!(pack(&[1, 2]).is_err());
    assert!(pack(&f64::NAN).is_err());
}
