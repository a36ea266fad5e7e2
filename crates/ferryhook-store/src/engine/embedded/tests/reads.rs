use super::*;

const ROWS: u64 = 30_000;
const AT_ONCE: u64 = 100;
const SYNCED: Durability = Durability::Synced;

/// Bytes that this thread has asked files for.
fn bytes_read() -> u64 {
    let counts = std::fs::read_to_string("/proc/thread-self/io").unwrap();
    let read = counts.lines().find_map(|line| line.strip_prefix("rchar: "));
    read.unwrap().parse().unwrap()
}

/// All is written out, and all merges that were begun are over.
async fn at_rest(engine: &Embedded) {
    while engine.shared.sealed_count() > 0 {
        tokio::task::yield_now().await;
    }
    engine.sweep().await.unwrap();
}

/// However large the file is that has the row, also if it was made before the store was opened: a
/// few blocks, and not the file's whole index.
#[tokio::test]
async fn a_row_in_a_large_file_costs_a_few_blocks() {
    let mut bench = Bench::new();
    bench.config.table_bytes_max = 512 * 1024;
    bench.config.segment_bytes = log::SEGMENT_BYTES;
    let engine = bench.open();
    for first in (0..ROWS).step_by(AT_ONCE as usize) {
        let rows =
            (first..first + AT_ONCE).map(|number| Parcel { body: "x".into(), ..parcel(number) });
        let batch = rows.fold(Batch::new(), |batch, row| batch.insert(&row));
        engine.commit(batch, Durability::Buffered).await.unwrap();
    }
    at_rest(&engine).await;
    drop(engine);
    bench.config.cache_bytes = 16 * 1024;
    let engine = bench.open();
    let (before, looks) = (bytes_read(), 200);
    for step in 0..looks {
        assert!(get(&engine, step * 7919 % ROWS).await.is_some());
    }
    let each = (bytes_read() - before) / looks;
    assert!(each < 40 * 1024, "{each} bytes for a row");
}

/// Stands for a delivery: kept under an event, whose id begins with its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Slip {
    event: u64,
    says: String,
}

impl Record for Slip {
    const KIND: Kind = Kind::Delivery;

    fn key(&self) -> Key {
        under(self.event)
    }
}

fn under(event: u64) -> Key {
    Key::new(Table::Events, format!("EVT#{event:08}"), "DLV#c")
}

fn slip(event: u64) -> Slip {
    Slip { event, says: format!("{event}:").repeat(50) }
}

/// Each a table of its own, so that all of them lie in files.
async fn written_out<R: Record>(engine: &Embedded, rows: impl Iterator<Item = R>) {
    let batch = rows.fold(Batch::new(), |batch, row| batch.insert(&row));
    engine.commit(batch, SYNCED).await.unwrap();
    let seal = sealer(lock(&engine.requests).as_ref().unwrap().downgrade());
    tokio::task::spawn_blocking(seal).await.unwrap().unwrap();
    at_rest(engine).await;
}

async fn says(engine: &Embedded, event: u64) -> Option<Slip> {
    let row = engine.get(&under(event)).await.unwrap()?;
    Some(Stored::<Slip>::from_row(row).unwrap().record)
}

/// Each delivery and each attempt is new, and that is looked up before it is written: among many
/// files as among few.
#[tokio::test]
async fn no_file_is_asked_for_what_is_kept_under_a_new_event() {
    let bench = Bench::new();
    let engine = bench.open();
    for first in [100, 200, 300, 400, 500] {
        written_out(&engine, (first..first + 90).map(slip)).await;
    }
    let asked = |event| {
        let layers = engine.shared.layers();
        layers.files.that_may_have(&layout::row_key(&under(event))).count()
    };
    assert_eq!([50, 595, 600].map(asked), [0, 0, 0]);
    assert_eq!([100, 345, 589].map(asked), [1, 1, 1]);
}

/// A clock may be set back, and what was written last then has the older ids; a row may be written
/// again and deleted long after its event came.
#[tokio::test]
async fn what_is_kept_under_events_is_found_in_whichever_file_it_is() {
    let bench = Bench::new();
    let engine = bench.open();
    written_out(&engine, (500..590).map(slip)).await;
    written_out(&engine, (100..190).map(slip)).await;
    let was = Stored { record: slip(550), revision: 1 };
    let (changed, gone) = (Slip { says: "changed".into(), ..slip(550) }, slip(551));
    let gone = Stored { record: gone, revision: 1 };
    engine.commit(Batch::new().replace(&was, &changed).delete(&gone), SYNCED).await.unwrap();
    written_out(&engine, (200..290).map(slip)).await;
    for event in [500, 589, 100, 189, 200, 289] {
        assert_eq!(says(&engine, event).await, Some(slip(event)));
    }
    assert_eq!(says(&engine, 550).await, Some(changed));
    assert_eq!(says(&engine, 551).await, None);
    assert_eq!(says(&engine, 300).await, None);
    let again = engine.commit(Batch::new().insert(&slip(120)), SYNCED).await;
    assert!(again.is_err_and(|error| error.is_refused()), "it is in an older file");
}

