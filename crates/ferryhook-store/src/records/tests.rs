//! Every noun, at least once, against the tables: keys that fit, indexes that agree with what
//! DynamoDB will do by itself, and shapes that stay readable.

use std::collections::BTreeMap;
use std::fmt::Debug;

use ferryhook_core::connection::DestinationType;
use ferryhook_core::delivery::{Cancel, Failure, Hold, State};
use ferryhook_core::event::{Origin, Status};
use ferryhook_core::replay::{Filter, Selection};
use ferryhook_core::user::Identity;
use ferryhook_core::{
    Account, Activity, Answer, Connection, Delivery, Event, Notification, Replay, Ticket,
    Timestamp, answer, connection, samples,
};

use super::*;
use crate::engine::Row;
use crate::key::{IndexKey, Key, Part};
use crate::record::{Kind, Record, Secrets, Stored, item_of};
use crate::tables::Index;
use crate::value::{Item, Name, Number, Value};

mod fixtures;

/// What the tests need to know of a record, whatever its type.
struct Sample {
    kind: Kind,
    version: u8,
    key: Key,
    indexes: Vec<IndexKey>,
    expires: Option<i64>,
    item: Item,
    content: &'static [&'static str],
    mirror: Vec<(Name, Value)>,
    secrets: Option<Secrets>,
}

/// Also checks that the record comes back from its item as it went in.
fn sample<T: Record + PartialEq + Debug>(record: &T) -> Sample {
    let item = item_of(record).unwrap();
    let row = Row { kind: T::KIND, version: T::VERSION, revision: 3, item: item.clone() };
    let stored = Stored::<T>::from_row(row).unwrap();
    assert_eq!((&stored.record, stored.revision), (record, 3));
    Sample {
        kind: T::KIND,
        version: T::VERSION,
        key: record.key(),
        indexes: record.indexes(),
        expires: record.expires_at().map(Timestamp::as_seconds),
        item,
        content: T::CONTENT,
        mirror: record.mirror(),
        secrets: T::SECRETS,
    }
}

/// One of each kind, with every attribute present.
fn full() -> Vec<Sample> {
    vec![
        sample(&samples::user()),
        sample(&samples::source()),
        sample(&samples::connection()),
        sample(&samples::key()),
        sample(&samples::event()),
        sample(&samples::inbox_item()),
        sample(&samples::attempt()),
        sample(&samples::rejection()),
        sample(&samples::claim()),
        sample(&samples::account()),
        sample(&samples::member()),
        sample(&samples::schedule()),
        sample(&samples::run()),
        sample(&samples::activity()),
        sample(&samples::hook()),
        sample(&samples::notification()),
        sample(&samples::usage()),
        sample(&samples::plan()),
        sample(&samples::oauth_state()),
        sample(&Unique::key_hash(&samples::key())),
        sample(&samples::replay()),
        sample(&samples::data_key()),
        sample(&samples::answer()),
        sample(&samples::session()),
        sample(&samples::ticket()),
        sample(&samples::token_key()),
        sample(&samples::invitation()),
        sample(&samples::erasure()),
        sample(&samples::subscription()),
        sample(&samples::rollup()),
        sample(&samples::plan_count()),
        sample(&samples::audit_head()),
        sample(&samples::alert()),
        sample(&samples::event_type()),
    ]
}

