//! Every access pattern and every function of the gateway (users, sources, connections,
//! keys, events, attempts), by name.

use std::slice::from_ref;

use ferryhook_core::delivery::{Cancel, Hold, Lane, State};
use ferryhook_core::event::{Standing, Status};
use ferryhook_core::{Connection, Delivery, Event, Source, connection, key, source, user};
use ferryhook_store::repositories::{Arrival, Edit};
use ferryhook_store::{Shard, Slice, StoreError, Stored, UniqueError, Window};

use crate::bench::{Bench, all};
use crate::cast::Home;

async fn accepted(bench: &Bench, event: Event) -> Stored<Event> {
    let id = event.id;
    let arrival = Arrival { event, claim: None, items: Vec::new() };
    bench.store.events().accept(&[arrival]).await.unwrap();
    bench.store.events().find(id).await.unwrap().unwrap()
}

pub(crate) async fn gateway_get_user_by_id(bench: Bench) {
    let (user, other) = (bench.user(), bench.user());
    bench.store.users().create(&user).await.unwrap();
    let found = bench.store.users().find(user.id).await.unwrap();
    assert_eq!(found.unwrap().record, user);
    assert!(bench.store.users().find(other.id).await.unwrap().is_none());
}

pub(crate) async fn gateway_get_user_by_email(bench: Bench) {
    let user = bench.user();
    let users = bench.store.users();
    users.create(&user).await.unwrap();
    let shouted = format!(" {} ", user.email.to_uppercase());
    for email in [&user.email, &shouted] {
        let found = users.find_by_email(email).await.unwrap();
        assert_eq!(found.unwrap().record, user);
        let holder = users.find_holder(email).await.unwrap();
        assert_eq!(holder.unwrap().record, user);
    }
    assert!(users.find_by_email("nobody@example.com").await.unwrap().is_none());
    assert!(users.find_holder("nobody@example.com").await.unwrap().is_none());
}

pub(crate) async fn gateway_list_sources_for_user(bench: Bench) {
    let (home, elsewhere) = (bench.home(), bench.home());
    let mut ids = Vec::new();
    for _ in 0..5 {
        let source = bench.source(home);
        ids.push(source.id);
        bench.store.sources().create(&source).await.unwrap();
        bench.store.keys().create(&bench.key(home)).await.unwrap();
    }
    bench.store.sources().create(&bench.source(elsewhere)).await.unwrap();
    let sources = bench.store.sources();
    let list = async |slice| sources.list_by_user(home.user, slice).await;
    let found = all(Slice::default().limit(2), list).await;
    ids.sort_unstable();
    let found: Vec<_> = found.into_iter().map(|source| source.id).collect();
    assert_eq!(found, ids);
}

pub(crate) async fn gateway_get_source_by_id(bench: Bench) {
    let home = bench.home();
    let source = bench.source(home);
    let sources = bench.store.sources();
    assert!(sources.find(source.id).await.unwrap().is_none());
    sources.create(&source).await.unwrap();
    let found = sources.find(source.id).await.unwrap().unwrap();
    assert_eq!(found.record, source);
    let owned = sources.find_owned(home.user, source.id).await.unwrap();
    assert_eq!(owned, Some(found));
    let stranger = sources.find_owned(bench.id(), source.id).await.unwrap();
    assert!(stranger.is_none());
}

pub(crate) async fn gateway_edit_a_source_with_its_connections(bench: Bench) {
    let home = bench.home();
    let (source, connection) = (bench.source(home), bench.connection(home));
    let create = [Edit::CreateSource(source.clone()), Edit::CreateConnection(connection.clone())];
    let (sources, connections) = (bench.store.sources(), bench.store.connections());
    sources.edit(&create).await.unwrap();
    let source = sources.find_owned(home.user, source.id).await.unwrap().unwrap();
    let connection =
        connections.find_of(connection.source_id, connection.id).await.unwrap().unwrap();

    // Somebody counts in between: neither is written.
    connections.count_deliveries(connection.source_id, connection.id, 1, 0).await.unwrap();
    let renamed = Source { name: "Renamed".into(), ..source.record.clone() };
    let moved = Connection { name: "Moved".into(), ..connection.record.clone() };
    let replace = |was: &Stored<Connection>| {
        let now = Connection { delivery_count: was.delivery_count, ..moved.clone() };
        [
            Edit::ReplaceSource(source.clone(), renamed.clone()),
            Edit::ReplaceConnection(was.clone(), now),
        ]
    };
    assert!(sources.edit(&replace(&connection)).await.unwrap_err().is_refused());
    let found = sources.find_owned(home.user, source.id).await.unwrap().unwrap();
    assert_eq!(found, source);

    let counted = connections.find_of(connection.source_id, connection.id).await.unwrap().unwrap();
    sources.edit(&replace(&counted)).await.unwrap();
    let found = sources.find_owned(home.user, source.id).await.unwrap().unwrap();
    assert_eq!(found.record, renamed);
    let found = connections.find_of(connection.source_id, connection.id).await.unwrap().unwrap();
    assert_eq!((&*found.name, found.delivery_count), ("Moved", counted.delivery_count));
}

