use proptest::prelude::*;

use super::*;

fn of(values: &[&str]) -> Hops {
    Hops::of(&values.iter().map(|value| ("X-Ferryhook-Hops", *value)).collect())
}

#[test]
fn the_largest_number_counts() {
    for (values, hops) in [
        (&[][..], 0),
        (&["0"], 0),
        (&["3"], 3),
        (&[" 3 "], 3),
        (&["1, 4"], 4),
        (&["2", "1"], 2),
        (&["1000000000000"], 255),
        (&["-1"], 0),
        (&["+3"], 0),
        (&["three"], 0),
        (&["three, 2"], 2),
        (&[""], 0),
    ] {
        assert_eq!(of(values), Hops(hops), "{values:?}");
    }
}

#[test]
fn the_fifth_hop_is_a_circle() {
    let mut hops = Hops::default();
    for _ in 0..HOPS_MAX {
        assert!(!hops.is_circle());
        hops = hops.next();
    }
    assert!(hops.is_circle());
    assert_eq!(Hops(255).next(), Hops(255));
}

proptest! {
    #[test]
    fn what_we_send_is_what_the_next_one_reads(count in any::<u8>(), other in "[^0-9]{0,20}") {
        prop_assert_eq!(of(&[&other, &Hops(count).to_string()]), Hops(count));
    }
}
