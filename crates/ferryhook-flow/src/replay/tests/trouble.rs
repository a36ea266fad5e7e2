//! Replays that are interrupted.

use super::*;

/// Saves, comes back, and repeats nothing.
#[tokio::test(start_paused = true)]
async fn one_that_is_stopped_in_good_order_goes_on_where_it_was() {
    for selection in [Ferry::all, Ferry::all_failed] {
        let mut ferry = Ferry::new(&[connection("a")]).await;
        ferry.failed(50).await;
        let id = ferry.ask(selection(&ferry), 10).await;
        sleep(Duration::from_millis(2500)).await;
        assert_eq!(ferry.courier.finish().await, 0);
        let before = ferry.job(id).await;
        assert_eq!((before.state.word(), before.counts.replayed), ("running", 25));
        sleep(seconds(3600)).await;
        ferry.restart();
        sleep(seconds(60)).await;
        let job = ferry.job(id).await;
        assert_eq!((job.state.word(), job.counts.replayed), ("done", 50));
        assert_eq!(ferry.sent_count(), 50);
    }
}

/// Whoever stops it says how long it may take.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_takes_longer_than_there_is_time_is_cut() {
    let ferry = Ferry::new(&[connection("a")]).await;
    ferry.answers_after("a", 200, seconds(15));
    ferry.arrives().await;
    sleep(seconds(1)).await;
    let began = ferry.env.elapsed();
    assert_eq!(ferry.courier.finish_within(seconds(3)).await, 1);
    assert!(ferry.env.elapsed() - began < seconds(4));
}

/// The store goes away before the last steps are saved, and the process ends.
#[tokio::test(start_paused = true)]
async fn a_crash_repeats_what_was_not_saved_and_no_more() {
    let mut ferry = Ferry::new(&[connection("a")]).await;
    ferry.failed(300).await;
    let id = ferry.ask(ferry.all(), 100).await;
    sleep(Duration::from_millis(1990)).await;
    ferry.probe.is_away(true);
    ferry.courier.finish().await;
    ferry.probe.is_away(false);
    let saved = ferry.job(id).await.counts.replayed;
    let sent = ferry.sent_count() as u64;
    assert!(saved >= 80 && saved < sent, "{saved} of {sent}");
    ferry.restart();
    sleep(seconds(60)).await;
    assert_eq!(ferry.job(id).await.state.word(), "done");
    let repeated = ferry.sent_count() - 300;
    assert!(repeated as u64 <= sent - saved + 8, "{repeated}");
    let mut seen: Vec<_> = lock(&ferry.docks.got).iter().map(|got| got.event).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 300, "nothing is left out");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_away_for_a_while_loses_nothing() {
    let ferry = Ferry::new(&[connection("a")]).await;
    ferry.failed(200).await;
    let id = ferry.ask(ferry.all(), 50).await;
    for _ in 0..3 {
        sleep(Duration::from_millis(730)).await;
        ferry.probe.is_away(true);
        sleep(seconds(7)).await;
        ferry.probe.is_away(false);
    }
    sleep(seconds(60)).await;
    let job = ferry.job(id).await;
    assert_eq!((job.state.word(), job.counts.replayed, job.counts.failed), ("done", 200, 0));
    assert_eq!(ferry.sent_count(), 200);
}

/// It is not found at the start because the store does not answer; later it is.
#[tokio::test(start_paused = true)]
async fn one_is_found_as_soon_as_the_store_answers() {
    let mut ferry = Ferry::new(&[connection("a")]).await;
    ferry.failed(5).await;
    assert_eq!(ferry.courier.finish().await, 0);
    let replay = Replay::new(the_source().account_id, ferry.all(), Vec::new(), 100, &ferry.env);
    let replay = replay.unwrap();
    jobs::order(&ferry.store, &replay).await.unwrap();
    ferry.probe.is_away(true);
    ferry.restart();
    sleep(seconds(5)).await;
    ferry.probe.is_away(false);
    sleep(seconds(60)).await;
    assert_eq!(ferry.job(replay.id).await.state.word(), "done");
}

/// Two processes on one store: each event is replayed by one of them, and each job has one owner.
#[tokio::test(start_paused = true)]
async fn processes_that_share_a_store_share_the_work() {
    let ferry = Ferry::new(&[connection("a")]).await;
    ferry.failed(40).await;
    assert_eq!(ferry.courier.finish().await, 0);
    let replay = Replay::new(the_source().account_id, ferry.all(), Vec::new(), 10, &ferry.env);
    let replay = replay.unwrap();
    jobs::order(&ferry.store, &replay).await.unwrap();
    let (one, other) = (ferry.join(), ferry.join());
    sleep(seconds(120)).await;
    let job = ferry.job(replay.id).await;
    assert_eq!((job.state.word(), job.counts.replayed), ("done", 40));
    assert_eq!(ferry.sent_count(), 40);
    assert_eq!(one.finish().await + other.finish().await, 0);
}

/// Whoever had it is silent; after a while another takes it over.
#[tokio::test(start_paused = true)]
async fn a_replay_that_nobody_looks_after_is_taken_over() {
    let ferry = Ferry::new(&[connection("a")]).await;
    ferry.failed(5).await;
    assert_eq!(ferry.courier.finish().await, 0);
    let replay = Replay::new(the_source().account_id, ferry.all(), Vec::new(), 10, &ferry.env);
    let replay = replay.unwrap();
    jobs::order(&ferry.store, &replay).await.unwrap();
    let replays = ferry.store.replays();
    let was = replays.find(replay.id).await.unwrap().unwrap();
    let until = ferry.env.now() + limits::REPLAY_LEASE;
    replays.lease(&was, until).await.unwrap().unwrap();
    let other = ferry.join();
    sleep(limits::REPLAY_LEASE - seconds(1)).await;
    assert_eq!(ferry.sent_count(), 0);
    sleep(limits::REPLAY_LOOK_EVERY + seconds(60)).await;
    assert_eq!(ferry.job(replay.id).await.state.word(), "done");
    assert_eq!(other.finish().await, 0);
}

/// Resumed, and then the process died before it had let them go. What is posted needs no connection.
#[tokio::test(start_paused = true)]
async fn what_a_source_without_connections_held_goes_on_after_a_crash() {
    let mut ferry = Ferry::new(&[]).await;
    sleep(seconds(1)).await;
    let hold = |event: &mut Event| {
        event.status = Status::Held;
        event.pending_since = None;
    };
    let held = ferry.stored(the_source().id, None, hold).await;
    ferry.restart();
    sleep(seconds(5)).await;
    let now = ferry.event(held.id).await;
    assert_eq!((now.status, now.pending_since), (Status::Filtered, None));
}
