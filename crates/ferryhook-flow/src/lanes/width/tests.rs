use proptest::prelude::*;

use super::*;

const MOST: usize = 64;

fn after(width: &mut Width, successes: usize) -> usize {
    (0..successes).for_each(|_| width.succeeded(MOST));
    width.get(MOST)
}

#[test]
fn it_doubles_until_something_fails_and_then_grows_slowly() {
    let mut width = Width::new();
    assert_eq!(width.get(MOST), limits::CONCURRENCY_FIRST);
    assert_eq!(after(&mut width, limits::CONCURRENCY_FIRST), 2 * limits::CONCURRENCY_FIRST);
    width.failed();
    assert_eq!(width.get(MOST), limits::CONCURRENCY_FIRST);
    assert_eq!(after(&mut width, limits::CONCURRENCY_FIRST), limits::CONCURRENCY_FIRST + 1);
}

#[test]
fn after_a_rest_it_begins_with_one_and_doubles() {
    let mut width = Width::new();
    width.begin_again();
    let widths: Vec<_> = (0..4)
        .map(|_| {
            let now = width.get(MOST);
            after(&mut width, now)
        })
        .collect();
    assert_eq!(widths, [2, 4, 8, 16]);
}

proptest! {
    #[test]
    fn it_stays_between_one_and_the_most(most in 1usize..100, felt in prop::collection::vec(any::<bool>(), 0..300)) {
        let mut width = Width::new();
        for well in felt {
            if well { width.succeeded(most) } else { width.failed() }
            prop_assert!((1..=most).contains(&width.get(most)));
        }
    }
}
