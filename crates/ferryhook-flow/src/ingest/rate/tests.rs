use ferryhook_core::samples;
use proptest::prelude::*;

use super::*;

fn at(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

fn taken(rates: &Rates, times: usize, limit: u64, now: Duration) -> usize {
    let id = samples::source().id;
    (0..times).filter(|_| rates.take(id, limit, now).is_ok()).count()
}

#[test]
fn a_minute_has_its_share_and_no_more() {
    let rates = Rates::default();
    assert_eq!(taken(&rates, 15, 10, at(0.0)), 10);
    assert_eq!(taken(&rates, 15, 10, at(59.9)), 0);
}

/// A fixed minute would let twice the share through around its edge.
#[test]
fn the_edge_of_a_minute_opens_no_gate() {
    let rates = Rates::default();
    assert_eq!(taken(&rates, 20, 10, at(59.0)), 10);
    assert_eq!(taken(&rates, 20, 10, at(60.0)), 0);
    assert_eq!(taken(&rates, 20, 10, at(90.0)), 5, "half of it has faded");
    assert_eq!(taken(&rates, 20, 10, at(300.0)), 10);
}

#[test]
fn the_wait_is_told() {
    let rates = Rates::default();
    let id = samples::source().id;
    assert_eq!(taken(&rates, 10, 10, at(15.0)), 10);
    let told = rates.take(id, 10, at(15.0)).unwrap_err();
    // 45 s to the end of the minute, and 6 s until the first of ten has faded.
    assert_eq!(told, Standing { limit: 10, remaining: 0, wait_seconds: 51 });
    assert!(rates.take(id, 10, at(65.0)).is_err());
    assert!(rates.take(id, 10, at(66.0)).is_ok());
}

#[test]
fn a_limit_of_nothing_lets_nothing_in() {
    let told = Rates::default().take(samples::source().id, 0, at(1.0)).unwrap_err();
    assert_eq!(told, Standing { limit: 0, remaining: 0, wait_seconds: 60 });
}

#[test]
fn what_a_batch_holds_counts() {
    let rates = Rates::default();
    let id = samples::source().id;
    rates.take(id, 10, at(0.0)).unwrap();
    rates.add(id, 8);
    assert_eq!(taken(&rates, 5, 10, at(0.0)), 1);
}

proptest! {
    /// Who waits as long as told is let in, if nobody else was meanwhile.
    #[test]
    fn the_wait_is_enough(
        before in 0usize..30, now in 0usize..30, limit in 1u64..20,
        first in 0f64..60.0, second in 60f64..120.0,
    ) {
        let rates = Rates::default();
        let id = samples::source().id;
        taken(&rates, before, 20, at(first));
        taken(&rates, now, 20, at(second));
        if let Err(told) = rates.take(id, limit, at(second)) {
            let later = at(second) + Duration::from_secs(told.wait_seconds);
            // Two minutes are the longest wait that is ever told.
            prop_assert!(rates.take(id, limit, later).is_ok() || told.wait_seconds == 120);
        }
    }
}
