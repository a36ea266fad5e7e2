//! Items that are all their event came to: a reply to one reads nothing, unless something has
//! happened meanwhile.

use ferryhook_store::repositories::Begun;

use super::*;

impl Shop {
    /// As a replay to a connection that did not have it before.
    async fn begin_another(&self, id: Id<Event>) -> Delivery {
        let event = self.store.events().find(id).await.unwrap().unwrap();
        let item = self.items(id).await.remove(0);
        let next_attempt_at = self.env.now() + seconds(3600);
        let now = Delivery {
            connection_id: connection("later").id,
            state: State::Waiting { next_attempt_at },
            inbox: None,
            ..item
        };
        let stands = event.standing().record;
        let begun = Begun { was: None, now: now.clone() };
        self.store.deliveries().replay(&event, stands, &[begun], &[]).await.unwrap();
        now
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_to_what_was_just_leased_reads_nothing() {
    let shop = Shop::new(&[]).await;
    let events = shop.post(&["order.paid"; 40]).await;
    let tokens: Vec<_> = shop.lease(wanted(40)).await.iter().map(|leased| leased.token).collect();
    let before = shop.probe.reads();
    let replied = shop.courier.reply_to_leases(account(), &tokens, &Reply::Ack).await.unwrap();
    assert_eq!(shop.probe.reads() - before, 0);
    assert_eq!(replied, vec![heard(Status::Delivered); 40]);
    assert_eq!(shop.status(events[7].id).await, (Status::Delivered, 0));
    let replied = shop.courier.reply_to_leases(account(), &tokens, &Reply::Ack).await.unwrap();
    assert_eq!(replied, vec![heard(Status::Delivered); 40], "said again, and read this time");
}

/// Another process has not leased it, and so remembers nothing.
#[tokio::test(start_paused = true)]
async fn a_reply_may_come_to_another_process() {
    let shop = Shop::new(&[]).await;
    let id = shop.post(&["order.paid"]).await[0].id;
    let leased = shop.lease(wanted(1)).await.remove(0);
    let (other, _) = courier(&shop.store, &shop.env, true);
    let told = other.reply_to_leases(account(), &[leased.token], &nack(0)).await.unwrap();
    assert_eq!(told, [heard(Status::Failed)]);
    // Here it is remembered as it was, which is refused, and looked at.
    assert_eq!(shop.reply(leased.token, &Reply::Ack).await, Replied::Stale);
    assert_eq!(shop.status(id).await, (Status::Failed, 0));
    let again = shop.lease(wanted(1)).await.remove(0);
    assert_eq!(shop.reply(again.token, &Reply::Ack).await, heard(Status::Delivered));
    assert_eq!(shop.status(id).await, (Status::Delivered, 1));
}

/// Before it was leased, or while it is: the event is not done as long as that is open.
#[tokio::test(start_paused = true)]
async fn what_was_begun_beside_it_counts() {
    for is_before in [true, false] {
        let shop = Shop::new(&[]).await;
        let id = shop.post(&["order.paid"]).await[0].id;
        if is_before {
            shop.begin_another(id).await;
        }
        let leased = shop.lease(wanted(1)).await.remove(0);
        if !is_before {
            shop.begin_another(id).await;
        }
        assert_eq!(shop.reply(leased.token, &Reply::Ack).await, heard(Status::Delivered));
        assert_ne!(shop.status(id).await.0, Status::Delivered, "{is_before}");
    }
}

/// Leased again after nobody has replied: the event says so, and is not what was read.
#[tokio::test(start_paused = true)]
async fn many_that_were_leased_again_cost_little() {
    let shop = Shop::new(&[]).await;
    let events = shop.post(&["order.paid"; 40]).await;
    assert_eq!(shop.lease(wanted(40)).await.len(), 40);
    sleep(seconds(31)).await;
    let tokens: Vec<_> = shop.lease(wanted(40)).await.iter().map(|leased| leased.token).collect();
    let before = (shop.probe.reads(), shop.probe.commits());
    let replied = shop.courier.reply_to_leases(account(), &tokens, &Reply::Ack).await.unwrap();
    assert_eq!(replied, vec![heard(Status::Delivered); 40]);
    let cost = (shop.probe.reads() - before.0, shop.probe.commits() - before.1);
    assert!(cost.0 <= 90 && cost.1 <= 2, "{cost:?}");
    assert_eq!(shop.status(events[39].id).await, (Status::Delivered, 1));
}

#[tokio::test(start_paused = true)]
async fn many_whose_events_were_written_meanwhile_cost_little() {
    let shop = Shop::new(&[]).await;
    let events = shop.post(&["order.paid"; 40]).await;
    let tokens: Vec<_> = shop.lease(wanted(40)).await.iter().map(|leased| leased.token).collect();
    for event in &events {
        shop.begin_another(event.id).await;
    }
    let before = (shop.probe.reads(), shop.probe.commits());
    let replied = shop.courier.reply_to_leases(account(), &tokens, &Reply::Ack).await.unwrap();
    assert_eq!(replied, vec![heard(Status::Delivered); 40]);
    let cost = (shop.probe.reads() - before.0, shop.probe.commits() - before.1);
    assert!(cost.0 <= 250 && cost.1 <= 6, "{cost:?}");
}

#[tokio::test(start_paused = true)]
async fn an_extended_lease_is_remembered_too() {
    let shop = Shop::new(&[]).await;
    let id = shop.post(&["order.paid"]).await[0].id;
    let leased = shop.lease(wanted(1)).await.remove(0);
    shop.reply(leased.token, &Reply::Extend { visibility: seconds(60) }).await;
    let before = shop.probe.reads();
    assert_eq!(shop.reply(leased.token, &Reply::Ack).await, heard(Status::Delivered));
    assert_eq!(shop.probe.reads() - before, 0);
    assert_eq!(shop.status(id).await, (Status::Delivered, 0));
}

/// The one who has it may not know whose it is.
#[tokio::test(start_paused = true)]
async fn a_reply_of_another_account_is_not_heard() {
    let shop = Shop::new(&[]).await;
    shop.post(&["order.paid"]).await;
    let leased = shop.lease(wanted(1)).await.remove(0);
    let other = Id::new(&shop.env);
    let told = shop.courier.reply_to_leases(other, &[leased.token], &Reply::Ack).await.unwrap();
    assert_eq!(told, [Replied::Unknown]);
    assert_eq!(shop.reply(leased.token, &Reply::Ack).await, heard(Status::Delivered));
}

#[tokio::test(start_paused = true)]
async fn only_so_many_are_remembered() {
    let shop = Shop::new(&[]).await;
    let leases = &shop.courier.inner().leases;
    let event = shop.post(&["order.paid"]).await.remove(0);
    let item = shop.lease(wanted(1)).await.remove(0);
    let name = (event.id, item.token.connection);
    let (item, bare) = leases.take(&name).unwrap();
    assert_eq!((bare.payload.as_ref(), bare.id), (None, event.id), "not what it carries");
    leases.remember(item.clone(), &mut bare.clone());
    for _ in 0..limits::INBOX_LEASES_REMEMBERED {
        let next = Delivery { event_id: Id::new(&shop.env), ..item.record.clone() };
        leases.remember(Stored { record: next, revision: 1 }, &mut bare.clone());
    }
    assert!(leases.take(&name).is_none());
}
