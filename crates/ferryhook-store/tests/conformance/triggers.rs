//! Every access pattern of the triggers document, by name.

use ferryhook_core::event::Status;
use ferryhook_core::{Event, Timestamp};
use ferryhook_store::repositories::Arrival;
use ferryhook_store::{Slice, Stored, Window};

use crate::bench::{Bench, all};
use crate::cast::Home;

async fn trigger(bench: &Bench, home: Home, event_type: &str) -> Stored<Event> {
    let event = bench.trigger(home, event_type);
    let id = event.id;
    let arrival = Arrival { event, claim: None, items: Vec::new() };
    bench.store.events().accept(&[arrival]).await.unwrap();
    bench.tick();
    bench.store.events().find(id).await.unwrap().unwrap()
}

async fn moved(bench: &Bench, was: &Stored<Event>, status: Status, retries: u32) -> Stored<Event> {
    let now = Event { status, retry_count: retries, ..was.record.clone() };
    bench.store.events().replace(was, now).await.unwrap()
}

async fn types(bench: &Bench, home: Home, event_type: &str, slice: Slice) -> Vec<Event> {
    let events = bench.store.events();
    let list = async |slice| {
        let window = Window::ALWAYS;
        events.list_by_type(home.account, event_type, window, slice).await
    };
    all(slice, list).await
}

async fn with_status(bench: &Bench, home: Home, status: Status) -> Vec<Event> {
    let events = bench.store.events();
    let list = async |slice| {
        let window = Window::ALWAYS;
        events.list_by_status(home.account, status, window, slice).await
    };
    all(Slice::default(), list).await
}

async fn inbox(bench: &Bench, home: Home, window: Window, slice: Slice) -> Vec<Event> {
    let events = bench.store.events();
    let list = async |slice| events.list_by_account(home.account, window, slice).await;
    all(slice, list).await
}

pub(crate) async fn triggers_create_event(bench: Bench) {
    let home = bench.home();
    let event = bench.trigger(home, "user.created");
    let arrival = Arrival { event: event.clone(), claim: None, items: Vec::new() };
    bench.store.events().accept(&[arrival]).await.unwrap();
    let found = bench.store.events().find(event.id).await.unwrap().unwrap();
    assert_eq!(found.record, event);
    assert_eq!(found.payload, event.payload);
    bench.advance(86_400);
    assert!(bench.store.events().find(event.id).await.unwrap().is_none());
}

pub(crate) async fn triggers_get_event_by_id(bench: Bench) {
    let home = bench.home();
    let event = trigger(&bench, home, "user.created").await;
    let at = event.received_at;
    let found = bench.store.events().find_of(home.source, at, event.id).await;
    assert_eq!(found.unwrap(), Some(event));
}

pub(crate) async fn triggers_query_events_by_user(bench: Bench) {
    let (home, elsewhere) = (bench.home(), bench.home());
    let start = bench.now();
    let mut expected = Vec::new();
    for _ in 0..7 {
        expected.push(trigger(&bench, home, "user.created").await.record);
        trigger(&bench, elsewhere, "user.created").await;
    }
    let always = Window::ALWAYS;
    let oldest = inbox(&bench, home, always, Slice::oldest_first().limit(3)).await;
    assert_eq!(oldest, expected);
    expected.reverse();
    let newest = inbox(&bench, home, always, Slice::newest_first().limit(3)).await;
    assert_eq!(newest, expected);
    // Two seconds pass between one and the next.
    let at = |seconds| start + std::time::Duration::from_secs(seconds);
    let some = inbox(&bench, home, Window::between(at(2), at(6)), Slice::newest_first()).await;
    assert_eq!(some, expected[3..6]);
}

/// The inbox is the account's, whichever source an event came by.
pub(crate) async fn the_inbox_has_every_source_of_the_account(bench: Bench) {
    let home = bench.home();
    let second = Home { source: bench.id(), ..home };
    trigger(&bench, home, "user.created").await;
    trigger(&bench, second, "user.created").await;
    let found = inbox(&bench, home, Window::ALWAYS, Slice::default()).await;
    assert_eq!(found.len(), 2);
}

pub(crate) async fn triggers_query_events_by_event_type(bench: Bench) {
    let home = bench.home();
    let mut expected = Vec::new();
    for _ in 0..5 {
        expected.push(trigger(&bench, home, "order.completed").await.record);
        trigger(&bench, home, "order.cancelled").await;
        trigger(&bench, home, "order.completed.twice").await;
        trigger(&bench, home, "order").await;
    }
    let found = types(&bench, home, "order.completed", Slice::default().limit(2)).await;
    assert_eq!(found, expected);
    expected.reverse();
    let found = types(&bench, home, "order.completed", Slice::newest_first()).await;
    assert_eq!(found, expected);
}

