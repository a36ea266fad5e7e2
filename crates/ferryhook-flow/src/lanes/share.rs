//! How many of what is scarce one may hold: so many times what is left of it, and so the fewer the
//! more others hold.
//!
//! However many want more than there is, something stays free for those who have none, and who is
//! alone has most of it. The same rule shares the slots between accounts, and what an account may
//! yet take of them between its connections.

use crate::limits;

/// Whether one who holds so many may take another.
pub(super) fn may_take(holds: usize, left: usize) -> bool {
    holds < most(left)
}

/// How many more they may take, if nobody else takes any.
pub(super) fn may_yet_take(holds: usize, left: usize) -> usize {
    most(left).saturating_sub(holds).div_ceil(limits::HELD_FOR_EACH_LEFT + 1)
}

fn most(left: usize) -> usize {
    left.saturating_mul(limits::HELD_FOR_EACH_LEFT)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// So many who take in turn whatever they may: what the first has, and what is left.
    fn shared(takers: usize, all: usize) -> (usize, usize) {
        let (mut held, mut left) = (vec![0; takers], all);
        loop {
            let before = left;
            for one in &mut held {
                if may_take(*one, left) {
                    *one += 1;
                    left -= 1;
                }
            }
            if left == before {
                return (held[0], left);
            }
        }
    }

    #[test]
    fn the_more_want_it_the_less_has_each_and_some_stays_free() {
        for (takers, each) in [(1, 1536), (2, 877), (3, 614), (10, 198), (100, 20), (500, 4)] {
            let (held, left) = shared(takers, limits::SLOTS_MAX);
            assert!(held.abs_diff(each) <= 3 && left > 0, "{takers} have {held}, {left} are left");
        }
    }

    #[test]
    fn what_is_left_of_nothing_is_nothing() {
        assert!(!may_take(0, 0));
        assert_eq!(may_yet_take(0, 0), 0);
        assert!(may_take(0, 1));
    }

    proptest! {
        #[test]
        fn who_may_yet_take_some_may_take_as_many(holds in 0usize..3000, left in 0usize..2049) {
            let (mut held, mut free, mut taken) = (holds, left, 0);
            while may_take(held, free) {
                (held, free, taken) = (held + 1, free - 1, taken + 1);
            }
            prop_assert_eq!(taken, may_yet_take(holds, left));
        }
    }
}
