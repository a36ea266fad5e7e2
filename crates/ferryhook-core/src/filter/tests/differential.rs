//! The nested form against the npm package `simple-json-match`, on generated cases.
//!
//! `scripts/filter-cases` made them and asked the package. Where we differ on purpose the case
//! names the reasons, which `docs/filters.md` explains, and brings the verdict of a second
//! implementation of our own rules.

use std::collections::BTreeSet;

use serde_json::Value;

use super::*;

const CASES: &str = include_str!("../../../tests/data/filter/cases.jsonl");
const DOCUMENTATION: &str = include_str!("../../../../../docs/filters.md");

#[test]
fn verdicts_are_those_of_the_package_unless_the_documentation_says_why_not() {
    let mut lines = CASES.lines();
    let inputs: Vec<Value> = serde_json::from_str(lines.next().unwrap()).unwrap();
    let events: Vec<Event> = inputs.iter().map(|input| event(&input.to_string())).collect();
    let seen: Vec<Seen<'_>> = events.iter().map(Seen::of).collect();
    let (mut same, mut held, mut different) = (0, 0, 0);
    let mut reasons = BTreeSet::new();
    let mut failures = Vec::new();
    for line in lines {
        let case: Vec<Value> = serde_json::from_str(line).unwrap();
        let (shape, numbers, theirs) = (&case[0], case[1].as_array().unwrap(), &case[2]);
        let wanted = match &case[..] {
            [_, _, theirs] => theirs,
            [_, _, _, ours, why] => {
                let why = why.as_array().unwrap();
                assert!(!why.is_empty(), "{line}");
                reasons.extend(why.iter().map(|reason| reason.as_str().unwrap().to_owned()));
                ours
            }
            _ => panic!("{line}"),
        };
        let filter = filter(&format!(r#"{{"body": {shape}}}"#));
        let verdicts = theirs.as_str().unwrap().chars().zip(wanted.as_str().unwrap().chars());
        for (number, (theirs, wanted)) in numbers.iter().zip(verdicts) {
            let number = number.as_u64().unwrap() as usize;
            let verdict = filter.matches(&seen[number]);
            if verdict != (wanted == '1') || filter.explain(&seen[number]).clause.holds != verdict {
                failures.push(format!("{shape} on {}: {verdict}", inputs[number]));
            }
            held += usize::from(verdict);
            same += usize::from(theirs == wanted);
            different += usize::from(theirs != wanted);
        }
    }
    assert!(
        failures.is_empty(),
        "{}:\n{}",
        failures.len(),
        failures[..20.min(failures.len())].join("\n")
    );
    assert!(same >= 5_000 && held >= 2_500, "{same} {held}");
    assert!(different <= same / 30, "{different} of {same} differ");
    for reason in reasons {
        assert!(DOCUMENTATION.contains(&format!("| `{reason}` |")), "{reason} is not explained");
    }
}
