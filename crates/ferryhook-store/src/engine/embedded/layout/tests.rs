use super::*;
use crate::record::Kind;
use crate::records;
use ferryhook_core::{Event, Id, Source};
use proptest::prelude::*;

proptest! {
    /// Bytes sort as the parts do, also with zeros and prefixes of one another.
    #[test]
    fn the_order_of_bytes_is_the_order_of_keys(
        a in "[\\x00ab]{0,4}", b in "[\\x00ab]{0,4}", x in "[\\x00ab]{0,4}", y in "[\\x00ab]{0,4}",
    ) {
        let (first, second) = (Key::new(Table::Main, a, x), Key::new(Table::Main, b, y));
        prop_assert_eq!(row_key(&first).cmp(&row_key(&second)), first.cmp(&second));
        prop_assert_eq!(read_row(Table::Main, &row_key(&first)).unwrap(), first);
    }

    #[test]
    fn numbers_sort_by_value(a in any::<i64>(), b in any::<i64>()) {
        let row = Key::new(Table::Events, "p", "s");
        let [first, second] =
            [a, b].map(|number| entry_key(&IndexKey::new(Index::Due, "x", number), &row));
        prop_assert_eq!(first.cmp(&second), a.cmp(&b));
    }

    #[test]
    fn an_entry_reads_back(partition in "\\PC{1,9}", sort in any::<i64>(), pk in "\\PC{1,9}", sk in "\\PC{1,9}") {
        let (entry, row) = (IndexKey::new(Index::Due, partition, sort), Key::new(Table::Events, pk, sk));
        prop_assert_eq!(read_entry(Index::Due, &entry_key(&entry, &row)).unwrap(), (entry, row));
    }

    #[test]
    fn strange_bytes_are_an_error_and_never_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        let _ = read_entry(Index::Due, &bytes);
        let _ = read_row(Table::Main, &bytes);
    }

    #[test]
    fn above_is_the_first_key_behind_a_prefix(prefix in prop::collection::vec(any::<u8>(), 1..5), tail in prop::collection::vec(any::<u8>(), 0..5)) {
        prop_assume!(prefix.iter().any(|byte| *byte != 0xFF));
        let mut inside = prefix.clone();
        inside.extend(tail);
        prop_assert!(inside < above(prefix));
    }
}

#[test]
fn a_prefix_covers_its_keys_and_no_others() {
    let query = Query::table(Kind::Source, "USER#u").prefix("SRC#");
    let (Bound::Included(low), Bound::Excluded(high)) = span(&query) else { panic!() };
    let inside = |sort: &str| {
        let bytes = row_key(&Key::new(Table::Main, "USER#u", sort));
        low <= bytes && bytes < high
    };
    assert!(inside("SRC#") && inside("SRC#zzz"));
    assert!(!inside("SRC") && !inside("SRD#") && !inside("KEY#"));
}

/// What the records of events say and what the engine makes of it have to agree.
#[test]
fn the_entry_by_id_is_told_from_the_row_of_an_event_and_from_no_other_row() {
    let id: Id<Event> = "evt_-OhqqeV-00000001".parse().unwrap();
    let source: Id<Source> = "src_0000000000000001".parse().unwrap();
    let row = records::event::key(source, id.made_at().unwrap(), id);
    let entry = entry_key(&records::event::by_id(id), &row);
    let told = entry_by_id(&row_key(&row)).unwrap();
    assert!(entry.starts_with(&told), "{}", String::from_utf8_lossy(&told));

    let Key { partition, sort, .. } = row;
    let sort = sort.unwrap();
    for (table, partition, sort) in [
        (Table::Main, &*partition, &*sort),
        (Table::Events, "SRC#src_1", &*sort),
        (Table::Events, "ACC#acc_0000000000000001", &*sort),
        (Table::Events, &*partition, "EVT#00000001"),
        (Table::Events, &*partition, "REJ#1767225600000#evt_-OhqqeV-00000001"),
        (Table::Events, &*partition, "EVT#1767225600000#rej_-OhqqeV-00000001"),
        (Table::Events, "EVT#evt_-OhqqeV-00000001", "ATT#02#conn_0000000000000001"),
    ] {
        assert_eq!(entry_by_id(&row_key(&Key::new(table, partition, sort))), None, "{sort}");
    }
    assert_eq!(entry_by_id(&[]), None);
}
