//! The writes of a flush: a few at once, and one line in the log for all that failed.

use ferryhook_store::StoreError;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;

use crate::ingest::limits;

pub(crate) type Write = BoxFuture<'static, Result<(), StoreError>>;

/// How many failed, and what the last of them said.
pub(crate) async fn all(writes: impl IntoIterator<Item = Write>) -> Option<(usize, StoreError)> {
    let mut failed = None;
    let mut note = |written: Result<(), StoreError>| {
        if let Err(error) = written {
            let before = failed.take().map_or(0, |(count, _)| count);
            failed = Some((before + 1, error));
        }
    };
    let mut running = FuturesUnordered::new();
    for write in writes {
        running.push(write);
        if running.len() == limits::FLUSH_AT_ONCE {
            running.next().await.map(&mut note);
        }
    }
    while let Some(written) = running.next().await {
        note(written);
    }
    failed
}
