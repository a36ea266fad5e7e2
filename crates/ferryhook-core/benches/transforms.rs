//! How many events one core transforms, each in a runtime of its own.
//!
//! Counted in processor time of the one thread that does it, so that it says the same on a
//! machine that is busy with something else. The bar is 5,000 a second for the first script.
//!
//! `cargo bench -p ferryhook-core --features samples --bench transforms -- [runs]`

use std::time::Duration;

use ferryhook_core::transform::Transform;
use ferryhook_core::{Event, samples};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;

const PER_SECOND_MIN: f64 = 5_000.0;
const ROUND: u32 = 40;

/// What people write: map a list, group it, look at a date, set a header.
const ORDINARY: &str = r#"
addHandler("transform", (request, context) => {
  const items = request.body.items.map((item) => ({ sku: item.sku.toUpperCase(), total: item.qty * item.price }));
  const groups = Object.groupBy(items, ({ total }) => (total > 50 ? "big" : "small"));
  const year = /^(?<year>\d{4})-/.exec(request.body.created)?.groups.year;
  request.headers["x-count"] = String(items.length);
  request.body = { ...request.body, items, groups, year, event: context.event_id };
  return request;
});
"#;
const SMALL: &str = "function transform(payload) { return { id: payload.id } }";
const EVERYTHING: &str = r#"
function handler(webhook) {
  const seen = new Map(webhook.payload.items.map((item) => [item.sku, item]));
  console.log("items", seen.size, new Date().toISOString(), Math.random());
  webhook.payload.signed = hmacSha256Hex("key", JSON.stringify(webhook.payload));
  webhook.payload.copy = structuredClone(webhook.payload.customer);
  webhook.payload.bytes = new TextEncoder().encode("ä").length;
  return webhook;
}
"#;
const FIELD_MAP: &str = r#"{"type":"field_map","map":{"order":"$.id","to":"$.customer.mail","lines":{"each":"$.items","map":{"sku":"item.sku","qty":"item.qty"}}},"constant":{"origin":"shop"}}"#;

fn main() {
    let runs = std::env::args().find_map(|word| word.parse().ok()).unwrap_or(8_000);
    let event = event();
    println!("body of {} bytes, {runs} runs each, the best rounds of {ROUND}", event.body.len());
    let script = |code: &str| json!({"type": "javascript", "code": code}).to_string();
    let rate = measure("javascript, ordinary", &script(ORDINARY), &event, runs);
    measure("javascript, small", &script(SMALL), &event, runs);
    measure("javascript, everything there is", &script(EVERYTHING), &event, runs);
    measure("field map", FIELD_MAP, &event, runs * 10);
    let text = script(ORDINARY);
    let compile = best(runs, || drop(Transform::parse(&text).expect("compiles")));
    println!("{:<34} {:>8.1} µs", "compiling the ordinary one", compile.as_secs_f64() * 1e6);
    println!("resident memory at the end: {}", resident());
    if rate < PER_SECOND_MIN {
        println!("below the bar of {PER_SECOND_MIN} a second");
        std::process::exit(1);
    }
}

fn measure(name: &str, text: &str, event: &Event, runs: u32) -> f64 {
    let transform = Transform::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let each = best(runs, || drop(transform.apply(event).expect("works")));
    let rate = 1.0 / each.as_secs_f64();
    println!("{name:<34} {:>8.1} µs {rate:>10.0} a second", each.as_secs_f64() * 1e6);
    rate
}

/// Of one call, in the round that was disturbed least. Rounds are short, so that some are not.
fn best(runs: u32, mut call: impl FnMut()) -> Duration {
    (0..runs / 10).for_each(|_| call());
    let rounds = (0..runs / ROUND).map(|_| {
        let before = spent();
        (0..ROUND).for_each(|_| call());
        (spent() - before) / ROUND
    });
    rounds.min().unwrap_or_default()
}

fn spent() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

fn resident() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.map_or("unknown".to_owned(), |line| line.trim().to_owned())
}

fn event() -> Event {
    let item = |n: usize| json!({"sku": format!("abc-{n}"), "qty": n, "price": 12.5, "name": format!("thing number {n}")});
    let body = json!({
        "id": "ord_1", "created": "2026-01-31T00:00:00Z",
        "customer": {"name": "Ann", "mail": "ann@example.com", "tags": ["a", "b"]},
        "items": (0..14).map(item).collect::<Vec<_>>(),
    });
    let headers = [
        ("Host", "in.example.com"),
        ("Content-Type", "application/json"),
        ("X-Request-Id", "3f2a"),
        ("User-Agent", "shop/1.0"),
        ("Accept", "*/*"),
    ];
    Event {
        body: body.to_string().into(),
        payload: None,
        headers: headers.into_iter().collect(),
        ..samples::event()
    }
}
