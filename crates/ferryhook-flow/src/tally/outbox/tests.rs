use super::*;

#[test]
fn a_turn_is_small_and_leaves_room() {
    let turns = [0, 1_024, 1_025, 12_288, 24_000, 65_536, 72_000, 131_072].map(turn_of);
    assert_eq!(turns, [1_024, 1_024, 1_024, 1_024, 2_000, 5_462, 6_464, 65_536]);
}

/// Whatever comes meanwhile, whoever waits has had a turn when all have.
#[test]
fn everyone_has_a_turn() {
    let many = 30_000;
    let mut waiting: BTreeMap<u32, u32> = (0..many).map(|key| (key, 1)).collect();
    let (mut turn, mut written) = (Turn::default(), BTreeMap::<u32, u32>::new());
    for _ in 0..limits::ROW_TURNS {
        for (key, count) in turn.take(&mut waiting) {
            *written.entry(key).or_default() += count;
        }
        (0..many).step_by(7).for_each(|key| *waiting.entry(key).or_default() += 1);
    }
    assert_eq!(written.len(), many as usize);
    let left: u32 = waiting.values().sum();
    let counted = many + limits::ROW_TURNS as u32 * many.div_ceil(7);
    assert_eq!(written.values().sum::<u32>() + left, counted);
}
