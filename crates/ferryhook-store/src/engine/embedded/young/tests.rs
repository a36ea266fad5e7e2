use super::*;

fn key(text: &str) -> UserKey {
    text.into()
}

fn enter(text: &str) -> Mark {
    Mark::Enter { key: key(text), expires: None }
}

fn renew(text: &str) -> Mark {
    Mark::Renew { key: key(text), expires: Some(9) }
}

fn leave(text: &str) -> Mark {
    Mark::Leave { key: key(text) }
}

/// Applies the marks as one group and tells which concern the tree.
fn group(young: &mut Young, marks: Vec<Mark>) -> Vec<String> {
    let (changes, older) = young.sort_out(marks);
    young.apply(changes);
    let key = |mark: Mark| match mark {
        Mark::Enter { key, .. } | Mark::Renew { key, .. } | Mark::Leave { key } => key,
    };
    older.into_iter().map(|mark| String::from_utf8(key(mark).to_vec()).unwrap()).collect()
}

fn names(young: &Young) -> Vec<String> {
    young.iter().map(|(key, _)| String::from_utf8(key.to_vec()).unwrap()).collect()
}

#[test]
fn only_what_is_not_young_concerns_the_tree() {
    let mut young = Young::default();
    assert!(group(&mut young, vec![enter("a"), enter("b"), enter("c")]).is_empty());
    assert_eq!(group(&mut young, vec![leave("a"), renew("b"), leave("x"), renew("y")]), ["x", "y"]);
    assert_eq!(names(&young), ["b", "c"]);
    assert_eq!(young.markers[&key("b")], codec::expiry_bytes(Some(9)));
}

#[test]
fn marks_of_one_group_see_each_other() {
    let mut young = Young::default();
    let marks = vec![enter("a"), leave("a"), enter("b"), leave("b"), enter("b"), renew("b")];
    assert!(group(&mut young, marks).is_empty());
    assert_eq!(names(&young), ["b"]);
    // Gone here, and then once more: whoever asks that means the tree.
    assert_eq!(group(&mut young, vec![leave("b"), leave("b")]), ["b"]);
    assert_eq!((names(&young).len(), young.bytes()), (0, 0));
}

#[test]
fn a_few_come_in_the_order_of_the_query() {
    let mut young = Young::default();
    group(&mut young, ["a", "b", "c", "d"].map(enter).to_vec());
    let span = (Bound::Excluded(b"a".to_vec()), Bound::Excluded(b"e".to_vec()));
    let few = |order, most| {
        let few = young.few(&span, order, most);
        let names: Vec<_> = few.markers.iter().map(|(key, _)| key.to_vec()).collect();
        (String::from_utf8(names.concat()).unwrap(), few.more)
    };
    assert_eq!(few(Order::Ascending, 9), ("bcd".into(), false));
    assert_eq!(few(Order::Ascending, 2), ("bc".into(), true));
    assert_eq!(few(Order::Descending, 2), ("dc".into(), true));
    let nothing = (Bound::Excluded(b"b".to_vec()), Bound::Excluded(b"b".to_vec()));
    assert!(young.few(&nothing, Order::Ascending, 9).markers.is_empty());
}
