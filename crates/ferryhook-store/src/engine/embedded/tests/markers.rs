//! Markers of what waits: outside the tree while young, in it later, and never seen or missed
//! because of which of the two it is.

use super::*;
use crate::query::Order;

/// Has a marker as long as it waits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Waiter {
    number: u64,
    waits: bool,
    note: String,
    #[serde(skip)]
    expires: Option<i64>,
}

impl Record for Waiter {
    const KIND: Kind = Kind::Event;
    const CONTENT: &'static [&'static str] = &[];

    fn key(&self) -> Key {
        key(self.number)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        let marker = IndexKey::new(Index::Pending, "0", self.number as i64);
        if self.waits { vec![marker] } else { vec![] }
    }

    fn expires_at(&self) -> Option<Timestamp> {
        self.expires.map(Timestamp::from_seconds)
    }
}

fn waiter(number: u64) -> Waiter {
    Waiter { number, waits: true, note: String::new(), expires: None }
}

fn waiting() -> Query {
    Query::index(Kind::Event, Index::Pending, "0")
}

async fn commit(engine: &Embedded, batch: Batch) {
    engine.commit(batch, Durability::Synced).await.unwrap();
}

async fn add(engine: &Embedded, numbers: impl IntoIterator<Item = u64>) {
    for number in numbers {
        commit(engine, Batch::new().insert(&waiter(number))).await;
    }
}

async fn change(engine: &Embedded, number: u64, change: impl FnOnce(&mut Waiter)) {
    let row = engine.get(&key(number)).await.unwrap().unwrap();
    let was = Stored::<Waiter>::from_row(row).unwrap();
    let mut now = was.record.clone();
    change(&mut now);
    commit(engine, Batch::new().replace(&was, &now)).await;
}

async fn end(engine: &Embedded, number: u64) {
    change(engine, number, |waiter| waiter.waits = false).await;
}

/// The numbers of those who wait, page by page, which is the same in both directions.
async fn numbers(engine: &Embedded) -> Vec<u64> {
    let mut found = [Vec::new(), Vec::new()];
    for (numbers, query) in found.iter_mut().zip([waiting(), waiting().newest_first()]) {
        let mut query = query.limit(7);
        loop {
            let page = engine.query(query.clone()).await.unwrap();
            let rows = page.rows.into_iter().map(|row| Stored::<Waiter>::from_row(row).unwrap());
            numbers.extend(rows.map(|waiter| waiter.number));
            query.after = page.next;
            if query.after.is_none() {
                break;
            }
        }
    }
    let [ascending, mut descending] = found;
    descending.reverse();
    assert_eq!(ascending, descending);
    ascending
}

fn young_ones(engine: &Embedded) -> usize {
    lock(&engine.shared.young).iter().count()
}

/// Those that are not young.
fn in_tree(engine: &Embedded) -> usize {
    let span = layout::span(&waiting());
    let mut found =
        engine.shared.snapshot().look(&span, young::Few::default(), Order::Ascending).unwrap();
    let mut count = 0;
    while found.entry().unwrap().is_some() {
        count += 1;
    }
    count
}

