//! The waist of the store: what an engine must do, and nothing else.
//!
//! Everything above (records, repositories) is written once against these methods. A new engine
//! implements them and passes the conformance suite; the last is only for engines whose deletions
//! leave something behind.

use std::fmt;

use futures_util::future::BoxFuture;

use crate::StoreError;
use crate::batch::{Batch, Durability};
use crate::changes::{Changes, ChangesError, Place, Wanted};
use crate::key::Key;
use crate::query::{Page, Query};
use crate::record::Kind;
use crate::value::Item;

#[cfg(feature = "aws")]
pub mod dynamo;
pub mod embedded;
pub mod memory;

pub type Answer<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

pub trait Engine: Send + Sync + fmt::Debug {
    /// The row, unless it is absent or has expired.
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Row>>;

    /// A page of one partition, without what has expired. A page may be shorter than its limit
    /// and still have a next one; only an absent cursor means the end.
    fn query(&self, query: Query) -> Answer<'_, Page<Row>>;

    /// Does all of the batch or nothing.
    fn commit(&self, batch: Batch, durability: Durability) -> Answer<'_, ()>;

    /// What was written behind a place, in the order it was written. Only what no crash takes back,
    /// and nothing that has expired. Of tables that have a [stream](crate::tables::TableShape).
    fn changes<'a>(&'a self, _: &'a Wanted) -> Answer<'a, Changes> {
        Box::pin(async { Err(ChangesError::NotKept.into()) })
    }

    /// Waits until there may be something behind a place at which [changes](Self::changes) ended.
    fn changed<'a>(&'a self, _: &'a Place) -> Answer<'a, ()> {
        Box::pin(std::future::pending())
    }

    /// Makes sure that nothing is left of what [erasing](Batch::erasing) batches have deleted
    /// before the call, not even among what nobody can read any more. May take long, and others
    /// go on meanwhile; after an error it can be asked for again. Where a deletion is final there
    /// is nothing to do.
    fn scrub(&self) -> Answer<'_, ()> {
        Box::pin(async { Ok(()) })
    }
}

/// A row as an engine gives it back.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub kind: Kind,
    /// Of the stored shape.
    pub version: u8,
    /// Counts the writes to this row.
    pub revision: u64,
    pub item: Item,
}
