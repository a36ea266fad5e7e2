use proptest::prelude::*;

use super::*;

#[test]
fn without_a_limit_everything_may_start() {
    let mut pace = Pace::default();
    pace.set(None);
    (0..1000).for_each(|_| pace.started(Duration::ZERO));
    assert!(pace.is_free());
    assert_eq!(pace.opens(), Duration::ZERO);
    assert_eq!(pace.reserve(Duration::from_secs(7)), Duration::from_secs(7));
}

#[test]
fn who_was_idle_gains_nothing_by_it() {
    let mut pace = Pace::default();
    pace.set(Some(10));
    let start = Duration::from_secs(100);
    let starts: Vec<_> = (0..4).map(|_| pace.reserve(start) - start).collect();
    assert_eq!(starts, [0, 100, 200, 300].map(Duration::from_millis));
}

#[test]
fn a_new_limit_counts_from_the_next_one_on() {
    let mut pace = Pace::default();
    pace.set(Some(1));
    pace.started(Duration::ZERO);
    pace.set(Some(100));
    assert_eq!(pace.opens(), Duration::from_secs(1));
    pace.started(Duration::from_secs(1));
    assert_eq!(pace.opens(), Duration::from_millis(1010));
}

proptest! {
    /// In no span of time more than the rate allows, but for what timers are too coarse for.
    #[test]
    fn never_above_the_rate(rate in 1u32..5000, gaps in prop::collection::vec(0u64..400, 1..200)) {
        let mut pace = Pace::default();
        pace.set(Some(rate));
        let mut now = Duration::from_secs(1);
        let mut starts: Vec<Duration> = Vec::new();
        for gap in gaps {
            now += Duration::from_micros(gap * 50);
            if pace.opens() <= now {
                pace.started(now);
                starts.push(now);
            }
        }
        for (place, last) in starts.iter().enumerate() {
            for (before, first) in starts[..place].iter().enumerate() {
                let span = *last - *first + limits::PACE_GRAIN;
                let allowed = span.as_secs_f64() * f64::from(rate) + 1.0 + 1e-6;
                prop_assert!((place - before) as f64 <= allowed, "{} in {span:?}", place - before + 1);
            }
        }
    }
}