/// The same nouns in the situations in which they stand in other indexes.
fn variations() -> Vec<Sample> {
    let mut all = vec![
        sample(&samples::delivery()),
        sample(&Account { parent_account_id: None, ..samples::account() }),
        sample(&Answer {
            account_id: None,
            state: answer::State::Running { lease_until: samples::UPDATED },
            ..samples::answer()
        }),
        sample(&Activity { user_id: None, ..samples::activity() }),
        sample(&Notification {
            is_read: false,
            read_at: None,
            expires_at: None,
            ..samples::notification()
        }),
        sample(&Unique::identity(Identity::Github, "583231", &samples::user().id)),
        sample(&Ticket { user_id: None, email: None, method: None, ..samples::ticket() }),
        sample(&Unique::email("Ada@Example.com", &samples::user().id)),
        sample(&Unique::installation(samples::account().id)),
        sample(&Replay {
            selection: Selection::Filter {
                filter: Filter {
                    source_id: Some(samples::source().id),
                    status: Some(Status::Failed),
                    event_type: Some("order.*".to_owned()),
                    from: Some(samples::CREATED),
                    to: Some(samples::UPDATED),
                },
            },
            ..samples::replay()
        }),
        sample(&samples::alert().again(samples::UPDATED)),
        sample(&samples::erasure().cancel(samples::UPDATED)),
        sample(&samples::erasure().looked_through(samples::UPDATED)),
        sample(&samples::erasure().looked_through(samples::UPDATED).scrubbed(samples::UPDATED)),
        sample(&samples::replay().finish(samples::UPDATED)),
        sample(&samples::replay().cancel(samples::UPDATED)),
        sample(&samples::replay().fail("the connection is gone", samples::UPDATED)),
    ];
    all.extend(states().map(|state| sample(&with_state(state))));
    all.extend(states().map(|state| sample(&Delivery { state, ..samples::inbox_item() })));
    for status in statuses() {
        for origin in [Origin::Webhook, Origin::Sync, Origin::Trigger] {
            all.push(sample(&Event {
                status,
                origin,
                event_type: None,
                pending_since: None,
                expires_at: None,
                ..samples::event()
            }));
        }
    }
    all
}

fn everything() -> Vec<Sample> {
    full().into_iter().chain(variations()).collect()
}

fn with_state(state: State) -> Delivery {
    Delivery { state, ..samples::delivery() }
}

fn states() -> impl Iterator<Item = State> {
    let (next_attempt_at, settled_at) = (samples::UPDATED, samples::UPDATED);
    [
        State::Waiting { next_attempt_at },
        State::Sending { lease_until: samples::UPDATED },
        State::Held { reason: Hold::BreakerOpen, next_attempt_at },
        State::Delivered { settled_at },
        State::Failed { reason: Failure::Exhausted, settled_at },
        State::Cancelled { reason: Cancel::Requested, settled_at },
    ]
    .into_iter()
}

fn statuses() -> [Status; 8] {
    [
        Status::Received,
        Status::Processing,
        Status::Delivered,
        Status::Retrying,
        Status::Failed,
        Status::Filtered,
        Status::SignatureFailed,
        Status::Held,
    ]
}

/// An item as it will lie in DynamoDB: the record's attributes with those of its keys beside them.
fn laid_out(sample: &Sample) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    let mut put = |name: &str, value: Value| {
        let before = all.insert(name.to_owned(), value.clone());
        assert!(
            before.is_none() || before == Some(value),
            "{}: {name} would have two values",
            sample.kind
        );
    };
    for (name, value) in sample.item.iter().chain(&sample.mirror) {
        put(name, value.clone());
    }
    let shape = sample.key.table.shape();
    put(shape.partition.name, (&*sample.key.partition).into());
    if let (Some(attribute), Some(sort)) = (shape.sort, &sample.key.sort) {
        put(attribute.name, (&**sort).into());
    }
    for entry in &sample.indexes {
        let shape = entry.index.shape();
        put(shape.partition.name, value_of(&entry.partition));
        if let (Some(attribute), Some(sort)) = (shape.sort, &entry.sort) {
            put(attribute.name, value_of(sort));
        }
    }
    if let (Some(name), Some(at)) = (shape.expiry, sample.expires) {
        put(name, at.into());
    }
    all
}

fn value_of(part: &Part) -> Value {
    match part {
        Part::Number(number) => (*number).into(),
        Part::Text(text) => (&**text).into(),
    }
}

#[test]
fn there_is_a_sample_of_every_kind() {
    let mut kinds: Vec<_> = full().iter().map(|sample| sample.kind).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, Kind::ALL);
}

#[test]
fn keys_fit_their_tables() {
    for sample in everything() {
        assert_eq!(sample.key.table, sample.kind.table());
        sample.key.check().unwrap();
        for entry in &sample.indexes {
            entry.check(sample.key.table).unwrap();
        }
    }
}

