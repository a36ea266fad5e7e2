//! Storage benchmarks, printed as ratios beside the floor of the same run.
//!
//! `cargo bench -p ferryhook-store --bench store -- [--events N] [--producers N] [--sources N]
//! [--only-ingest | --only-reads | --settle] [--json]`; `BENCH_DIR` says on which disk.
//!
//! `--settle` gives every event both of its commits: the durable one at the door, and right
//! behind it the buffered one after its delivery, as the data plane does. CPU figures hold what
//! making the events costs; that is told beside them.
//!
//! The floor is what any durable store on this disk could do at best: the same bytes appended to
//! one file, one `fdatasync` for all that wait. Absolute figures depend on the machine and the
//! hour; the ratios are what we watch.

#![expect(clippy::disallowed_methods, reason = "a benchmark looks at the real clock")]
#![expect(clippy::unwrap_used, reason = "a benchmark that fails should stop")]

mod floor;
mod load;
mod parcel;
mod usage;

use std::sync::Arc;
use std::time::{Duration, Instant};

use ferryhook_core::Env;
use ferryhook_core::env::{ManualClock, SeededEntropy};
use ferryhook_store::engine::embedded::{Embedded, EmbeddedConfig};
use ferryhook_store::{Durability, Engine, Store};

use load::Latencies;
use parcel::Shape;
use usage::Usage;

/// The allocator of the real binary.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

struct Options {
    events: u64,
    producers: usize,
    sources: u64,
    json: bool,
    only_ingest: bool,
    only_reads: bool,
    settle: bool,
}

impl Options {
    /// With as many again, written while others read: the younger half.
    fn all(&self) -> u64 {
        self.events * 2
    }
}

fn options() -> Options {
    let mut options = Options {
        events: 200_000,
        producers: 64,
        sources: 10_000,
        json: false,
        only_ingest: false,
        only_reads: false,
        settle: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|text| text.parse().ok()).expect("a number");
        match word.as_str() {
            "--events" => options.events = number(),
            "--producers" => options.producers = number() as usize,
            "--sources" => options.sources = number(),
            "--only-ingest" => options.only_ingest = true,
            "--only-reads" => options.only_reads = true,
            "--settle" => options.settle = true,
            "--json" => options.json = true,
            _ => {} // cargo passes --bench
        }
    }
    options
}

fn main() {
    let options = options();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let results = runtime.block_on(run(&options));
    if options.json {
        println!("{}", serde_json::Value::Object(results));
    }
}

async fn run(options: &Options) -> serde_json::Map<String, serde_json::Value> {
    let mut results = serde_json::Map::new();
    let mut report = |name: &str, value: f64, unit: &str| {
        if !options.json {
            println!("{name:<44} {value:>12.3} {unit}");
        }
        results.insert(name.to_owned(), value.into());
    };
    let directory = tempfile::tempdir_in(std::env::var("BENCH_DIR").unwrap_or(".".into())).unwrap();
    let clock = Arc::new(ManualClock::new("2026-01-01T00:00:00Z".parse().unwrap()));
    let env = Env::new(clock.clone(), Arc::new(SeededEntropy::new(1)));
    let shape = Shape::new(options.sources, options.all(), &env);
    let bytes = shape.logical_bytes();
    report("logical bytes of an event", bytes as f64, "B");

    let floor_events = options.events.min(200_000);
    let before = Usage::now();
    let floor = floor::run(directory.path(), bytes, floor_events, options.producers, false).await;
    report("floor: append + group fdatasync", floor, "events/s");
    report("floor CPU", Usage::now().since(&before).cpu_per_event(floor_events).0, "us/event");
    let preallocated =
        floor::run(directory.path(), bytes, floor_events, options.producers, true).await;
    report("floor, file preallocated", preallocated, "events/s");

    let path = directory.path().join("data");
    let engine = Arc::new(Embedded::open(config(&path), env.clone()).unwrap());
    if options.settle {
        settle(&engine, &env, &shape, options, &mut report).await;
        reopen(engine, &path, &env, &mut report);
        report("peak memory", Usage::peak_memory_bytes() as f64 / 1e6, "MB");
        return results;
    }
    let life = Usage::now();
    let (rate, latencies) = ingest(&engine, &shape, options, &mut report).await;
    report("ingest / floor", 100.0 * rate / floor, "%");
    report("ingest ack p50", latencies.percentile(50.0), "ms");
    report("ingest ack p99", latencies.percentile(99.0), "ms");
    report("ingest ack p99.9", latencies.percentile(99.9), "ms");
    report("ingest ack max", latencies.percentile(100.0), "ms");

    if options.only_ingest {
        return results;
    }
    reads(&engine, &shape, options, &mut report).await;
    if options.only_reads {
        reopen(engine, &path, &env, &mut report);
        return results;
    }
    changes(&engine, &shape, options, &mut report).await;
    let engine = reopen(engine, &path, &env, &mut report);
    let late = expiry(&engine, &shape, &clock, &path, options, &mut report).await;
    let written = Usage::now().since(&life).written_bytes as f64;
    let logical = bytes * (options.all() + late);
    report("bytes written / logical, whole life", written / logical as f64, "");
    report("peak memory", Usage::peak_memory_bytes() as f64 / 1e6, "MB");
    results
}

