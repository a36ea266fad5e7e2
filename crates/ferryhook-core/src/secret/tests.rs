use std::time::Duration;

use super::*;

#[test]
fn a_generated_secret_has_32_random_bytes() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let (one, other) = (Secret::generate(&env), Secret::generate(&env));
    assert_ne!(one, other);
    let text = one.expose().strip_prefix("whsec_").unwrap();
    assert_eq!(STANDARD.decode(text).unwrap().len(), 32);
}

/// Both sides have a day to change over; what has run out, or is too old, is forgotten.
#[test]
fn a_replaced_secret_is_honoured_for_a_day() {
    let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
    let hour = Duration::from_secs(60 * 60);
    let mut previous = Vec::new();
    for name in ["a", "b", "c", "d", "e", "f"] {
        previous = Previous::after_rotation(Secret::new(name), &previous, env.now());
        clock.advance(hour);
    }
    let names = |previous: &[Previous]| -> String {
        previous.iter().map(|old| old.secret.expose()).collect()
    };
    assert_eq!(names(&previous), "fedc");
    assert_eq!(previous[0].valid_until, env.now() + 23 * hour);

    clock.advance(21 * hour);
    assert_eq!(names(&Previous::after_rotation(Secret::new("g"), &previous, env.now())), "gfe");
}
