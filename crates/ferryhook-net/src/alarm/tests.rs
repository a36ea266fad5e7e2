use std::pin::pin;
use std::time::Duration;

use hyper::rt::Timer;
use tokio::time::{Instant, sleep};

use super::*;

const SECOND: Duration = Duration::from_secs(1);

async fn goes_off(alarm: &mut Alarm, after: Duration) -> Duration {
    let began = now();
    poll_fn(|context| alarm.poll(began + after, context)).await;
    now() - began
}

/// Timers of the runtime count in milliseconds.
fn rounded(time: Duration) -> u128 {
    time.as_millis() / 10 * 10
}

#[tokio::test(start_paused = true)]
async fn an_alarm_goes_off_at_its_deadline_whatever_it_was_set_for_before() {
    let mut alarm = Alarm::new();
    for seconds in [10, 3, 30, 30, 1] {
        let after = SECOND * seconds;
        assert_eq!(rounded(goes_off(&mut alarm, after).await), after.as_millis());
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_is_still_set_for_an_earlier_call_does_not_end_the_next() {
    let mut alarm = Alarm::new();
    for _ in 0..5 {
        // Ends long before its deadline, and the alarm stays set for that.
        let work = pin!(sleep(7 * SECOND));
        assert!(alarm.within(10 * SECOND, work).await.is_some());
    }
    let began = now();
    assert!(alarm.within(10 * SECOND, pin!(std::future::pending::<()>())).await.is_none());
    assert_eq!(rounded(now() - began), 10_000);
}

#[tokio::test(start_paused = true)]
async fn a_shorter_deadline_counts_although_the_alarm_is_set_for_a_later_one() {
    let mut alarm = Alarm::new();
    assert!(alarm.within(30 * SECOND, pin!(sleep(SECOND))).await.is_some());
    let began = now();
    assert!(alarm.within(2 * SECOND, pin!(sleep(5 * SECOND))).await.is_none());
    assert_eq!(rounded(now() - began), 2_000);
}

/// In real time: a clock that stands still goes on only when nobody has anything to do. If the alarm
/// had to wait for its share of a turn, the work would come to its end.
#[tokio::test]
async fn work_that_takes_all_of_every_turn_is_ended_all_the_same() {
    let busy = pin!(async {
        for _ in 0..30_000_000 {
            tokio::task::consume_budget().await;
        }
    });
    assert!(Alarm::new().within(SECOND / 50, busy).await.is_none());
}

#[tokio::test(start_paused = true)]
async fn timers_of_one_connection_follow_each_other() {
    let timer = HeadTimer::new();
    drop(timer.sleep(10 * SECOND));
    let mut first = timer.sleep(10 * SECOND);
    tokio::select! {
        () = first.as_mut() => panic!("it goes off too early"),
        () = sleep(9 * SECOND) => drop(first),
    }
    let began = Instant::from(timer.now());
    timer.sleep_until((began + 10 * SECOND).into()).await;
    assert_eq!(rounded(now() - began), 10_000);
}
