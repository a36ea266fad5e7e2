//! Whether a store that was opened again has what was acknowledged, whole, and nothing half.

use std::collections::{BTreeMap, BTreeSet};

use ferryhook_core::{Delivery, Event, Id, Notification, Schedule, User};
use ferryhook_store::engine::Engine;
use ferryhook_store::value::from_item;
use ferryhook_store::{Index, Key, Kind, Part, Query, Record, Shard};

use crate::cargo::{self, Five, SOURCES};
use crate::model::Model;

/// Finds everything that the model says must be there, and nothing that it says cannot be.
pub(crate) async fn check(engine: &dyn Engine, model: &Model) {
    let events = check_events(engine, model).await;
    check_claims(engine, model, &events).await;
    check_fives(engine, model).await;
}

async fn check_events(engine: &dyn Engine, model: &Model) -> BTreeMap<Id<Event>, Event> {
    let mut found = BTreeMap::new();
    for number in 0..SOURCES {
        let query = Query::table(Kind::Event, format!("SRC#{}", cargo::source(number)));
        for event in list::<Event>(engine, query).await {
            check_event(model, &event);
            found.insert(event.id, event);
        }
    }
    for (id, known) in &model.events {
        let must = known.must_live(model.now);
        assert!(!must || found.contains_key(id), "{id} was acknowledged and is lost: {known:?}");
    }
    let mut partitions: Vec<(Index, Part)> = Vec::new();
    for account in 0..2 {
        let account = format!("acc_{account:016}");
        for index in [Index::Inbox, Index::EventType, Index::EventStatus] {
            partitions.push((index, account.as_str().into()));
        }
    }
    partitions.extend(shards().map(|shard| (Index::Pending, shard)));
    let sources: BTreeSet<_> = found.values().map(|event| event.source_id).collect();
    partitions.extend(sources.iter().map(|id| (Index::Pending, format!("HELD#{id}").into())));
    let ids = model.events.keys().map(|id| (Index::EventById, format!("EVTID#{id}").into()));
    partitions.extend(ids);
    check_indexes(engine, found.values().cloned().collect(), partitions).await;
    found
}

/// The row carries exactly what was accepted and has come at least as far as acknowledged.
fn check_event(model: &Model, event: &Event) {
    let id = event.id;
    let known = model.events.get(&id).unwrap_or_else(|| panic!("{id} was never sent"));
    let (now, until) = (model.now, event.expires_at);
    assert!(known.may_live(now), "{id} is gone and came back until {until:?} ({now}): {known:?}");
    assert!(event.retry_count >= known.step, "{id} fell back to {}: {known:?}", event.retry_count);
    let accepted = known.manifest.event();
    assert!(event.body == accepted.body, "{id} has another body: {known:?}");
    let expected = Event {
        status: event.status,
        retry_count: event.retry_count,
        duplicate_count: event.duplicate_count,
        pending_since: event.pending_since,
        expires_at: event.expires_at,
        ..accepted
    };
    assert_eq!(*event, expected);
}

/// Event and claim came together, so neither is there alone unless it went alone.
async fn check_claims(engine: &dyn Engine, model: &Model, events: &BTreeMap<Id<Event>, Event>) {
    for (id, known) in &model.events {
        let claim = known.claim();
        let row = engine.get(&claim.key()).await.unwrap();
        let expired = claim.expires_at.as_seconds() <= model.now;
        assert!(!expired || row.is_none(), "the claim of {id} outlived itself");
        if let Some(row) = &row {
            assert_eq!(from_item::<ferryhook_core::Claim>(row.item.clone()).unwrap(), claim);
            let alone = !events.contains_key(id) && !known.may_be_gone(model.now);
            assert!(!alone, "a claim without its event: {known:?}");
        }
        let must = known.accepted || events.contains_key(id);
        assert!(expired || !must || row.is_some(), "an event without its claim: {known:?}");
    }
}