pub(crate) async fn gateway_list_connections_for_source(bench: Bench) {
    let (home, elsewhere) = (bench.home(), bench.home());
    let mut ids = Vec::new();
    for _ in 0..5 {
        let connection = bench.connection(home);
        ids.push(connection.id);
        bench.store.connections().create(&connection).await.unwrap();
    }
    let stranger = bench.connection(elsewhere);
    bench.store.connections().create(&stranger).await.unwrap();
    let connections = bench.store.connections();
    let list = async |slice| connections.list_by_source(home.source, slice).await;
    let found = all(Slice::default().limit(2), list).await;
    ids.sort_unstable();
    let found: Vec<_> = found.into_iter().map(|connection| connection.id).collect();
    assert_eq!(found, ids);
}

pub(crate) async fn gateway_authenticate_api_key(bench: Bench) {
    let key = bench.key(bench.home());
    let keys = bench.store.keys();
    keys.create(&key).await.unwrap();
    let found = keys.find_by_hash(key.hash.expose()).await.unwrap();
    assert_eq!(found.unwrap().record, key);
    assert!(keys.find_by_hash("nothing").await.unwrap().is_none());
}

pub(crate) async fn gateway_list_events_for_source_newest_first(bench: Bench) {
    let home = bench.home();
    let mut ids = Vec::new();
    let start = bench.now();
    for _ in 0..7 {
        ids.push(accepted(&bench, bench.event(home)).await.id);
        bench.store.rejections().record(&bench.rejection(home)).await.unwrap();
        bench.tick();
    }
    let events = bench.store.events();
    let in_window = async |window, slice| {
        let list = async |slice| events.list_by_source(home.source, window, slice).await;
        let found = all(slice, list).await;
        found.into_iter().map(|event| event.id).collect::<Vec<_>>()
    };
    let newest_first: Vec<_> = ids.iter().rev().copied().collect();
    let slice = Slice::newest_first().limit(3);
    assert_eq!(in_window(Window::ALWAYS, slice.clone()).await, newest_first);
    assert_eq!(in_window(Window::ALWAYS, Slice::oldest_first()).await, ids);
    let at = |seconds| start + std::time::Duration::from_secs(seconds);
    let window = Window::between(at(2), at(4));
    assert_eq!(in_window(window, slice.clone()).await, newest_first[2..5]);
    assert_eq!(in_window(Window::until(at(1)), slice).await, newest_first[5..]);
}

pub(crate) async fn gateway_get_event_by_id(bench: Bench) {
    let event = bench.event(bench.home());
    let stored = accepted(&bench, event.clone()).await;
    assert_eq!(stored.record, event);
    let by_key = bench.store.events();
    let by_key = by_key.find_of(event.source_id, event.received_at, event.id);
    assert_eq!(by_key.await.unwrap(), Some(stored));
}

pub(crate) async fn gateway_list_attempts_for_event(bench: Bench) {
    let event = bench.event(bench.home());
    let (first, second) = (bench.delivery(&event), bench.delivery(&event));
    bench.store.deliveries().create(&first).await.unwrap();
    // Both connections have a first attempt; neither hides the other.
    for number in 1..=8 {
        for delivery in [&first, &second] {
            let attempt = bench.attempt(delivery, number);
            bench.store.attempts().record(&attempt).await.unwrap();
        }
    }
    let attempts = bench.store.attempts();
    let list = async |slice| attempts.list_by_event(event.id, slice).await;
    let found = all(Slice::default().limit(5), list).await;
    let numbers: Vec<_> = found.iter().map(|attempt| attempt.number).collect();
    assert_eq!(numbers, [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8]);
}

pub(crate) async fn gateway_list_users_api_keys(bench: Bench) {
    let home = bench.home();
    for _ in 0..3 {
        bench.store.keys().create(&bench.key(home)).await.unwrap();
        bench.store.sources().create(&bench.source(home)).await.unwrap();
    }
    let page = bench.store.keys().list_by_user(home.user, Slice::default()).await;
    assert_eq!(page.unwrap().rows.len(), 3);
}

pub(crate) async fn gateway_users_create_refuses_a_taken_email(bench: Bench) {
    let first = bench.user();
    bench.store.users().create(&first).await.unwrap();
    let mut second = bench.user();
    second.email = first.email.to_uppercase();
    let refused = bench.store.users().create(&second).await;
    assert!(matches!(refused, Err(UniqueError::Taken(_))), "{refused:?}");
    assert!(bench.store.users().find(second.id).await.unwrap().is_none());
}

