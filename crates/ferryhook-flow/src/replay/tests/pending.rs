//! Events that were accepted, and whose deliveries nobody has planned yet.

use super::*;

/// The clock was an hour ahead when they were stamped. It was corrected, and then came a crash.
#[tokio::test(start_paused = true)]
async fn what_was_accepted_while_the_clock_was_ahead_is_found_at_the_start() {
    let mut ferry = Ferry::new(&[connection("a")]).await;
    sleep(seconds(1)).await;
    let ahead = ferry.stored(the_source().id, None, |event| {
        event.received_at = event.received_at + seconds(3600);
        event.id = Id::at(event.received_at, &ferry.env);
        event.pending_since = Some(event.received_at);
    });
    let ahead = ahead.await.id;
    ferry.restart();
    sleep(seconds(10)).await;
    assert_eq!(ferry.event(ahead).await.status, Status::Delivered);
    let new = ferry.arrives().await;
    sleep(seconds(10)).await;
    assert_eq!(ferry.event(new).await.status, Status::Delivered);
    assert_eq!(ferry.sent_count(), 2);
}

/// A copy is counted while its rules fail, so what was written of that is refused at first.
#[tokio::test(start_paused = true)]
async fn an_event_of_which_a_copy_was_counted_is_planned_again_all_the_same() {
    let ferry = Ferry::new(&[connection("a")]).await;
    ferry.change(|one| one.event_types = vec![String::new()], "a").await;
    sleep(seconds(100)).await;
    let event = ferry.stored(the_source().id, None, |_| {}).await;
    let (id, at) = (event.id, event.received_at);
    ferry.store.events().count_duplicates(the_source().id, at, id, 1).await.unwrap();
    sleep(seconds(1)).await;
    let route = ferry.courier.inner().routes.find(the_source().id).await.unwrap().unwrap();
    // The sweep has passed that moment, and does not look there again.
    assert!(ferry.courier.inner().take(id));
    sleep(seconds(100)).await;
    ferry.courier.inner().let_go(id);
    ferry.courier.take(event, route);
    sleep(seconds(1)).await;
    ferry.change(|one| one.event_types = Vec::new(), "a").await;
    sleep(seconds(100)).await;
    let event = ferry.event(id).await;
    assert_eq!((event.status, event.duplicate_count), (Status::Delivered, 2));
    assert_eq!(ferry.sent_count(), 1);
}
