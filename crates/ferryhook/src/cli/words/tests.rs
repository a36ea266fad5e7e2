use super::*;

#[test]
fn a_moment_is_a_time_or_a_while_ago() {
    let now: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
    let seen = |text| moment(text).map(|moment| moment.seen_from(now).to_string());
    assert_eq!(seen("90s").unwrap(), "2026-01-31T11:58:30.000Z");
    assert_eq!(seen("30m").unwrap(), "2026-01-31T11:30:00.000Z");
    assert_eq!(seen("1h").unwrap(), "2026-01-31T11:00:00.000Z");
    assert_eq!(seen("7d").unwrap(), "2026-01-24T12:00:00.000Z");
    assert_eq!(seen("2026-01-01T00:00:00Z").unwrap(), "2026-01-01T00:00:00.000Z");
    assert_eq!(seen("4294967295d").unwrap(), "1970-01-01T00:00:00.000Z", "long ago is long ago");
    for wrong in ["", "h", "1", "1w", "-1h", "1.5h", "4294967296s", "yesterday", "1é", "é"] {
        assert!(moment(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_status_is_a_word_of_the_store() {
    assert_eq!(status("signature_failed"), Ok(Status::SignatureFailed));
    assert!(status("Failed").is_err());
}
