use super::*;
use proptest::prelude::*;

const DAY: Duration = Duration::from_secs(86_400);

#[test]
fn the_default_is_eight_attempts_over_almost_two_days() {
    let policy = Policy::default();
    let waits: Vec<_> =
        (0..9).map(|made| policy.wait_after(made, None, 0.0).map(|wait| wait.as_secs())).collect();
    let expected = [0, 30, 120, 900, 3_600, 14_400, 43_200, 86_400].map(Some);
    assert_eq!(waits[..8], expected);
    assert_eq!(waits[8], None);
}

#[test]
fn jitter_lengthens_by_a_tenth_at_most() {
    let policy = Policy::default();
    let wait = |fraction| policy.wait_after(4, None, fraction).unwrap().as_secs();
    assert_eq!(
        [0.0, 0.5, 1.0, 7.0, -1.0, f64::NAN].map(wait),
        [3600, 3780, 3960, 3960, 3600, 3600]
    );
}

#[test]
fn the_answer_decides_unless_a_rule_does() {
    let default = Policy::default();
    let ruled = Policy::parse(
        r#"{"rules":[
            {"codes":429,"then":"retry"},
            {"codes":"409","then":"accept"},
            {"codes":"4xx","then":"fail"},
            {"codes":"500-501","then":"disable"}
        ]}"#,
    )
    .unwrap();
    for (code, by_default, by_rule) in [
        (200, Verdict::Accept, Verdict::Accept),
        (299, Verdict::Accept, Verdict::Accept),
        (301, Verdict::Retry, Verdict::Retry),
        (404, Verdict::Retry, Verdict::Fail),
        (409, Verdict::Retry, Verdict::Accept),
        (410, Verdict::Disable, Verdict::Fail),
        (429, Verdict::Retry, Verdict::Retry),
        (501, Verdict::Retry, Verdict::Disable),
        (502, Verdict::Retry, Verdict::Retry),
        (0, Verdict::Retry, Verdict::Retry),
    ] {
        assert_eq!(default.verdict(code), by_default, "{code}");
        assert_eq!(ruled.verdict(code), by_rule, "{code} with rules");
    }
}

#[test]
fn a_configuration_may_be_a_list_or_an_object() {
    let list = Policy::parse("[0, 5]").unwrap();
    assert_eq!(list, Policy::parse(r#"{"schedule":[0,5]}"#).unwrap());
    assert_eq!(list.attempts(), 2);
    assert_eq!(Policy::parse("{}").unwrap(), Policy::default());
    let calm = Policy::parse(r#"{"schedule":[100],"jitterPercent":0}"#).unwrap();
    let wait = calm.wait_after(0, None, 1.0).unwrap();
    assert_eq!(wait, Duration::from_secs(100));
}

#[test]
fn a_bad_configuration_is_told_what_is_wrong() {
    for (json, says) in [
        ("", "EOF"),
        ("7", "a list of seconds or an object"),
        ("[]", "1 to 32 waits, not 0"),
        ("[86401]", "at most 86400 seconds, not 86401"),
        ("[-1]", "invalid value"),
        (r#"{"shedule":[1]}"#, "unknown field `shedule`"),
        (r#"{"jitterPercent":11}"#, "0 to 10, not 11"),
        (r#"{"rules":[{"codes":"all","then":"fail"}]}"#, "\"all\" names no"),
        (r#"{"rules":[{"codes":"500-400","then":"fail"}]}"#, "names no"),
        (r#"{"rules":[{"codes":700,"then":"fail"}]}"#, "700 names no"),
        (r#"{"rules":[{"codes":"100-300","then":"fail"}]}"#, "cover 2xx"),
        (r#"{"rules":[{"codes":500,"then":"panic"}]}"#, "`panic`"),
    ] {
        let error = Policy::parse(json).unwrap_err().to_string();
        assert!(error.contains(says), "{json}: {error}");
    }
}

#[test]
fn the_bounds_hold_at_their_edges() {
    let waits = |n| format!("[{}]", vec!["1"; n].join(","));
    assert!(Policy::parse(&waits(limits::ATTEMPTS_MAX)).is_ok());
    assert!(Policy::parse(&waits(limits::ATTEMPTS_MAX + 1)).is_err());
    let rules = |n| {
        let rule = r#"{"codes":500,"then":"fail"}"#;
        format!(r#"{{"rules":[{}]}}"#, vec![rule; n].join(","))
    };
    assert!(Policy::parse(&rules(limits::RETRY_RULES_MAX)).is_ok());
    assert!(Policy::parse(&rules(limits::RETRY_RULES_MAX + 1)).is_err());
    let padded = |n| format!("{:<n$}", "[1]");
    assert!(Policy::parse(&padded(limits::RETRY_CONFIG_BYTES_MAX)).is_ok());
    assert!(Policy::parse(&padded(limits::RETRY_CONFIG_BYTES_MAX + 1)).is_err());
}

#[test]
fn retry_after_is_seconds_or_a_date() {
    let now: Timestamp = "2015-10-21T07:27:00Z".parse().unwrap();
    for (value, seconds) in [
        ("120", Some(120)),
        (" 0 ", Some(0)),
        ("Wed, 21 Oct 2015 07:28:00 GMT", Some(60)),
        ("Wed, 21 Oct 2015 07:26:00 GMT", Some(0)),
        ("soon", None),
        ("-5", None),
        ("", None),
    ] {
        let wait = parse_retry_after(value, now);
        assert_eq!(wait.map(|wait| wait.as_secs()), seconds, "{value:?}");
    }
}

proptest! {
    #[test]
    fn any_text_is_a_policy_or_an_error(json in ".{0,60}") {
        let _ = Policy::parse(&json);
    }

    #[test]
    fn retry_after_only_lengthens_and_by_a_day_at_most(
        made in 0u16..8,
        asked in any::<u32>(),
        fraction in 0.0..1.0f64,
    ) {
        let policy = Policy::default();
        let alone = policy.wait_after(made, None, fraction).unwrap();
        let asked = Duration::from_secs(asked.into());
        let with = policy.wait_after(made, Some(asked), fraction).unwrap();
        prop_assert!(with >= alone);
        prop_assert!(with <= alone.max(DAY));
        prop_assert!(with >= asked.min(DAY));
    }
}