/// The one place where engines could disagree without anyone noticing: what an index contains.
#[test]
fn a_record_lists_exactly_the_indexes_its_attributes_put_it_in() {
    for sample in everything() {
        let attributes = laid_out(&sample);
        let has = |name: &str| attributes.contains_key(name);
        let implied: Vec<_> = sample
            .key
            .table
            .indexes()
            .filter(|index| {
                let shape = index.shape();
                has(shape.partition.name) && shape.sort.is_none_or(|sort| has(sort.name))
            })
            .collect();
        let mut listed: Vec<_> = sample.indexes.iter().map(|entry| entry.index).collect();
        listed.sort_unstable();
        assert_eq!(listed, implied, "{} {}", sample.kind, sample.key);
    }
}

#[test]
fn expiry_is_what_the_tables_attribute_says() {
    for sample in everything() {
        let attribute = sample.key.table.shape().expiry;
        let stored = attribute.and_then(|name| sample.item.get(name)).cloned();
        assert_eq!(sample.expires.map(Value::from), stored, "{}", sample.kind);
    }
}

#[test]
fn content_is_among_the_attributes_and_in_no_index() {
    for sample in full() {
        assert_eq!(sample.content, sample.kind.content(), "{}", sample.kind);
        for name in sample.content {
            assert!(sample.item.get(name).is_some(), "{} {name}", sample.kind);
            let mut shapes = sample.key.table.indexes().map(Index::shape);
            let keyed = shapes.any(|shape| {
                shape.partition.name == *name || shape.sort.is_some_and(|sort| sort.name == *name)
            });
            assert!(!keyed, "{} {name}", sample.kind);
        }
    }
}

/// A secret that is misspelt would be stored in the open, and one that stands in a key is found
/// there.
#[test]
fn secrets_are_among_the_attributes_and_in_no_key() {
    for sample in full() {
        let Some(secrets) = sample.secrets else { continue };
        let shape = sample.key.table.shape();
        let mut keyed = vec![Some(shape.partition), shape.sort];
        let indexes = sample.key.table.indexes().map(Index::shape);
        keyed.extend(indexes.flat_map(|shape| [Some(shape.partition), shape.sort]));
        for name in secrets.attributes {
            assert!(sample.item.get(name).is_some(), "{} {name}", sample.kind);
            assert!(!sample.content.contains(name), "{} {name}", sample.kind);
            assert!(!secrets.named_by.contains(name), "{} {name}", sample.kind);
            assert!(!keyed.iter().flatten().any(|key| key.name == *name), "{}", sample.kind);
        }
        for name in secrets.named_by.iter().chain(&secrets.owner) {
            assert!(matches!(sample.item.get(name), Some(Value::Text(_))), "{name}");
        }
    }
}