pub(crate) async fn gateway_users_update(bench: Bench) {
    let user = bench.user();
    let users = bench.store.users();
    users.create(&user).await.unwrap();
    let was = users.find(user.id).await.unwrap().unwrap();
    let mut now = user;
    now.name = "Countess".to_owned();
    now.status = user::Status::Suspended;
    now.first_name = None;
    let replaced = users.replace(&was, now.clone()).await.unwrap();
    assert_eq!(users.find(now.id).await.unwrap(), Some(replaced));
    let stale = users.replace(&was, now).await;
    assert!(matches!(stale, Err(UniqueError::Store(StoreError::Refused { .. }))));
}

pub(crate) async fn gateway_users_update_moves_the_email(bench: Bench) {
    let (user, mut other) = (bench.user(), bench.user());
    let users = bench.store.users();
    users.create(&user).await.unwrap();
    let was = users.find(user.id).await.unwrap().unwrap();
    let mut now = user.clone();
    now.email = format!("new-{}", user.email);
    let was = users.replace(&was, now.clone()).await.unwrap();
    assert!(users.find_by_email(&user.email).await.unwrap().is_none());
    let found = users.find_by_email(&now.email).await.unwrap().unwrap();
    assert_eq!(found.id, user.id);
    // The old address is free again, and the new one is not.
    other.email = now.email.clone();
    let refused = users.create(&other).await;
    assert!(matches!(refused, Err(UniqueError::Taken(_))), "{refused:?}");
    other.email = user.email.clone();
    users.create(&other).await.unwrap();
    // Now it cannot be taken back.
    let refused = users.replace(&was, user.clone()).await;
    assert!(matches!(refused, Err(UniqueError::Taken(_))), "{refused:?}");
    assert_eq!(users.find(user.id).await.unwrap().unwrap().record, now);
}

pub(crate) async fn a_change_of_case_keeps_the_email(bench: Bench) {
    let user = bench.user();
    let users = bench.store.users();
    users.create(&user).await.unwrap();
    let was = users.find(user.id).await.unwrap().unwrap();
    let mut now = user.clone();
    now.email = user.email.to_uppercase();
    users.replace(&was, now.clone()).await.unwrap();
    let found = users.find_by_email(&user.email).await.unwrap().unwrap();
    assert_eq!(found.record, now);
}

pub(crate) async fn a_deleted_user_frees_the_email(bench: Bench) {
    let (user, mut other) = (bench.user(), bench.user());
    let users = bench.store.users();
    users.create(&user).await.unwrap();
    let was = users.find(user.id).await.unwrap().unwrap();
    users.delete(&was).await.unwrap();
    other.email = user.email;
    users.create(&other).await.unwrap();
}

pub(crate) async fn gateway_users_increment_usage(bench: Bench) {
    let user = bench.user();
    let users = bench.store.users();
    users.create(&user).await.unwrap();
    users.add_usage(user.id, 1).await.unwrap();
    users.add_usage(user.id, 41).await.unwrap();
    let found = users.find(user.id).await.unwrap().unwrap();
    assert_eq!(found.usage_this_month, user.usage_this_month + 42);
    let nobody = users.add_usage(bench.id(), 1).await;
    assert!(nobody.unwrap_err().is_refused());
}

pub(crate) async fn signing_up_makes_user_account_and_member_or_nothing(bench: Bench) {
    let (user, account) = (bench.user(), bench.account());
    let member = bench.member(user.id, account.id);
    let users = bench.store.users();
    users.sign_up(&user, &account, &member).await.unwrap();
    assert!(bench.store.accounts().find(account.id).await.unwrap().is_some());
    let found = bench.store.members().find(user.id, account.id).await;
    assert!(found.unwrap().is_some());
    let (mut second, account) = (bench.user(), bench.account());
    second.email = user.email;
    let member = bench.member(second.id, account.id);
    let refused = users.sign_up(&second, &account, &member).await;
    assert!(matches!(refused, Err(UniqueError::Taken(_))), "{refused:?}");
    assert!(bench.store.accounts().find(account.id).await.unwrap().is_none());
}

pub(crate) async fn gateway_sources_update(bench: Bench) {
    let source = bench.source(bench.home());
    let sources = bench.store.sources();
    sources.create(&source).await.unwrap();
    let was = sources.find(source.id).await.unwrap().unwrap();
    let mut now = source;
    now.status = source::Status::Paused;
    now.provider = "github".to_owned();
    let replaced = sources.replace(&was, now.clone()).await.unwrap();
    assert_eq!(sources.find(now.id).await.unwrap(), Some(replaced));
    assert!(sources.replace(&was, now).await.unwrap_err().is_refused());
}