/// Stands for an event: found by its id, which its key ends with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Note {
    number: u64,
}

impl Note {
    fn id(&self) -> String {
        format!("evt_{:016}", self.number)
    }
}

impl Record for Note {
    const KIND: Kind = Kind::Event;

    fn key(&self) -> Key {
        let sort = format!("EVT#{:013}#{}", self.number, self.id());
        Key::new(Table::Events, "SRC#src_0000000000000001", sort)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        vec![IndexKey::new(Index::EventById, format!("EVTID#{}", self.id()), "EVENT")]
    }
}

fn note(number: u64) -> Note {
    Note { number }
}

/// Stands for a replay: found by its id in the same index, behind all events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Rerun {}

impl Record for Rerun {
    const KIND: Kind = Kind::Replay;

    fn key(&self) -> Key {
        Key::new(Table::Events, "ACC#acc_0000000000000001", "RPL#rpl_0000000000000001")
    }

    fn indexes(&self) -> Vec<IndexKey> {
        vec![IndexKey::new(Index::EventById, "RPLID#rpl_0000000000000001", "REPLAY")]
    }
}

/// An event is new in almost every commit that says so, and its source has others in every file.
#[tokio::test]
async fn no_file_is_asked_for_an_event_that_came_after_all_of_them() {
    let bench = Bench::new();
    let engine = bench.open();
    written_out(&engine, (100..190).map(note)).await;
    // A clock was set back: the newest file has older ids.
    written_out(&engine, (20..90).chain([150_000]).map(note)).await;
    written_out(&engine, (200..290).map(note)).await;
    written_out(&engine, [Rerun {}].into_iter()).await;
    let asked = |number| {
        let layers = engine.shared.layers();
        layers.files.that_may_have(&layout::row_key(&note(number).key())).count()
    };
    assert_eq!([150_001, 200_000].map(asked), [0, 0]);
    assert!([120, 250, 149_999, 150_000].map(asked).iter().all(|files| *files > 0));
    for number in [100, 189, 20, 89, 150_000, 200] {
        let again = engine.commit(Batch::new().insert(&note(number)), SYNCED).await;
        assert!(again.is_err_and(|error| error.is_refused()), "{number} is in a file");
    }
    engine.commit(Batch::new().insert(&note(150_001)), SYNCED).await.unwrap();
}

async fn commit_all(engine: &Embedded, numbers: std::ops::Range<u64>, expires: Option<i64>) {
    for some in numbers.collect::<Vec<_>>().chunks(100) {
        let batch = some.iter().fold(Batch::new(), |batch, number| {
            batch.insert(&Parcel { expires, body: String::new(), ..parcel(*number) })
        });
        engine.commit(batch, Durability::Buffered).await.unwrap();
    }
}

async fn delete_all(engine: &Embedded, numbers: std::ops::Range<u64>) {
    for some in numbers.collect::<Vec<_>>().chunks(100) {
        let batch = some.iter().fold(Batch::new(), |batch, number| {
            let record = Parcel { body: String::new(), ..parcel(*number) };
            batch.delete(&Stored { record, revision: 1 })
        });
        engine.commit(batch, Durability::Buffered).await.unwrap();
    }
}

/// What a query finds, when much that is gone lies before it either way.
async fn assert_passes(engine: &Embedded) {
    for query in [by_time(), inbox(), by_time().newest_first(), inbox().newest_first()] {
        let first = engine.query(query.clone().limit(7)).await.unwrap();
        assert!(first.rows.is_empty(), "{query:?}");
        assert!(first.next.is_some(), "{query:?}");
        assert_eq!(list(engine, query).await, [10_000]);
    }
}

/// The thread that reads serves others too.
#[tokio::test]
async fn a_page_does_not_pass_over_all_that_has_expired() {
    let mut bench = Bench::new();
    bench.config.table_bytes_max = 64 * 1024 * 1024;
    let engine = bench.open();
    let expires = Some(bench.now() + 60);
    commit_all(&engine, 0..6000, expires).await;
    commit_all(&engine, 10_000..10_001, None).await;
    commit_all(&engine, 20_000..26_000, expires).await;
    bench.clock.advance(Duration::from_secs(60));
    assert_passes(&engine).await;
    engine.backup(&bench.directory.path().join("copy")).await.unwrap(); // writes the table out
    assert_passes(&engine).await;
}

#[tokio::test]
async fn a_page_does_not_pass_over_all_that_was_deleted() {
    let mut bench = Bench::new();
    bench.config.table_bytes_max = 64 * 1024 * 1024;
    let engine = bench.open();
    commit_all(&engine, 0..6000, None).await;
    commit_all(&engine, 10_000..10_001, None).await;
    commit_all(&engine, 20_000..26_000, None).await;
    engine.backup(&bench.directory.path().join("copy")).await.unwrap(); // writes the table out
    delete_all(&engine, 0..6000).await;
    delete_all(&engine, 20_000..26_000).await;
    assert_passes(&engine).await;
    engine.backup(&bench.directory.path().join("another")).await.unwrap();
    assert_passes(&engine).await;
}
