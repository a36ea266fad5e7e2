//! What was written, in the order it was written. Each case has a store of its own.

use std::collections::BTreeMap;

use ferryhook_core::event::Status;
use ferryhook_store::repositories::EventChange;
use ferryhook_store::{
    Batch, Change, ChangesError, Condition, Durability, Key, Kind, Place, Record, Start,
    StoreError, Stored, Wanted, What,
};

use crate::bench::Bench;
use crate::probe::Probe;

/// What a probe is told as: its label, and how often it was written.
fn shown(change: &Change) -> String {
    match &change.what {
        What::Inserted(row) => format!("insert {:?}", row.item.get("label").unwrap()),
        What::Changed(row) => {
            format!("change {:?} {}", row.item.get("label").unwrap(), row.revision)
        }
        What::Removed => "remove".into(),
    }
}

impl Bench {
    /// All there is behind a start, in pages of so many. A server may take a moment to tell:
    /// so until there are as many as expected.
    async fn told(&self, start: Start, limit: usize, expected: usize) -> Vec<Change> {
        let mut wanted = Wanted::new(Kind::Event, start).limit(limit);
        let mut told = Vec::new();
        loop {
            let page = self.engine.changes(&wanted).await.unwrap();
            assert!(page.changes.len() <= limit);
            told.extend(page.changes);
            if page.is_end && told.len() >= expected {
                return told;
            }
            if page.is_end {
                self.engine.changed(&page.next).await.unwrap();
            }
            wanted.start = Start::After(page.next);
        }
    }

    async fn relabel(&self, was: &Probe, label: &str) -> Probe {
        let stored = self.read(was).await;
        let now = Probe { label: label.into(), ..was.clone() };
        self.commit(Batch::new().replace(&stored, &now)).await.unwrap();
        now
    }

    /// Ten rows, each of which is written three times and then removed.
    async fn busy(&self) -> Vec<Key> {
        let mut probes: Vec<Probe> = (0..10).map(|n| self.probe(&n.to_string())).collect();
        self.insert_all(&probes).await;
        for label in ["b", "c"] {
            for probe in &mut probes {
                *probe = self.relabel(probe, label).await;
            }
        }
        for probe in &probes {
            let stored = self.read(probe).await;
            self.commit(Batch::new().delete(&stored)).await.unwrap();
        }
        probes.iter().map(Record::key).collect()
    }
}

const OF_BUSY: usize = 40;

/// What became of each row, in order.
fn by_row(told: &[Change]) -> BTreeMap<Key, Vec<&What>> {
    let mut rows = BTreeMap::<Key, Vec<&What>>::new();
    for change in told {
        rows.entry(change.key.clone()).or_default().push(&change.what);
    }
    rows
}

pub(crate) async fn every_write_is_told_in_its_order(bench: Bench) {
    let probe = bench.probe("one");
    bench.insert(&probe).await;
    let probe = bench.relabel(&probe, "second").await;
    let probe = bench.relabel(&probe, "third").await;
    let stored = bench.read(&probe).await;
    bench.commit(Batch::new().delete(&stored)).await.unwrap();
    bench.insert(&probe).await;
    let told = bench.told(Start::Oldest, 100, 5).await;
    let shown: Vec<_> = told.iter().map(shown).collect();
    let label = |label: &str| format!("{:?}", ferryhook_store::Value::from(label));
    assert_eq!(
        shown,
        [
            format!("insert {}", label("one")),
            format!("change {} 2", label("second")),
            format!("change {} 3", label("third")),
            "remove".to_owned(),
            format!("insert {}", label("third")),
        ]
    );
    assert!(told.iter().all(|change| change.key == probe.key()));
    let What::Inserted(row) = &told[4].what else { panic!("{:?}", told[4]) };
    assert_eq!(Some(row), bench.row(&probe.key()).await.as_ref(), "as a reader finds it");
}

pub(crate) async fn nothing_is_missed_between_pages(bench: Bench) {
    let keys = bench.busy().await;
    let whole = bench.told(Start::Oldest, 1000, OF_BUSY).await;
    assert_eq!(whole.len(), OF_BUSY);
    let rows = by_row(&whole);
    assert_eq!(rows.keys().cloned().collect::<Vec<_>>(), keys);
    for changes in rows.values() {
        let [What::Inserted(_), What::Changed(second), What::Changed(third), What::Removed] =
            changes[..]
        else {
            panic!("{changes:?}")
        };
        assert_eq!((second.revision, third.revision), (2, 3));
    }
    for limit in [1, 7] {
        let told = bench.told(Start::Oldest, limit, OF_BUSY).await;
        assert_eq!(by_row(&told), rows);
    }
}

pub(crate) async fn every_place_can_be_gone_on_from(bench: Bench) {
    bench.busy().await;
    let whole = bench.told(Start::Oldest, 1000, OF_BUSY).await;
    for (number, change) in whole.iter().enumerate() {
        let rest = OF_BUSY - number - 1;
        let told = bench.told(Start::After(change.place.clone()), 1000, rest).await;
        assert_eq!(by_row(&told), by_row(&whole[number + 1..]));
    }
    let mut places: Vec<_> = whole.iter().map(|change| change.place.as_str()).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), OF_BUSY, "none is used twice");
}

pub(crate) async fn what_was_only_buffered_is_told_too(bench: Bench) {
    let probe = bench.probe("buffered");
    bench.engine.commit(Batch::new().insert(&probe), Durability::Buffered).await.unwrap();
    let told = bench.told(Start::Oldest, 10, 1).await;
    assert_eq!(told[0].key, probe.key());
}

