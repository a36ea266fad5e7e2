//! Things that go wrong with one item, and what that means for the others.

use ferryhook_core::Member;
use ferryhook_core::member::Role;

use super::*;
use crate::inbox::moves::{Kept, Move, carry_out};

#[tokio::test(start_paused = true)]
async fn an_event_that_cannot_be_read_keeps_nobody_else_waiting() {
    let shop = Shop::new(&[]).await;
    let events = shop.post(&["order.paid"; 3]).await;
    shop.probe.spoil(events[1].id);
    let leased = shop.lease(wanted(10)).await;
    let ids: Vec<_> = leased.iter().map(|leased| leased.event.id).collect();
    assert_eq!(ids, [events[0].id, events[2].id]);
    for leases in 1..=5 {
        let item = shop.items(events[1].id).await.remove(0);
        assert_eq!((item.attempts, item.is_settled()), (leases, leases == 5));
        assert_eq!(item.last_error.as_deref(), Some("the event cannot be read"));
        sleep(seconds(5)).await;
        shop.lease(wanted(10)).await;
    }
}

/// A store that is away is another matter.
#[tokio::test(start_paused = true)]
async fn nobody_leases_from_a_store_that_is_away() {
    let shop = Shop::new(&[]).await;
    shop.post(&["order.paid"]).await;
    shop.probe.is_away(true);
    assert!(shop.courier.lease_items(account(), &wanted(1)).await.is_err());
    shop.probe.is_away(false);
    assert_eq!(shop.lease(wanted(1)).await[0].token.lease, 1);
}

/// What does not fit is there for the next, at once.
#[tokio::test(start_paused = true)]
async fn a_lease_carries_only_so_much() {
    let shop = Shop::new(&[]).await;
    let large = ("order.paid", json!({"text": "a".repeat(400_000)}));
    for _ in 0..12 {
        shop.post_each([large.clone()].into_iter()).await;
        sleep(Duration::from_millis(10)).await;
    }
    let mut counts = Vec::new();
    for _ in 0..3 {
        counts.push(shop.lease(wanted(100)).await.len());
    }
    assert_eq!(counts, [10, 2, 0]);
}

/// People hear of it, and it is among what was given up.
#[tokio::test(start_paused = true)]
async fn people_are_told_of_an_item_that_is_given_up() {
    let shop = Shop::new(&[]).await;
    let member = Member { role: Role::Admin, ..samples::member() };
    shop.store.members().add(&member).await.unwrap();
    let id = shop.post(&["order.paid"]).await[0].id;
    let told = async || {
        let notifications = shop.store.notifications();
        let list = notifications.list(samples::user().id, Slice::default()).await.unwrap();
        list.rows.into_iter().map(|row| row.record.title).collect::<Vec<_>>()
    };
    for _ in 1..=5 {
        sleep(seconds(6)).await;
        assert_eq!(told().await, [""; 0]);
        let leased = shop.lease(wanted(1)).await.remove(0);
        shop.reply(leased.token, &nack(0)).await;
    }
    sleep(seconds(6)).await;
    assert_eq!(told().await, ["Deliveries to inbox default fail"]);
    assert_eq!(shop.status(id).await, (Status::Failed, 4));
    let window = ferryhook_store::Window::ALWAYS;
    let events = shop.store.events();
    let failed = events.list_by_status(account(), Status::Failed, window, Slice::default());
    let failed: Vec<_> = failed.await.unwrap().rows.iter().map(|event| event.id).collect();
    assert_eq!(failed, [id], "where dead ones are looked for");
}

/// Others were faster with all of them: that takes a look, and not a commit for each.
#[tokio::test(start_paused = true)]
async fn many_that_moved_cost_little() {
    let shop = Shop::new(&[]).await;
    shop.post(&["order.paid"; 50]).await;
    let (now, group) = (shop.env.now(), Group::default());
    let window = ferryhook_store::Window::until(now);
    let inbox = shop.store.inbox();
    let found = inbox.list_open(account(), &group, window, Slice::default().limit(50)).await;
    let mut moves = Vec::new();
    for item in found.unwrap().rows {
        let next = item.fetch(now + seconds(30), now).unwrap();
        let event = shop.store.events().find(item.event_id).await.unwrap().unwrap();
        moves.push(Move::new(&shop.store, item, next, event, None).await.unwrap());
    }
    assert_eq!(shop.lease(wanted(49)).await.len(), 49);
    let before = shop.probe.commits();
    let (done, refused) = carry_out(&shop.store, moves, now, Kept::ForNow).await.unwrap();
    assert_eq!((done.len(), refused), (1, 49));
    assert_eq!(shop.probe.commits() - before, 3);
}

/// Something falls due while somebody looks.
#[tokio::test(start_paused = true)]
async fn nothing_falls_between_looking_and_waiting() {
    let shop = Shop::new(&[]).await;
    shop.post(&["order.paid"]).await;
    let three = Wanted { visibility: seconds(3), ..wanted(1) };
    shop.lease(three).await;
    let begun = shop.env.elapsed();
    shop.probe.hold();
    let slowly = async {
        sleep(seconds(5)).await;
        shop.probe.let_go();
    };
    let waits = Wanted { wait: seconds(20), ..wanted(1) };
    let (leased, ()) = tokio::join!(shop.lease(waits), slowly);
    assert_eq!((leased.len(), (shop.env.elapsed() - begun).as_secs()), (1, 5));
}
