//! Queues with much in them that is not for whoever asks.

use super::*;

fn users(count: usize) -> Wanted {
    Wanted { types: vec!["user.*".to_owned()], ..wanted(count) }
}

async fn crowded() -> Shop {
    let shop = Shop::new(&[]).await;
    for _ in 0..6 {
        shop.post(&["order.paid"; 500]).await;
        sleep(seconds(30)).await; // there is only so much in a minute
    }
    shop
}

/// However many of other types lie before it.
#[tokio::test(start_paused = true)]
async fn a_type_is_found_behind_a_backlog() {
    let shop = crowded().await;
    shop.post(&["user.created"]).await;
    assert_eq!(shop.lease(users(5)).await.len(), 1);
    assert!(shop.lease(users(5)).await.is_empty());
    // From here on only the end is looked at, by each who asks.
    shop.post(&["user.deleted"]).await;
    let before = shop.probe.reads();
    assert_eq!(shop.lease(users(5)).await.len(), 1);
    assert!(shop.lease(users(5)).await.is_empty());
    assert!(shop.probe.reads() - before < 10, "{}", shop.probe.reads() - before);
}

/// Something was due before it was written, and the end has passed it.
#[tokio::test(start_paused = true)]
async fn what_was_written_late_is_found_too() {
    let shop = crowded().await;
    let events = shop.post(&["user.created"]).await;
    sleep(seconds(1)).await;
    shop.post(&["order.paid"; 500]).await;
    let leased = shop.lease(users(1)).await.remove(0);
    assert!(shop.lease(users(1)).await.is_empty());
    let item = shop.store.deliveries().find(events[0].id, leased.token.connection).await;
    let item = item.unwrap().unwrap();
    let due = State::Waiting { next_attempt_at: item.created_at };
    let again = Delivery { state: due, ..item.record.clone() };
    shop.store.deliveries().replace(&item, again).await.unwrap();
    let waits = Wanted { wait: seconds(20), ..users(1) };
    let begun = shop.env.elapsed();
    let mut leased = Vec::new();
    while leased.is_empty() && (shop.env.elapsed() - begun) < seconds(20) {
        leased = shop.lease(Wanted { wait: seconds(1), ..waits.clone() }).await;
    }
    assert_eq!(leased.len(), 1);
    assert!((shop.env.elapsed() - begun) < seconds(5));
}

/// More than a page is in the hands of others, and the rest is there.
#[tokio::test(start_paused = true)]
async fn what_lies_behind_others_hands_is_found() {
    let shop = crowded().await;
    let queue = shop.courier.inner().queues.of(account(), &Group::default());
    let (inbox, due) = (shop.store.inbox(), ferryhook_store::Window::until(shop.env.now()));
    let slice = Slice::default().limit(1000);
    let found = inbox.list_open(account(), &Group::default(), due, slice).await.unwrap().rows;
    let in_hand = InHand::of(&queue, &found);
    assert_eq!(shop.lease(wanted(100)).await.len(), 100);
    drop(in_hand);
    let first = shop.lease(wanted(1)).await.remove(0);
    assert_eq!(first.event.id, found[0].event_id, "nobody has come for it after all");
}
