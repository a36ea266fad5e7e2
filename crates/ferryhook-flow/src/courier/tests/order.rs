//! A connection begins or ceases to keep an order while something waits.

use super::trial::Trial;
use super::*;

fn keeps_order(connection: &mut Connection) {
    connection.ordering_key = Some("body.key".to_owned());
    connection.concurrency_max = Some(1);
}

/// Until its next attempt is due, as before.
#[tokio::test(start_paused = true)]
async fn a_retry_keeps_its_time_when_an_order_ends() {
    let trial = Trial::new(false).await;
    trial.change(keeps_order).await;
    trial.pier.answers(500);
    let first = trial.arrives(r#"{"key":"k"}"#).await;
    sleep(Duration::from_secs(1)).await;
    let second = trial.arrives(r#"{"key":"k"}"#).await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(trial.pier.got(), [first], "the second waits for it");
    trial.pier.answers(200);
    trial.change(|connection| connection.ordering_key = None).await;
    sleep(Duration::from_secs(2)).await;
    assert_eq!(trial.pier.got(), [first, second]);
    sleep(Duration::from_secs(10)).await;
    assert_eq!(trial.pier.got(), [first, second, first]);
}

#[tokio::test(start_paused = true)]
async fn what_waits_goes_on_when_an_order_begins() {
    let trial = Trial::new(false).await;
    trial.change(|connection| connection.concurrency_max = Some(1)).await;
    let mut events = Vec::new();
    for _ in 0..5 {
        events.push(trial.arrives(r#"{"key":"k"}"#).await);
    }
    trial.change(keeps_order).await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(trial.pier.got(), events);
}
