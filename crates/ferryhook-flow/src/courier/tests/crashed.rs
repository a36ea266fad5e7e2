//! Something of ours panics: the lane goes on, and so does what was in hand.

use ferryhook_core::delivery::{Failure, State};

use super::trial::Trial;
use super::*;

const WHILE: Duration = Duration::from_secs(300);
/// What crashes is not tried again at once.
const COMMITS_MAX: usize = 100;

#[tokio::test(start_paused = true)]
async fn an_outcome_whose_writing_crashes_counts_as_an_attempt() {
    let trial = Trial::new(false).await;
    let event = trial.stored("{}").await;
    trial.probe.crashes(1);
    let id = trial.takes(event).await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(trial.courier.under_way(), 0);
    let other = trial.arrives("{}").await;
    sleep(WHILE).await;
    assert_eq!(trial.pier.got(), [id, other, id]);
    let delivery = trial.delivery(id).await;
    assert!(matches!(delivery.state, State::Delivered { .. }), "{:?}", delivery.state);
    assert_eq!(delivery.attempts, 2);
}

/// What was read from the store, as well as what has just arrived.
#[tokio::test(start_paused = true)]
async fn one_that_crashes_time_and_again_comes_to_an_end() {
    let trial = Trial::new(false).await;
    trial.pier.crashes();
    let id = trial.arrives("{}").await;
    sleep(WHILE).await;
    let delivery = trial.delivery(id).await;
    let exhausted = matches!(delivery.state, State::Failed { reason: Failure::Exhausted, .. });
    assert!(exhausted, "{:?}", delivery.state);
    assert_eq!((delivery.attempts, trial.courier.under_way()), (3, 0));
}

/// Whatever crashes as long as it does: nothing spins, nothing is lost.
#[tokio::test(start_paused = true)]
async fn where_nothing_can_be_written_it_waits_until_something_can() {
    for shared in [false, true] {
        let trial = Trial::new(shared).await;
        let event = trial.stored("{}").await;
        trial.probe.crashes(usize::MAX);
        let before = trial.probe.commits();
        let id = trial.takes(event).await;
        sleep(WHILE).await;
        let commits = trial.probe.commits() - before;
        assert!(commits < COMMITS_MAX, "{commits} in five minutes");
        assert_eq!(trial.courier.under_way(), 0);
        trial.probe.crashes(0);
        sleep(WHILE).await;
        let delivery = trial.delivery(id).await;
        assert!(matches!(delivery.state, State::Delivered { .. }), "{:?}", delivery.state);
    }
}

#[tokio::test(start_paused = true)]
async fn a_plan_whose_storing_crashes_is_made_again() {
    let trial = Trial::new(false).await;
    trial.change(|connection| connection.status = ferryhook_core::connection::Status::Paused).await;
    let event = trial.stored("{}").await;
    trial.probe.crashes(1);
    let id = trial.takes(event).await;
    sleep(WHILE).await;
    trial.change(|connection| connection.status = ferryhook_core::connection::Status::Active).await;
    sleep(WHILE).await;
    assert_eq!(trial.pier.got(), [id]);
}

#[tokio::test(start_paused = true)]
async fn an_event_whose_taking_up_crashes_is_taken_up_again() {
    let trial = Trial::new(false).await;
    let event = trial.stored("{}").await;
    let (id, route) = (event.id, trial.courier.0.routes.find(event.source_id).await);
    trial.clock.crashes();
    trial.courier.take(event, route.unwrap().unwrap());
    sleep(WHILE).await;
    assert_eq!(trial.pier.got(), [id]);
}