pub(crate) async fn a_refused_commit_changes_nothing(bench: Bench) {
    let probe = bench.probe("there");
    bench.insert(&probe).await;
    let refused = Batch::new().insert(&bench.probe("beside")).insert(&probe);
    assert!(bench.commit(refused).await.unwrap_err().is_refused());
    let required =
        Batch::new().require(probe.key(), Condition::Exists).insert(&bench.probe("last"));
    bench.commit(required).await.unwrap();
    let told = bench.told(Start::Oldest, 10, 2).await;
    let keys: Vec<_> = told.iter().map(|change| change.key.clone()).collect();
    assert_eq!(keys, [probe.key(), bench.probe("last").key()]);
}

pub(crate) async fn what_has_expired_is_not_told(bench: Bench) {
    let short = bench.probe("short").expires(bench.later(60));
    let long = bench.probe("long").expires(bench.later(600));
    bench.insert(&short).await;
    bench.insert(&long).await;
    assert_eq!(bench.told(Start::Oldest, 10, 2).await.len(), 2);
    bench.advance(60);
    let told = bench.told(Start::Oldest, 10, 1).await;
    assert_eq!(told.iter().map(|change| &change.key).collect::<Vec<_>>(), [&long.key()]);
}

pub(crate) async fn only_what_has_a_value_is_told(bench: Bench) {
    for sort in ["a", "b", "c"] {
        let label = if sort == "b" { "other" } else { "wanted" };
        let probe = Probe { label: label.into(), ..bench.probe(sort) };
        bench.insert(&probe).await;
    }
    bench.told(Start::Oldest, 10, 3).await;
    let only = Some(("label".into(), "wanted".into()));
    let wanted = Wanted { only, ..Wanted::new(Kind::Event, Start::Oldest) };
    let page = bench.engine.changes(&wanted).await.unwrap();
    let keys: Vec<_> = page.changes.iter().map(|change| change.key.clone()).collect();
    assert_eq!(keys, [bench.probe("a").key(), bench.probe("c").key()]);
}

pub(crate) async fn who_waits_is_woken(bench: Bench) {
    let now = Wanted::new(Kind::Event, Start::Now);
    let place = bench.engine.changes(&now).await.unwrap().next;
    let probe = bench.probe("late");
    let waiting = async {
        let told = bench.told(Start::After(place), 10, 1).await;
        assert_eq!(told[0].key, probe.key());
    };
    let writing = async {
        tokio::task::yield_now().await;
        bench.insert(&probe).await;
    };
    tokio::join!(waiting, writing);
}

pub(crate) async fn now_begins_behind_what_was_written(bench: Bench) {
    bench.insert(&bench.probe("before")).await;
    bench.told(Start::Oldest, 10, 1).await;
    let now = bench.engine.changes(&Wanted::new(Kind::Event, Start::Now)).await.unwrap();
    assert!(now.changes.is_empty() && now.is_end);
    bench.insert(&bench.probe("behind")).await;
    let told = bench.told(Start::After(now.next), 10, 1).await;
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].key, bench.probe("behind").key());
}

pub(crate) async fn a_place_that_never_was_is_refused(bench: Bench) {
    bench.insert(&bench.probe("some")).await;
    for text in ["", "x", "-1", "99999999999999999999999999999999999999", "18446744073709551615"] {
        let wanted = Wanted::new(Kind::Event, Start::After(Place::new(text)));
        match bench.engine.changes(&wanted).await {
            Err(StoreError::Changes(ChangesError::Unknown(_) | ChangesError::TooOld(_))) => {}
            other => panic!("{text:?}: {other:?}"),
        }
    }
}

pub(crate) async fn a_table_without_a_stream_is_refused(bench: Bench) {
    let wanted = Wanted::new(Kind::User, Start::Oldest);
    let refused = bench.engine.changes(&wanted).await;
    assert!(matches!(refused, Err(StoreError::Malformed(_))), "{refused:?}");
    let wanted = Wanted::new(Kind::Event, Start::Oldest).limit(1001);
    let refused = bench.engine.changes(&wanted).await;
    assert!(matches!(refused, Err(StoreError::OutOfBounds(_))), "{refused:?}");
}

/// An account is told of its own events, with what they carry; and of removals by name.
pub(crate) async fn events_tell_their_changes(bench: Bench) {
    let (home, neighbour) = (bench.home(), bench.home());
    let (event, other) = (bench.event(home), bench.event(neighbour));
    for event in [&event, &other] {
        bench.commit(Batch::new().insert(event)).await.unwrap();
    }
    let was = Stored { record: event.clone(), revision: 1 };
    let mut now = was.standing().record;
    now.status = Status::Delivered;
    now.pending_since = None;
    bench.store.events().progress(&event, &was.standing(), now).await.unwrap();
    let changed = bench.store.events().find_of(home.source, event.received_at, event.id).await;
    let changed = changed.unwrap().unwrap();
    bench.store.events().delete(&changed).await.unwrap();
    bench.told(Start::Oldest, 10, 4).await;

    let events = bench.store.events();
    let page = events.changes(home.account, Start::Oldest, 10).await.unwrap();
    let told: Vec<_> = page.changes.into_iter().map(|told| told.change).collect();
    assert_eq!(
        told,
        [
            EventChange::Inserted(Box::new(event.clone())),
            EventChange::Changed(Box::new(changed.record)),
            EventChange::Removed {
                source: home.source,
                received_at: event.received_at,
                id: event.id
            },
        ]
    );
}
