use super::*;
use crate::samples;

#[test]
fn the_last_place_is_taken_once() {
    let count = PlanCount { count: 9, ..samples::plan_count() };
    assert!(count.has_room(1, 10) && !count.has_room(2, 10));
    assert!(count.has_room(i64::MAX, u64::MAX), "more than can be counted is no limit");
    assert!(!count.has_room(1, 0));
}

#[test]
fn the_word_of_the_key_is_the_stored_one() {
    for counted in [Counted::Events, Counted::Sources, Counted::Users, Counted::Webhooks] {
        assert_eq!(serde_json::to_value(counted).unwrap(), counted.as_str());
    }
}
