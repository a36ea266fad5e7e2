//! Records of five kinds with few keys and many shapes, so that chance meets itself often.

use std::time::Duration;

use ferryhook_core::delivery::State;
use ferryhook_core::id::Identified;
use ferryhook_core::{
    Connection, Delivery, Event, Id, Key, Notification, Schedule, Secret, Timestamp, event, key,
    samples,
};
use ferryhook_store::{Index, Part, Record};

use crate::dice::Dice;

/// A record that chance can make.
pub(crate) trait Thing: Record + Clone {
    /// Where its rows can be.
    fn partitions() -> Vec<String>;

    /// Where its index entries can be.
    fn entries() -> Vec<(Index, Part)>;

    fn some(dice: &mut Dice, now: Timestamp) -> Self;

    /// The same row in another shape: its key and what never changes stay.
    fn changed(&self, dice: &mut Dice, now: Timestamp) -> Self;
}

fn id<T: Identified>(number: u64) -> Id<T> {
    format!("{}{number:016}", T::PREFIX).parse().unwrap()
}

fn ids<T: Identified>(count: u64) -> impl Iterator<Item = Part> {
    (0..count).map(|number| id::<T>(number).as_str().into())
}

fn shards(index: Index) -> impl Iterator<Item = (Index, Part)> {
    (0..8).map(move |shard| (index, shard.to_string().into()))
}

/// Never, soon, at once, or in a long time.
fn some_expiry(dice: &mut Dice, now: Timestamp) -> Option<Timestamp> {
    let after = match dice.roll(8) {
        0..=1 => return None,
        2 => 0,
        3..=5 => dice.roll(400),
        _ => 3600 + dice.roll(40_000),
    };
    Some(Timestamp::from_seconds(now.as_seconds()) + Duration::from_secs(after))
}

fn some_time(dice: &mut Dice) -> Timestamp {
    samples::CREATED + Duration::from_secs(dice.roll(3))
}

fn some_body(dice: &mut Dice) -> Vec<u8> {
    let bytes = match dice.roll(300) {
        0 => 390 * 1024,
        1..=60 => 0,
        _ => dice.roll(2000) as usize,
    };
    match dice.roll(2) {
        0 => dice.bytes(bytes),
        _ => vec![b'x'; bytes],
    }
}

impl Thing for Event {
    fn partitions() -> Vec<String> {
        (0..2).map(|number| format!("SRC#{}", id::<ferryhook_core::Source>(number))).collect()
    }

    fn entries() -> Vec<(Index, Part)> {
        let by_account = [Index::Inbox, Index::EventType, Index::EventStatus].into_iter();
        let by_account = by_account.flat_map(|index| {
            ids::<ferryhook_core::Account>(2).map(move |account| (index, account))
        });
        let by_id = (0..4).map(|number| {
            let partition = format!("EVTID#{}", id::<Event>(number));
            (Index::EventById, partition.into())
        });
        by_account.chain(by_id).chain(shards(Index::Pending)).collect()
    }

    fn some(dice: &mut Dice, now: Timestamp) -> Self {
        let plain = Event {
            id: id(dice.roll(4)),
            source_id: id(dice.roll(2)),
            received_at: some_time(dice),
            headers: ferryhook_core::Headers::default(),
            body: some_body(dice).into(),
            payload: None,
            ..samples::event()
        };
        plain.changed(dice, now)
    }

    fn changed(&self, dice: &mut Dice, now: Timestamp) -> Self {
        use event::Status::{Delivered, Failed, Held, Received};
        let origins = [event::Origin::Webhook, event::Origin::Trigger];
        let types = [None, Some("a"), Some("a#b"), Some("b")];
        Event {
            account_id: id(dice.roll(2)),
            origin: origins[dice.roll(2) as usize],
            status: [Delivered, Failed, Held, Received][dice.roll(4) as usize],
            event_type: types[dice.roll(4) as usize].map(str::to_owned),
            pending_since: (dice.roll(2) == 0).then(|| some_time(dice)),
            retry_count: dice.roll(5) as u32,
            expires_at: some_expiry(dice, now),
            ..self.clone()
        }
    }
}

impl Thing for Delivery {
    fn partitions() -> Vec<String> {
        (0..3).map(|number| format!("EVT#{}", id::<Event>(number))).collect()
    }

