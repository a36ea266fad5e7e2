use proptest::prelude::*;

use super::*;

/// What happened, one after the other.
#[derive(Debug, Clone)]
enum Happened {
    Event(usize),
    Attempt(u16, u32),
    Other(usize, u64),
}

fn happened() -> impl Strategy<Value = Happened> {
    prop_oneof![
        (0usize..100_000).prop_map(Happened::Event),
        (0u16..1000, any::<u32>()).prop_map(|(status, millis)| Happened::Attempt(status, millis)),
        (0usize..5, any::<u64>()).prop_map(|(which, count)| Happened::Other(which, count)),
    ]
}

fn counted(all: &[Happened]) -> Counts {
    let mut counts = Counts::default();
    for one in all {
        match *one {
            Happened::Event(bytes) => counts.add(&Counts::event(bytes)),
            Happened::Attempt(status, millis) => counts.record_attempt(status, millis),
            Happened::Other(which, count) => {
                let mut more = Counts::default();
                let places = [
                    &mut more.duplicates,
                    &mut more.rejected,
                    &mut more.filtered,
                    &mut more.delivered,
                    &mut more.failed,
                ];
                *places.into_iter().nth(which).unwrap() = count;
                counts.add(&more);
            }
        }
    }
    counts
}

fn sum(one: &Counts, other: &Counts) -> Counts {
    let mut sum = one.clone();
    sum.add(other);
    sum
}

proptest! {
    #[test]
    fn counts_add_up_in_any_order(
        a in prop::collection::vec(happened(), 0..40),
        b in prop::collection::vec(happened(), 0..40),
        c in prop::collection::vec(happened(), 0..40),
    ) {
        let (one, two, three) = (counted(&a), counted(&b), counted(&c));
        prop_assert_eq!(sum(&one, &two), sum(&two, &one));
        prop_assert_eq!(sum(&sum(&one, &two), &three), sum(&one, &sum(&two, &three)));
        prop_assert_eq!(&sum(&one, &Counts::default()), &one);
        let all: Vec<_> = a.into_iter().chain(b).chain(c).collect();
        prop_assert_eq!(counted(&all), sum(&sum(&one, &two), &three));
    }

    #[test]
    fn counts_come_back_from_their_names(all in prop::collection::vec(happened(), 0..60)) {
        let counts = counted(&all);
        let stored = serde_json::to_value(&counts).unwrap();
        prop_assert_eq!(serde_json::from_value::<Counts>(stored).unwrap(), counts);
    }

    #[test]
    fn parts_add_up_to_the_whole(
        all in prop::collection::vec(happened(), 0..200),
        most in 1usize..80,
    ) {
        let counts = counted(&all);
        let mut sum = Counts::default();
        for part in counts.clone().parts(most) {
            prop_assert!(part.named().count() <= most);
            sum.add(&part);
        }
        prop_assert_eq!(sum, counts);
    }

    /// Below the last bucket, which no attempt reaches.
    #[test]
    fn percentiles_are_within_the_error(
        mut times in prop::collection::vec(
            prop_oneof![0u32..40, 0u32..1_000, 0u32..1_000_000],
            1..300,
        ),
        percent in 0u8..=100,
        split in any::<prop::sample::Index>(),
    ) {
        let (left, right) = times.split_at(split.index(times.len()));
        let mut histogram = Histogram::default();
        let mut other = Histogram::default();
        left.iter().for_each(|time| histogram.record(*time));
        right.iter().for_each(|time| other.record(*time));
        histogram.merge(&other);
        times.sort_unstable();
        let rank = (times.len() * usize::from(percent)).div_ceil(100).max(1);
        let truth = f64::from(times[rank - 1]);
        let told = f64::from(histogram.percentile(percent).unwrap());
        prop_assert!((told - truth).abs() <= truth * Histogram::ERROR, "{told} for {truth}");
    }
}

#[test]
fn nothing_took_no_time_at_all() {
    assert_eq!(Histogram::default().percentile(50), None);
    assert_eq!(Counts::default().success_rate(), None);
    assert_eq!(Counts::default().latency_mean(), None);
}

#[test]
fn the_longest_times_share_a_bucket() {
    let mut histogram = Histogram::default();
    [u32::MAX, 2_000_000].iter().for_each(|time| histogram.record(*time));
    assert_eq!(histogram.buckets().collect::<Vec<_>>(), [(143, 2)]);
}

#[test]
fn codes_are_exact_or_a_class() {
    let told = [0, 200, 404, 299, 499, 599, 999, 99].map(|status| Code::of(status).to_string());
    assert_eq!(told, ["none", "200", "404", "2xx", "4xx", "5xx", "9xx", "none"]);
}

/// However odd the answers of a destination are, a row stays small.
#[test]
fn a_row_has_a_bound() {
    let mut counts = Counts::default();
    (0..=u16::MAX).for_each(|status| counts.record_attempt(status, u32::from(status) * 64));
    (0..16).for_each(|millis| counts.record_attempt(200, millis));
    assert!(counts.named().count() <= limits::ROLLUP_COUNTS_MAX, "{}", counts.named().count());
}

#[test]
fn an_answer_has_a_latency_and_silence_has_none() {
    let mut counts = Counts::default();
    counts.record_attempt(200, 10);
    counts.record_attempt(500, 30);
    counts.record_attempt(0, 30_000);
    assert_eq!((counts.attempts, counts.latency_mean()), (3, Some(20.0)));
    let codes: Vec<_> = counts.codes.iter().map(|(code, n)| format!("{code} {n}")).collect();
    assert_eq!(codes, ["none 1", "200 1", "500 1"]);
}

/// A later version may count more; what it wrote is still read.
#[test]
fn unknown_counts_are_left_alone() {
    let stored = r#"{"events":2,"somethingNew":"x","code200":1}"#;
    let counts: Counts = serde_json::from_str(stored).unwrap();
    assert_eq!((counts.events, counts.codes.iter().count()), (2, 1));
}

#[test]
fn hours_and_days_begin_and_end() {
    let at: Timestamp = "2026-01-31T23:59:59.999Z".parse().unwrap();
    assert_eq!(Interval::Hour.begin(at).to_string(), "2026-01-31T23:00:00.000Z");
    assert_eq!(Interval::Day.begin(at).to_string(), "2026-01-31T00:00:00.000Z");
    let days: Vec<_> = Interval::Day.last(3, at).map(Timestamp::day).collect();
    assert_eq!(days, ["2026-01-29", "2026-01-30", "2026-01-31"]);
}

#[test]
fn a_scope_is_known_by_its_id() {
    for text in ["acc_0000000000000001", "src_0000000000000001", "conn_0000000000000001"] {
        assert_eq!(text.parse::<Scope>().unwrap().to_string(), text);
    }
    assert!("nobody".parse::<Scope>().is_err());
}
