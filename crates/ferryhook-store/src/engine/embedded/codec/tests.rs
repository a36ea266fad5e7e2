use super::*;
use crate::value::{Number, Value};
use proptest::prelude::*;

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        (i64::MAX as u64 + 1..).prop_map(|big| Value::Number(Number::Big(big))),
        any::<f64>().prop_filter_map("finite", |float| Number::from_f64(float).map(Value::Number)),
        "\\PC{0,20}".prop_map(Value::from),
        prop::collection::vec(any::<u8>(), 0..40).prop_map(|raw| Value::Bytes(raw.into())),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::List),
            prop::collection::btree_map("[a-z]{0,6}", inner, 0..6).prop_map(Value::Map),
        ]
    })
}

fn any_item() -> impl Strategy<Value = Item> {
    prop::collection::btree_map("[a-zA-Z#_]{1,12}|eventId|status|body", any_value(), 0..12)
        .prop_map(|map| map.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

proptest! {
    #[test]
    fn a_row_reads_back_as_it_was_written(
        item in any_item(), revision in any::<u64>(), expires in prop::option::of(1i64..4_000_000_000),
        place in prop::option::of(any::<[u32; 4]>()),
    ) {
        let place = place.map(|[segment, offset, length, check]| Place { segment, offset, length, check });
        let tail = row_tail(Kind::Event, 3, revision, &item);
        let value = assemble(expires, place, &tail);
        let head = read_head(&value).unwrap();
        prop_assert_eq!(kind_of(&value), Some(Kind::Event));
        prop_assert_eq!(place_of(&value), place);
        prop_assert_eq!(head, Head { expires, place, row: Row { kind: Kind::Event, version: 3, revision, item } });
    }

    #[test]
    fn strange_bytes_are_an_error_and_never_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let _ = read_head(&bytes);
        let _ = read_item(&bytes);
    }

    #[test]
    fn a_cut_row_is_an_error(item in any_item(), cut in any::<prop::sample::Index>()) {
        let value = assemble(None, None, &row_tail(Kind::User, 1, 1, &item));
        prop_assert!(read_head(&value[..cut.index(value.len())]).is_err());
    }
}

const KEY: &[u8] = b"";

/// Changes of names that the item has and of names that it has not, each once.
fn any_edit() -> impl Strategy<Value = Edit> {
    let change = prop_oneof![
        any_value().prop_map(|value| (Some(value), 0)),
        (-5i64..5).prop_map(|amount| (None, amount)),
    ];
    let changes = prop::collection::btree_map("[a-d]|eventId|status", change, 0..6);
    (changes, any::<u8>()).prop_map(|(changes, removed)| {
        let mut edit = Edit { set: vec![], add: vec![], remove: vec![], expires: None };
        for (place, (name, change)) in changes.into_iter().enumerate() {
            match change {
                _ if removed & (1 << place) != 0 => edit.remove.push(name.into()),
                (Some(value), _) => edit.set.push((name.into(), value)),
                (None, amount) => edit.add.push((name.into(), amount)),
            };
        }
        edit
    })
}

proptest! {
    /// As if the row were read, changed attribute by attribute, and written.
    #[test]
    fn a_row_is_changed_as_bytes_like_an_item(
        plain in any_item(), known in prop::collection::btree_map("[a-d]|status", any_value(), 0..4),
        edit in any_edit(), expires in prop::option::of(1i64..4_000_000_000),
    ) {
        let mut item = plain;
        for (name, value) in known {
            item.set(name.into(), value);
        }
        let place = Some(Place { segment: 1, offset: 2, length: 3, check: 4 });
        let value = assemble(expires, place, &row_tail(Kind::Event, 3, 7, &item));
        let view = View::of(&value).unwrap();
        for (name, value) in item.iter() {
            prop_assert_eq!(view.get(name).unwrap(), Some(value.clone()));
        }
        prop_assert_eq!(view.get("absent").unwrap(), None);

        let mut expected = item;
        let sums = edit.add.iter().try_for_each(|(name, amount)| expected.add(name, *amount));
        let found = view.edited(&edit, KEY);
        prop_assert_eq!(found.is_err(), sums.is_err());
        if let Ok(found) = found {
            for name in &edit.remove {
                expected.remove(name);
            }
            for (name, value) in &edit.set {
                expected.set(name.clone(), value.clone());
            }
            let row = Row { kind: Kind::Event, version: 3, revision: 8, item: expected };
            prop_assert_eq!(read_head(&found).unwrap(), Head { expires, place, row });
        }
    }

    #[test]
    fn strange_rows_never_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..80), edit in any_edit(),
    ) {
        if let Ok(view) = View::of(&bytes) {
            let _ = view.edited(&edit, KEY);
            let _ = view.get("status");
        }
    }
}

#[test]
fn expiry_is_kept_to_the_second_and_never_means_never() {
    assert_eq!(expiry_of(&expiry_bytes(None)), None);
    assert_eq!(expiry_of(&expiry_bytes(Some(1_800_000_000))), Some(1_800_000_000));
    assert_eq!(expiry_of(&expiry_bytes(Some(-5))), Some(1), "long gone is still gone");
    assert_eq!(expiry_of(&expiry_bytes(Some(i64::MAX))), Some(i64::from(u32::MAX)));
}

#[test]
fn a_deep_value_from_disk_does_not_exhaust_the_stack() {
    const LIST: u8 = 8;
    let mut bytes = vec![1, 1];
    bytes.extend(std::iter::repeat_n([LIST, 1], 100_000).flatten());
    assert_eq!(read_item(&bytes), None);
}

/// These bytes are on people's disks: a program that no longer reads them loses their events.
#[test]
fn the_first_stored_form_stays_readable() {
    let item: Item = [
        ("eventId".into(), "evt_1".into()),
        ("status".into(), "received".into()),
        ("retry_count".into(), (-3).into()),
        ("unlisted name".into(), Value::Bool(true)),
        ("list".into(), Value::List(vec![Value::Null, Value::Number(Number::Float(0.5))])),
        (
            "map".into(),
            Value::Map(std::collections::BTreeMap::from([(
                "k".into(),
                Value::Bytes(vec![0, 255].into()),
            )])),
        ),
        ("big".into(), Value::Number(Number::Big(u64::MAX))),
    ]
    .into_iter()
    .collect();
    let place = Place { segment: 1, offset: 2, length: 3, check: 4 };
    let value = assemble(Some(1_800_000_000), Some(place), &row_tail(Kind::Event, 1, 300, &item));
    let hex: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
    let expected = concat!(
        "00d2496b01",                       // expires, has content
        "01000000020000000300000004000000", // where
        "0501ac0207",                       // event, shape 1, revision 300, seven attributes
        "0106056576745f31",                 // eventId
        "0606087265636569766564",           // status
        "080305",                           // retry_count, -3
        "000d756e6c6973746564206e616d6502", // a name spelled out, true
        "00046c69737408020005000000000000e03f",
        "00036d61700901016b070200ff",
        "000362696704ffffffffffffffff",
    );
    assert_eq!(hex, expected);
    assert_eq!(read_head(&value).unwrap().row.item, item);
}
