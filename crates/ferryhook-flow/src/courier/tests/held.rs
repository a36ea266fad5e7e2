//! What is held goes on, or is cancelled, whether or not other processes share the store.

use ferryhook_core::connection::Status as ConnectionStatus;
use ferryhook_core::delivery::{Cancel, Hold, State};

use super::trial::Trial;
use super::*;

/// More than a few looks of the sweep.
const WHILE: Duration = Duration::from_secs(100);
/// What a connection with nothing to do costs in that time.
const READS_MAX: usize = 2000;

#[tokio::test(start_paused = true)]
async fn a_held_delivery_goes_on_when_its_connection_does() {
    for shared in [false, true] {
        let trial = Trial::new(shared).await;
        trial.change(|connection| connection.status = ConnectionStatus::Paused).await;
        let event = trial.arrives("{}").await;
        sleep(WHILE).await;
        let held = trial.delivery(event).await.state;
        assert!(matches!(held, State::Waiting { .. } | State::Held { .. }), "{shared}: {held:?}");
        trial.change(|connection| connection.status = ConnectionStatus::Active).await;
        let before = trial.probe.reads();
        sleep(WHILE).await;
        let went = trial.delivery(event).await.state;
        assert!(matches!(went, State::Delivered { .. }), "{shared}: {went:?}");
        assert_eq!(trial.pier.got(), [event]);
        assert!(trial.probe.reads() - before < READS_MAX, "{shared}: nobody goes round in circles");
    }
}

/// It was in memory when the pause began, and so is stored as held.
#[tokio::test(start_paused = true)]
async fn one_that_was_put_down_goes_on_or_is_cancelled_with_its_connection() {
    for shared in [false, true] {
        for (status, is_sent) in
            [(ConnectionStatus::Active, true), (ConnectionStatus::Deleted, false)]
        {
            let trial = Trial::new(shared).await;
            trial.change(|connection| connection.concurrency_max = Some(1)).await;
            let (first, second) = (trial.arrives("{}").await, trial.arrives("{}").await);
            trial.change(|connection| connection.status = ConnectionStatus::Paused).await;
            sleep(WHILE).await;
            let held = trial.delivery(second).await.state;
            let is_paused = matches!(held, State::Held { reason: Hold::ConnectionPaused, .. });
            assert!(is_paused, "{shared}: {held:?}");
            trial.change(|connection| connection.status = status).await;
            let before = trial.probe.reads();
            sleep(WHILE).await;
            let went = trial.delivery(second).await.state;
            match is_sent {
                true => assert_eq!(trial.pier.got(), [first, second]),
                false => assert!(
                    matches!(went, State::Cancelled { reason: Cancel::ConnectionDeleted, .. }),
                    "{shared}: {went:?}"
                ),
            }
            assert!(trial.probe.reads() - before < READS_MAX, "{shared}: not in circles");
        }
    }
}
