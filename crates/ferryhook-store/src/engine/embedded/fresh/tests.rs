use std::collections::BTreeMap;

use super::super::files::Entry;
use super::super::found::Found;
use super::super::young::Few;
use super::*;
use proptest::prelude::*;

fn version(key: &[u8], value: Option<u64>, sequence: SeqNo) -> Version {
    let value = value.map(|value| UserValue::from(value.to_le_bytes()));
    Version { key: key.into(), value, sequence }
}

fn look(tables: &[Table], span: Span, order: Order, at: SeqNo) -> Vec<(Vec<u8>, u64)> {
    let mut cursors = Vec::new();
    for table in tables {
        table.look(&span, order, at, &mut cursors);
    }
    let nothing: Vec<lsm_tree::Result<Entry>> = Vec::new();
    let mut found = Found::new(nothing.into_iter(), cursors, Few::default(), order);
    let mut all = Vec::new();
    while let Some((key, value)) = found.entry().unwrap() {
        all.push((key.to_vec(), u64::from_le_bytes((*value).try_into().unwrap())));
    }
    all
}

/// A key of a row (the first bytes) or of an index entry.
fn key(number: u16) -> Vec<u8> {
    let shelf = [0x11, 0x12, 0x45][usize::from(number % 3)];
    let mut key = vec![shelf];
    key.extend(b"SRC#src_".iter().take(usize::from(number % 9)));
    key.extend(format!("{:03}", number / 3).bytes());
    key
}

#[derive(Debug, Clone)]
enum Act {
    /// Groups of keys; an odd number deletes.
    Group(Vec<(u16, u64)>),
    Look,
    Tidy,
    Seal,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let group = prop::collection::vec((0u16..120, any::<u64>()), 1..600).prop_map(Act::Group);
    let act = prop_oneof![
        8 => group,
        4 => Just(Act::Look),
        2 => Just(Act::Tidy),
        1 => Just(Act::Seal),
    ];
    prop::collection::vec(act, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// At every moment the tables tell what a plain map had then.
    #[test]
    fn tables_remember_every_moment(acts in acts()) {
        let mut tables = vec![Table::default()];
        let mut map: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        let mut moments = vec![(1, map.clone())];
        let mut sequence = 1;
        for act in acts {
            match act {
                Act::Group(keys) => {
                    let value = |value: u64| (value % 4 != 1).then_some(value);
                    let versions = keys.iter().map(|(k, v)| version(&key(*k), value(*v), sequence));
                    tables[0].add(versions.collect());
                    for (number, v) in keys {
                        match value(v) {
                            Some(v) => map.insert(key(number), v),
                            None => map.remove(&key(number)),
                        };
                    }
                    sequence += 1;
                    moments.push((sequence, map.clone()));
                }
                Act::Look => {
                    let span = (Bound::Included(vec![0x11]), Bound::Excluded(vec![0x12]));
                    look(&tables, span, Order::Ascending, sequence);
                }
                Act::Tidy => tables[0].tidy(),
                Act::Seal => tables.insert(0, Table::default()),
            }
        }
        for (at, map) in moments {
            for number in 0..120 {
                let key = key(number);
                let hash = hash(&key);
                if !layout::is_entry(&key) {
                    let found = tables.iter().find_map(|table| table.get(&key, hash, at));
                    let found = found.flatten().map(|v| u64::from_le_bytes((*v).try_into().unwrap()));
                    prop_assert_eq!(found, map.get(&key).copied(), "{:?} at {}", key, at);
                }
            }
            for shelf in [0x11, 0x12, 0x45] {
                let (low, high) = (vec![shelf, b'0'], vec![shelf, b'T']);
                let range = map.range(low.clone()..high.clone());
                let mut expected: Vec<_> = range.map(|(key, value)| (key.clone(), *value)).collect();
                let span = || (Bound::Included(low.clone()), Bound::Excluded(high.clone()));
                prop_assert_eq!(look(&tables, span(), Order::Ascending, at), expected.clone());
                expected.reverse();
                prop_assert_eq!(look(&tables, span(), Order::Descending, at), expected);
            }
        }
        // Written out, each table has the last word of every key, in order.
        let mut files = BTreeMap::new();
        for table in tables.iter().rev() {
            let newest: Vec<_> = table.newest().collect();
            prop_assert!(newest.is_sorted_by(|one, other| one.key.user_key < other.key.user_key));
            for item in newest {
                match item.is_tombstone() {
                    true => files.remove(&item.key.user_key.to_vec()),
                    false => {
                        let value = u64::from_le_bytes((*item.value).try_into().unwrap());
                        files.insert(item.key.user_key.to_vec(), value)
                    }
                };
            }
        }
        prop_assert_eq!(files, map);
    }
}

/// Whether or not anyone asks meanwhile.
#[test]
fn many_versions_become_few_runs() {
    let key = |number: u64| format!("\x11{:05}", number * 7919 % 60_000).into_bytes();
    for asks_every in [300, 7000, u64::MAX] {
        let table = Table::default();
        for number in 0..60_000 {
            table.add(vec![version(&key(number), Some(number), number)]);
            table.tidy();
            if number % asks_every == asks_every - 1 {
                let span = (Bound::Included(key(number)), Bound::Excluded(vec![0x12]));
                table.look(&span, Order::Ascending, number, &mut Vec::new());
            }
        }
        let shelves = table.shelves.read().unwrap();
        let shelf = &shelves[0x11];
        let most = match asks_every {
            u64::MAX => 60_000 / TAIL_LONG,
            _ => 60_000 / RUN_LONG + SHORT_RUNS_MAX,
        };
        assert!(shelf.runs.len() <= most, "{} runs", shelf.runs.len());
        assert!(shelf.tail.len() < TAIL_LONG);
        let sorted: usize = shelf.runs.iter().map(|run| run.len()).sum();
        assert_eq!(sorted + shelf.tail.len(), 60_000);
        assert!(shelf.runs.iter().all(|run| run.is_sorted_by_key(|version| &version.key)));
    }
}

/// Two keys whose hashes are the same are still two keys.
#[test]
fn a_hash_is_not_taken_for_a_key() {
    let table = Table::default();
    table.add(vec![version(b"\x11one", Some(1), 1)]);
    let hash = hash(b"\x11one");
    assert!(table.get(b"\x11one", hash, 2).is_some());
    assert!(table.get(b"\x11other", hash, 2).is_none());
    assert!(table.get(b"\x11one", hash, 1).is_none(), "not visible yet");
}