async fn check_fives(engine: &dyn Engine, model: &Model) {
    let (mut deliveries, mut notifications, mut schedules) = (vec![], vec![], vec![]);
    for (number, tokens) in &model.fives {
        let example = Five::new(*number, 1);
        let mut carried = Vec::new();
        for delivery in &example.deliveries {
            let found = find::<Delivery>(engine, &delivery.key()).await;
            carried.push(found.as_ref().and_then(|found| found.last_error.clone()));
            deliveries.extend(found);
        }
        for notification in &example.notifications {
            let found = find::<Notification>(engine, &notification.key()).await;
            carried.push(found.as_ref().map(|found| found.message.clone()));
            notifications.extend(found);
        }
        let found = find::<Schedule>(engine, &example.schedule.key()).await;
        carried.push(found.as_ref().and_then(|found| found.cron_expression.clone()));
        schedules.extend(found);
        let token = carried[0].as_deref().unwrap_or("0").parse().unwrap();
        assert!(tokens.contains(&token), "five rows {number} have {token}, not of {tokens:?}");
        let all = carried.iter().all(|other| *other == carried[0]);
        assert!(all, "half a batch: the five rows {number} carry {carried:?}");
    }
    let users = (0..2).map(|user| format!("usr_{user:016}").parse::<Id<User>>().unwrap());
    let users = users.map(|user| (Index::NotificationUnread, user.as_str().into()));
    let minutes = (0..4).map(|minute| (Index::ScheduleNextRun, Part::Number(60 * minute)));
    check_indexes(engine, deliveries, connections().map(|one| (Index::Due, one)).collect()).await;
    check_indexes(engine, notifications, users.collect()).await;
    check_indexes(engine, schedules, minutes.collect()).await;
}

fn shards() -> impl Iterator<Item = Part> {
    Shard::all().enumerate().map(|(number, _)| number.to_string().into())
}

fn connections() -> impl Iterator<Item = Part> {
    (0..4).map(|number| format!("conn_{number:016}").into())
}

/// By sort key and then by row, as an index is sorted.
type Entries = Vec<(Option<Part>, Key)>;

/// Each partition of an index has exactly the entries of the rows, once and in order. These are
/// all rows of their kind, and all partitions they can have entries in.
async fn check_indexes<T: Record>(
    engine: &dyn Engine,
    rows: Vec<T>,
    partitions: Vec<(Index, Part)>,
) {
    let mut expected: BTreeMap<(Index, Part), Entries> = BTreeMap::new();
    for partition in partitions {
        expected.insert(partition, Vec::new());
    }
    for row in &rows {
        for entry in row.indexes() {
            let place = expected.get_mut(&(entry.index, entry.partition.clone()));
            let place = place.unwrap_or_else(|| panic!("{entry:?} is not looked at"));
            place.push((entry.sort, row.key()));
        }
    }
    for ((index, partition), mut entries) in expected {
        entries.sort();
        let query = Query::index(T::KIND, index, partition.clone());
        let found: Vec<Key> = list::<T>(engine, query).await.iter().map(Record::key).collect();
        let entries: Vec<Key> = entries.into_iter().map(|(_, key)| key).collect();
        assert_eq!(found, entries, "{index:?} of {partition:?} does not agree with the rows");
    }
}

async fn find<T: Record>(engine: &dyn Engine, key: &Key) -> Option<T> {
    let row = engine.get(key).await.unwrap()?;
    assert_eq!(row.kind, T::KIND);
    Some(from_item(row.item).unwrap())
}

async fn list<T: Record>(engine: &dyn Engine, query: Query) -> Vec<T> {
    let mut all = Vec::new();
    let mut query = query.limit(97);
    loop {
        let page = engine.query(query.clone()).await.unwrap();
        all.extend(page.rows.into_iter().map(|row| from_item::<T>(row.item).unwrap()));
        query.after = page.next;
        if query.after.is_none() {
            return all;
        }
    }
}
