use super::*;
use crate::engine::Row;
use crate::record::Kind;
use crate::tables::Table;
use crate::value::Item;

#[test]
fn a_page_ends_where_it_carries_enough() {
    const ROWS: usize = 8;
    let mut history = History::default();
    for number in 0..ROWS {
        let mut item = Item::default();
        item.set("body".into(), "x".repeat(PAGE_BYTES_MAX / 3).as_str().into());
        let row = Row { kind: Kind::Event, version: 1, revision: 1, item };
        let key = Key::new(Table::Events, "a", number.to_string());
        history.push(key, What::written(row), None);
    }
    let mut start = Start::Oldest;
    let mut told = Vec::new();
    loop {
        let page = history.read(&Wanted::new(Kind::Event, start), 0).unwrap();
        assert!(page.changes.len() <= 3, "{}", page.changes.len());
        told.extend(page.changes);
        if page.is_end {
            break;
        }
        start = Start::After(page.next);
    }
    assert_eq!(told.len(), ROWS);
}
