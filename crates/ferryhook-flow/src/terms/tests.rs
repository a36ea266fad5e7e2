use ferryhook_core::samples;

use super::*;

fn terms(lane: Lane, change: impl FnOnce(&mut Connection)) -> Terms {
    let mut connection = samples::connection();
    change(&mut connection);
    of(&connection, lane)
}

#[test]
fn what_a_connection_does_not_say_is_the_default() {
    let plain = |connection: &mut Connection| {
        connection.concurrency_max = None;
        connection.rate_per_second_max = None;
        connection.ordering_key = None;
    };
    let expected = Terms {
        open: true,
        concurrency: limits::CONCURRENCY_DEFAULT,
        together: limits::CONCURRENCY_DEFAULT,
        per_second: None,
        ordering: None,
        is_shared: false,
        is_gone: false,
    };
    assert_eq!(terms(Lane::Live, plain), expected);
    let replay = Terms { concurrency: limits::REPLAY_CONCURRENCY_MAX, ..expected };
    assert_eq!(terms(Lane::Replay, plain), replay);
}

#[test]
fn a_wish_for_nothing_or_for_more_than_there_is_is_none() {
    let concurrency =
        |wanted| terms(Lane::Live, |one| one.concurrency_max = Some(wanted)).concurrency;
    assert_eq!(concurrency(0), limits::CONCURRENCY_DEFAULT);
    assert_eq!(concurrency(3), 3);
    assert_eq!(concurrency(u16::MAX), limits::SLOTS_MAX);
}

#[test]
fn only_a_pause_closes_a_lane() {
    let open = |status| terms(Lane::Live, |connection| connection.status = status).open;
    assert!(open(Status::Active) && open(Status::Deleted) && !open(Status::Paused));
}

#[test]
fn order_counts_where_there_is_a_key() {
    let ordering = |key: Option<&str>, policy| {
        let change = |connection: &mut Connection| {
            connection.ordering_key = key.map(str::to_owned);
            connection.ordering_policy = policy;
        };
        terms(Lane::Live, change).ordering.map(|ordering| ordering.skip_after)
    };
    assert_eq!(ordering(None, Some(OrderingPolicy::Block)), None);
    assert_eq!(ordering(Some("body.id"), None), Some(None));
    assert_eq!(ordering(Some("body.id"), Some(OrderingPolicy::Park)), Some(None));
    assert_eq!(ordering(Some("body.id"), Some(OrderingPolicy::Skip { after: 2 })), Some(Some(2)));
}

/// Nothing is sent, so nothing need wait for its turn.
#[test]
fn what_is_deleted_keeps_no_order() {
    let deleted = terms(Lane::Live, |connection| connection.status = Status::Deleted);
    assert!(deleted.open && deleted.is_gone && deleted.ordering.is_none());
}
