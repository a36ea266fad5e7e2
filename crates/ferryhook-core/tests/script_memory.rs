//! What a script took of memory is given back, however its run ended. Alone in its process,
//! because that is what is measured.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use ferryhook_core::transform::Transform;
use ferryhook_core::{Event, samples};
use serde_json::json;

#[test]
fn memory_does_not_grow() {
    let event = Event { payload: None, ..samples::event() };
    let codes = [
        "function transform() { const a = []; for (;;) a.push('x'.repeat(1e5) + a.length) }",
        "function transform() { const a = {}; a.a = a; a.f = () => a; throw a }",
        "function transform(p) { return { p, s: 'x'.repeat(1e6) } }",
        "async function transform(p) { const o = {}; o.o = new Promise(() => o); await 0; return p }",
    ];
    let transforms = codes.map(|code| {
        Transform::parse(&json!({"type": "javascript", "code": code}).to_string()).unwrap()
    });
    let round = || {
        for transform in &transforms {
            let _ = transform.apply(&event);
        }
    };
    (0..20).for_each(|_| round());
    let before = resident_kib();
    (0..150).for_each(|_| round());
    let grown = resident_kib().saturating_sub(before);
    assert!(grown < 4 * 1024, "{grown} KiB more than {before}");
}

fn resident_kib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it says so");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}
