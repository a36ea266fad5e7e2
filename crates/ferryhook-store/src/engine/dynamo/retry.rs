//! Another try for what passes: throttling, conflicts, lost answers.
//!
//! The SDK's own retries are off. It would repeat a request it cannot know to be safe, and has
//! neither our clock nor our deadline.

use std::time::Duration;

use ferryhook_core::Env;

use super::errors::Failure;
use crate::StoreError;

/// For one request with all its tries: shorter than a sender waits, so that it hears the 503.
pub(super) const DEADLINE: Duration = Duration::from_secs(3);
/// For one try, so that one lost answer leaves time for another.
pub(super) const TRY_TIMEOUT: Duration = Duration::from_millis(1400);
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_millis(900);
const TRIES_MAX: u32 = 12;
const WAIT_FIRST: Duration = Duration::from_millis(20);
const WAIT_MAX: Duration = Duration::from_millis(500);

/// Sends until it is answered, refused, or too late. `send` must be safe to repeat.
pub(super) async fn persistently<T, F>(env: &Env, send: impl Fn() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, Failure>>,
{
    let mut last = None;
    let tries = async {
        for tried in 0..TRIES_MAX {
            match send().await {
                Ok(answer) => return Some(Ok(answer)),
                Err(Failure::Final(error)) => return Some(Err(error)),
                Err(Failure::Passing(error)) => last = Some(error),
            }
            tokio::time::sleep(wait(tried, env.fraction())).await;
        }
        None
    };
    match tokio::time::timeout(DEADLINE, tries).await {
        Ok(Some(answered)) => answered,
        Ok(None) | Err(_) => {
            Err(StoreError::Unavailable("DynamoDB did not answer in time".into(), last))
        }
    }
}

/// Doubles, with full jitter, so that those who collided do not meet again.
fn wait(tried: u32, fraction: f64) -> Duration {
    let longest = WAIT_FIRST.saturating_mul(1 << tried.min(16)).min(WAIT_MAX);
    longest.mul_f64(fraction)
}

#[cfg(test)]
mod tests;
