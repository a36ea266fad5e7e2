//! The fuzzer. Which function it feeds stands in `FERRYHOOK_FUZZ`; `scripts/fuzz` starts it.

#![no_main]

use std::sync::LazyLock;

use ferryhook_core::fuzzed::{TARGETS, Target};

static CHOSEN: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("FERRYHOOK_FUZZ").unwrap_or_default();
    TARGETS.iter().find(|target| target.name == name).unwrap_or_else(|| {
        let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
        panic!("FERRYHOOK_FUZZ names one of {}", names.join(", "))
    })
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| (CHOSEN.run)(data));
