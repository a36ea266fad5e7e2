//! Scripts that mean harm. Each ends by itself, within its time, as what it is, and leaves the
//! next one nothing to notice.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde_json::json;

use crate::transform::{Outcome, Transform, limits};
use crate::{Event, samples};

const SCRIPTS: &str = include_str!("hostile.txt");
const LOOPS: &str = include_str!("loops.txt");

/// Of processor time, for what overstays between two looks at the clock. In a build for
/// development, on a machine that does other things as well.
const LONGEST: Duration = Duration::from_secs(2);
const TRIES: usize = 3;

/// What has to come of it, and the script.
fn scripts() -> impl Iterator<Item = (Vec<&'static str>, String)> {
    let lines = SCRIPTS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| {
        let body = line.split_once(" => ").filter(|(kinds, _)| !kinds.contains('!'));
        let (kinds, code) = match body {
            Some((kinds, body)) => (kinds, format!("function transform(payload) {{ {body} }}")),
            None => {
                let (kinds, code) = line.split_once(" ! ").unwrap_or_else(|| panic!("{line}"));
                (kinds, code.to_owned())
            }
        };
        (kinds.split(' ').collect(), code)
    })
}

fn what_comes_of(code: &str, event: &Event) -> (&'static str, String) {
    let text = json!({"type": "javascript", "code": code}).to_string();
    let transform = match Transform::parse(&text) {
        Ok(transform) => transform,
        Err(error) => return ("refused", error.to_string()),
    };
    match transform.apply(event) {
        Ok(shaped) => match shaped.outcome {
            Outcome::Changed(event) => {
                assert!(event.body.len() <= limits::OUTPUT_BYTES_MAX);
                ("ok", String::new())
            }
            // A handler that only does harm returns nothing.
            _ => ("ok", String::new()),
        },
        Err(error) => {
            assert!(error.to_string().len() < 4 * limits::ERROR_CHARACTERS_MAX, "{error}");
            (error.fault.code(), error.to_string())
        }
    }
}

fn spent() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Whether a script ends in one of these ways and in time; else how it did. A machine that is
/// taken away for a moment counts that as the script's time, so the script may try again.
fn ended(code: &str, event: &Event, kinds: &[&str]) -> Result<(), String> {
    let mut how = String::new();
    for _ in 0..TRIES {
        let before = spent();
        let (kind, message) = what_comes_of(code, event);
        let took = spent() - before;
        how = format!("{kind} in {took:?} ({message})");
        match kinds.contains(&kind) {
            true if took <= LONGEST => return Ok(()),
            false if kind != "time" => break,
            _ => {}
        }
    }
    Err(how)
}

#[test]
fn every_script_ends_as_what_it_is() {
    let event = Event { payload: None, ..samples::event() };
    let good = "function transform(payload) { return { id: payload.id } }";
    let mut wrong = Vec::new();
    let mut count = 0;
    for (kinds, code) in scripts() {
        count += 1;
        let ended = ended(&code, &event, &kinds);
        wrong.extend(ended.err().map(|how| format!("{how}, not {kinds:?}: {code}")));
        assert_eq!(what_comes_of(good, &event).0, "ok", "after {code}");
    }
    assert!(count >= 200, "{count} scripts");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Nor does a loop of steps whose work grows with their data keep its thread.
#[test]
fn every_loop_of_expensive_steps_ends() {
    let event = Event { payload: None, ..samples::event() };
    let mut wrong = Vec::new();
    for line in LOOPS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (first, again) = line.split_once(" | ").unwrap_or_else(|| panic!("{line}"));
        let code = format!(
            "function transform() {{ const N = 1 << 21; {first}; for (;;) {{ {again} }} }}"
        );
        let ended = ended(&code, &event, &["time", "memory", "thrown"]);
        wrong.extend(ended.err().map(|how| format!("{how}: {line}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
