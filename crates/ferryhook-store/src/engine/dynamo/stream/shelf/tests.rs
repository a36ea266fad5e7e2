use super::*;
use crate::engine::dynamo::stream::checkpoint::Sequence;

fn told(number: u32) -> Arc<Told> {
    let sequence = number.to_string();
    let number = Sequence::parse(&sequence).unwrap();
    Arc::new(Told { number, sequence, created: None, change: None })
}

fn after(number: u32) -> Spot {
    Spot::After(told(number).number.clone())
}

fn numbers(told: Option<Vec<Arc<Told>>>) -> Option<Vec<String>> {
    told.map(|told| told.iter().map(|told| told.sequence.clone()).collect())
}

fn at(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn a_page_is_found_from_every_spot_in_it() {
    let mut shelf = Shelf::default();
    shelf.put(&Spot::Start, vec![told(1), told(2), told(3)], Some("i3".into()), at(0));
    assert_eq!(numbers(shelf.behind(&Spot::Start)).unwrap(), ["1", "2", "3"]);
    assert_eq!(numbers(shelf.behind(&after(1))).unwrap(), ["2", "3"]);
    assert_eq!(numbers(shelf.behind(&after(3))), None, "that is another request");
    assert_eq!(shelf.end(&after(3)).unwrap().iterator.as_deref(), Some("i3"));
    assert_eq!(numbers(shelf.behind(&after(9))), None);
}

#[test]
fn an_empty_answer_moves_the_iterator_only() {
    let mut shelf = Shelf::default();
    shelf.put(&after(3), Vec::new(), Some("i4".into()), at(5));
    shelf.put(&after(3), Vec::new(), Some("i5".into()), at(9));
    let end = shelf.end(&after(3)).unwrap();
    assert_eq!((end.iterator.as_deref(), end.asked_at), (Some("i5"), Some(at(9))));
    assert_eq!(shelf.tip(at(0)), None, "nobody knows whether that is the end");
    shelf.put(&after(3), vec![told(4)], None, at(12));
    assert!(shelf.end(&after(3)).is_none());
    assert!(shelf.end(&after(4)).unwrap().is_over);
}

#[test]
fn little_is_kept() {
    let mut shelf = Shelf::default();
    for number in 0..200 {
        shelf.put(&after(number), vec![told(number + 1)], Some(String::new()), at(0));
        shelf.put(&after(number + 1), Vec::new(), Some(String::new()), at(0));
    }
    assert_eq!((shelf.pages.len(), shelf.ends.len() <= ENDS_KEPT), (PAGES_KEPT, true));
    assert!(shelf.has(&after(200)) && !shelf.has(&after(1)));
}

#[test]
fn a_shard_is_asked_so_often_a_second() {
    let mut shelf = Shelf::default();
    for millis in [0, 100, 200, 300] {
        assert_eq!(shelf.may_ask(at(millis)), Ok(()));
    }
    assert_eq!(shelf.may_ask(at(400)), Err(at(600)));
    assert_eq!(shelf.may_ask(at(1000)), Ok(()));
    assert_eq!(shelf.may_ask(at(1050)), Err(at(50)));
}

#[test]
fn the_end_is_followed_from_where_someone_began() {
    let mut shelf = Shelf::default();
    let begun = Spot::Since(5);
    shelf.put_tip(begun.clone(), "latest".into(), at(5));
    shelf.put(&Spot::Start, Vec::new(), Some("early".into()), at(7));
    assert_eq!(shelf.tip(at(5)), Some(&begun));
    shelf.put(&begun, Vec::new(), Some("later".into()), at(9));
    assert_eq!(shelf.tip(at(9)), Some(&begun));
    shelf.put(&begun, vec![told(4)], Some("last".into()), at(12));
    assert_eq!(shelf.tip(at(12)), Some(&after(4)));
    assert_eq!(shelf.tip(at(13)), None, "that was before");
}