type Report<'a> = &'a mut dyn FnMut(&str, f64, &str);

async fn ingest(
    engine: &Arc<Embedded>,
    shape: &Shape,
    options: &Options,
    report: Report<'_>,
) -> (f64, Latencies) {
    let before = Usage::now();
    let started = Instant::now();
    let latencies = load::commit(engine, Durability::Synced, options, 0..options.events, {
        let shape = shape.clone();
        move |number| shape.accept(number)
    })
    .await;
    let rate = options.events as f64 / started.elapsed().as_secs_f64();
    let used = Usage::now().since(&before);
    report("ingest: durable commit", rate, "events/s");
    let (cpu, system) = used.cpu_per_event(options.events);
    report("ingest CPU", cpu, "us/event");
    report("ingest CPU, in the kernel", system, "us/event");
    report(
        "ingest bytes written / logical",
        used.written_bytes as f64 / (options.events * shape.logical_bytes()) as f64,
        "",
    );
    (rate, latencies)
}

/// Every event is accepted and, by the same producer, settled.
async fn settle(
    engine: &Arc<Embedded>,
    env: &Env,
    shape: &Shape,
    options: &Options,
    report: Report<'_>,
) {
    let before = Usage::now();
    for number in 0..options.events {
        std::hint::black_box(shape.story(number));
    }
    let making = Usage::now().since(&before).cpu_per_event(options.events).0;
    report("making an event and what becomes of it", making, "us/event");

    let before = Usage::now();
    let started = Instant::now();
    let (shape_of, store) = (shape.clone(), Store::new(engine.clone(), env.clone()));
    let latencies = load::spread(options.producers, options.events, move |number| {
        let (store, story) = (store.clone(), shape_of.story(number));
        async move {
            story.accept(&store).await;
            story.settle(&store).await;
        }
    })
    .await;
    let rate = options.events as f64 / started.elapsed().as_secs_f64();
    let used = Usage::now().since(&before);
    let bytes = shape.logical_bytes() + shape.settled_bytes();
    report("accept + settle", rate, "events/s");
    let (cpu, system) = used.cpu_per_event(options.events);
    report("accept + settle CPU", cpu, "us/event");
    report("accept + settle CPU, in the kernel", system, "us/event");
    report("accept + settle CPU, without the making", cpu - making, "us/event");
    report("accept + settle p50", latencies.percentile(50.0), "ms");
    report("accept + settle p99", latencies.percentile(99.0), "ms");
    report(
        "accept + settle bytes written / logical",
        used.written_bytes as f64 / (options.events * bytes) as f64,
        "",
    );
}

async fn reads(engine: &Arc<Embedded>, shape: &Shape, options: &Options, report: Report<'_>) {
    let mut get = Latencies::default();
    for step in 0..5_000u64 {
        let number = step * 7919 % options.events;
        let started = Instant::now();
        let page = engine.query(shape.by_id(number)).await.unwrap();
        assert_eq!(page.rows.len(), 1);
        get.push(started.elapsed());
    }
    report("get by id p50", get.percentile(50.0), "ms");
    report("get by id p99", get.percentile(99.0), "ms");
    let mut newest = Latencies::default();
    for step in 0..2_000u64 {
        let started = Instant::now();
        let page = engine.query(shape.newest(step)).await.unwrap();
        assert!(page.rows.len() == 100 || options.events < 100_000);
        newest.push(started.elapsed());
    }
    report("newest 100 of a source p50", newest.percentile(50.0), "ms");
    report("newest 100 of a source p99", newest.percentile(99.0), "ms");
    reads_beside_writes(engine, shape, options, report).await;
}

