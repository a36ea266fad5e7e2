use super::*;
use crate::engine::dynamo::stream::checkpoint;

/// `a` open, `a<p` a child of p; then the first and, if closed, the last number.
fn shards(text: &str) -> Vec<Shard> {
    let shard = |text: &str| {
        let (name, range) = text.split_once(' ').unwrap();
        let (name, parent) = match name.split_once('<') {
            Some((name, parent)) => (name, Some(parent.to_owned())),
            None => (name, None),
        };
        let (first, last) = range.split_once('-').unwrap();
        let name = name.to_owned();
        Shard { name, parent, first: Sequence::parse(first), last: Sequence::parse(last) }
    };
    text.split(", ").filter(|text| !text.is_empty()).map(shard).collect()
}

fn spots(text: &str) -> Spots {
    let part = |part: &str| match checkpoint::parse(part) {
        Some(checkpoint::Checkpoint::Spots(spots)) => spots,
        other => panic!("{part}: {other:?}"),
    };
    text.split(' ').filter(|text| !text.is_empty()).flat_map(part).collect()
}

#[test]
fn parents_are_read_before_their_children() {
    let cases = [
        ("the beginning", "a 1-", "", "a~s"),
        ("the beginning of several lines", "a 1-, b 1-", "", "a~s b~s"),
        ("the beginning of a line", "a 1-5, b<a 6-9, c<b 10-", "", "a~s"),
        ("listed the other way round", "c<b 10-, b<a 6-9, a 1-5", "", "a~s"),
        ("a parent that is gone", "b<a 6-9, c<b 10-", "", "b~s"),
        ("a parent that is being read", "a 1-5, b<a 6-", "a~3", "a~3"),
        ("a hand-over", "a 1-5, b<a 6-", "a~e", "b~s"),
        ("a split", "a 1-5, b<a 6-, c<a 6-", "a~e", "b~s c~s"),
        ("a split beside others", "a 1-5, b<a 6-, c<a 6-, d 1-", "a~e d~4", "b~s c~s d~4"),
        ("a second child that shows up late", "a 1-5, b<a 6-, c<a 6-", "b~7", "b~7 c~s"),
        ("and has a child itself", "a 1-5, b<a 6-, c<a 6-8, d<c 9-", "b~7", "b~7 c~s"),
        ("a merge", "a 1-5, b 1-5, c<a 6-", "a~e b~e", "b~e c~s"),
        ("a merge of which one is behind", "a 1-5, b 1-5, c<a 6-", "a~e b~2", "b~2 c~s"),
        ("after a merge", "a 1-5, b 1-5, c<a 6-8, d<c 9-", "b~e c~e", "b~e d~s"),
        ("closed without children yet", "a 1-5", "a~e", "a~e"),
        ("ended and gone, children there", "b<a 6-", "a~e", "b~s"),
        ("ancestors of what is being read", "a 1-5, b<a 6-8, c<b 9-", "c~10", "c~10"),
        ("a line nobody knew", "a 1-, x 1-2, y<x 3-", "a~3", "a~3 x~s"),
        ("nothing there yet", "", "", ""),
    ];
    for (what, there, before, after) in cases {
        assert_eq!(settle(&shards(there), spots(before)), Ok(spots(after)), "{what}");
        let again = settle(&shards(there), spots(after));
        assert_eq!(again, Ok(spots(after)), "{what}: settled is settled");
    }
}

#[test]
fn what_was_not_read_and_is_gone_is_said() {
    for before in ["a~3", "a~s", "a~t5", "a~3 b~7"] {
        assert_eq!(settle(&shards("b<a 6-"), spots(before)), Err(Gone), "{before}");
    }
    let grandchild = shards("c<b 9-");
    assert_eq!(settle(&grandchild, spots("a~e")), Err(Gone), "nobody has read the one between");
}

#[test]
fn a_number_alone_is_a_place() {
    let cases = [
        ("in the only shard", "a 1-", "3", "a~3"),
        ("in a closed one", "a 1-5, b<a 6-", "3", "a~3"),
        ("the last of a closed one", "a 1-5, b<a 6-", "5", "a~5"),
        ("in its child", "a 1-5, b<a 6-", "7", "b~7"),
        ("between the two", "a 1-5, b<a 10-", "7", "b~s"),
        ("in shards beside each other", "a 1-, b 1-", "3", "a~3 b~3"),
        ("in one beside a later one", "a 1-, b 5-", "3", "a~3 b~s"),
        ("behind a line that has ended", "a 1-5, b 1-", "7", "a~e b~7"),
    ];
    for (what, there, number, after) in cases {
        let number = Sequence::parse(number).unwrap();
        assert_eq!(behind(&shards(there), &number), Ok(spots(after)), "{what}");
    }
    let old = Sequence::parse("2").unwrap();
    assert_eq!(behind(&shards("a 3-, b 4-"), &old), Err(Gone));
}

#[test]
fn now_is_where_nothing_follows() {
    let names = |text: &str| -> Vec<String> {
        youngest(&shards(text)).map(|shard| shard.name.clone()).collect()
    };
    assert_eq!(names("a 1-5, b<a 6-, c<a 6-9, d<c 10-, e 1-2"), ["b", "d", "e"]);
}

#[test]
fn a_circle_ends() {
    assert_eq!(settle(&shards("a<b 1-5, b<a 6-"), spots("a~3")), Ok(spots("a~3")));
    assert!(settle(&shards("a<b 1-5, b<a 6-"), spots("")).is_ok());
}
