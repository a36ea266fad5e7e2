use super::*;

const NOW: Duration = Duration::from_secs(100);

fn opened() -> Breaker {
    let mut breaker = Breaker::new();
    for _ in 1..limits::FAILURES_UNTIL_OPEN {
        assert!(!breaker.failed(NOW));
    }
    assert!(breaker.failed(NOW), "the last of so many in a row");
    breaker
}

#[test]
fn a_success_in_between_begins_the_count_anew() {
    let mut breaker = Breaker::new();
    for _ in 0..3 {
        (1..limits::FAILURES_UNTIL_OPEN).for_each(|_| assert!(!breaker.failed(NOW)));
        breaker.succeeded();
    }
    assert!(breaker.is_at_ease());
}

#[test]
fn a_rest_ends_with_one_attempt_that_decides() {
    let mut breaker = opened();
    assert_eq!(breaker.opens(NOW), Some(NOW + limits::REST_FIRST));
    breaker.started();
    assert_eq!(breaker.opens(NOW), None, "one is enough");
    breaker.succeeded();
    assert!(breaker.is_closed() && breaker.is_at_ease());
    assert_eq!(breaker.opens(NOW), Some(NOW));
}

#[test]
fn each_rest_is_twice_as_long_up_to_the_longest() {
    let mut breaker = opened();
    let mut rests = Vec::new();
    for _ in 0..9 {
        rests.push(breaker.opens(NOW).unwrap() - NOW);
        breaker.started();
        assert!(breaker.failed(NOW));
    }
    assert_eq!(
        rests.iter().map(Duration::as_secs).collect::<Vec<_>>(),
        [1, 2, 4, 8, 16, 32, 60, 60, 60]
    );
}

/// Those that were under way when the rest began say nothing new.
#[test]
fn late_failures_do_not_lengthen_a_rest() {
    let mut breaker = opened();
    assert!(!breaker.failed(NOW + Duration::from_millis(900)));
    assert_eq!(breaker.opens(NOW), Some(NOW + limits::REST_FIRST));
}

#[test]
fn a_probe_that_was_not_sent_leaves_room_for_another() {
    let mut breaker = opened();
    breaker.started();
    let later = NOW + Duration::from_secs(2);
    breaker.withdrawn(later);
    assert_eq!(breaker.opens(later), Some(later));
    breaker.started();
    assert!(breaker.failed(later), "and the rest goes on doubling");
    assert_eq!(breaker.opens(later), Some(later + 2 * limits::REST_FIRST));
}
