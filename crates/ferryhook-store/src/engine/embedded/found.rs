//! What a query finds: the keys of the tree and the young markers between them, in one order and
//! as of one moment.

use std::cmp::Ordering;

use lsm_tree::{Guard, IterGuardImpl, UserKey, UserValue};

use super::shared::tree_error;
use super::young::Few;
use crate::StoreError;
use crate::query::Order;

pub(super) struct Found<I> {
    tree: I,
    order: Order,
    /// Taken from the tree and not yet given out.
    ahead: Option<(UserKey, UserValue)>,
    young: Few,
    /// The last young marker that was looked at, if there are more than were fetched.
    cut: Option<UserKey>,
}

pub(super) enum Step {
    Entry(UserKey, UserValue),
    /// There may be more behind this key, for the next page to find.
    Later(UserKey),
    End,
}

impl<I: DoubleEndedIterator<Item = IterGuardImpl>> Found<I> {
    pub(super) fn new(tree: I, young: Few, order: Order) -> Self {
        Self { tree, order, ahead: None, young, cut: None }
    }

    pub(super) fn step(&mut self) -> Result<Step, StoreError> {
        if let Some(last) = self.cut.take() {
            return Ok(Step::Later(last));
        }
        if self.ahead.is_none() {
            let next = match self.order {
                Order::Ascending => self.tree.next(),
                Order::Descending => self.tree.next_back(),
            };
            self.ahead = next.map(Guard::into_inner).transpose().map_err(tree_error)?;
        }
        let first = match (&self.ahead, self.young.markers.front()) {
            (_, None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((old, _)), Some((young, _))) => match self.order {
                Order::Ascending => old.cmp(young),
                Order::Descending => young.cmp(old),
            },
        };
        if first == Ordering::Less {
            return Ok(self.ahead.take().map_or(Step::End, |(key, value)| Step::Entry(key, value)));
        }
        if first == Ordering::Equal {
            self.ahead = None; // what is young is newer
        }
        let Some((key, expiry)) = self.young.markers.pop_front() else { return Ok(Step::End) };
        if self.young.more && self.young.markers.is_empty() {
            self.cut = Some(key.clone());
        }
        Ok(Step::Entry(key, expiry.into()))
    }
}
