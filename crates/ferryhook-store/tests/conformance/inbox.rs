//! Items of the inbox: in which lists they stand, and to whom they belong.

use std::time::Duration;

use ferryhook_core::event::Status;
use ferryhook_core::inbox::{Group, Reply, Settings, Step};
use ferryhook_core::{Delivery, Event, Timestamp};
use ferryhook_store::repositories::{Arrival, Listing, Moved};
use ferryhook_store::{Order, Slice, Stored, Window};

use crate::bench::{Bench, all};
use crate::cast::Home;

/// An event that came just now, with an item for each of these groups.
async fn posted(bench: &Bench, home: Home, event_type: &str, groups: &[&str]) -> Event {
    let event = Event {
        pending_since: None,
        processed_at: Some(bench.now()),
        ..bench.trigger(home, event_type)
    };
    let item = |group: &&str| {
        let settings = Settings { group: group.parse().unwrap(), leases_max: 2 };
        Delivery::to_fetch(&event, bench.id(), &settings, bench.now())
    };
    let items = groups.iter().map(item).collect();
    let arrival = Arrival { event: event.clone(), claim: None, items };
    bench.store.events().accept(&[arrival]).await.unwrap();
    bench.tick();
    event
}

fn by_status(status: Status) -> Listing {
    Listing { status: Some(status), ..Listing::default() }
}

fn by_type(event_type: &str) -> Listing {
    Listing { event_type: Some(event_type.to_owned()), ..Listing::default() }
}

/// The events of the items in a list, page after page.
async fn listed(bench: &Bench, home: Home, listing: Listing, slice: Slice) -> Vec<String> {
    let group = Group::default();
    let inbox = bench.store.inbox();
    let list = async |slice| inbox.list(home.account, &group, &listing, slice).await;
    let items: Vec<Delivery> = all(slice, list).await;
    items.iter().map(|item| item.event_id.to_string()).collect()
}

async fn queue(bench: &Bench, home: Home, group: &str) -> Vec<Stored<Delivery>> {
    let (group, until) = (group.parse().unwrap(), Window::until(bench.now()));
    let inbox = bench.store.inbox();
    inbox.list_open(home.account, &group, until, Slice::default()).await.unwrap().rows
}

async fn event_of(bench: &Bench, item: &Delivery) -> Stored<Event> {
    bench.store.events().find(item.event_id).await.unwrap().unwrap()
}

fn fetched(item: &Stored<Delivery>, bench: &Bench) -> Delivery {
    item.fetch(bench.later(30), bench.now()).unwrap().delivery
}

fn step(item: &Stored<Delivery>, reply: &Reply, bench: &Bench) -> Delivery {
    match item.replied(Some(item.attempts), reply, bench.now()) {
        Step::Moves(next) => next.delivery,
        other => panic!("{other:?}"),
    }
}

/// The item alone, with its event as it stands then if nothing else is to become of it.
async fn moved(bench: &Bench, was: &Stored<Delivery>, now: Delivery) -> Stored<Delivery> {
    let event = event_of(bench, was).await;
    let stands = event.standing().with([&now], bench.now());
    let event = Some((&event.record, event.standing(), stands));
    let moved = [Moved { was, now, event, beside: Vec::new() }];
    bench.store.inbox().settle(&moved).await.unwrap().remove(0)
}

fn ids(events: &[Event]) -> Vec<String> {
    events.iter().map(|event| event.id.to_string()).collect()
}

pub(crate) async fn an_item_comes_with_its_event(bench: Bench) {
    let (home, elsewhere) = (bench.home(), bench.home());
    let event = posted(&bench, home, "order.paid", &["default", "billing"]).await;
    posted(&bench, elsewhere, "order.paid", &["default"]).await;
    for group in ["default", "billing"] {
        let items = queue(&bench, home, group).await;
        assert_eq!(items.len(), 1);
        assert_eq!(items[0].event_id, event.id);
    }
    assert!(queue(&bench, home, "other").await.is_empty());
    // Who lists the account's events finds the event, and no item.
    let (always, slice) = (Window::ALWAYS, Slice::default());
    let events = bench.store.events();
    let found = events.list_by_account(home.account, always, slice.clone()).await.unwrap();
    assert_eq!(found.rows.len(), 1);
    let found = events.list_by_type(home.account, "order.paid", always, slice.clone()).await;
    assert_eq!(found.unwrap().rows.len(), 1);
    let received = Status::Received;
    let found = events.list_by_status(home.account, received, always, slice).await.unwrap();
    assert_eq!(found.rows.len(), 1);
}

