use super::*;
use crate::event_types::EventTypes;
use crate::samples;

#[test]
fn an_account_has_one_source_of_its_own() {
    let own = Source::own(&samples::account(), samples::CREATED);
    assert!(own.is_own());
    assert_eq!(own.id.as_str(), "src__tBnS_zrM64Tz9u5");
    assert!(!samples::source().is_own());
}

/// A pattern that names any of them is known as theirs, and everything that is said has a type
/// that a pattern can name.
#[test]
fn every_type_is_of_a_known_family() {
    for known in TYPES {
        assert!(is_operational(known.name), "{}", known.name);
        assert_eq!(known.sample().event_type, known.name);
        let pattern = [known.name.split('.').next().unwrap(), ".*"].concat();
        assert!(EventTypes::compile(&[pattern]).unwrap().wants(Some(known.name)));
    }
    for own in ["*", "order.*", "*.failed", "deliver", "sources"] {
        assert!(!is_operational(own), "{own}");
    }
}

#[test]
fn what_is_said_is_an_event_like_any_other() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let source = Source::own(&samples::account(), env.now());
    let said = TYPES[0].sample();
    let event = said.event(&source, None, &env);
    assert_eq!(event.event_type.as_deref(), Some("delivery.failed"));
    assert!(event.pending_since.is_some());
    let body: Value = serde_json::from_slice(event.body.as_bytes()).unwrap();
    assert_eq!(body["type"], "delivery.failed");
    assert_eq!(body["data"]["connectionName"], "Orders");
    let paused = Source { status: source::Status::Paused, ..source };
    assert_eq!(said.event(&paused, None, &env).status, Status::Held);
}