pub(crate) async fn gateway_sources_delete(bench: Bench) {
    let home = bench.home();
    let source = bench.source(home);
    let sources = bench.store.sources();
    sources.create(&source).await.unwrap();
    let was = sources.find(source.id).await.unwrap().unwrap();
    sources.delete(&was).await.unwrap();
    let found = sources.find(source.id).await.unwrap().unwrap();
    assert_eq!(found.status, source::Status::Deleted);
    let (slice, deleted) = (Slice::default, source::Status::Deleted);
    let by_user = sources.list_by_user(home.user, slice()).await.unwrap();
    assert!(by_user.rows.is_empty());
    let by_account = sources.list_by_account(home.account, slice()).await.unwrap();
    assert!(by_account.rows.is_empty());
    let by_status = sources.list_by_status(home.account, deleted, slice()).await;
    assert_eq!(by_status.unwrap().rows.len(), 1);
}

pub(crate) async fn sources_count_their_events(bench: Bench) {
    let source = bench.source(bench.home());
    let sources = bench.store.sources();
    sources.create(&source).await.unwrap();
    let at = bench.now();
    for events in [3, 4] {
        let count = sources.count_events(source.user_id, source.id, events, at);
        count.await.unwrap();
    }
    let found = sources.find(source.id).await.unwrap().unwrap();
    assert_eq!(found.event_count, source.event_count + 7);
    assert_eq!(found.last_event_at, Some(at));
}

pub(crate) async fn gateway_connections_update(bench: Bench) {
    let connection = bench.connection(bench.home());
    let connections = bench.store.connections();
    connections.create(&connection).await.unwrap();
    let was = connections.find(connection.id).await.unwrap().unwrap();
    let mut now = connection;
    now.filters = None;
    now.status = connection::Status::Paused;
    let replaced = connections.replace(&was, now.clone()).await.unwrap();
    let found = connections.find_of(now.source_id, now.id).await.unwrap();
    assert_eq!(found, Some(replaced));
}

pub(crate) async fn gateway_connections_delete(bench: Bench) {
    let home = bench.home();
    let connection = bench.connection(home);
    let connections = bench.store.connections();
    connections.create(&connection).await.unwrap();
    let was = connections.find(connection.id).await.unwrap().unwrap();
    connections.delete(&was).await.unwrap();
    let page = connections.list_by_source(home.source, Slice::default()).await;
    assert!(page.unwrap().rows.is_empty());
    let found = connections.find(connection.id).await.unwrap().unwrap();
    assert_eq!(found.status, connection::Status::Deleted);
}

pub(crate) async fn connections_count_their_deliveries(bench: Bench) {
    let connection = bench.connection(bench.home());
    let connections = bench.store.connections();
    connections.create(&connection).await.unwrap();
    let count = connections.count_deliveries(connection.source_id, connection.id, 5, 2);
    count.await.unwrap();
    let found = connections.find(connection.id).await.unwrap().unwrap();
    assert_eq!(found.delivery_count, connection.delivery_count + 5);
    assert_eq!(found.failure_count, connection.failure_count + 2);
}

pub(crate) async fn gateway_events_create_keeps_the_exact_body(bench: Bench) {
    let mut event = bench.event(bench.home());
    event.body = vec![0xff, 0x00, 0xc3, 0x28, b'\n'].into();
    let stored = accepted(&bench, event.clone()).await;
    assert_eq!(stored.record, event);
    assert_eq!(stored.body.as_bytes(), event.body.as_bytes());
}

pub(crate) async fn gateway_events_update_status(bench: Bench) {
    let was = accepted(&bench, bench.event(bench.home())).await;
    let now = Event {
        status: Status::Delivered,
        delivered_at: Some(bench.now()),
        pending_since: None,
        ..was.record.clone()
    };
    let replaced = bench.store.events().replace(&was, now.clone()).await.unwrap();
    let found = bench.store.events().find(now.id).await.unwrap();
    assert_eq!(found, Some(replaced));
    let stale = bench.store.events().replace(&was, now).await;
    assert!(stale.unwrap_err().is_refused());
}

pub(crate) async fn an_event_cannot_change_what_it_carries(bench: Bench) {
    let was = accepted(&bench, bench.event(bench.home())).await;
    let mut now = was.record.clone();
    now.body = "another".into();
    let changed = bench.store.events().replace(&was, now).await;
    assert!(matches!(changed, Err(StoreError::Malformed(_))), "{changed:?}");
}

