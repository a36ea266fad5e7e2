use serde_json::json;

use crate::{Usage, samples};

#[test]
fn counts_add_up_and_levels_do_not() {
    let mut usage = samples::usage();
    let mut more = samples::usage();
    more.active_sources = 1;
    more.by_user = json!({ "usr_0000000000000002": { "apiCalls": 1 } }).as_object().cloned();
    usage.add(&more);
    assert_eq!(usage.api_calls, 2 * more.api_calls);
    assert_eq!(usage.hourly_counts[23], 46);
    assert_eq!(usage.active_sources, samples::usage().active_sources);
    assert!(usage.active_users >= 2, "two are known by name");
    assert_eq!(usage.events(), 80);
}

/// Whoever knows what was there before says so, and others only add what came.
#[test]
fn storage_is_what_was_kept_and_what_came() {
    let day = |kept, came| Usage {
        storage_used_bytes: kept + came,
        data_processed_bytes: came,
        ..samples::usage()
    };
    for parts in [[day(100, 1), day(0, 2), day(90, 4)], [day(0, 4), day(100, 2), day(0, 1)]] {
        let [mut usage, rest @ ..] = parts;
        rest.iter().for_each(|more| usage.add(more));
        assert_eq!((usage.storage_used_bytes, usage.data_processed_bytes), (107, 7));
    }
}
