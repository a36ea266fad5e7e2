use std::sync::Arc;

use ferryhook_core::env::ManualClock;

use super::*;

fn brake() -> (Brake, Arc<ManualClock>) {
    let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
    (Brake::new(env), clock)
}

/// Guesses once a second until it is told to wait; says how many it had, one address for each.
fn guesses(brake: &Brake, subject: &str) -> usize {
    (0..100)
        .take_while(|place| {
            let from = IpAddr::from([192, 0, 2, *place]);
            brake.begin(Sort::Password, subject, Some(from)).is_ok()
        })
        .count()
}

#[test]
fn each_further_try_waits_for_twice_as_long() {
    let (brake, clock) = brake();
    assert_eq!(guesses(&brake, "ada@example.com"), 5);
    let mut waited = Vec::new();
    for _ in 0..12 {
        let mut seconds = 0;
        while brake.begin(Sort::Password, " ADA@example.com", None).is_err() {
            clock.advance(Duration::from_secs(1));
            seconds += 1;
        }
        waited.push(seconds);
    }
    assert_eq!(waited, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
    assert_eq!(guesses(&brake, "bob@example.com"), 5, "others have their own");
    clock.advance(FORGOTTEN_AFTER);
    assert_eq!(guesses(&brake, "ada@example.com"), 5);
}

#[test]
fn sorts_do_not_mix() {
    let (brake, _) = brake();
    assert_eq!(guesses(&brake, "ada"), 5);
    assert!(brake.begin(Sort::Code, "ada", None).is_ok());
}

#[test]
fn a_right_one_begins_anew() {
    let (brake, _) = brake();
    let from = Some(IpAddr::from([192, 0, 2, 7]));
    for _ in 0..1000 {
        brake.begin(Sort::Password, "ada", from).unwrap().was_right();
    }
    assert_eq!(guesses(&brake, "ada"), 5);
}

#[test]
fn one_address_has_so_many_whomever_it_guesses_at() {
    let (brake, clock) = brake();
    let guess = |place: u32, from: &str| {
        brake.begin(Sort::Password, &place.to_string(), Some(from.parse().unwrap())).is_ok()
    };
    assert_eq!((0..100).filter(|place| guess(*place, "192.0.2.7")).count(), 60);
    assert!(guess(100, "192.0.2.8"));
    assert!(!guess(101, "::ffff:192.0.2.7"), "the same, written otherwise");
    // All of a network that one subscriber has.
    let of_network = |place: &u32| guess(1000 + place, &format!("2001:db8::{place:x}"));
    assert_eq!((0..100).filter(of_network).count(), 60);
    clock.advance(FROM_ONE_ADDRESS.1 * 2);
    assert!(guess(2000, "192.0.2.7"));
}

#[test]
fn all_together_have_so_many() {
    let (brake, clock) = brake();
    let guess = |place: u32| {
        let from = IpAddr::from(std::net::Ipv4Addr::from(place));
        brake.begin(Sort::Password, &place.to_string(), Some(from)).is_ok()
    };
    assert_eq!((0..2000).filter(|place| guess(*place)).count(), 1200);
    clock.advance(IN_ALL.1 * 2);
    assert!(guess(5000));
}

#[test]
fn a_flood_of_names_makes_it_forget_and_not_grow() {
    let mut remembered: HashMap<u64, u32> = HashMap::new();
    for key in 0..REMEMBERED_MAX as u64 + 500 {
        make_room(&mut remembered, key, |_| false);
        remembered.insert(key, 0);
    }
    assert_eq!(remembered.len(), REMEMBERED_MAX);
}