    fn entries() -> Vec<(Index, Part)> {
        let connection = |number| id::<Connection>(number).as_str().into();
        let mut entries: Vec<_> = (0..4).map(|number| (Index::Due, connection(number))).collect();
        let group = format!("{}#inbox#billing", samples::delivery().account_id);
        let lists = [Index::Due, Index::Inbox, Index::EventType, Index::EventStatus];
        entries.extend(lists.map(|index| (index, group.as_str().into())));
        entries
    }

    fn some(dice: &mut Dice, now: Timestamp) -> Self {
        let plain = Delivery {
            event_id: id(dice.roll(3)),
            connection_id: id(dice.roll(4)),
            order_key: None,
            ..match dice.roll(2) {
                0 => samples::delivery(),
                _ => samples::inbox_item(),
            }
        };
        plain.changed(dice, now)
    }

    fn changed(&self, dice: &mut Dice, now: Timestamp) -> Self {
        let at = some_time(dice);
        let state = match dice.roll(3) {
            0 => State::Waiting { next_attempt_at: at },
            1 => State::Sending { lease_until: at },
            _ => State::Delivered { settled_at: at },
        };
        let attempts = dice.roll(9) as u16;
        Delivery { state, attempts, expires_at: some_expiry(dice, now), ..self.clone() }
    }
}

impl Thing for Schedule {
    fn partitions() -> Vec<String> {
        (0..2).map(|number| id::<ferryhook_core::Source>(number).to_string()).collect()
    }

    fn entries() -> Vec<(Index, Part)> {
        (-1..3).map(|minute| (Index::ScheduleNextRun, Part::Number(60 * minute))).collect()
    }

    fn some(dice: &mut Dice, now: Timestamp) -> Self {
        let (source_id, id) = (id(dice.roll(2)), id(dice.roll(3)));
        Schedule { source_id, id, ..samples::schedule() }.changed(dice, now)
    }

    fn changed(&self, dice: &mut Dice, _: Timestamp) -> Self {
        let next_run_at = Timestamp::from_seconds(60 * (dice.roll(4) as i64 - 1));
        Schedule { next_run_at, is_active: dice.roll(2) == 0, ..self.clone() }
    }
}

impl Thing for Notification {
    fn partitions() -> Vec<String> {
        (0..2).map(|number| id::<ferryhook_core::User>(number).to_string()).collect()
    }

    fn entries() -> Vec<(Index, Part)> {
        ids::<ferryhook_core::User>(2).map(|user| (Index::NotificationUnread, user)).collect()
    }

    fn some(dice: &mut Dice, now: Timestamp) -> Self {
        let (user_id, id) = (id(dice.roll(2)), id(dice.roll(4)));
        Notification { user_id, id, ..samples::notification() }.changed(dice, now)
    }

    fn changed(&self, dice: &mut Dice, now: Timestamp) -> Self {
        Notification {
            is_read: dice.roll(2) == 0,
            created_at: some_time(dice),
            message: "m".repeat(dice.roll(300) as usize),
            expires_at: some_expiry(dice, now),
            ..self.clone()
        }
    }
}

impl Thing for Key {
    fn partitions() -> Vec<String> {
        (0..2).map(|number| format!("USER#{}", id::<ferryhook_core::User>(number))).collect()
    }

    fn entries() -> Vec<(Index, Part)> {
        let hashes = (0..3).map(|hash| (Index::KeyByHash, format!("KEYHASH#{hash}").into()));
        let accounts = ids::<ferryhook_core::Account>(2);
        hashes.chain(accounts.map(|account| (Index::AccountStatus, account))).collect()
    }

    fn some(dice: &mut Dice, now: Timestamp) -> Self {
        let (user_id, id) = (id(dice.roll(2)), id(dice.roll(3)));
        Key { user_id, id, ..samples::key() }.changed(dice, now)
    }

    fn changed(&self, dice: &mut Dice, _: Timestamp) -> Self {
        Key {
            hash: Secret::new(dice.roll(3).to_string()),
            account_id: id(dice.roll(2)),
            status: [key::Status::Active, key::Status::Revoked][dice.roll(2) as usize],
            ..self.clone()
        }
    }
}
