use ferryhook_core::replay::Counts;
use ferryhook_store::search::{COUNTED_MAX, Count, count};

use super::*;

fn counts(job: &Replay) -> (u64, u64, u64, u64) {
    let Counts { matched, replayed, skipped, failed } = job.counts;
    (matched, replayed, skipped, failed)
}

#[tokio::test(start_paused = true)]
async fn a_filter_finds_what_it_names_and_nothing_else() {
    let ferry = Ferry::new(&[connection("a")]).await;
    ferry.failed(3).await;
    ferry.arrives().await;
    sleep(seconds(1)).await;
    let id = ferry.ask(ferry.all_failed(), 100).await;
    sleep(seconds(10)).await;
    let job = ferry.job(id).await;
    assert_eq!((job.state.word(), counts(&job)), ("done", (3, 3, 0, 0)));
    insta::assert_snapshot!(ferry.sent(), @r"
       0s event 4 to a, attempt 1: 200
       1s event 1 to a, attempt 1: 200
       1s event 2 to a, attempt 1: 200
       1s event 3 to a, attempt 1: 200
    ");
}

#[tokio::test(start_paused = true)]
async fn it_takes_the_time_that_was_asked_for() {
    let ferry = Ferry::new(&[connection("a")]).await;
    ferry.failed(30).await;
    let began = ferry.env.elapsed();
    let id = ferry.ask(ferry.all(), 10).await;
    sleep(seconds(60)).await;
    assert_eq!(ferry.job(id).await.state.word(), "done");
    let got = lock(&ferry.docks.got);
    let within = |from, to| {
        let at = got.iter().map(|got| (got.at - began).as_millis());
        at.filter(|at| (from..to).contains(at)).count()
    };
    assert_eq!((within(0, 1000), within(1000, 2000), within(2000, 3000)), (10, 10, 10));
}

#[tokio::test(start_paused = true)]
async fn what_comes_after_it_was_asked_for_is_not_part_of_it() {
    let ferry = Ferry::new(&[connection("a")]).await;
    ferry.failed(5).await;
    let id = ferry.ask(ferry.all(), 1).await;
    for _ in 0..5 {
        sleep(seconds(1)).await;
        ferry.arrives().await;
    }
    sleep(seconds(60)).await;
    let job = ferry.job(id).await;
    assert_eq!((job.state.word(), counts(&job)), ("done", (5, 5, 0, 0)));
    assert_eq!(ferry.sent_count(), 10);
}

#[tokio::test(start_paused = true)]
async fn named_events_go_each_once_and_missing_ones_are_counted() {
    let ferry = Ferry::new(&[connection("a")]).await;
    ferry.failed(2).await;
    let theirs = ferry.stored(the_source().id, None, |event| {
        event.account_id = stranger(&ferry.env);
        event.pending_since = None;
        event.status = Status::Failed;
    });
    let theirs = theirs.await.id;
    let mut ids = lock(&ferry.events).clone();
    ids.extend([ids[0], Id::new(&ferry.env)]);
    let id = ferry.ask(Selection::ids(ids).unwrap(), 100).await;
    sleep(seconds(10)).await;
    let job = ferry.job(id).await;
    assert_eq!((job.state.word(), counts(&job)), ("done", (4, 2, 0, 2)));
    assert!(job.last_error.is_some_and(|error| error.starts_with("there is no event")));
    assert_eq!(ferry.event(theirs).await.status, Status::Failed);
    assert_eq!(ferry.sent_count(), 2);
}

#[tokio::test(start_paused = true)]
async fn only_named_connections_get_it() {
    let ferry = Ferry::new(&[connection("a"), connection("b")]).await;
    let elsewhere = Source { id: Id::new(&ferry.env), ..the_source() };
    ferry.store.sources().create(&elsewhere).await.unwrap();
    ferry.failed(2).await;
    let other = ferry.stored(elsewhere.id, None, |event| {
        event.status = Status::Failed;
        event.pending_since = None;
    });
    other.await;
    let id = ferry.ask_to(ferry.all(), &["b"], 100).await;
    sleep(seconds(10)).await;
    let job = ferry.job(id).await;
    assert_eq!((job.state.word(), counts(&job)), ("done", (3, 2, 1, 0)), "one is not its source's");
    insta::assert_snapshot!(ferry.sent(), @r"
       0s event 1 to b, attempt 1: 200
       0s event 2 to b, attempt 1: 200
    ");
}

#[tokio::test(start_paused = true)]
async fn one_that_names_a_connection_that_is_gone_fails_at_once() {
    let ferry = Ferry::new(&[connection("a")]).await;
    ferry.failed(2).await;
    let id = ferry.ask_to(ferry.all(), &["gone"], 100).await;
    sleep(seconds(10)).await;
    let job = ferry.job(id).await;
    let said = format!("{:?}", job.state);
    assert!(said.contains("there is no connection conn_000000000000gone"), "{said}");
    assert_eq!(ferry.sent_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_is_on_its_way_is_skipped() {
    let patient = Connection { retry_config: Some("[0,3600]".into()), ..connection("a") };
    let ferry = Ferry::new(&[patient]).await;
    ferry.answers("a", 500);
    ferry.arrives().await;
    sleep(seconds(1)).await;
    ferry.stored(the_source().id, None, |event| event.status = Status::Received).await;
    let id = ferry.ask(ferry.all(), 100).await;
    sleep(seconds(10)).await;
    assert_eq!(counts(&ferry.job(id).await), (2, 0, 2, 0));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_one_stops_within_about_a_second() {
    let ferry = Ferry::new(&[connection("a")]).await;
    ferry.failed(100).await;
    let id = ferry.ask(ferry.all(), 10).await;
    sleep(seconds(3)).await;
    let account = the_source().account_id;
    ferry.store.replays().cancel(account, id).await.unwrap();
    let sent = ferry.sent_count();
    sleep(seconds(60)).await;
    assert!((30..=41).contains(&sent), "{sent}");
    assert!(ferry.sent_count() <= sent + 11, "{sent} {}", ferry.sent_count());
    assert_eq!(ferry.job(id).await.state.word(), "cancelled");
}

/// Of one account one after the other, in the order in which they were asked for.
#[tokio::test(start_paused = true)]
async fn an_account_has_one_at_a_time() {
    let ferry = Ferry::new(&[connection("a"), connection("b")]).await;
    ferry.failed(3).await;
    let first = ferry.ask_to(ferry.all(), &["a"], 1).await;
    sleep(Duration::from_millis(1)).await;
    let second = ferry.ask_to(ferry.all(), &["b"], 1).await;
    sleep(Duration::from_millis(1500)).await;
    assert_eq!(ferry.job(second).await.position, None);
    sleep(seconds(60)).await;
    let states = [first, second].map(|id| ferry.job(id));
    for job in states {
        assert_eq!(job.await.state.word(), "done");
    }
    insta::assert_snapshot!(ferry.sent(), @r"
       0s event 1 to a, attempt 1: 200
       1s event 2 to a, attempt 1: 200
       2s event 3 to a, attempt 1: 200
       2s event 1 to b, attempt 1: 200
       3s event 2 to b, attempt 1: 200
       4s event 3 to b, attempt 1: 200
    ");
}

#[tokio::test(start_paused = true)]
async fn accounts_do_not_wait_for_each_other() {
    let ferry = Ferry::new(&[connection("a")]).await;
    ferry.failed(60).await;
    let slow = ferry.ask(ferry.all(), 1).await;
    let account = stranger(&ferry.env);
    let other = Replay::new(account, ferry.all(), Vec::new(), 1, &ferry.env).unwrap();
    ferry.courier.replay_many(&ferry.store, &other).await.unwrap();
    sleep(seconds(2)).await;
    assert_eq!(ferry.job(other.id).await.state.word(), "done");
    assert_eq!(ferry.job(slow).await.state.word(), "running");
}

#[tokio::test(start_paused = true)]
async fn there_is_an_end_to_how_many_may_wait() {
    let ferry = Ferry::new(&[connection("a")]).await;
    ferry.failed(10).await;
    for _ in 0..ferryhook_core::limits::REPLAYS_WAITING_MAX {
        ferry.ask(ferry.all(), 1).await;
    }
    let account = the_source().account_id;
    let more = Replay::new(account, ferry.all(), Vec::new(), 1, &ferry.env).unwrap();
    let refused = ferry.courier.replay_many(&ferry.store, &more).await;
    assert!(matches!(refused, Err(OrderError::TooMany)), "{refused:?}");
}

/// A destination that is down gets no more than it may take when it comes back.
#[tokio::test(start_paused = true)]
async fn it_does_not_run_far_ahead_of_a_destination_that_takes_nothing() {
    let patient = Connection { retry_config: Some("[0,86400]".into()), ..connection("a") };
    let ferry = Ferry::new(&[patient]).await;
    ferry.failed(2000).await;
    ferry.answers("a", 503);
    let id = ferry.ask(ferry.all(), 1000).await;
    sleep(seconds(120)).await;
    let job = ferry.job(id).await;
    assert_eq!((job.state.word(), job.waiting_for), ("running", Some(connection("a").id)));
    let ahead = job.counts.replayed as usize;
    assert!(ahead <= 2 * limits::REPLAY_AHEAD + limits::REPLAY_AT_ONCE, "{ahead}");
    assert!(ahead >= limits::REPLAY_AHEAD, "{ahead}");
    ferry.answers("a", 200);
    sleep(seconds(200_000)).await;
    let job = ferry.job(id).await;
    assert_eq!((job.state.word(), counts(&job)), ("done", (2000, 2000, 0, 0)));
    assert_eq!(job.waiting_for, None);
}

#[tokio::test(start_paused = true)]
async fn events_are_counted_before_anything_is_done() {
    let ferry = Ferry::new(&[connection("a")]).await;
    ferry.failed(250).await;
    let account = the_source().account_id;
    let counted = count(&ferry.store, account, &ferry.all_failed(), None).await.unwrap();
    assert_eq!(counted, Count { matched: 250, looked_at: 250, next: None });
    let mut ids = lock(&ferry.events)[..3].to_vec();
    ids.push(Id::new(&ferry.env));
    let ids = Selection::ids(ids).unwrap();
    let counted = count(&ferry.store, account, &ids, None).await.unwrap();
    assert_eq!(counted, Count { matched: 3, looked_at: 4, next: None });
    assert_eq!(ferry.sent_count(), 0);
}

/// However much there is, one count looks at so much; the next goes on.
#[tokio::test(start_paused = true)]
async fn a_count_has_a_bound_and_goes_on_behind_it() {
    let ferry = Ferry::new(&[connection("a")]).await;
    ferry.failed(COUNTED_MAX + 50).await;
    let account = the_source().account_id;
    for selection in [ferry.all(), ferry.all_failed()] {
        let first = count(&ferry.store, account, &selection, None).await.unwrap();
        assert_eq!(first.looked_at, COUNTED_MAX as u64);
        let rest = count(&ferry.store, account, &selection, first.next).await.unwrap();
        assert_eq!(rest.next, None);
        assert_eq!(first.matched + rest.matched, COUNTED_MAX as u64 + 50);
    }
}