pub(crate) async fn events_count_their_duplicates(bench: Bench) {
    let event = accepted(&bench, bench.event(bench.home())).await;
    bench
        .store
        .events()
        .count_duplicates(event.source_id, event.received_at, event.id, 3)
        .await
        .unwrap();
    let found = bench.store.events().find(event.id).await.unwrap().unwrap();
    assert_eq!(found.duplicate_count, event.duplicate_count + 3);
}

pub(crate) async fn an_event_expires_with_its_story(bench: Bench) {
    let event = accepted(&bench, bench.event(bench.home())).await;
    let delivery = bench.delivery(&event);
    bench.store.deliveries().create(&delivery).await.unwrap();
    let attempt = bench.attempt(&delivery, 1);
    bench.store.attempts().record(&attempt).await.unwrap();
    bench.advance(86_400);
    assert!(bench.store.events().find(event.id).await.unwrap().is_none());
    let (deliveries, attempts) = (bench.store.deliveries(), bench.store.attempts());
    let left = deliveries.list_by_event(event.id, Slice::default()).await;
    assert!(left.unwrap().rows.is_empty());
    let left = attempts.list_by_event(event.id, Slice::default()).await;
    assert!(left.unwrap().rows.is_empty());
}

pub(crate) async fn an_event_can_be_erased_with_its_story(bench: Bench) {
    let event = accepted(&bench, bench.event(bench.home())).await;
    // More than fits into one commit.
    for _ in 0..20 {
        let delivery = bench.delivery(&event);
        bench.store.deliveries().create(&delivery).await.unwrap();
        for number in 1..=8 {
            let attempt = bench.attempt(&delivery, number);
            bench.store.attempts().record(&attempt).await.unwrap();
        }
    }
    bench.store.events().erase(&event).await.unwrap();
    assert!(bench.store.events().find(event.id).await.unwrap().is_none());
    let (deliveries, attempts) = (bench.store.deliveries(), bench.store.attempts());
    let left = deliveries.list_by_event(event.id, Slice::default()).await;
    assert!(left.unwrap().rows.is_empty());
    let left = attempts.list_by_event(event.id, Slice::default()).await;
    assert!(left.unwrap().rows.is_empty());
}

/// The pending events of one home; the shards belong to everyone.
async fn pending(bench: &Bench, home: Home) -> Vec<Event> {
    let events = bench.store.events();
    let window = Window::between(bench.now() - std::time::Duration::from_secs(60), bench.now());
    let mut found = Vec::new();
    for shard in Shard::all() {
        let list = async |slice| events.list_pending(shard, window, slice).await;
        found.extend(all(Slice::default(), list).await);
    }
    found.retain(|event| event.account_id == home.account);
    found
}

/// How many deliveries in the queue of this one's connection are due by now.
async fn due(bench: &Bench, of: &Delivery) -> usize {
    let window = Window::until(bench.now());
    let deliveries = bench.store.deliveries();
    let list =
        async |slice| deliveries.list_open(of.connection_id, Lane::Live, window, slice).await;
    all(Slice::default(), list).await.len()
}

pub(crate) async fn a_held_event_is_found_by_its_source_until_it_goes_on(bench: Bench) {
    let home = bench.home();
    let held = |event: Event| Event { status: Status::Held, pending_since: None, ..event };
    let first = accepted(&bench, held(bench.event(home))).await;
    bench.advance(1);
    let second = accepted(&bench, held(bench.event(home))).await;
    // Held for another reason: its deliveries are.
    let planned = Event { processed_at: Some(bench.now()), ..held(bench.event(home)) };
    accepted(&bench, planned).await;
    accepted(&bench, held(bench.event(bench.home()))).await;
    let events = bench.store.events();
    let list = async || {
        let list = async |slice| events.list_held(home.source, Window::ALWAYS, slice).await;
        all(Slice::oldest_first().limit(1), list).await
    };
    assert_eq!(list().await, [first.record.clone(), second.record.clone()]);
    assert!(pending(&bench, home).await.is_empty());
    let now = bench.now();
    let was = first.standing();
    let freed = Standing { status: Status::Received, pending_since: Some(now), ..was.record };
    events.progress(&first, &was, freed).await.unwrap();
    assert_eq!(list().await, from_ref(&second.record));
    assert_eq!(pending(&bench, home).await.len(), 1);
}

