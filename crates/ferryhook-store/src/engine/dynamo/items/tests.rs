use std::collections::BTreeMap;

use ferryhook_core::Claim;

use super::*;
use crate::record::Stored;

fn event() -> Insert {
    let item: Item = [
        ("eventId".into(), "evt_1".into()),
        ("expiresAt".into(), 2_000.into()),
        ("empty".into(), "".into()),
        ("nothing".into(), Value::Null),
        ("yes".into(), Value::Bool(true)),
        ("part".into(), Value::Number(Number::Float(0.25))),
        ("big".into(), Value::Number(Number::Big(u64::MAX))),
        (
            "tree".into(),
            Value::Map(BTreeMap::from([(
                "list".into(),
                Value::List(vec![1.into(), "two".into()]),
            )])),
        ),
    ]
    .into_iter()
    .collect();
    Insert {
        kind: Kind::Event,
        version: 3,
        key: Key::new(Table::Events, "SRC#1", "EVT#1"),
        indexes: vec![
            IndexKey::new(Index::Inbox, "acc_1", "1#evt_1"),
            IndexKey::new(Index::Pending, "7", 1_000),
        ],
        expires: Some(2_000),
        item,
        content: [("body".into(), Value::Bytes(Bytes::from_static(b"{}")))].into_iter().collect(),
        mirror: vec![("ttl".into(), 2_000.into()), ("other".into(), "x".into())],
    }
}

#[test]
fn a_row_comes_back_without_what_is_not_its_own() {
    let insert = event();
    let item = item_of(&insert).unwrap();
    for name in ["PK", "user_id", "pendingShard", "pendingSince", "ttl", "other"] {
        assert!(item.contains_key(name), "{name}");
    }
    let mut derived: Vec<_> = item[DERIVED].as_m().unwrap().keys().collect();
    derived.sort_unstable();
    assert_eq!(derived, ["dueAt", "other", "pendingSince"]);

    let row = row_of(Table::Events, item).unwrap();
    let mut whole = insert.item;
    whole.extend(insert.content);
    assert_eq!(row.item, whole);
    assert_eq!((row.kind, row.version, row.revision), (Kind::Event, 3, 1));
}

#[test]
fn a_row_is_found_where_the_cursor_says() {
    let insert = event();
    let item = item_of(&insert).unwrap();
    let cursor = cursor_of(Table::Events, Some(Index::Pending), &item).unwrap();
    assert_eq!(cursor.key, insert.key);
    assert_eq!(cursor.entry.as_ref(), Some(&insert.indexes[1]));
    let start = start_of(&cursor);
    assert_eq!(start.len(), 4);
    assert_eq!(start["pendingSince"], number(1_000));
}

/// A row in memory could hold both; an item has one value for a name.
#[test]
fn an_attribute_has_one_value() {
    let mut insert = event();
    insert.expires = Some(2_001);
    assert!(matches!(item_of(&insert), Err(StoreError::Malformed(_))));
    insert.expires = None;
    assert!(matches!(item_of(&insert), Err(StoreError::Malformed(_))));

    let mut insert = event();
    insert.indexes.push(IndexKey::new(Index::EventType, "acc_2", "t#1"));
    assert!(matches!(item_of(&insert), Err(StoreError::Malformed(_))));
}

#[test]
fn names_of_the_envelope_and_of_keys_are_taken() {
    for name in ["kind", "revision", "PK", "user_id"] {
        let mut insert = event();
        insert.item.set(name.into(), "x".into());
        assert!(matches!(item_of(&insert), Err(StoreError::Malformed(_))), "{name}");
    }
}

#[test]
fn numbers_come_back_as_they_were() {
    for number in [
        Number::Int(i64::MIN),
        Number::Int(0),
        Number::Big(u64::MAX),
        Number::Float(-1.5),
        Number::Float(1.0e-130),
        Number::Float(0.1 + 0.2),
    ] {
        assert_eq!(to_number(&number.to_string()), Ok(number));
    }
    assert_eq!(to_number("3.0"), Ok(Number::Int(3)));
    assert!(to_number("x").is_err());
}

/// Every name in the list belongs to a key or index of its table, or to a mirror.
#[test]
fn the_lists_of_names_follow_the_declarations() {
    let mirrors = ["event_id", "timestamp", "ttl"];
    for table in Table::ALL {
        let shape = table.shape();
        let keys = [Some(shape.partition.name), shape.sort.map(|sort| sort.name)];
        let declared: Vec<_> = table
            .indexes()
            .flat_map(index_names)
            .chain(keys.into_iter().flatten())
            .chain(mirrors)
            .collect();
        for name in never_a_records(table) {
            assert!(declared.contains(name), "{name} of {table:?}");
        }
    }
}

#[test]
fn what_has_expired_is_known_by_its_attribute() {
    let item = item_of(&event()).unwrap();
    assert!(!has_expired(Table::Events, &item, 1_999));
    assert!(has_expired(Table::Events, &item, 2_000));
    assert!(!has_expired(Table::Accounts, &item, 9_999));
}

/// As the programs write it that the ledger's table comes from.
#[test]
fn an_entry_of_the_ledger_without_an_envelope_is_a_claim() {
    let attributes: Attributes = [
        ("pk", AttributeValue::S("ALOWARE:7".into())),
        ("seenAt", AttributeValue::S("2026-01-01T00:00:00.000Z".into())),
        ("expiresAt", AttributeValue::N("1768435200".into())),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect();
    let row = row_of(Table::Ledger, attributes.clone()).unwrap();
    assert_eq!((row.kind, row.version, row.revision), (Kind::Claim, 1, 0));
    let claim = Stored::<Claim>::from_row(row).unwrap();
    assert_eq!(claim.key, "ALOWARE:7");
    assert_eq!((claim.event_id, claim.state), (None, None));
    assert!(row_of(Table::Events, attributes).is_err(), "only the ledger is shared like that");
}
