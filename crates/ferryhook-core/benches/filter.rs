//! What deciding about an event costs: five clauses on two kilobytes of JSON.
//!
//! `cargo bench -p ferryhook-core --features samples --bench filter`. Aim: under 5 µs for the
//! decision; reading the body comes on top of it once for each event, however many filters look.

#![expect(clippy::disallowed_methods, reason = "a benchmark looks at the real clock")]
#![expect(clippy::unwrap_used, reason = "a benchmark that fails should stop")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use ferryhook_core::filter::{Filter, Seen};
use ferryhook_core::json::Document;
use ferryhook_core::{Event, Headers, samples};
use serde_json::json;

/// The allocator of the real binary.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const RULES: &str = r#"[
    {"path": "$.type", "operator": "starts_with", "value": "order."},
    {"path": "$.data.customer.address.country", "operator": "in", "value": ["DE", "FR", "PL"]},
    {"path": "$.data.total", "operator": "gte", "value": 100},
    {"path": "$.data.items[*].sku", "operator": "equals", "value": "SKU-4"},
    {"path": "$.data.customer.email", "operator": "regex", "value": "@example\\.(com|org)$"}
]"#;

const SHAPE: &str = r#"{"body": {"type": {"$startsWith": "order."}, "data": {
    "customer": {"address": {"country": {"$in": ["DE", "FR", "PL"]}}, "email": {"$regex": "@example\\.(com|org)$"}},
    "total": {"$gte": 100}, "items": {"sku": "SKU-4"}}}}"#;

const DEEP: &str = r#"[
    {"path": "$..sku", "operator": "equals", "value": "SKU-4"},
    {"path": "$.data.items[?@.price > 40].name", "operator": "contains", "value": "5"},
    {"path": "$.data.items[-1].tags", "operator": "contains", "value": "new"},
    {"path": "headers.x-shop", "operator": "equals", "value": "eu"},
    {"path": "$.data.note", "operator": "not_exists"}
]"#;

fn main() {
    let event = event();
    let body = event.body.as_text().unwrap();
    println!(
        "body {} bytes; µs for one: the median of 201 short rounds, and the tenth fastest, which others disturbed least",
        body.len()
    );
    for (name, text) in
        [("five rules", RULES), ("the same as a shape", SHAPE), ("five dearer rules", DEEP)]
    {
        let filter = Filter::parse(text).unwrap();
        let seen = Seen::of(&event);
        assert!(filter.matches(&seen), "{name}: {}", filter.explain(&seen));
        report(&format!("{name}: decide"), || black_box(filter.matches(black_box(&seen))));
        report(&format!("{name}: read and decide"), || {
            black_box(filter.matches(&Seen::of(black_box(&event))))
        });
        report(&format!("{name}: explain"), || black_box(filter.explain(&seen)));
        report(&format!("{name}: compile"), || black_box(Filter::parse(black_box(text)).unwrap()));
    }
    hostile();
    report("read the body", || black_box(Document::read(black_box(body)).unwrap()));
    report("read it into a tree (serde_json)", || {
        black_box(serde_json::from_str::<serde_json::Value>(black_box(body)).unwrap())
    });
}

/// The most that one decision may cost, whatever the rule and whatever the body.
fn hostile() {
    let lists = format!("{}7{}", "[1,2,3,4,5,6,7,8,9,".repeat(100), "]".repeat(100));
    let long =
        format!("[{}]", vec![r#"{"a":{"b":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}"#; 5_000].join(","));
    for (name, path, body) in [
        ("everything below everything", "$..*..*..*..*", &lists),
        ("all of it for each of it", "$..[?$..[?$..q]]", &lists),
        ("each compared with all", "$[?count($[?@.a.b == $[4999].a.b]) == 0]", &long),
        ("patterns from the body", "$[?search(@.a.b, $[0].a.b)]", &long),
    ] {
        let rule = format!(r#"[{{"path": {path:?}, "operator": "equals", "value": "x"}}]"#);
        let (filter, event) =
            (Filter::parse(&rule).unwrap(), Event { body: body.clone().into(), ..event() });
        let seen = Seen::of(&event);
        seen.body_kind();
        let start = Instant::now();
        black_box(filter.matches(&seen));
        let took = start.elapsed();
        println!("{name}: {took:.1?}, gave up: {}", filter.explain(&seen).gave_up);
    }
}

fn report<T>(name: &str, mut run: impl FnMut() -> T) {
    let once = Instant::now();
    for _ in 0..20 {
        run();
    }
    let round =
        (Duration::from_micros(500).as_nanos() * 20 / once.elapsed().as_nanos().max(1)).max(1);
    let mut rounds: Vec<f64> = (0..201)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..round {
                run();
            }
            start.elapsed().as_secs_f64() * 1e6 / round as f64
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    println!("{name:40} {:8.2} {:8.2}", rounds[100], rounds[10]);
}

fn event() -> Event {
    let items: Vec<_> = (1..=12)
        .map(|n| {
            json!({"sku": format!("SKU-{n}"), "name": format!("Thing number {n} in \"blue\""), "price": 9.5 * f64::from(n),
                "quantity": n, "tags": ["new", "blue", "sale"], "weight": null})
        })
        .collect();
    let body = json!({
        "id": "evt_1Q2w3E4r5T6y7U8i", "type": "order.paid", "created": 1_767_225_600, "livemode": true, "api_version": "2026-01-01",
        "data": {
            "id": "ord_98765", "currency": "eur", "status": "paid", "total": 421.5, "subtotal": 390, "tax": 31.5,
            "customer": {"id": 123_456_789_012_345_678_u64, "name": "Zoë Müller", "email": "zoe@example.org",
                "address": {"line1": "Hauptstraße 5", "city": "Köln", "postal_code": "50667", "country": "DE"}},
            "shipping": {"method": "express", "address": {"line1": "Hauptstraße 5", "city": "Köln", "country": "DE"}},
            "items": items,
            "metadata": {"campaign": "spring", "referrer": "https://example.com/?utm_source=mail&utm_medium=x", "flags": [1, 2, 3]},
        },
    });
    Event {
        body: body.to_string().into(),
        payload: None,
        headers: Headers::from_iter([
            ("Host", "hooks.example.com"),
            ("User-Agent", "Shop/1.0"),
            ("Content-Type", "application/json"),
            ("X-Shop", "eu"),
            (
                "X-Signature",
                "t=1767225600,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd",
            ),
        ]),
        ..samples::event()
    }
}
