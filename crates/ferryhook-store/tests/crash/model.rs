//! What the parent knows from the child's lines, and so what it must find again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::str::FromStr;

use ferryhook_core::{Claim, Event, Id};

use crate::cargo::Manifest;

#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) events: BTreeMap<Id<Event>, Known>,
    /// The tokens that five rows may carry: the acknowledged one, or that of the commit in
    /// flight. Zero stands for no rows.
    pub(crate) fives: BTreeMap<u64, BTreeSet<u64>>,
    /// In seconds; never behind the child's clock.
    pub(crate) now: i64,
}

#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) manifest: Manifest,
    pub(crate) accepted: bool,
    pub(crate) deletion: Deletion,
    /// The last step that was acknowledged as durable.
    pub(crate) step: u32,
    /// When it may expire: one answer, or two while a change was in flight.
    expiries: Vec<Option<i64>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deletion {
    No,
    Asked,
    Acknowledged,
}

impl Known {
    /// Whether it has to be there.
    pub(crate) fn must_live(&self, now: i64) -> bool {
        self.accepted && self.may_live(now) && !self.may_be_gone(now)
    }

    pub(crate) fn may_be_gone(&self, now: i64) -> bool {
        let expired = self.expiries.iter().any(|at| at.is_some_and(|at| at <= now));
        self.deletion != Deletion::No || expired
    }

    pub(crate) fn may_live(&self, now: i64) -> bool {
        let living = self.expiries.iter().any(|at| at.is_none_or(|at| at > now));
        self.deletion != Deletion::Acknowledged && living
    }

    pub(crate) fn claim(&self) -> Claim {
        self.manifest.claim()
    }
}

impl Model {
    pub(crate) fn new(now: i64) -> Self {
        Self { events: BTreeMap::new(), fives: BTreeMap::new(), now }
    }

    /// Takes in one line; see `child` for who says what when.
    pub(crate) fn hear(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["a", id, source, received_ms, body_bytes, expires] => {
                let expires = Some(parse(expires)).filter(|at| *at != 0);
                let manifest = Manifest {
                    id: parse(id),
                    source: parse(source),
                    received_ms: parse(received_ms),
                    body_bytes: parse(body_bytes),
                    expires,
                };
                let known = Known {
                    manifest,
                    accepted: false,
                    deletion: Deletion::No,
                    step: 0,
                    expiries: vec![expires],
                };
                self.events.insert(manifest.id, known);
            }
            ["A", id] => self.event(id).accepted = true,
            ["S", id, step] => self.event(id).step = parse(step),
            ["e", id, expires] => self.event(id).expiries.push(Some(parse(expires))),
            ["E", id, expires] => self.event(id).expiries = vec![Some(parse(expires))],
            ["d", id] => {
                let event = self.event(id);
                // A second wish cannot take back what was acknowledged.
                if event.deletion == Deletion::No {
                    event.deletion = Deletion::Asked;
                }
            }
            ["D", id] => self.event(id).deletion = Deletion::Acknowledged,
            ["g", five, token] => {
                let tokens = self.fives.entry(parse(five)).or_insert_with(|| BTreeSet::from([0]));
                tokens.insert(parse(token));
            }
            ["G", five, token] => {
                self.fives.insert(parse(five), BTreeSet::from([parse(token)]));
            }
            ["t", now] => self.now = parse(now),
            _ => panic!("the child said {line:?}"),
        }
    }

    fn event(&mut self, id: &str) -> &mut Known {
        self.events.get_mut(&parse(id)).unwrap_or_else(|| panic!("{id} was never announced"))
    }
}

fn parse<T: FromStr<Err: Debug>>(word: &str) -> T {
    word.parse().unwrap_or_else(|error| panic!("{word:?}: {error:?}"))
}