/// Whatever a sample calls a secret is sealed, is a hash, or is wrapped already.
#[test]
fn no_secret_is_left_in_the_open() {
    let open: Vec<_> = full()
        .iter()
        .flat_map(|sample| {
            let sealed = sample.secrets.map_or(&[] as &[_], |secrets| secrets.attributes);
            let open = sample.item.iter().filter(|(name, _)| !sealed.contains(&&**name));
            let open = open.filter(|(_, value)| format!("{value:?}").contains("hush"));
            open.map(|(name, _)| format!("{} {name}", sample.kind)).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(
        open,
        [
            "user passwordHash",
            "user recoveryCodes", // hashes
            "key keyHash",
            "oauth state state",  // its key; see there
            "unique value value", // a key's hash
            "data key wrapped",
            "session familyHash",
            "session tokenHashes",
            "session replacedHashes",
            "ticket ticketHash",
            "invitation tokenHash",
        ]
    );
}

/// A mirror is for other readers; under a name of the record itself it would come back changed.
#[test]
fn mirrors_have_names_of_their_own() {
    for sample in everything() {
        for (name, _) in &sample.mirror {
            assert!(sample.item.get(name).is_none(), "{} {name}", sample.kind);
        }
    }
}

#[test]
fn keys_are_those_the_tables_document() {
    let key = |sample: Sample| {
        let Key { partition, sort, .. } = sample.key;
        format!("{partition} {}", sort.unwrap_or_default())
    };
    let keys: Vec<_> = full().into_iter().map(key).collect();
    assert_eq!(
        keys,
        [
            "USER#usr_0000000000000001 PROFILE",
            "USER#usr_0000000000000001 SRC#src_0000000000000001",
            "SRC#src_0000000000000001 CONN#conn_0000000000000001",
            "USER#usr_0000000000000001 KEY#key_0000000000000001",
            "SRC#src_0000000000000001 EVT#1767225600000#evt_-OhqqeV-00000001",
            "EVT#evt_-OhqqeV-00000001 DLV#conn_0000000000000001",
            "EVT#evt_-OhqqeV-00000001 ATT#02#conn_0000000000000001",
            "SRC#src_0000000000000001 REJ#1767225600000#rej_-OhqqeV-00000001",
            "ALOWARE:719285063 ",
            "acc_0000000000000001 ",
            "usr_0000000000000001 acc_0000000000000001",
            "src_0000000000000001 sch_0000000000000001",
            "src_0000000000000001 run_-OhqqeV-00000001",
            "acc_0000000000000001 act_-OhqqeV-00000001",
            "hook_0000000000000001 ",
            "usr_0000000000000001 ntf_-OhqqeV-00000001",
            "acc_0000000000000001 2026-01-01",
            "pro ",
            "hush-state ",
            "UNIQUE#KEYHASH#hush-key-hash UNIQUE",
            "ACC#acc_0000000000000001 RPL#rpl_-OhqqeV-00000001",
            "DATAKEYS#00 acc_0000000000000001",
            "ANSWER#key_0000000000000001#0a1b ANSWER",
            "USER#usr_0000000000000001 SESS#ses_0000000000000001",
            "TICKET#hush-ticket-hash TICKET",
            "TOKENKEYS 2026-01-01T00:00:00.000Z#0123456789abcdef",
            "ACC#acc_0000000000000001 INV#inv_0000000000000001",
            "ACC#acc_0000000000000001 ERASE#era_-OhqqeV-00000001",
            "USER#usr_0000000000000001 SUBSCRIPTION",
            "ROLL#acc_0000000000000001 H#1767225600000",
            "PLAN#acc_0000000000000001 events#2026-01",
            "ACC#acc_0000000000000001 AUDIT",
            "ACC#acc_0000000000000001 ALERT#conn_0000000000000001",
            "ACC#acc_0000000000000001 TYPE#order.paid",
        ]
    );
}

#[test]
fn index_keys_are_those_the_tables_document() {
    let shown = |sample: Sample| {
        let entries = sample.indexes.into_iter().map(|entry| {
            let sort = entry.sort.map(|sort| show(&sort)).unwrap_or_default();
            format!("{:?} {} {sort}", entry.index, show(&entry.partition))
        });
        entries.collect::<Vec<_>>()
    };
    let indexes: Vec<_> = full().into_iter().flat_map(shown).collect();
    assert_eq!(
        indexes,
        [
            "UserByEmail EMAIL#ada@example.com USER",
            "SourceOrConnectionById SRCID#src_0000000000000001 SOURCE",
            "KeyByHash SOURCES#7 src_0000000000000001",
            "AccountPlatform acc_0000000000000001 stripe",
            "AccountStatus acc_0000000000000001 active",
            "KeyByHash LANES#7 conn_0000000000000001",
            "SourceOrConnectionById CONNID#conn_0000000000000001 CONNECTION",
            "AccountStatus acc_0000000000000001 active",
            "KeyByHash KEYHASH#hush-key-hash KEY",
            "AccountStatus acc_0000000000000001 active",
            "EventById EVTID#evt_-OhqqeV-00000001 EVENT",
            "Inbox acc_0000000000000001 2026-01-01T00:00:00.000000Z#evt_-OhqqeV-00000001",
            "EventType acc_0000000000000001 order.completed#2026-01-01T00:00:00.000000Z",
            "EventStatus acc_0000000000000001 retrying#2026-01-01T00:00:00.000000Z",
            "Pending 5 1767225600000",
            "Inbox acc_0000000000000001#inbox#billing \
             2026-01-01T00:00:00.000000Z#evt_-OhqqeV-00000001",
            "EventType acc_0000000000000001#inbox#billing \
             order.completed#2026-01-01T00:00:00.000000Z",
            "EventStatus acc_0000000000000001#inbox#billing failed#2026-01-01T00:00:00.000000Z",
            "Due acc_0000000000000001#inbox#billing 1767229200000",
            "AccountParent acc_0000000000000000 subsidiary",
            "MemberRole acc_0000000000000001 admin",
            "ScheduleNextRun 1767229200 ",
            "RunStatus completed 1767225600",
            "ActivityUser usr_0000000000000001 1767225600",
            "ActivityType source_created 1767225600",
            "HookActive acc_0000000000000001 1",
            "HookLanes 7 hook_0000000000000001",
            "NotificationUnread usr_0000000000000001 1#1767225600",
            "UsageDate 2026-01-01 acc_0000000000000001",
            "PlanCatalogue plans pro",
            "EventById RPLID#rpl_-OhqqeV-00000001 REPLAY",
            "Due REPLAYS 1767229200000",
            "AccountStatus acc_0000000000000001 accepted",
            "SourceOrConnectionById ERASURES era_-OhqqeV-00000001",
            "SourceOrConnectionById AUDITS acc_0000000000000001",
            "SourceOrConnectionById ALERTS acc_0000000000000001#conn_0000000000000001",
            "SourceOrConnectionById DECLARED#acc_0000000000000001 order.paid",
        ]
    );
}

fn show(part: &Part) -> String {
    match part {
        Part::Number(number) => number.to_string(),
        Part::Text(text) => text.clone(),
    }
}

/// Every entry costs a write, so an event that concerns nobody any more has only two.
#[test]
fn the_index_by_status_has_what_needs_someone_and_whatever_was_triggered() {
    let listed = |origin, status| {
        let event = Event { origin, status, ..samples::event() };
        let indexes = event.indexes();
        indexes.iter().any(|key| key.index == Index::EventStatus)
    };
    for status in statuses() {
        assert!(listed(Origin::Trigger, status));
        let needs_someone = matches!(
            status,
            Status::Failed | Status::Retrying | Status::Held | Status::SignatureFailed
        );
        assert_eq!(listed(Origin::Webhook, status), needs_someone, "{status}");
        assert_eq!(listed(Origin::Sync, status), needs_someone, "{status}");
    }
}

/// The shard of an event is on disk: it may not depend on the process or the build.
#[test]
fn an_event_stays_in_its_shard() {
    assert_eq!(Shard::of(samples::event().id).partition(), "5");
    assert_eq!(Shard::all().count(), usize::from(shard::COUNT));
}

#[test]
fn numbers_in_keys_have_leading_zeros() {
    for number in [0, 7, 99, 100, 1_769_862_896_789, 10_000_000_000_000, u64::MAX] {
        assert_eq!(padded::<2>(number), format!("{number:02}"));
        assert_eq!(padded::<13>(number), format!("{number:013}"));
    }
    assert_eq!(digits(Timestamp::from_millis(-5)), "-000000000005");
}

/// Each `ferryhook listen` makes connections; what is left of them goes by itself.
#[test]
fn only_what_a_listener_leaves_behind_expires_among_connections() {
    let expires = |status, destination_type| {
        sample(&Connection { status, destination_type, ..samples::connection() }).expires
    };
    let kept = ferryhook_core::limits::CLI_CONNECTION_KEPT;
    let after = (samples::connection().updated_at + kept).as_seconds();
    assert_eq!(expires(connection::Status::Deleted, DestinationType::Cli), Some(after));
    assert_eq!(expires(connection::Status::Active, DestinationType::Cli), None);
    assert_eq!(expires(connection::Status::Deleted, DestinationType::Http), None);
}
