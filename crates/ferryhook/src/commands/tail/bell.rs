//! What rings when something has changed: the server's stream.
//!
//! It is only a reason to look, so nothing that it says is kept. Where there is none (an older
//! server, one that keeps no changes, a key that may not) a bell rings every second.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt, StreamExt};
use tokio::time::{sleep, timeout};

use crate::client::{Client, with_query};

/// Without a stream, or while something waits to be shown.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Much may happen at once: one look is enough for all of it.
const GATHERED_WITHIN: Duration = Duration::from_millis(50);
/// What is under way is given a moment to arrive.
const ARRIVED_WITHIN: Duration = Duration::from_millis(500);
/// A server says that it is there more often than this.
const SILENCE_MAX: Duration = Duration::from_secs(45);

pub(super) struct Bell(Option<BoxStream<'static, io::Result<Bytes>>>);

impl Bell {
    pub(super) async fn listening(client: &Client, event_type: Option<&str>) -> Self {
        let path = with_query("/v1/stream", [("type", event_type.map(str::to_owned))]);
        Self(client.stream(&path).await.ok().map(StreamExt::boxed))
    }

    pub(super) fn broken() -> Self {
        Self(None)
    }

    /// Returns when it is time to look. Says whether it still works.
    pub(super) async fn rings(&mut self, is_soon: bool) -> bool {
        let Some(stream) = &mut self.0 else {
            sleep(LOOK_EVERY).await;
            return false;
        };
        let patience = if is_soon { LOOK_EVERY } else { SILENCE_MAX };
        loop {
            match timeout(patience, stream.next()).await {
                Ok(Some(Ok(piece))) if is_sign_of_life(&piece) => {}
                Ok(Some(Ok(_))) => break,
                Err(_) if is_soon => return true,
                Ok(_) | Err(_) => {
                    sleep(LOOK_EVERY).await;
                    return false;
                }
            }
        }
        sleep(if is_soon { ARRIVED_WITHIN } else { GATHERED_WITHIN }).await;
        while let Some(Some(Ok(_))) = stream.next().now_or_never() {}
        true
    }
}

fn is_sign_of_life(piece: &[u8]) -> bool {
    piece.starts_with(b":")
}