pub(crate) async fn an_item_stands_where_its_status_says(bench: Bench) {
    let home = bench.home();
    posted(&bench, home, "order.paid", &["default"]).await;
    let expect = async |status: Status| {
        for other in [Status::Received, Status::Failed, Status::Retrying, Status::Delivered] {
            let listed = listed(&bench, home, by_status(other), Slice::default()).await;
            assert_eq!(listed.len(), usize::from(other == status), "{other} beside {status}");
        }
        let all = listed(&bench, home, Listing::default(), Slice::default()).await;
        assert_eq!(all.len(), 1);
    };
    expect(Status::Received).await;
    let item = queue(&bench, home, "default").await.remove(0);
    let item = moved(&bench, &item, fetched(&item, &bench)).await;
    expect(Status::Received).await;
    assert!(queue(&bench, home, "default").await.is_empty(), "somebody has it");
    let nack = Reply::Nack { delay: Duration::from_secs(5), reason: None };
    let item = moved(&bench, &item, step(&item, &nack, &bench)).await;
    expect(Status::Failed).await;
    assert_eq!(event_of(&bench, &item).await.status, Status::Failed);
    bench.advance(5);
    let item = queue(&bench, home, "default").await.remove(0);
    let item = moved(&bench, &item, fetched(&item, &bench)).await;
    expect(Status::Retrying).await;
    let item = moved(&bench, &item, step(&item, &Reply::Ack, &bench)).await;
    expect(Status::Delivered).await;
    let event = event_of(&bench, &item).await;
    assert_eq!((event.status, event.retry_count), (Status::Delivered, 1));
    bench.advance(3600);
    assert!(queue(&bench, home, "default").await.is_empty());
}

pub(crate) async fn of_two_who_lease_an_item_one_has_it(bench: Bench) {
    let home = bench.home();
    for _ in 0..3 {
        posted(&bench, home, "order.paid", &["default"]).await;
    }
    let items = queue(&bench, home, "default").await;
    let alone = |was| Moved { was, now: fetched(was, &bench), event: None, beside: Vec::new() };
    let second = [alone(&items[1])];
    bench.store.inbox().lease(&second).await.unwrap();
    let every: Vec<_> = items.iter().map(alone).collect();
    let stuck = bench.store.inbox().lease(&every).await.unwrap_err();
    assert_eq!(stuck.place, Some(1));
    assert!(stuck.error.is_refused());
    assert_eq!(queue(&bench, home, "default").await.len(), 2, "all of them or none");
}

/// Two groups that are through at the same moment must not both take the other for open.
pub(crate) async fn an_item_is_settled_beside_the_others_of_its_event(bench: Bench) {
    let home = bench.home();
    let event = posted(&bench, home, "order.paid", &["default", "billing"]).await;
    let one = queue(&bench, home, "default").await.remove(0);
    let other = queue(&bench, home, "billing").await.remove(0);
    let found = event_of(&bench, &one).await;
    let leased =
        [Moved { was: &other, now: fetched(&other, &bench), event: None, beside: vec![&one] }];
    bench.store.inbox().lease(&leased).await.unwrap();
    let now = fetched(&one, &bench);
    let stands = found.standing().with([&now, &other.record], bench.now());
    let behind = [Moved {
        was: &one,
        now,
        event: Some((&event, found.standing(), stands)),
        beside: vec![&other],
    }];
    let stuck = bench.store.inbox().settle(&behind).await.unwrap_err();
    assert_eq!(stuck.place, Some(0), "the other was leased meanwhile");
}

