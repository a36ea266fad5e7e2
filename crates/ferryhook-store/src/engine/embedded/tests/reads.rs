use super::*;

const ROWS: u64 = 30_000;
const AT_ONCE: u64 = 100;

/// Bytes that this thread has asked files for.
fn bytes_read() -> u64 {
    let counts = std::fs::read_to_string("/proc/thread-self/io").unwrap();
    let read = counts.lines().find_map(|line| line.strip_prefix("rchar: "));
    read.unwrap().parse().unwrap()
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
    while engine.shared.sealed_count() > 0 {
        tokio::task::yield_now().await;
    }
    engine.sweep().await.unwrap(); // behind all merges that were begun
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
