use crate::{Hook, samples};

#[test]
fn active_is_stored_as_one_or_zero_and_nothing_else() {
    let mut hook = samples::hook();
    for (is_active, number) in [(true, 1), (false, 0)] {
        hook.is_active = is_active;
        let stored = serde_json::to_value(&hook).unwrap();
        assert_eq!(stored["isActive"], number);
        assert_eq!(serde_json::from_value::<Hook>(stored).unwrap(), hook);
    }
    let mut stored = serde_json::to_value(&hook).unwrap();
    stored["isActive"] = 2.into();
    let error = serde_json::from_value::<Hook>(stored).unwrap_err();
    assert_eq!(error.to_string(), "2 is neither 1 nor 0");
}
