//! What a query finds: the keys of the tree's files, of the tables in memory and of the young
//! markers, in one order and as of one moment.

use std::cmp::Ordering;

use lsm_tree::{UserKey, UserValue};

use super::files::Entry;
use super::fresh::Cursor;
use super::shared::tree_error;
use super::young::Few;
use crate::StoreError;
use crate::query::Order;

pub(super) struct Found<I> {
    order: Order,
    tree: I,
    /// Taken from the tree and not yet given out.
    ahead: Option<Entry>,
    fresh: Vec<Cursor>,
    young: Few,
    /// The last young marker that was looked at, if there are more than were fetched.
    cut: Option<UserKey>,
}

pub(super) enum Step {
    Entry(UserKey, UserValue),
    /// Something was here and was deleted.
    Gone(UserKey),
    /// There may be more behind this key, for the next page to find.
    Later(UserKey),
    End,
}

impl<I: DoubleEndedIterator<Item = lsm_tree::Result<Entry>>> Found<I> {
    pub(super) fn new(tree: I, fresh: Vec<Cursor>, young: Few, order: Order) -> Self {
        Self { order, tree, ahead: None, fresh, young, cut: None }
    }

    pub(super) fn step(&mut self) -> Result<Step, StoreError> {
        if let Some(last) = self.cut.take() {
            return Ok(Step::Later(last));
        }
        self.look_ahead()?;
        let Some(key) = self.first() else { return Ok(Step::End) };
        // All of them pass this key; what they say about it counts in this order.
        let young = self.pass_young(&key);
        let fresh = self.pass_fresh(&key);
        let old = self.ahead.take_if(|(old, _)| *old == key).and_then(|(_, value)| value);
        let value = match (young, fresh) {
            (Some(expiry), _) => Some(expiry),
            (None, Some(fresh)) => fresh,
            (None, None) => old,
        };
        Ok(match value {
            Some(value) => Step::Entry(key, value),
            None => Step::Gone(key),
        })
    }

    /// The next that was not deleted, however far it is: for what only the engine asks.
    pub(super) fn entry(&mut self) -> Result<Option<(UserKey, UserValue)>, StoreError> {
        loop {
            match self.step()? {
                Step::Entry(key, value) => return Ok(Some((key, value))),
                Step::Gone(_) => {}
                Step::Later(_) | Step::End => return Ok(None),
            }
        }
    }

    fn look_ahead(&mut self) -> Result<(), StoreError> {
        if self.ahead.is_none() {
            let next = match self.order {
                Order::Ascending => self.tree.next(),
                Order::Descending => self.tree.next_back(),
            };
            self.ahead = next.transpose().map_err(tree_error)?;
        }
        Ok(())
    }

    fn first(&self) -> Option<UserKey> {
        let old = self.ahead.iter().map(|(key, _)| key);
        let young = self.young.markers.front().map(|(key, _)| key);
        let keys = old.chain(young).chain(self.fresh.iter().map(Cursor::key));
        let first = match self.order {
            Order::Ascending => keys.min(),
            Order::Descending => keys.max(),
        };
        first.cloned()
    }

    fn pass_young(&mut self, key: &UserKey) -> Option<UserValue> {
        let (own, _) = self.young.markers.front()?;
        if own != key {
            return None;
        }
        let (own, expiry) = self.young.markers.pop_front()?;
        if self.young.more && self.young.markers.is_empty() {
            self.cut = Some(own);
        }
        Some(expiry.into())
    }

    /// The newest version of the key: nothing known, a deletion, or a value.
    fn pass_fresh(&mut self, key: &UserKey) -> Option<Option<UserValue>> {
        let mut newest = None;
        self.fresh.retain_mut(|cursor| {
            if cursor.key().cmp(key) != Ordering::Equal {
                return true;
            }
            let version = cursor.version();
            if newest.as_ref().is_none_or(|(sequence, _)| *sequence < version.sequence) {
                newest = Some((version.sequence, version.value.clone()));
            }
            cursor.advance()
        });
        newest.map(|(_, value)| value)
    }
}
