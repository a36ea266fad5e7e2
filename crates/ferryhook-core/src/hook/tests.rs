use crate::{Hook, Source, samples};

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

/// `delivery.failed` of a parcel service is not what Ferryhook says of itself.
#[test]
fn patterns_choose_the_sources() {
    let events = |events: &[&str]| events.iter().map(|text| (*text).to_owned()).collect();
    let own = Source::own(&samples::account(), samples::CREATED);
    let other = samples::source();
    let types = |hook: &Hook, source: &Source| hook.way(source).map(|way| way.event_types);
    let hook = Hook { events: events(&["delivery.*", "order.*"]), ..samples::hook() };
    assert_eq!(types(&hook, &own), Some(events(&["delivery.*", "order.*"])));
    assert_eq!(types(&hook, &other), Some(events(&["order.*"])));
    let hook = Hook { events: events(&["delivery.failed"]), ..samples::hook() };
    assert!(hook.way(&own).is_some());
    assert!(hook.way(&other).is_none(), "no pattern is left, which must not mean all");
    let hook = Hook { events: events(&["*"]), ..samples::hook() };
    assert!(hook.way(&own).is_some() && hook.way(&other).is_some());
    assert!(Hook { is_active: false, ..hook }.way(&own).is_none());
}

#[test]
fn a_way_is_named_after_its_hook() {
    let own = Source::own(&samples::account(), samples::CREATED);
    let way = samples::hook().way(&own).unwrap();
    assert_eq!(way.id.as_str(), "conn_0000000000000001");
    assert_eq!(way.signing_secret, samples::hook().secret);
    assert_eq!(way.retry_config.as_deref(), Some(r#"{"schedule":[0,30,120]}"#));
}
