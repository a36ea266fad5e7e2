use serde_json::json;

use crate::samples;

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
