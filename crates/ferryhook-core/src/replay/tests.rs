use std::time::Duration;

use super::*;
use crate::event::Status;
use crate::{Env, limits, samples};

fn env() -> Env {
    Env::fixed("2026-01-01T00:00:00Z")
}

fn filter() -> Filter {
    Filter::default()
}

fn running() -> Replay {
    let env = env();
    let selection = Selection::filter(filter(), env.now()).unwrap();
    Replay::new(Id::new(&env), selection, Vec::new(), 100, &env).unwrap()
}

#[test]
fn named_events_are_passed_in_order_and_once() {
    let env = env();
    let (first, second) = (Id::new(&env), Id::at(env.now() + Duration::from_secs(1), &env));
    let selection = Selection::ids(vec![second, first, second]).unwrap();
    assert_eq!(selection, Selection::Ids { ids: vec![first, second] });
}

#[test]
fn a_selection_has_bounds() {
    let env = env();
    let ids = |count| (0..count).map(|_| Id::new(&env)).collect::<Vec<_>>();
    assert_eq!(Selection::ids(ids(0)), Err(BadSelection::Ids(0)));
    assert!(Selection::ids(ids(limits::REPLAY_IDS_MAX)).is_ok());
    let over = limits::REPLAY_IDS_MAX + 1;
    assert_eq!(Selection::ids(ids(over)), Err(BadSelection::Ids(over)));
    let pattern = Filter { event_type: Some(String::new()), ..filter() };
    assert!(matches!(Selection::filter(pattern, env.now()), Err(BadSelection::EventType(_))));
    let ahead = Filter { from: Some(env.now() + Duration::from_secs(1)), ..filter() };
    assert!(matches!(Selection::filter(ahead, env.now()), Err(BadSelection::Window { .. })));
}

#[test]
fn a_rate_and_connections_have_bounds() {
    let env = env();
    let new = |connections, rate| {
        let selection = Selection::filter(filter(), env.now()).unwrap();
        let connections = (0..connections).map(|_| Id::new(&env)).collect();
        Replay::new(Id::new(&env), selection, connections, rate, &env)
    };
    assert_eq!(new(0, 0), Err(BadSelection::Rate(0)));
    assert!(new(limits::REPLAY_CONNECTIONS_MAX, limits::REPLAY_RATE_MAX).is_ok());
    assert_eq!(new(0, limits::REPLAY_RATE_MAX + 1), Err(BadSelection::Rate(1001)));
    let over = limits::REPLAY_CONNECTIONS_MAX + 1;
    assert_eq!(new(over, 1), Err(BadSelection::Connections(over)));
}

/// What comes after the replay was asked for is not chased.
#[test]
fn a_filter_ends_now() {
    let now = env().now();
    let later = Filter { to: Some(now + Duration::from_secs(60)), ..filter() };
    for open in [filter(), later] {
        let Selection::Filter { filter } = Selection::filter(open, now).unwrap() else { panic!() };
        assert_eq!(filter.to, Some(now));
    }
}

#[test]
fn a_filter_lets_through_what_agrees_in_everything_it_names() {
    let event = samples::event();
    let lets = |filter: Filter| filter.matcher().unwrap().lets_through(&event);
    assert!(lets(filter()));
    let exact = Filter {
        source_id: Some(event.source_id),
        status: Some(event.status),
        event_type: Some("order.*".to_owned()),
        from: Some(event.received_at),
        to: Some(event.received_at),
    };
    assert!(lets(exact.clone()));
    let moment = Duration::from_millis(1);
    for other in [
        Filter { source_id: Some(Id::new(&env())), ..exact.clone() },
        Filter { status: Some(Status::Failed), ..exact.clone() },
        Filter { event_type: Some("invoice.*".to_owned()), ..exact.clone() },
        Filter { from: Some(event.received_at + moment), ..exact.clone() },
        Filter { to: Some(event.received_at - moment), ..exact },
    ] {
        assert!(!lets(other.clone()), "{other:?}");
    }
}

#[test]
fn what_ended_stays_as_it_ended() {
    let (was, now) = (running(), samples::UPDATED);
    let counts = Counts { matched: 1, ..Counts::default() };
    for ended in [was.finish(now), was.cancel(now), was.fail("no such connection", now)] {
        assert!(!ended.is_running());
        assert_eq!(ended.expires_at, Some(now + limits::REPLAY_KEPT));
        for next in [
            ended.finish(now),
            ended.cancel(now),
            ended.fail("again", now),
            ended.advance(counts, None, now, now),
        ] {
            assert_eq!(next, ended);
        }
    }
}

#[test]
fn a_filter_is_stored_flat_too() {
    let was = running();
    let item = serde_json::to_value(&was).unwrap();
    assert_eq!(item["selection"], "filter");
    assert_eq!(item["filter"]["to"], was.created_at.as_millis());
    assert_eq!(serde_json::from_value::<Replay>(item).unwrap(), was);
    let failed = was.fail("no such connection", samples::UPDATED);
    let item = serde_json::to_value(&failed).unwrap();
    assert_eq!((&item["state"], &item["reason"]), (&"failed".into(), &"no such connection".into()));
    assert_eq!(serde_json::from_value::<Replay>(item).unwrap(), failed);
}
