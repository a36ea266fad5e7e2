//! A walk over a part of a run: each key once, in the version that the reader may see.

use std::ops::Range;

use lsm_tree::{SeqNo, UserKey};

use super::{Run, Version};
use crate::query::Order;

#[derive(Debug)]
pub(in super::super) struct Cursor {
    run: Run,
    /// What is still to come.
    rest: Range<usize>,
    /// Where the version stands that comes next.
    next: usize,
    order: Order,
    at: SeqNo,
}

impl Cursor {
    /// Nothing, if there is nothing to see.
    pub(super) fn new(run: Run, part: Range<usize>, order: Order, at: SeqNo) -> Option<Self> {
        let mut cursor = Self { run, rest: part, next: 0, order, at };
        cursor.advance().then_some(cursor)
    }

    pub(in super::super) fn key(&self) -> &UserKey {
        &self.run[self.next].key
    }

    pub(in super::super) fn version(&self) -> &Version {
        &self.run[self.next]
    }

    /// Goes on to the next key; tells whether there is one.
    pub(in super::super) fn advance(&mut self) -> bool {
        while !self.rest.is_empty() {
            let group = match self.order {
                Order::Ascending => {
                    let start = self.rest.start;
                    let key = &self.run[start].key;
                    let same = self.run[start..self.rest.end].iter();
                    let end = start + same.take_while(|version| version.key == *key).count();
                    self.rest.start = end;
                    start..end
                }
                Order::Descending => {
                    let end = self.rest.end;
                    let key = &self.run[end - 1].key;
                    let same = self.run[self.rest.start..end].iter().rev();
                    let start = end - same.take_while(|version| version.key == *key).count();
                    self.rest.end = start;
                    start..end
                }
            };
            let seen = group.clone().find(|place| self.run[*place].sequence < self.at);
            if let Some(seen) = seen {
                self.next = seen;
                return true;
            }
        }
        false
    }
}
