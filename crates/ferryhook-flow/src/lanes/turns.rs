//! Whose turn it is: deficit round robin over accounts, within each over its sources, and within
//! those over their lanes.
//!
//! Only lanes that may have something to do are in here. A turn costs by the size of what is sent,
//! so that large bodies do not buy an account more than its share.

use std::collections::VecDeque;
use std::hash::Hash;

use ferryhook_core::quick::QuickMap;
use ferryhook_core::{Account, Id, Source};

use super::LaneId;

/// Each visit is worth this much; a small event costs one.
const QUANTUM: usize = 8;
const BYTES_PER_COST: usize = 4096;

#[derive(Debug, Default)]
pub(crate) struct Turns {
    accounts: Ring<Id<Account>, Sources>,
}

type Sources = Ring<Id<Source>, Ring<LaneId, ()>>;

/// A circle of keys; the first is being served until its deficit is used up.
#[derive(Debug)]
struct Ring<K, V> {
    order: VecDeque<K>,
    members: QuickMap<K, Member<V>>,
}

#[derive(Debug, Default)]
struct Member<V> {
    deficit: usize,
    inside: V,
}

impl<K, V> Default for Ring<K, V> {
    fn default() -> Self {
        Self { order: VecDeque::new(), members: QuickMap::default() }
    }
}

impl<K: Copy + Eq + Hash, V: Default> Ring<K, V> {
    fn enter(&mut self, key: K) -> &mut V {
        let order = &mut self.order;
        let member = self.members.entry(key).or_insert_with(|| {
            order.push_back(key);
            Member { deficit: QUANTUM, inside: V::default() }
        });
        &mut member.inside
    }

    fn first(&self) -> Option<K> {
        self.order.front().copied()
    }

    fn leave_first(&mut self) {
        if let Some(key) = self.order.pop_front() {
            self.members.remove(&key);
        }
    }

    fn pass_first(&mut self) {
        if let Some(key) = self.order.pop_front() {
            self.order.push_back(key);
        }
    }

    /// Takes the cost off the first one's deficit, and passes it on when that is used up.
    fn charge_first(&mut self, cost: usize) {
        let Some(key) = self.first() else { return };
        let Some(member) = self.members.get_mut(&key) else { return };
        if member.deficit > cost {
            member.deficit -= cost;
            return;
        }
        // A large one is paid for over several rounds by the smaller quantum of the next.
        member.deficit = QUANTUM.saturating_sub(cost - member.deficit).max(1);
        self.pass_first();
    }
}

impl Turns {
    pub(crate) fn enter(&mut self, account: Id<Account>, source: Id<Source>, lane: LaneId) {
        self.accounts.enter(account).enter(source).enter(lane);
    }

    /// The account whose turn it is, if any has one.
    pub(crate) fn account(&self) -> Option<Id<Account>> {
        self.accounts.first()
    }

    pub(crate) fn accounts(&self) -> usize {
        self.accounts.order.len()
    }

    /// The lane whose turn it is.
    pub(crate) fn lane(&mut self) -> Option<LaneId> {
        let sources = self.sources()?;
        let source = sources.first()?;
        sources.members.get(&source)?.inside.first()
    }

    /// The account whose turn it is has to wait for the next round.
    pub(crate) fn pass_account(&mut self) {
        self.accounts.pass_first();
    }

    /// The lane whose turn it is has nothing to do any more.
    pub(crate) fn leave(&mut self) {
        let Some(sources) = self.sources() else { return };
        let Some(source) = sources.first() else { return };
        let Some(lanes) = sources.members.get_mut(&source) else { return };
        lanes.inside.leave_first();
        if lanes.inside.order.is_empty() {
            sources.leave_first();
        }
        if sources.order.is_empty() {
            self.accounts.leave_first();
        }
    }

    /// The lane whose turn it is has sent this much.
    pub(crate) fn served(&mut self, bytes: usize) {
        let cost = 1 + bytes / BYTES_PER_COST;
        if let Some(sources) = self.sources() {
            if let Some(source) = sources.first()
                && let Some(lanes) = sources.members.get_mut(&source)
            {
                lanes.inside.pass_first(); // lanes of one source take turns one by one
            }
            sources.charge_first(cost);
        }
        self.accounts.charge_first(cost);
    }

    /// Those of the account whose turn it is.
    fn sources(&mut self) -> Option<&mut Sources> {
        let account = self.accounts.first()?;
        Some(&mut self.accounts.members.get_mut(&account)?.inside)
    }
}

#[cfg(test)]
mod tests;