pub(crate) async fn items_are_listed_by_type_by_status_and_by_time(bench: Bench) {
    let home = bench.home();
    let start = bench.now();
    let (mut paid, mut every) = (Vec::new(), Vec::new());
    for number in 0..9 {
        let is_paid = number % 3 == 0;
        let name = if is_paid { "order.paid" } else { "order.paid#2" };
        let event = posted(&bench, home, name, &["default"]).await;
        if is_paid {
            paid.push(event.clone());
        }
        every.push(event);
    }
    let oldest = || Slice::oldest_first().limit(2);
    let newest = || Slice::newest_first().limit(2);
    let reversed = |events: &[Event]| ids(events).into_iter().rev().collect::<Vec<_>>();
    let always = Listing::default;
    assert_eq!(listed(&bench, home, always(), oldest()).await, ids(&every));
    assert_eq!(listed(&bench, home, always(), newest()).await, reversed(&every));
    let order_paid = || by_type("order.paid");
    assert_eq!(listed(&bench, home, order_paid(), oldest()).await, ids(&paid));
    assert_eq!(listed(&bench, home, order_paid(), newest()).await, reversed(&paid));
    let received = || by_status(Status::Received);
    assert_eq!(listed(&bench, home, received(), newest()).await, reversed(&every));
    let both = || Listing { status: Some(Status::Received), ..by_type("order.paid") };
    assert_eq!(listed(&bench, home, both(), oldest()).await, ids(&paid));
    let both = || Listing { status: Some(Status::Delivered), ..by_type("order.paid") };
    assert!(listed(&bench, home, both(), oldest()).await.is_empty());
    let at = |second| start + Duration::from_secs(second);
    let some = |listing| Listing { window: Window::between(at(2), at(6)), ..listing };
    assert_eq!(listed(&bench, home, some(always()), oldest()).await, ids(&every[2..7]));
    assert_eq!(listed(&bench, home, some(received()), oldest()).await, ids(&every[2..7]));
    assert_eq!(listed(&bench, home, some(order_paid()), oldest()).await, ids(&paid[1..3]));
}

/// Whoever pages sees each item once, whatever comes in between; newest first, what is newer than
/// the first page is not theirs.
pub(crate) async fn pages_of_an_inbox_neither_skip_nor_repeat(bench: Bench) {
    let home = bench.home();
    let mut before = Vec::new();
    for _ in 0..7 {
        before.push(posted(&bench, home, "order.paid", &["default"]).await);
    }
    for order in [Order::Ascending, Order::Descending] {
        let mut slice = Slice { order, ..Slice::default().limit(2) };
        let (mut seen, mut came) = (Vec::new(), Vec::new());
        loop {
            let group = Group::default();
            let listing = Listing::default();
            let list = bench.store.inbox();
            let page = list.list(home.account, &group, &listing, slice.clone()).await.unwrap();
            seen.extend(page.rows.iter().map(|item| item.event_id.to_string()));
            if came.len() < 3 {
                came.push(posted(&bench, home, "order.paid", &["default"]).await);
            }
            let Some(next) = page.next else { break };
            slice = slice.after(Some(next));
        }
        let expected = match order {
            Order::Ascending => ids(&[before.clone(), came.clone()].concat()),
            Order::Descending => ids(&before).into_iter().rev().collect(),
        };
        assert_eq!(seen, expected);
        before.extend(came);
    }
}

pub(crate) async fn items_go_with_their_event(bench: Bench) {
    let home = bench.home();
    let event = posted(&bench, home, "order.paid", &["default"]).await;
    let stored = bench.store.events().find(event.id).await.unwrap().unwrap();
    bench.store.events().erase(&stored).await.unwrap();
    assert!(queue(&bench, home, "default").await.is_empty());
    for listing in [Listing::default(), by_status(Status::Received), by_type("order.paid")] {
        assert!(listed(&bench, home, listing, Slice::default()).await.is_empty());
    }
    posted(&bench, home, "order.paid", &["default"]).await;
    bench.advance(2 * 86_400);
    let far = Timestamp::from_seconds(i64::from(u32::MAX));
    let group = Group::default();
    let (inbox, until) = (bench.store.inbox(), Window::until(far));
    let page = inbox.list_open(home.account, &group, until, Slice::default()).await.unwrap();
    assert!(page.rows.is_empty(), "expired with its event");
}
