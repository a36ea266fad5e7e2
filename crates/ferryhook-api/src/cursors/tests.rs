use ferryhook_core::{Account, Id};
use ferryhook_store::{Cursor, Index, IndexKey, Key, Part, Table};
use serde_json::json;

use super::Cursors;

fn account(tail: char) -> Id<Account> {
    format!("acc_{}", tail.to_string().repeat(16)).parse().unwrap()
}

fn cursors() -> Vec<Cursor> {
    let key = Key::new(Table::Main, "USER#usr_1", "SRC#src_1 \"ü\"");
    let numbered = IndexKey::new(Index::ScheduleNextRun, Part::Number(-7), "x");
    vec![
        Cursor { key: key.clone(), entry: None },
        Cursor { key: Key::alone(Table::Ledger, "pk"), entry: None },
        Cursor { key: key.clone(), entry: Some(IndexKey::new(Index::Inbox, "acc", "2026#evt")) },
        Cursor { key, entry: Some(numbered) },
    ]
}

#[test]
fn a_cursor_leads_back_to_its_place() {
    let list =
        Cursors::new(&[1; 32]).of("sources.list", account('a'), &json!({"status": "active"}));
    for cursor in cursors() {
        let text = list.write(&cursor);
        assert_eq!(list.open(Some(&text)).unwrap(), Some(cursor), "{text}");
    }
    assert_eq!(list.open(None).unwrap(), None);
}

#[test]
fn a_cursor_leads_nowhere_else() {
    let (key, filter) = (Cursors::new(&[1; 32]), json!({"status": "active"}));
    let text = key.of("sources.list", account('a'), &filter).write(&cursors()[0]);
    let others = [
        key.of("events.list", account('a'), &filter),
        key.of("sources.list", account('b'), &filter),
        key.of("sources.list", account('a'), &json!({"status": "paused"})),
        Cursors::new(&[2; 32]).of("sources.list", account('a'), &filter),
    ];
    for other in others {
        assert!(other.open(Some(&text)).is_err());
    }
    let list = key.of("sources.list", account('a'), &filter);
    let mut changed = text.into_bytes();
    for place in 0..changed.len() {
        let was = changed[place];
        changed[place] = if was == b'A' { b'B' } else { b'A' };
        let changed_text = String::from_utf8(changed.clone()).unwrap();
        assert!(list.open(Some(&changed_text)).is_err(), "{place}");
        changed[place] = was;
    }
    for nonsense in ["", "x", "%", &"A".repeat(10_000)] {
        assert!(list.open(Some(nonsense)).is_err());
    }
}