pub(crate) async fn an_accepted_event_is_pending_until_it_is_planned(bench: Bench) {
    let home = bench.home();
    let was = accepted(&bench, bench.event(home)).await;
    assert_eq!(pending(&bench, home).await, from_ref(&was.record));
    let deliveries = [bench.delivery(&was), bench.delivery(&was)];
    let now = was.record.standing().with(&deliveries, bench.now());
    let planner = bench.store.deliveries();
    let planned = planner.plan(&was, &was.standing(), now, &deliveries, None).await;
    let planned = planned.unwrap();
    let found = bench.store.events().find(was.id).await.unwrap().unwrap();
    assert_eq!(found.standing(), planned);
    assert_eq!(found.record.body, was.record.body);
    assert!(pending(&bench, home).await.is_empty());
    for delivery in &deliveries {
        assert_eq!(due(&bench, delivery).await, 1);
    }
    let listed = bench.store.deliveries();
    let listed = listed.list_by_event(was.id, Slice::default()).await.unwrap();
    assert_eq!(listed.rows.len(), 2);
    // Whoever comes second with the same plan is refused as a whole.
    let again = planner.plan(&was, &was.standing(), now, &deliveries, None).await;
    assert!(again.unwrap_err().is_refused());
}

pub(crate) async fn an_event_that_nobody_wants_is_planned_with_nothing(bench: Bench) {
    let home = bench.home();
    let was = accepted(&bench, bench.event(home)).await;
    let now = was.record.standing().with(&[], bench.now());
    assert_eq!(now.status, Status::Filtered);
    bench.store.deliveries().plan(&was, &was.standing(), now, &[], None).await.unwrap();
    assert!(pending(&bench, home).await.is_empty());
}

pub(crate) async fn gateway_attempts_create_with_the_delivery(bench: Bench) {
    let home = bench.home();
    let event = accepted(&bench, bench.event(home)).await;
    let delivery = bench.delivery(&event);
    let deliveries = bench.store.deliveries();
    deliveries.create(&delivery).await.unwrap();
    let was = deliveries.find(event.id, delivery.connection_id).await;
    let was = was.unwrap().unwrap();
    let leased = deliveries.lease(&was, bench.later(30)).await.unwrap().unwrap();
    assert_eq!(due(&bench, &delivery).await, 0);
    let mut now = leased.record.clone();
    now.attempts = 1;
    now.state = State::Waiting { next_attempt_at: bench.later(30) };
    let attempt = bench.attempt(&now, 1);
    let stands = event.record.standing().with([&now], bench.now());
    let stood = event.standing();
    let with_event = (&*event, &stood, stands);
    let settled = deliveries.settle(&leased, now.clone(), Some(&attempt), with_event, []).await;
    let (settled, stands) = settled.unwrap();
    let failing = bench.store.events();
    let failing =
        failing.list_by_status(home.account, Status::Retrying, Window::ALWAYS, Slice::default());
    assert_eq!(failing.await.unwrap().rows.len(), 1);
    let found = deliveries.find(event.id, now.connection_id).await.unwrap();
    assert_eq!(found, Some(settled.clone()));
    // The same attempt again: nothing happens, neither to the delivery.
    let with_event = (&*event, &stands, stands.record);
    let again = deliveries.settle(&settled, now, Some(&attempt), with_event, []).await;
    assert!(again.unwrap_err().is_refused());
    assert_eq!(due(&bench, &delivery).await, 0);
    bench.advance(30);
    assert_eq!(due(&bench, &delivery).await, 1);
}

pub(crate) async fn a_delivery_is_settled_together_with_its_event(bench: Bench) {
    let home = bench.home();
    let event = accepted(&bench, bench.event(home)).await;
    let delivery = bench.delivery(&event);
    let deliveries = bench.store.deliveries();
    deliveries.create(&delivery).await.unwrap();
    let was = deliveries.find(event.id, delivery.connection_id).await;
    let was = was.unwrap().unwrap();
    let mut now = was.record.clone();
    now.state = State::Delivered { settled_at: bench.now() };
    let stands = event.record.standing().with([&now], bench.now());
    assert_eq!(stands.status, Status::Delivered);
    let attempt = bench.attempt(&now, 1);
    let with_event = (&*event, &event.standing(), stands);
    let settled = deliveries.settle(&was, now, Some(&attempt), with_event, []);
    let (_, stands) = settled.await.unwrap();
    let found = bench.store.events().find(event.id).await.unwrap();
    assert_eq!(found.map(|found| found.standing()), Some(stands));
    assert_eq!(due(&bench, &delivery).await, 0);
}

