use super::*;

#[test]
fn percentiles_are_times_that_were_measured() {
    let times = (1..=200).rev().map(Duration::from_millis);
    assert_eq!(Percentiles::of(times), Percentiles { p50: 100.0, p99: 198.0, max: 200.0 });
    let one = std::iter::once(Duration::from_millis(7));
    assert_eq!(Percentiles::of(one), Percentiles { p50: 7.0, p99: 7.0, max: 7.0 });
    assert_eq!(Percentiles::of(std::iter::empty()), Percentiles::default());
}

#[test]
fn a_ratio_to_nothing_is_nothing() {
    assert_eq!(ratio(1.0, 0.0), 0.0);
    assert_eq!(ratio(1.0, 4.0), 0.25);
}
