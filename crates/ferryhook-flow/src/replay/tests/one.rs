use ferryhook_core::connection::OrderingPolicy;

use super::*;

#[tokio::test(start_paused = true)]
async fn what_failed_goes_out_again_and_counts_on() {
    let ferry = Ferry::new(&[connection("a"), connection("b")]).await;
    ferry.answers("a", 500);
    let id = ferry.arrives().await;
    sleep(seconds(10)).await;
    assert_eq!(ferry.event(id).await.status, Status::Failed);
    ferry.answers("a", 200);
    let replayed = ferry.courier.replay(id, Some(&[connection("a").id])).await.unwrap();
    assert_eq!(replayed.begun, [connection("a").id]);
    assert_eq!(ferry.event(id).await.status, Status::Retrying);
    sleep(seconds(10)).await;
    assert_eq!(ferry.event(id).await.status, Status::Delivered);
    insta::assert_snapshot!(ferry.sent(), @r"
       0s event 1 to a, attempt 1: 500
       0s event 1 to b, attempt 1: 200
      10s event 1 to a, attempt 2: 200
    ");
}

#[tokio::test(start_paused = true)]
async fn nothing_waits_for_a_destination_that_has_no_rate() {
    let ferry = Ferry::new(&[connection("a")]).await;
    sleep(seconds(1)).await;
    let arrived = ferry.env.elapsed();
    ferry.arrives().await;
    sleep(seconds(1)).await;
    let sent = lock(&ferry.docks.got)[0].at;
    assert!(sent - arrived < Duration::from_millis(1), "{:?}", sent - arrived);
}

#[tokio::test(start_paused = true)]
async fn a_replay_has_the_whole_schedule_again() {
    let patient = Connection { retry_config: Some("[0,60]".into()), ..connection("a") };
    let ferry = Ferry::new(&[patient]).await;
    ferry.answers("a", 500);
    let id = ferry.arrives().await;
    sleep(seconds(100)).await;
    ferry.courier.replay(id, None).await.unwrap();
    sleep(seconds(100)).await;
    assert_eq!(ferry.event(id).await.status, Status::Failed);
    insta::assert_snapshot!(ferry.sent(), @r"
       0s event 1 to a, attempt 1: 500
      63s event 1 to a, attempt 2: 500
     100s event 1 to a, attempt 3: 500
     161s event 1 to a, attempt 4: 500
    ");
}

#[tokio::test(start_paused = true)]
async fn a_connection_made_later_gets_it_too() {
    let ferry = Ferry::new(&[connection("a")]).await;
    let id = ferry.arrives().await;
    sleep(seconds(10)).await;
    // Nobody was told of it: what is remembered of the source is looked up again.
    ferry.store.connections().create(&connection("later")).await.unwrap();
    let replayed = ferry.courier.replay(id, Some(&[connection("later").id])).await.unwrap();
    assert_eq!(replayed.begun, [connection("later").id]);
    sleep(seconds(10)).await;
    assert_eq!(ferry.delivery(id, "later").await.lane, Lane::Replay);
    insta::assert_snapshot!(ferry.sent(), @r"
       0s event 1 to a, attempt 1: 200
      10s event 1 to later, attempt 1: 200
    ");
}

/// One that was filtered for want of a connection has somewhere to go now.
#[tokio::test(start_paused = true)]
async fn an_event_that_nobody_wanted_finds_those_who_do() {
    let orders = Connection { event_types: vec!["order.*".into()], ..connection("orders") };
    let ferry = Ferry::new(&[orders]).await;
    let other = ferry.arrives_as(Some("user.created")).await;
    sleep(seconds(1)).await;
    assert_eq!(ferry.event(other).await.status, Status::Filtered);
    assert!(!ferry.courier.replay(other, None).await.unwrap().is_any());
    ferry.store.connections().create(&connection("all")).await.unwrap();
    ferry.courier.changed(Some(the_source().id)).await;
    let replayed = ferry.courier.replay(other, None).await.unwrap();
    assert_eq!(replayed.begun, [connection("all").id]);
    // One that is named gets it, whatever it wants otherwise.
    let named = ferry.courier.replay(other, Some(&[connection("orders").id])).await.unwrap();
    assert_eq!(named.begun, [connection("orders").id]);
    sleep(seconds(1)).await;
    assert_eq!(ferry.event(other).await.status, Status::Delivered);
    assert_eq!(ferry.sent_count(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_is_on_its_way_is_left_alone() {
    let patient = Connection { retry_config: Some("[0,60]".into()), ..connection("a") };
    let ferry = Ferry::new(&[patient]).await;
    ferry.answers("a", 500);
    let id = ferry.arrives().await;
    sleep(seconds(10)).await;
    let before = ferry.delivery(id, "a").await;
    let replayed = ferry.courier.replay(id, None).await.unwrap();
    assert_eq!(replayed.open, [connection("a").id]);
    assert!(!replayed.is_any());
    assert_eq!(ferry.delivery(id, "a").await, before);
}

#[tokio::test(start_paused = true)]
async fn a_paused_connection_holds_it_until_it_is_resumed() {
    let ferry = Ferry::new(&[connection("a")]).await;
    let id = ferry.arrives().await;
    sleep(seconds(1)).await;
    ferry.change(|one| one.status = ConnectionStatus::Paused, "a").await;
    let replayed = ferry.courier.replay(id, None).await.unwrap();
    assert_eq!(replayed.held, [connection("a").id]);
    sleep(seconds(60)).await;
    assert_eq!(ferry.event(id).await.status, Status::Held);
    ferry.change(|one| one.status = ConnectionStatus::Active, "a").await;
    sleep(seconds(1)).await;
    assert_eq!(ferry.event(id).await.status, Status::Delivered);
    insta::assert_snapshot!(ferry.sent(), @r"
       0s event 1 to a, attempt 1: 200
      61s event 1 to a, attempt 2: 200
    ");
}

/// It goes before those that wait behind it, and they follow.
#[tokio::test(start_paused = true)]
async fn a_parked_delivery_begins_again_at_its_place() {
    let ordered = Connection {
        ordering_key: Some("body.key".into()),
        ordering_policy: Some(OrderingPolicy::Park),
        ..connection("a")
    };
    let ferry = Ferry::new(&[ordered]).await;
    sleep(seconds(1)).await;
    ferry.answers("a", 500);
    let first = ferry.arrives().await;
    sleep(seconds(1)).await;
    ferry.arrives().await;
    sleep(seconds(60)).await;
    assert_eq!(ferry.event(first).await.status, Status::Held);
    ferry.answers("a", 200);
    let replayed = ferry.courier.replay(first, None).await.unwrap();
    assert_eq!(replayed.begun, [connection("a").id]);
    sleep(seconds(10)).await;
    insta::assert_snapshot!(ferry.sent(), @r"
       1s event 1 to a, attempt 1: 500
      62s event 1 to a, attempt 2: 200
      62s event 2 to a, attempt 1: 200
    ");
}

/// Replays that hang take nothing from what is new.
#[tokio::test(start_paused = true)]
async fn what_is_new_does_not_wait_for_replays() {
    let ferry = Ferry::new(&[connection("a")]).await;
    let mut old = Vec::new();
    for _ in 0..20 {
        old.push(ferry.arrives().await);
    }
    sleep(seconds(1)).await;
    ferry.answers_after("a", 200, seconds(8));
    for id in &old {
        ferry.courier.replay(*id, None).await.unwrap();
    }
    sleep(seconds(1)).await;
    assert_eq!(ferry.sent_count(), 20 + limits::REPLAY_CONCURRENCY_MAX);
    let new = ferry.arrives().await;
    sleep(seconds(1)).await;
    let last = lock(&ferry.docks.got).last().cloned().unwrap();
    assert_eq!((last.event, last.at.as_secs()), (new, 2));
}

/// They all answer at once, and of those that are written at once all but one are refused.
#[tokio::test(start_paused = true)]
async fn many_answers_at_once_are_all_written_down() {
    let names: Vec<_> = (0..60).map(|number| format!("dock{number}")).collect();
    let connections: Vec<_> = names.iter().map(|name| connection(name)).collect();
    let ferry = Ferry::new(&connections).await;
    let filtered = ferry.stored(the_source().id, None, |event| {
        event.status = Status::Filtered;
        event.pending_since = None;
    });
    let id = filtered.await.id;
    ferry.probe.takes(Duration::from_millis(1));
    assert_eq!(ferry.courier.replay(id, None).await.unwrap().begun.len(), 60);
    sleep(seconds(60)).await;
    assert_eq!(ferry.event(id).await.status, Status::Delivered);
    assert_eq!(ferry.sent_count(), 60);
}

/// It was settled a moment ago, and its lane has not heard of that yet.
#[tokio::test(start_paused = true)]
async fn a_replay_right_behind_another_is_not_lost() {
    let ferry = Ferry::new(&[connection("a")]).await;
    let id = ferry.arrives().await;
    sleep(seconds(1)).await;
    for _ in 0..50 {
        while !ferry.courier.replay(id, None).await.unwrap().is_any() {
            tokio::task::yield_now().await;
            sleep(Duration::from_millis(1)).await;
        }
    }
    sleep(seconds(1)).await;
    assert_eq!(ferry.event(id).await.status, Status::Delivered);
    assert_eq!(ferry.sent_count(), 51);
}

/// One of its first deliveries is still under way, in the hands of those who took the event in.
#[tokio::test(start_paused = true)]
async fn an_event_is_not_done_before_what_it_was_replayed_to_is() {
    let ferry = Ferry::new(&[connection("fast"), connection("slow")]).await;
    ferry.answers_after("slow", 200, seconds(5));
    let id = ferry.arrives().await;
    sleep(seconds(1)).await;
    let later = Connection { retry_config: Some("[0,60]".into()), ..connection("later") };
    ferry.store.connections().create(&later).await.unwrap();
    ferry.answers("later", 500);
    assert!(ferry.courier.replay(id, Some(&[later.id])).await.unwrap().is_any());
    sleep(seconds(10)).await;
    assert!(ferry.delivery(id, "slow").await.is_settled());
    assert_eq!(ferry.event(id).await.status, Status::Retrying);
    ferry.answers("later", 200);
    sleep(seconds(60)).await;
    assert_eq!(ferry.event(id).await.status, Status::Delivered);
    insta::assert_snapshot!(ferry.sent(), @r"
       0s event 1 to fast, attempt 1: 200
       0s event 1 to slow, attempt 1: 200
       1s event 1 to later, attempt 1: 500
      62s event 1 to later, attempt 2: 200
    ");
}

#[tokio::test(start_paused = true)]
async fn it_is_left_for_whoever_comes_when_no_courier_runs() {
    let mut ferry = Ferry::new(&[connection("a")]).await;
    let id = ferry.arrives().await;
    sleep(seconds(1)).await;
    assert_eq!(ferry.courier.finish().await, 0);
    let routes = ferry.courier.inner().routes.clone();
    let replayed = leave(&ferry.store, &routes, &ferry.env, id, None).await.unwrap();
    assert!(replayed.is_any());
    sleep(seconds(60)).await;
    assert_eq!(ferry.sent_count(), 1);
    ferry.restart();
    sleep(seconds(1)).await;
    assert_eq!(ferry.sent_count(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_replayed_says_why() {
    let ferry = Ferry::new(&[connection("a")]).await;
    let elsewhere = Source { id: Id::new(&ferry.env), ..the_source() };
    ferry.store.sources().create(&elsewhere).await.unwrap();
    let foreign = Connection { source_id: elsewhere.id, ..connection("foreign") };
    ferry.store.connections().create(&foreign).await.unwrap();
    let deleted = Connection { status: ConnectionStatus::Deleted, ..connection("deleted") };
    ferry.store.connections().create(&deleted).await.unwrap();
    let theirs = Connection {
        account_id: stranger(&ferry.env),
        source_id: elsewhere.id,
        ..connection("theirs")
    };
    ferry.store.connections().create(&theirs).await.unwrap();
    let id = ferry.arrives().await;
    sleep(seconds(1)).await;
    let told = async |id, to: Option<&str>| {
        let to = to.map(|name| [connection(name).id]);
        let error = ferry.courier.replay(id, to.as_ref().map(|to| &to[..])).await.unwrap_err();
        let said = error.to_string().replace(id.as_str(), "EVENT");
        format!("{}{said}", if error.is_not_found() { "not found: " } else { "" })
    };
    let pending = ferry.stored(the_source().id, None, |_| {}).await;
    let held = ferry.stored(the_source().id, None, |event| {
        event.status = Status::Held;
        event.pending_since = None;
    });
    let unverified = ferry.stored(the_source().id, None, |event| {
        event.status = Status::SignatureFailed;
        event.pending_since = None;
    });
    let orphan = ferry.stored(Id::new(&ferry.env), None, |event| {
        event.status = Status::Filtered;
        event.pending_since = None;
    });
    let said = [
        told(Id::new(&ferry.env), None).await,
        told(pending.id, None).await,
        told(held.await.id, None).await,
        told(unverified.await.id, None).await,
        told(orphan.await.id, None).await,
        told(id, Some("nobody")).await,
        told(id, Some("theirs")).await,
        told(id, Some("deleted")).await,
        told(id, Some("foreign")).await,
    ];
    insta::assert_snapshot!(said.join("\n"), @r"
    not found: there is no event EVENT; if there was one, it has expired
    event EVENT is still being processed; its deliveries are not planned yet
    event EVENT is held because its source is paused; it goes out when that is resumed
    event EVENT came with a bad signature, and what is not verified is not delivered; replay it by itself to have it checked again
    event EVENT came from a source that has been deleted since
    not found: there is no connection conn_0000000000nobody
    not found: there is no connection conn_0000000000theirs
    not found: connection conn_000000000deleted has been deleted
    connection conn_000000000foreign belongs to another source than event EVENT
    ");
    assert_eq!(ferry.sent_count(), 1);
}

/// Rules that cannot be read must not look like rules that want nothing.
#[tokio::test(start_paused = true)]
async fn a_connection_that_cannot_decide_is_named() {
    let ferry = Ferry::new(&[connection("a")]).await;
    let id = ferry.arrives().await;
    sleep(seconds(1)).await;
    ferry.change(|one| one.event_types = vec![String::new()], "a").await;
    let error = ferry.courier.replay(id, None).await.unwrap_err();
    assert!(matches!(error, ReplayError::Undecided { .. }), "{error}");
    assert!(ferry.courier.replay(id, Some(&[connection("a").id])).await.unwrap().is_any());
}
