use super::*;

#[test]
fn a_fixed_clock_moves_only_when_told() {
    let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
    assert_eq!(env.now().to_string(), "2026-01-01T00:00:00.000Z");
    clock.advance(Duration::from_millis(1500));
    assert_eq!(env.now().to_string(), "2026-01-01T00:00:01.500Z");
    assert_eq!(env.elapsed(), Duration::from_millis(1500));
}

#[test]
fn elapsed_time_survives_a_clock_that_is_set_back() {
    let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
    clock.advance(Duration::from_secs(10));
    clock.jump_to(Timestamp::default());
    clock.advance(Duration::from_secs(1));
    assert_eq!(env.elapsed(), Duration::from_secs(11));
    assert_eq!(env.now(), Timestamp::from_seconds(1));
}

#[test]
fn fixed_randomness_repeats_and_the_systems_does_not() {
    let draw = |env: &Env| {
        let mut bytes = [0u8; 16];
        env.fill(&mut bytes);
        bytes
    };
    assert_eq!(
        draw(&Env::fixed("2026-01-01T00:00:00Z")),
        draw(&Env::fixed("2026-01-01T00:00:00Z"))
    );
    assert_ne!(draw(&Env::system()), draw(&Env::system()));
}

#[test]
fn a_fraction_lies_between_zero_and_one() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    for _ in 0..1000 {
        let fraction = env.fraction();
        assert!((0.0..1.0).contains(&fraction), "{fraction}");
    }
}