/// A sibling has moved it on, and what was read before would leave it there.
pub(crate) async fn an_event_that_moved_on_is_noticed_though_it_is_to_stand_as_it_stood(
    bench: Bench,
) {
    let event = accepted(&bench, bench.event(bench.home())).await;
    let one = bench.delivery(&event);
    let other = Delivery { connection_id: bench.id(), ..one.clone() };
    let deliveries = bench.store.deliveries();
    let mut stored = Vec::new();
    for delivery in [&one, &other] {
        deliveries.create(delivery).await.unwrap();
        stored.extend(deliveries.find(event.id, delivery.connection_id).await.unwrap());
    }
    let [one, other] = &stored[..] else { panic!("both are there") };
    let stood = event.standing();
    let stands = Standing { status: Status::Retrying, ..stood.record };
    let cancelled = |one: &Delivery| one.cancel(Cancel::Requested, bench.now());
    let beside = [(&other.record, other.revision)];
    let with_event = (&*event, &stood, stands);
    let settled = deliveries.settle(one, cancelled(one), None, with_event, beside).await;
    let (settled, _) = settled.unwrap();
    let beside = [(&settled.record, settled.revision)];
    let with_event = (&*event, &stood, stood.record);
    let late = deliveries.settle(other, cancelled(other), None, with_event, beside).await;
    assert!(late.unwrap_err().is_refused());
}

/// It came too late to decide anything: the delivery stays as it is, and the number is taken.
pub(crate) async fn a_late_attempt_is_counted(bench: Bench) {
    let event = accepted(&bench, bench.event(bench.home())).await;
    let delivery = bench.delivery(&event);
    let deliveries = bench.store.deliveries();
    deliveries.create(&delivery).await.unwrap();
    let was = deliveries.find(event.id, delivery.connection_id).await.unwrap().unwrap();
    let number = was.attempts + 1;
    let attempt = bench.attempt(&delivery, number);
    let counted = deliveries.count_attempt(&was, &attempt).await.unwrap();
    assert_eq!((counted.attempts, counted.state), (number, was.state));
    let found = deliveries.find(event.id, delivery.connection_id).await.unwrap();
    assert_eq!(found, Some(counted.clone()));
    let again = deliveries.count_attempt(&counted, &attempt).await;
    assert!(again.unwrap_err().is_refused());
}

/// It keeps its place in the queue, where a worker finds out whether it may go on, and nobody takes
/// one that is parked.
pub(crate) async fn a_held_delivery_waits_in_its_queue(bench: Bench) {
    let event = bench.event(bench.home());
    let delivery = bench.delivery(&event);
    let deliveries = bench.store.deliveries();
    deliveries.create(&delivery).await.unwrap();
    assert_eq!(due(&bench, &delivery).await, 1);
    let was = deliveries.find(event.id, delivery.connection_id).await;
    let was = was.unwrap().unwrap();
    let held = was.hold(Hold::ConnectionPaused, bench.now());
    let held = deliveries.replace(&was, held).await.unwrap();
    assert_eq!(due(&bench, &delivery).await, 1);
    let leased = deliveries.lease(&held, bench.later(30)).await.unwrap().unwrap();
    let parked = leased.hold(Hold::Parked, bench.now());
    let held = deliveries.replace(&leased, parked).await.unwrap();
    assert_eq!(deliveries.lease(&held, bench.later(30)).await.unwrap(), None);
    assert_eq!(due(&bench, &delivery).await, 1);
    let cancelled = held.cancel(Cancel::ConnectionDeleted, bench.now());
    deliveries.replace(&held, cancelled).await.unwrap();
    assert_eq!(due(&bench, &delivery).await, 0);
}

/// Where order counts, the queue is in the order of the events, also when the first was put off.
pub(crate) async fn an_ordered_queue_is_in_the_order_of_its_events(bench: Bench) {
    let home = bench.home();
    let deliveries = bench.store.deliveries();
    let mut expected = Vec::new();
    let connection = bench.id();
    for _ in 0..3 {
        let event = bench.event(home);
        bench.advance(1);
        let order_key = Some("order-7".to_owned());
        let delivery = Delivery { connection_id: connection, order_key, ..bench.delivery(&event) };
        deliveries.create(&delivery).await.unwrap();
        expected.push(event.id);
    }
    let was = deliveries.find(expected[0], connection).await.unwrap().unwrap();
    let state = State::Waiting { next_attempt_at: bench.later(3600) };
    deliveries.replace(&was, Delivery { state, ..was.record.clone() }).await.unwrap();
    let list =
        async |slice| deliveries.list_open(connection, Lane::Live, Window::ALWAYS, slice).await;
    let listed = all(Slice::default(), list).await;
    assert_eq!(listed.iter().map(|one| one.event_id).collect::<Vec<_>>(), expected);
}

pub(crate) async fn connections_of_all_accounts_are_listed_for_their_queues(bench: Bench) {
    let connection = bench.connection(bench.home());
    let connections = bench.store.connections();
    connections.create(&connection).await.unwrap();
    let was = connections.find_of(connection.source_id, connection.id).await.unwrap().unwrap();
    connections.delete(&was).await.unwrap();
    let shard = Shard::of_connection(connection.id);
    let list = async |slice| connections.list_lanes(shard, slice).await;
    let listed = all(Slice::default(), list).await;
    assert!(listed.iter().any(|one| one.id == connection.id), "deleted, and still listed");
}

