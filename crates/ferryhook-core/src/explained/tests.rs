use serde_json::json;

use super::*;

/// Its description is written by hand, so it is held against what is really said.
#[test]
fn a_verdict_is_described_as_it_is() {
    let described = serde_json::to_value(Verdict::schema()).unwrap();
    let reason = String::new;
    let all = [
        Verdict::Delivered,
        Verdict::OtherType,
        Verdict::Filtered,
        Verdict::Dropped { reason: reason() },
        Verdict::Failed { reason: reason() },
    ];
    let words: Vec<_> = all.iter().map(|verdict| json!(verdict)["verdict"].clone()).collect();
    assert_eq!(described["properties"]["verdict"]["enum"], json!(words));
}
