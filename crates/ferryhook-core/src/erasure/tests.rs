use std::time::Duration;

use super::*;
use crate::{Env, limits, samples};

fn env() -> Env {
    Env::fixed("2026-01-01T00:00:00Z")
}

fn subject(filter: &str) -> Result<What, BadErasure> {
    What::subject(filter.to_owned(), None, None, None, env().now())
}

fn running() -> Erasure {
    let what = subject(r#"{"body": {"email": "ada@example.com"}}"#).unwrap();
    Erasure::new(samples::account().id, what, None, &env())
}

fn paths(filter: &str) -> Vec<String> {
    let What::Subject { subject } = subject(filter).unwrap() else { panic!() };
    subject.paths
}

#[test]
fn what_is_meant_has_bounds() {
    let env = env();
    let ids = |count| (0..count).map(|_| Id::new(&env)).collect::<Vec<_>>();
    assert!(matches!(What::events(ids(0)), Err(BadErasure::Ids(0))));
    assert!(What::events(ids(limits::ERASURE_IDS_MAX)).is_ok());
    assert!(What::events(ids(limits::ERASURE_IDS_MAX + 1)).is_err());
    assert!(matches!(subject("{"), Err(BadErasure::Filter(_))));
    let filter = r#"{"body": {"a": 1}}"#.to_owned();
    let ahead = Some(env.now() + Duration::from_secs(1));
    let what = What::subject(filter, None, ahead, None, env.now());
    assert!(matches!(what, Err(BadErasure::Window { .. })));
}

/// What comes after it was asked for is not chased.
#[test]
fn a_subject_ends_now() {
    let now = env().now();
    let What::Subject { subject } = running().what else { panic!() };
    assert_eq!(subject.to, Some(now));
}

#[test]
fn where_a_filter_looks_is_known_and_not_what_for() {
    assert_eq!(paths(r#"{"body": {"email": "ada@example.com"}}"#), ["body.email"]);
    assert_eq!(
        paths(
            r#"[{"path": "$.customer.email", "operator": "equals", "value": "ada@example.com"}]"#
        ),
        ["$.customer.email"]
    );
    assert_eq!(
        paths(r#"{"body": {"user": {"id": {"$in": [7, 8]}, "name": "Ada"}}}"#),
        ["body.user.id", "body.user.name"]
    );
    let inside = r#"[{"path": "$.items[?@.mail=='ada@example.com']", "operator": "exists"}]"#;
    assert!(!paths(inside).join(" ").contains("ada"), "{:?}", paths(inside));
}

#[test]
fn a_subject_means_what_its_filter_lets_through_within_its_bounds() {
    let mut event = samples::event();
    event.body = br#"{"email":"ada@example.com"}"#.to_vec().into();
    event.payload = None;
    event.received_at = env().now();
    let What::Subject { subject } = running().what else { panic!() };
    let means = |subject: &Subject| subject.matcher().unwrap().unwrap().means(&event);
    assert!(means(&subject));
    assert!(means(&Subject { source_id: Some(event.source_id), ..subject.clone() }));
    assert!(!means(&Subject { source_id: Some(Id::new(&env())), ..subject.clone() }));
    let before = Some(event.received_at - Duration::from_millis(1));
    assert!(!means(&Subject { to: before, ..subject.clone() }));
    assert!(Subject { filter: None, ..subject }.matcher().unwrap().is_none());
}

/// Over only when nothing is left, and from the first moment that nobody needs it any more, not a
/// word about whom it concerned.
#[test]
fn it_ends_behind_the_scrub_and_forgets_its_subject_before() {
    let now = env().now();
    let erasure = running();
    assert!(erasure.names_someone());
    let looked = erasure.looked_through(now);
    assert_eq!((looked.state.word(), looked.names_someone()), ("scrubbing", false));
    assert!(!serde_json::to_string(&looked).unwrap().contains("ada"));
    assert!(!looked.is_over());
    let done = looked.scrubbed(now);
    assert_eq!((done.state.word(), done.is_over()), ("done", true));
    for over in [done.cancel(now), done.looked_through(now), done.give_up("no", now)] {
        assert_eq!(over, done);
    }
}

#[test]
fn one_that_is_cancelled_or_left_something_says_so_at_its_end() {
    let now = env().now();
    let cancelled = running().cancel(now);
    assert!(!cancelled.names_someone());
    assert_eq!(cancelled.looked_through(now), cancelled);
    assert_eq!(cancelled.scrubbed(now).state, State::Cancelled { ended_at: now });
    let counts = Counts { looked_at: 9, erased: 7, failed: 2 };
    let failed = running().advance(counts, None, now, now).looked_through(now).scrubbed(now);
    let reason = "2 events could not be erased".to_owned();
    assert_eq!(failed.state, State::Failed { reason, ended_at: now });
}