/// Now and then someone asks while events keep coming: what came last is not in order yet.
async fn reads_beside_writes(
    engine: &Arc<Embedded>,
    shape: &Shape,
    options: &Options,
    report: Report<'_>,
) {
    let younger = options.events..options.all();
    let writes = load::commit(engine, Durability::Synced, options, younger, {
        let shape = shape.clone();
        move |number| shape.accept(number)
    });
    let (mut get, mut newest) = (Latencies::default(), Latencies::default());
    let mut writes = std::pin::pin!(writes);
    let mut step = 0;
    loop {
        let pause = Duration::from_millis(step % 10);
        if tokio::time::timeout(pause, &mut writes).await.is_ok() {
            break;
        }
        let started = Instant::now();
        engine.query(shape.by_id(step * 7919 % options.events)).await.unwrap();
        get.push(started.elapsed());
        let started = Instant::now();
        engine.query(shape.newest(step)).await.unwrap();
        newest.push(started.elapsed());
        step += 1;
    }
    for (name, latencies) in [("get by id", get), ("newest 100", newest)] {
        for percent in [50.0, 99.0] {
            let name = format!("{name} beside writes p{percent}");
            report(&name, latencies.percentile(percent), "ms");
        }
    }
}

/// Every event goes from received to delivered: the pending marker goes, the status moves.
async fn changes(engine: &Arc<Embedded>, shape: &Shape, options: &Options, report: Report<'_>) {
    let started = Instant::now();
    let before = Usage::now();
    load::commit(engine, Durability::Buffered, options, 0..options.all(), {
        let shape = shape.clone();
        move |number| shape.deliver(number)
    })
    .await;
    let used = Usage::now().since(&before);
    report("status change", options.all() as f64 / started.elapsed().as_secs_f64(), "events/s");
    report("status change CPU", used.cpu_per_event(options.all()).0, "us/event");
}

/// Closing writes nothing out but what was buffered, so this opens what a kill would leave.
fn reopen(
    engine: Arc<Embedded>,
    path: &std::path::Path,
    env: &Env,
    report: Report<'_>,
) -> Arc<Embedded> {
    drop(Arc::into_inner(engine).expect("the last one"));
    let started = Instant::now();
    let engine = Embedded::open(config(path), env.clone()).unwrap();
    report("reopen", started.elapsed().as_secs_f64(), "s");
    Arc::new(engine)
}

/// Space is measured without what the changes keep for a day.
fn config(path: &std::path::Path) -> EmbeddedConfig {
    EmbeddedConfig { changes_kept: Duration::ZERO, ..EmbeddedConfig::new(path) }
}

/// The older half expires while writes go on; tells how many were written meanwhile.
async fn expiry(
    engine: &Arc<Embedded>,
    shape: &Shape,
    clock: &ManualClock,
    path: &std::path::Path,
    options: &Options,
    report: Report<'_>,
) -> u64 {
    let before = usage::directory_bytes(path);
    clock.advance(Duration::from_secs(parcel::LIFE_SECONDS));
    let started = Instant::now();
    let (rounds, each) = (4, options.events / 80 + 250);
    for round in 0..rounds {
        let first = options.all() + round * each;
        load::commit(engine, Durability::Synced, options, first..first + each, {
            let shape = shape.clone();
            move |number| shape.accept(number)
        })
        .await;
        engine.sweep().await.unwrap();
    }
    let after = usage::directory_bytes(path);
    report("expiry of half: time", started.elapsed().as_secs_f64(), "s");
    report("expiry of half: space back", 100.0 * (1.0 - after as f64 / before as f64), "%");
    clock.advance(Duration::from_secs(parcel::LIFE_SECONDS));
    engine.sweep().await.unwrap();
    rounds * each
}
