//! Counts of settled deliveries, gathered in memory and added to their connections now and then:
//! one write for many deliveries, and none while nothing happens.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Mutex;
use std::time::Duration;

use ferryhook_core::{Connection, Id, Source};
use ferryhook_store::Store;

use crate::courier::lock;

const FLUSH_EVERY: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct Tally {
    store: Store,
    counts: Mutex<Counts>,
}

type Counts = BTreeMap<(Id<Source>, Id<Connection>), Count>;

#[derive(Debug, Default, Clone, Copy)]
struct Count {
    delivered: u32,
    failed: u32,
}

impl Tally {
    pub(crate) fn new(store: Store) -> Self {
        Self { store, counts: Mutex::default() }
    }

    pub(crate) fn delivered(&self, source: Id<Source>, connection: Id<Connection>) {
        lock(&self.counts).entry((source, connection)).or_default().delivered += 1;
    }

    pub(crate) fn failed(&self, source: Id<Source>, connection: Id<Connection>) {
        lock(&self.counts).entry((source, connection)).or_default().failed += 1;
    }

    pub(crate) async fn flush_until(&self, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        loop {
            tokio::select! {
                biased;
                () = stop.as_mut() => return,
                () = tokio::time::sleep(FLUSH_EVERY) => self.flush().await,
            }
        }
    }

    /// What cannot be added now is kept for the next time.
    pub(crate) async fn flush(&self) {
        let counts = std::mem::take(&mut *lock(&self.counts));
        for ((source, connection), Count { delivered, failed }) in counts {
            let added = self.store.connections();
            let added = added.count_deliveries(source, connection, delivered, failed).await;
            match added {
                Ok(()) => {}
                Err(error) if error.is_refused() => {} // the connection is gone
                Err(error) => {
                    tracing::warn!(%error, connection.id = %connection, "counts have to wait");
                    let mut counts = lock(&self.counts);
                    let count = counts.entry((source, connection)).or_default();
                    count.delivered = count.delivered.saturating_add(delivered);
                    count.failed = count.failed.saturating_add(failed);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
