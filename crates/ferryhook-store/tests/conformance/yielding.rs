//! An engine that lets everyone else go first before each call.
//!
//! A verb that reads and then writes is only tested by a race if others get in between, which on
//! a fast engine they hardly ever do by themselves.

use std::sync::Arc;

use ferryhook_store::engine::{Answer, Engine, Row};
use ferryhook_store::{Batch, Changes, Durability, Key, Page, Place, Query, Wanted};
use tokio::task::yield_now;

#[derive(Debug)]
pub(crate) struct Yielding(pub(crate) Arc<dyn Engine>);

impl Engine for Yielding {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Row>> {
        Box::pin(async move {
            yield_now().await;
            self.0.get(key).await
        })
    }

    fn query(&self, query: Query) -> Answer<'_, Page<Row>> {
        Box::pin(async move {
            yield_now().await;
            self.0.query(query).await
        })
    }

    fn commit(&self, batch: Batch, durability: Durability) -> Answer<'_, ()> {
        Box::pin(async move {
            yield_now().await;
            self.0.commit(batch, durability).await
        })
    }

    fn changes<'a>(&'a self, wanted: &'a Wanted) -> Answer<'a, Changes> {
        self.0.changes(wanted)
    }

    fn changed<'a>(&'a self, since: &'a Place) -> Answer<'a, ()> {
        self.0.changed(since)
    }

    fn scrub(&self) -> Answer<'_, ()> {
        self.0.scrub()
    }
}
