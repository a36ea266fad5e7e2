use super::*;

const START: &str = "2026-01-01T00:00:00Z";
const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn a_clock_set_back_stalls_nothing() {
    let (env, clock) = Env::manual(START);
    let steady = Steady::new(env.clone());
    let start = steady.now();
    clock.jump_to(env.now() - 60 * MINUTE);
    assert_eq!(steady.now(), start);
    clock.advance(MINUTE);
    assert_eq!(steady.now().wall, start.wall + MINUTE);
}

/// However often somebody asks: many times a millisecond, where much goes on.
#[test]
fn a_clock_set_back_stalls_nothing_where_it_is_looked_at_all_the_time() {
    let (env, clock) = Env::manual(START);
    let steady = Steady::new(env.clone());
    let start = steady.now();
    clock.jump_to(env.now() - 60 * MINUTE);
    for _ in 0..10_000 {
        clock.advance(Duration::from_micros(100));
        steady.now();
    }
    assert_eq!(steady.now().wall, start.wall + Duration::from_secs(1));
}

#[test]
fn a_clock_set_forward_is_followed() {
    let (env, clock) = Env::manual(START);
    let steady = Steady::new(env.clone());
    let later = env.now() + 60 * MINUTE;
    clock.jump_to(later);
    assert_eq!(steady.now().wall, later);
}

#[test]
fn what_lies_in_the_past_has_come_already() {
    let now = Moment { wall: START.parse().unwrap(), passed: MINUTE };
    assert_eq!(now.reaches(now.wall + MINUTE), 2 * MINUTE);
    assert_eq!(now.reaches(now.wall - MINUTE), MINUTE);
}
