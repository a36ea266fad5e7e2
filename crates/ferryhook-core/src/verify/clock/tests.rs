use super::*;

#[test]
fn times_are_read_in_the_unit_of_their_provider() {
    for (unit, text, millis) in [
        (Unit::Seconds, "1700000000", Some(1_700_000_000_000)),
        (Unit::Seconds, "0001700000000", Some(1_700_000_000_000)),
        (Unit::Seconds, "", None),
        (Unit::Seconds, "-1", None),
        (Unit::Seconds, "+1", None),
        (Unit::Seconds, "1.5", None),
        (Unit::Seconds, "999999999999999999999", None),
        (Unit::Milliseconds, "1700000000123", Some(1_700_000_000_123)),
        (Unit::Either, "1700000000", Some(1_700_000_000_000)),
        (Unit::Either, "1700000000123", Some(1_700_000_000_123)),
        (Unit::Rfc3339, "2023-11-14T22:13:20Z", Some(1_700_000_000_000)),
        (Unit::Rfc3339, "2023-11-14T23:13:20.5+01:00", Some(1_700_000_000_500)),
        (Unit::Rfc3339, "2023-11-14T22:13:20.123456", Some(1_700_000_000_123)),
        (Unit::Rfc3339, "2023-11-14T22:13:20", Some(1_700_000_000_000)),
        (Unit::Rfc3339, "yesterday", None),
    ] {
        let read = unit.parse(text).ok().map(Timestamp::as_millis);
        assert_eq!(read, millis, "{unit:?} {text:?}");
    }
}

#[test]
fn a_time_may_be_off_by_the_tolerance_either_way_and_no_more() {
    let at = |seconds: i64| Timestamp::from_seconds(1_700_000_000 + seconds);
    let check = |seconds| check(at(seconds), Unit::Seconds, at(0), 300);
    assert_eq!(check(-300), Ok(()));
    assert_eq!(check(300), Ok(()));
    assert_eq!(check(-301), Err(Reason::TooOld { seconds: 301, allowed: 300 }));
    assert_eq!(check(301), Err(Reason::FromTheFuture { seconds: 301, allowed: 300 }));
}
