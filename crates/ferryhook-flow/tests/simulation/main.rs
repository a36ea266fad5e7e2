//! The whole flow in worlds that a seed decides: what comes in, what goes wrong, who comes first.
//!
//! A world has a clock, a disk and destinations of its own ([`disk`], [`fleet`]); the program
//! under test is the real one, from the door to the last delivery. A [`script`] of senders,
//! operators and accidents runs through one or more [`lives`](world) of it. Then everything is
//! left alone until it comes to [`rest`], and the [`checks`] look at what was promised.
//!
//! A failure names its seed: `FERRYHOOK_TEST_SEED=n` runs that one alone and prints its story.
//! `FERRYHOOK_TEST_SEEDS=k` runs as many as that, `FERRYHOOK_TEST_FIRST=n` begins there.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod cast;
mod chance;
mod checks;
mod clock;
mod disk;
mod fleet;
mod rest;
mod script;
mod story;
mod world;

use std::cell::Cell;
use std::num::NonZero;
use std::panic::AssertUnwindSafe;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use story::Told;
use world::World;

const SEEDS: u64 = 1000;
/// How much of a story is shown when there is no way to ask for all of it.
const SHOWN: usize = 60;

#[test]
fn whatever_happens_every_promise_is_kept() {
    if let Some(seed) = number("FERRYHOOK_TEST_SEED") {
        let told = run(seed);
        told.lines.iter().enumerate().for_each(|(n, line)| println!("{:>5} {line}", n + 1));
        assert!(told.violations.is_empty(), "seed {seed}: {:#?}", told.violations);
        return;
    }
    let first = number("FERRYHOOK_TEST_FIRST").unwrap_or(0);
    let seeds = number("FERRYHOOK_TEST_SEEDS").unwrap_or(SEEDS);
    let (next, end) = (AtomicU64::new(first), first + seeds);
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let mut broken: Vec<u64> = std::thread::scope(|scope| {
        let runners: Vec<_> = (0..cores).map(|_| scope.spawn(|| run_all(&next, end))).collect();
        runners.into_iter().flat_map(|runner| runner.join().unwrap()).collect()
    });
    broken.sort_unstable();
    assert!(broken.is_empty(), "{} of {seeds} seeds: {broken:?}", broken.len());
}

/// Each seed that nobody has run yet, until there is none; those that broke a promise.
fn run_all(next: &AtomicU64, end: u64) -> Vec<u64> {
    let mut broken = Vec::new();
    loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= end {
            return broken;
        }
        let told = run(seed);
        if std::env::var_os("FERRYHOOK_TEST_VERBOSE").is_some() {
            println!("seed {seed} has {} lines", told.lines.len());
        }
        if let Some(violation) = told.violations.first() {
            println!("seed {seed}: {violation}");
            broken.push(seed);
        }
    }
}

/// Else a seed would say nothing.
#[test]
fn the_same_seed_is_the_same_run() {
    for seed in 0..24 {
        let (one, other) = (run(seed).lines, run(seed).lines);
        let differ = one.iter().zip(&other).position(|(one, other)| one != other);
        if let Some(place) = differ {
            let from = place.saturating_sub(SHOWN / 2);
            for (one, other) in one.iter().zip(&other).skip(from).take(SHOWN) {
                println!("{one}\n{other}\n");
            }
        }
        assert_eq!(differ, None, "seed {seed} ran in two ways");
        assert_eq!(one.len(), other.len(), "seed {seed} ended in two ways");
    }
}

fn run(seed: u64) -> Told {
    watch_for_panics();
    let before = PANICS.get();
    let mut world = World::new(seed);
    let ran = std::panic::catch_unwind(AssertUnwindSafe(|| world.run()));
    let mut told = std::mem::take(&mut *world.story.told());
    // One inside a task ends only that task, and nobody would hear of it.
    if ran.is_err() || PANICS.get() > before {
        told.violations.push("something panicked".to_owned());
    }
    told
}

thread_local! {
    static PANICS: Cell<usize> = const { Cell::new(0) };
}

fn watch_for_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANICS.set(PANICS.get() + 1);
            before(panic);
        }));
    });
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}
