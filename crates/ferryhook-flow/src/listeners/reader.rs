//! Whoever reads a session, for as long as they do. To drop it is to leave.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use ferryhook_core::cli_session::Told;
use futures_util::Stream;
use futures_util::stream::{BoxStream, StreamExt, unfold};

use super::session::{Next, Session};

/// Errands as they come, and one last word.
pub struct Reader {
    told: BoxStream<'static, Told>,
    _place: Place,
}

/// Which reader of which session this is.
struct Place {
    session: Arc<Session>,
    reader: u64,
}

impl Reader {
    pub(super) fn new(session: Arc<Session>, reader: u64, after: u64) -> Self {
        let place = Place { session: session.clone(), reader };
        let told = unfold(Some(after), move |after| {
            let session = session.clone();
            async move { next(&session, reader, after?).await }
        });
        Self { told: told.boxed(), _place: place }
    }
}

async fn next(session: &Session, reader: u64, after: u64) -> Option<(Told, Option<u64>)> {
    loop {
        let changed = session.changed();
        match session.next(reader, after) {
            Next::Errand(errand) => {
                let after = Some(errand.number);
                return Some((Told::Errand(errand), after));
            }
            Next::End(why) => return Some((Told::End(why), None)),
            Next::Nothing => changed.await,
        }
    }
}

impl Stream for Reader {
    type Item = Told;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Told>> {
        self.told.poll_next_unpin(context)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.session.leave(self.reader);
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}