pub(crate) async fn a_type_may_contain_the_separator(bench: Bench) {
    let home = bench.home();
    trigger(&bench, home, "order").await;
    trigger(&bench, home, "order#2").await;
    let found = types(&bench, home, "order", Slice::default()).await;
    assert_eq!(found.len(), 1);
    let found = types(&bench, home, "order#2", Slice::default()).await;
    assert_eq!(found.len(), 1);
}

/// Many of one type in one millisecond have the same index key.
pub(crate) async fn events_of_one_millisecond_are_all_listed(bench: Bench) {
    let home = bench.home();
    let arrivals: Vec<_> = (0..30)
        .map(|_| Arrival {
            event: bench.trigger(home, "order.completed"),
            claim: None,
            items: Vec::new(),
        })
        .collect();
    bench.store.events().accept(&arrivals).await.unwrap();
    let found = types(&bench, home, "order.completed", Slice::default().limit(7)).await;
    assert_eq!(found.len(), 30);
    let found = inbox(&bench, home, Window::ALWAYS, Slice::newest_first().limit(7)).await;
    assert_eq!(found.len(), 30);
}

pub(crate) async fn triggers_query_events_by_status(bench: Bench) {
    let home = bench.home();
    let mut failed = Vec::new();
    for _ in 0..4 {
        let event = trigger(&bench, home, "user.created").await;
        failed.push(moved(&bench, &event, Status::Failed, 1).await.record);
        trigger(&bench, home, "user.created").await;
    }
    assert_eq!(with_status(&bench, home, Status::Failed).await, failed);
    assert_eq!(with_status(&bench, home, Status::Received).await.len(), 4);
    assert!(with_status(&bench, home, Status::Delivered).await.is_empty());
}

pub(crate) async fn triggers_update_event_status(bench: Bench) {
    let home = bench.home();
    let mut event = trigger(&bench, home, "user.created").await;
    let steps = [(Status::Failed, 1), (Status::Retrying, 2), (Status::Delivered, 3)];
    let mut before = Status::Received;
    for (status, retries) in steps {
        event = moved(&bench, &event, status, retries).await;
        let found = bench.store.events().find(event.id).await.unwrap();
        assert_eq!(found.as_ref(), Some(&event));
        assert_eq!(with_status(&bench, home, status).await, [event.record.clone()]);
        assert!(with_status(&bench, home, before).await.is_empty());
        before = status;
    }
}

/// Of what providers push, only what needs someone is worth an index entry.
pub(crate) async fn pushed_events_are_listed_by_status_while_they_need_someone(bench: Bench) {
    let home = bench.home();
    let event = bench.event(home);
    let arrival = Arrival { event: event.clone(), claim: None, items: Vec::new() };
    bench.store.events().accept(&[arrival]).await.unwrap();
    assert!(with_status(&bench, home, Status::Received).await.is_empty());
    let was = bench.store.events().find(event.id).await.unwrap().unwrap();
    let was = moved(&bench, &was, Status::Failed, 1).await;
    assert_eq!(with_status(&bench, home, Status::Failed).await.len(), 1);
    moved(&bench, &was, Status::Delivered, 1).await;
    assert!(with_status(&bench, home, Status::Failed).await.is_empty());
    assert!(with_status(&bench, home, Status::Delivered).await.is_empty());
}

pub(crate) async fn a_deleted_event_leaves_every_list(bench: Bench) {
    let home = bench.home();
    let event = trigger(&bench, home, "user.created").await;
    bench.store.events().delete(&event).await.unwrap();
    assert!(bench.store.events().find(event.id).await.unwrap().is_none());
    let lists = [
        inbox(&bench, home, Window::ALWAYS, Slice::default()).await,
        types(&bench, home, "user.created", Slice::default()).await,
        with_status(&bench, home, Status::Received).await,
    ];
    assert_eq!(lists.concat(), []);
}

pub(crate) async fn windows_may_be_open_at_either_end(bench: Bench) {
    let home = bench.home();
    let start = bench.now();
    for _ in 0..4 {
        trigger(&bench, home, "user.created").await;
    }
    let at = |seconds| start + std::time::Duration::from_secs(seconds);
    let count = async |from: Option<Timestamp>, to: Option<Timestamp>| {
        let window = Window { from, to };
        inbox(&bench, home, window, Slice::default()).await.len()
    };
    assert_eq!(count(None, None).await, 4);
    assert_eq!(count(Some(at(1)), None).await, 3);
    assert_eq!(count(None, Some(at(1))).await, 2);
    assert_eq!(count(Some(at(3)), Some(at(1))).await, 0);
}