/// Has the writer end its table, as if it were full.
async fn seal(engine: &Embedded) {
    let seal = sealer(lock(&engine.requests).as_ref().unwrap().downgrade());
    tokio::task::spawn_blocking(seal).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_marker_that_dies_young_never_reaches_the_tree() {
    let bench = Bench::new();
    let engine = bench.open();
    add(&engine, 0..20).await;
    assert_eq!(numbers(&engine).await, (0..20).collect::<Vec<_>>());
    for number in 0..20 {
        end(&engine, number).await;
    }
    assert_eq!(numbers(&engine).await, Vec::<u64>::new());
    assert_eq!((in_tree(&engine), young_ones(&engine)), (0, 0));
    let table: Vec<_> = engine.shared.table().newest().collect();
    assert_eq!(table.iter().filter(|item| layout::is_row(&item.key.user_key)).count(), 20);
    assert!(table.iter().all(|item| !layout::is_entry(&item.key.user_key)), "not even a tombstone");
}

#[tokio::test]
async fn markers_grow_up_with_their_table() {
    let bench = Bench::new();
    let engine = bench.open();
    add(&engine, (0..40).step_by(2)).await;
    seal(&engine).await;
    assert_eq!((young_ones(&engine), in_tree(&engine)), (0, 20));
    add(&engine, (1..40).step_by(2)).await;
    assert_eq!((young_ones(&engine), in_tree(&engine)), (20, 20));
    assert_eq!(numbers(&engine).await, (0..40).collect::<Vec<_>>(), "both, in one order");
    for number in 10..20 {
        end(&engine, number).await;
    }
    let left: Vec<u64> = (0..10).chain(20..40).collect();
    assert_eq!(numbers(&engine).await, left);
    assert_eq!((young_ones(&engine), in_tree(&engine)), (15, 15));
    change(&engine, 12, |waiter| waiter.waits = true).await;
    end(&engine, 12).await;
    assert_eq!(numbers(&engine).await, left, "one that came back to die young stays gone");
}

#[tokio::test]
async fn markers_are_there_after_reopening_young_or_not() {
    let bench = Bench::new();
    let engine = bench.open();
    add(&engine, 0..10).await;
    end(&engine, 3).await;
    seal(&engine).await;
    end(&engine, 4).await;
    add(&engine, 10..20).await;
    end(&engine, 13).await;
    drop(engine);
    let left: Vec<u64> = (0..20).filter(|number| ![3, 4, 13].contains(number)).collect();
    let engine = bench.open();
    assert_eq!(numbers(&engine).await, left);
    end(&engine, 15).await;
    drop(engine);
    let engine = bench.open();
    assert_eq!(numbers(&engine).await.len(), left.len() - 1);
}

#[tokio::test]
async fn a_backup_has_the_young_ones() {
    let bench = Bench::new();
    let engine = bench.open();
    add(&engine, 0..10).await;
    end(&engine, 5).await;
    let target = bench.directory.path().join("backup");
    engine.backup(&target).await.unwrap();
    end(&engine, 6).await;
    let restored = bench.directory.path().join("restored");
    restore(&target, &restored).unwrap();
    let config = EmbeddedConfig { directory: restored, create: false, ..bench.config.clone() };
    let copy = Embedded::open(config, bench.env.clone()).unwrap();
    assert_eq!(numbers(&copy).await, [0, 1, 2, 3, 4, 6, 7, 8, 9]);
    assert_eq!(numbers(&engine).await, [0, 1, 2, 3, 4, 7, 8, 9]);
}

/// Whatever piles up, memory for it is bounded, and nobody is missed.
#[tokio::test]
async fn a_backlog_goes_into_the_tree() {
    let bench = Bench::new();
    let config = EmbeddedConfig { table_bytes_max: 256 * 1024, ..bench.config.clone() };
    let bound = config.table_bytes_max / 3;
    let engine = Embedded::open(config, bench.env.clone()).unwrap();
    let mut grown = false;
    for number in 0..1000 {
        add(&engine, [number]).await;
        assert!(lock(&engine.shared.young).bytes() as u64 <= bound);
        grown |= in_tree(&engine) > 0 && engine.shared.sealed_count() == 0;
    }
    assert!(grown, "without a table being full");
    assert_eq!(numbers(&engine).await, (0..1000).collect::<Vec<_>>());
}

/// A page looks at a bounded number of markers, and the next one goes on behind them.
#[tokio::test]
async fn expired_markers_do_not_hide_those_behind_them() {
    let bench = Bench::new();
    let config = EmbeddedConfig { table_bytes_max: 256 * 1024, ..bench.config.clone() };
    let engine = Embedded::open(config, bench.env.clone()).unwrap();
    for number in 0..200 {
        let expires = (!(90..100).contains(&number)).then(|| bench.now() + 10);
        commit(&engine, Batch::new().insert(&Waiter { expires, ..waiter(number) })).await;
    }
    bench.clock.advance(std::time::Duration::from_secs(11));
    assert!(young_ones(&engine) > 2 * 7 + YOUNG_MORE);
    assert_eq!(numbers(&engine).await, (90..100).collect::<Vec<_>>());
}

/// The row that comes to stand where an expired one was has a marker at the same place.
#[tokio::test]
async fn a_marker_over_an_expired_one_goes_and_stays_away() {
    let bench = Bench::new();
    let engine = bench.open();
    let short = Waiter { expires: Some(bench.now() + 10), ..waiter(1) };
    commit(&engine, Batch::new().insert(&short)).await;
    seal(&engine).await;
    bench.clock.advance(std::time::Duration::from_secs(10));
    add(&engine, [1]).await;
    assert_eq!(numbers(&engine).await, [1]);
    end(&engine, 1).await;
    bench.clock.jump_to(START.parse().unwrap());
    assert_eq!(numbers(&engine).await, Vec::<u64>::new(), "not even if the clock is set back");
}

/// An expiry that moves is the marker's too.
#[tokio::test]
async fn a_marker_expires_with_its_row() {
    let bench = Bench::new();
    let engine = bench.open();
    add(&engine, 0..4).await;
    change(&engine, 0, |waiter| waiter.expires = Some(bench.now() + 10)).await;
    seal(&engine).await;
    change(&engine, 1, |waiter| waiter.expires = Some(bench.now() + 10)).await;
    change(&engine, 2, |waiter| waiter.expires = Some(bench.now() + 20)).await;
    bench.clock.advance(std::time::Duration::from_secs(11));
    assert_eq!(numbers(&engine).await, [2, 3]);
    end(&engine, 2).await;
    assert_eq!(numbers(&engine).await, [3]);
}