pub(crate) async fn a_lease_that_ended_is_due_again(bench: Bench) {
    let home = bench.home();
    let event = bench.event(home);
    let delivery = bench.delivery(&event);
    let deliveries = bench.store.deliveries();
    deliveries.create(&delivery).await.unwrap();
    let was = deliveries.find(event.id, delivery.connection_id).await;
    let was = was.unwrap().unwrap();
    let leased = deliveries.lease(&was, bench.later(30)).await.unwrap().unwrap();
    assert!(deliveries.lease(&leased, bench.later(60)).await.unwrap().is_none());
    bench.advance(30);
    assert_eq!(due(&bench, &delivery).await, 1);
    assert!(deliveries.lease(&leased, bench.later(30)).await.unwrap().is_some());
}

pub(crate) async fn gateway_api_keys_create_refuses_a_taken_hash(bench: Bench) {
    let (first, mut second) = (bench.key(bench.home()), bench.key(bench.home()));
    bench.store.keys().create(&first).await.unwrap();
    second.hash = first.hash.clone();
    let refused = bench.store.keys().create(&second).await;
    assert!(matches!(refused, Err(UniqueError::Taken(_))), "{refused:?}");
}

pub(crate) async fn gateway_api_keys_delete(bench: Bench) {
    let key = bench.key(bench.home());
    let keys = bench.store.keys();
    keys.create(&key).await.unwrap();
    let was = keys.find(key.user_id, key.id).await.unwrap().unwrap();
    keys.delete(&was).await.unwrap();
    assert!(keys.find(key.user_id, key.id).await.unwrap().is_none());
    assert!(keys.find_by_hash(key.hash.expose()).await.unwrap().is_none());
    keys.create(&key).await.unwrap();
}

pub(crate) async fn gateway_api_keys_update_last_used(bench: Bench) {
    let key = bench.key(bench.home());
    let keys = bench.store.keys();
    keys.create(&key).await.unwrap();
    keys.touch(key.user_id, key.id, bench.now()).await.unwrap();
    let found = keys.find(key.user_id, key.id).await.unwrap().unwrap();
    assert_eq!(found.last_used_at, Some(bench.now()));
    assert_eq!(found.status, key::Status::Active);
}

pub(crate) async fn rejections_are_listed_by_source(bench: Bench) {
    let home = bench.home();
    let mut ids = Vec::new();
    for _ in 0..3 {
        let rejection = bench.rejection(home);
        ids.insert(0, rejection.id);
        bench.store.rejections().record(&rejection).await.unwrap();
        accepted(&bench, bench.event(home)).await;
        bench.tick();
    }
    let rejections = bench.store.rejections();
    let list = async |slice| {
        let window = Window::ALWAYS;
        rejections.list_by_source(home.source, window, slice).await
    };
    let found = all(Slice::newest_first().limit(2), list).await;
    let found: Vec<_> = found.into_iter().map(|rejection| rejection.id).collect();
    assert_eq!(found, ids);
}

pub(crate) async fn a_rejection_can_be_found_and_deleted(bench: Bench) {
    let rejection = bench.rejection(bench.home());
    let rejections = bench.store.rejections();
    rejections.record(&rejection).await.unwrap();
    let (source, at) = (rejection.source_id, rejection.rejected_at);
    let found = rejections.find(source, at, rejection.id).await.unwrap().unwrap();
    assert_eq!(found.record, rejection);
    rejections.delete(&found).await.unwrap();
    let gone = rejections.find(source, at, rejection.id).await.unwrap();
    assert!(gone.is_none());
}

/// Once, however many try: the rejection goes with the commit that brings its event.
pub(crate) async fn a_rejection_is_let_in_once(bench: Bench) {
    let (home, rejections) = (bench.home(), bench.store.rejections());
    let rejection = bench.rejection(home);
    rejections.record(&rejection).await.unwrap();
    let (source, at) = (rejection.source_id, rejection.rejected_at);
    let found = rejections.find(source, at, rejection.id).await.unwrap().unwrap();
    let arrival = || Arrival { event: bench.event(home), claim: None, items: Vec::new() };
    let (first, second) = (arrival(), arrival());
    bench.store.events().readmit(from_ref(&first), &found).await.unwrap();
    assert!(rejections.find(source, at, rejection.id).await.unwrap().is_none());
    let again = bench.store.events().readmit(from_ref(&second), &found).await;
    assert!(again.is_err_and(|error| error.is_refused()));
    assert!(bench.store.events().find(first.event.id).await.unwrap().is_some());
    assert!(bench.store.events().find(second.event.id).await.unwrap().is_none());
}
