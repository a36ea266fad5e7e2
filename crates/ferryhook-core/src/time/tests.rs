use chrono::SecondsFormat;
use proptest::prelude::*;

use super::*;

#[test]
fn a_moment_prints_as_rfc_3339_with_milliseconds_and_reads_back() {
    for (text, millis) in [
        ("1970-01-01T00:00:00.000Z", 0),
        ("2026-01-31T12:34:56.789Z", 1_769_862_896_789),
        ("9999-12-31T23:59:59.999Z", Timestamp::MAX.as_millis()),
    ] {
        let at = Timestamp::from_millis(millis);
        assert_eq!(at.to_string(), text);
        assert_eq!(text.parse::<Timestamp>().unwrap(), at);
    }
}

#[test]
fn other_offsets_are_read_as_the_same_moment() {
    let at: Timestamp = "2026-01-31T13:34:56.789+01:00".parse().unwrap();
    assert_eq!(at.to_string(), "2026-01-31T12:34:56.789Z");
}

#[test]
fn nonsense_is_refused_with_the_text_it_saw() {
    let error = "yesterday".parse::<Timestamp>().unwrap_err();
    assert!(error.to_string().contains("\"yesterday\""), "{error}");
}

#[test]
fn arithmetic_saturates_instead_of_wrapping() {
    let late = Timestamp::from_millis(i64::MAX) + Duration::from_secs(1);
    assert_eq!(late.as_millis(), i64::MAX);
    assert_eq!(Timestamp::default().saturating_since(late), Duration::ZERO);
}

#[test]
fn days_and_minutes_are_utc() {
    let at: Timestamp = "2026-02-28T23:59:59.999Z".parse().unwrap();
    assert_eq!(at.day(), "2026-02-28");
    assert_eq!(at.hour_of_day(), 23);
    assert_eq!(at.minute().to_string(), "2026-02-28T23:59:00.000Z");
}

#[test]
fn the_inbox_form_has_microseconds() {
    let at: Timestamp = "2025-11-11T10:30:45.123Z".parse().unwrap();
    assert_eq!(at.to_micros_text(), "2025-11-11T10:30:45.123000Z");
}

#[test]
fn months_end() {
    let next = |at: &str| at.parse::<Timestamp>().unwrap().next_month().to_string();
    assert_eq!(next("2026-01-31T23:59:00Z"), "2026-02-01T00:00:00.000Z");
    assert_eq!(next("2026-12-31T23:00:00Z"), "2027-01-01T00:00:00.000Z");
    assert_eq!(next("2028-02-29T00:00:00Z"), "2028-03-01T00:00:00.000Z");
    assert_eq!("2026-02-01T00:00:00Z".parse::<Timestamp>().unwrap().month(), "2026-02");
}

proptest! {
    /// What is stored must not depend on who spells it.
    #[test]
    fn microseconds_are_spelled_as_rfc_3339_has_them(millis in -1000..Timestamp::MAX.0 + 1000) {
        let at = Timestamp::from_millis(millis);
        let spelled = at.utc().to_rfc3339_opts(SecondsFormat::Micros, true);
        prop_assert_eq!(at.to_micros_text(), spelled);
    }
}
