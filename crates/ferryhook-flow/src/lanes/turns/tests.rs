use std::collections::HashMap;

use ferryhook_core::{Env, delivery};

use super::*;

struct Fair {
    env: Env,
    turns: Turns,
    names: HashMap<LaneId, &'static str>,
}

impl Fair {
    fn new() -> Self {
        let env = Env::fixed("2026-01-01T00:00:00Z");
        Self { env, turns: Turns::default(), names: HashMap::new() }
    }

    fn lane(&mut self, name: &'static str, account: Id<Account>, source: Id<Source>) {
        let lane = LaneId { connection: Id::new(&self.env), lane: delivery::Lane::Live };
        self.names.insert(lane, name);
        self.turns.enter(account, source, lane);
    }

    /// Serves that often, and tells how often each had its turn.
    fn serve(&mut self, times: usize, bytes: impl Fn(&str) -> usize) -> Vec<(&'static str, usize)> {
        let mut served: HashMap<&str, usize> = HashMap::new();
        for _ in 0..times {
            let name = self.names[&self.turns.lane().unwrap()];
            *served.entry(name).or_default() += 1;
            self.turns.served(bytes(name));
        }
        let mut served: Vec<_> = served.into_iter().collect();
        served.sort_unstable();
        served
    }
}

#[test]
fn accounts_share_evenly_however_many_sources_they_have() {
    let mut fair = Fair::new();
    let (a, b) = (Id::new(&fair.env), Id::new(&fair.env));
    for name in ["a1", "a2", "a3"] {
        let source = Id::new(&fair.env);
        fair.lane(name, a, source);
    }
    let source = Id::new(&fair.env);
    fair.lane("b", b, source);
    assert_eq!(fair.serve(480, |_| 0), [("a1", 80), ("a2", 80), ("a3", 80), ("b", 240)]);
}

#[test]
fn within_an_account_sources_share_evenly_and_so_do_their_lanes() {
    let mut fair = Fair::new();
    let (account, one, other) = (Id::new(&fair.env), Id::new(&fair.env), Id::new(&fair.env));
    fair.lane("1a", account, one);
    fair.lane("1b", account, one);
    fair.lane("2", account, other);
    assert_eq!(fair.serve(400, |_| 0), [("1a", 100), ("1b", 100), ("2", 200)]);
}

#[test]
fn large_bodies_have_their_price() {
    let mut fair = Fair::new();
    for name in ["large", "small"] {
        let (account, source) = (Id::new(&fair.env), Id::new(&fair.env));
        fair.lane(name, account, source);
    }
    let bytes = |name: &str| if name == "large" { 7 * BYTES_PER_COST } else { 0 };
    let served = fair.serve(900, bytes);
    let [("large", large), ("small", small)] = served[..] else { panic!("{served:?}") };
    // A turn of each is worth the same, and a large one fills a turn.
    assert!((7..=9).contains(&(small / large)), "{served:?}");
}

/// One that leaves takes its source and its account along if it was the last, and may come again.
#[test]
fn who_has_nothing_to_do_is_not_in_the_way() {
    let mut fair = Fair::new();
    let (account, source) = (Id::new(&fair.env), Id::new(&fair.env));
    fair.lane("one", account, source);
    fair.lane("other", account, source);
    fair.turns.leave();
    assert_eq!(fair.serve(3, |_| 0), [("other", 3)]);
    fair.turns.leave();
    assert!(fair.turns.account().is_none() && fair.turns.lane().is_none());
    fair.turns.leave();
    fair.lane("again", account, source);
    assert_eq!(fair.serve(1, |_| 0), [("again", 1)]);
}
