//! Results on their way to the server, as many together as there are.

use std::time::Duration;

use ferryhook_api::cli_sessions::{CliReported, CliResult, CliResults};
use ferryhook_core::id::CliSessionId;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::sleep;

use crate::client::Client;

/// Results that wait; as many as can be under way, and some.
const WAITING_MAX: usize = 64;
/// How often one call is tried, and how long it waits in between. The server has long given up then.
const TRIES_MAX: usize = 10;
const PAUSE: Duration = Duration::from_millis(500);

pub type Result = (CliSessionId, CliResult);

pub fn results() -> (Sender<Result>, Receiver<Result>) {
    channel(WAITING_MAX)
}

/// Reports until nobody has anything to report any more.
pub async fn report(client: Client, mut results: Receiver<Result>) {
    let mut batch = Vec::new();
    while results.recv_many(&mut batch, WAITING_MAX).await > 0 {
        for of_one in batch.chunk_by(|(one, _), (other, _)| one == other) {
            let session = of_one[0].0;
            let results = of_one.iter().map(|(_, result)| result.clone()).collect();
            send(&client, session, &CliResults { results }).await;
        }
        batch.clear();
    }
}

/// A session that is gone wants no results.
async fn send(client: &Client, session: CliSessionId, results: &CliResults) {
    let path = format!("/v1/cli/sessions/{session}/results");
    for _ in 0..TRIES_MAX {
        match client.post::<CliReported>(&path, results).await {
            Err(failure) if failure.is_passing() => sleep(PAUSE).await,
            _ => return,
        }
    }
}
