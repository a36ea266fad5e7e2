use ferryhook_core::connection::Status;
use ferryhook_core::delivery::{Hold, State};
use ferryhook_core::{Connection, account, samples};

use super::*;
use crate::routes::{Allowance, Proof, Reading};

fn route(connections: impl IntoIterator<Item = Connection>) -> Route {
    let source = samples::source();
    let ways = connections.into_iter().map(|one| Arc::new(Way::new(one, None, samples::UPDATED)));
    Route {
        plan: Allowance::default(),
        erased_until: None,
        declared: Arc::default(),
        account_status: account::Status::Active,
        reading: Reading::new(&source),
        proof: Proof::new(&source),
        ways: ways.collect(),
        source,
    }
}

fn connection(number: usize) -> Connection {
    Connection {
        id: format!("conn_000000000000000{number}").parse().unwrap(),
        event_types: Vec::new(),
        ordering_key: None,
        retry_config: None,
        filters: None,
        transform: None,
        ..samples::connection()
    }
}

fn planned(event: &Event, connections: impl IntoIterator<Item = Connection>) -> Vec<Delivery> {
    let env = Env::fixed("2026-01-01T01:00:00Z");
    let planned = plan(event, &route(connections), samples::UPDATED, &env).unwrap();
    planned.into_iter().map(|planned| planned.delivery).collect()
}

#[test]
fn whoever_wants_the_type_gets_it() {
    let wants = |number, types: &[&str]| Connection {
        event_types: types.iter().map(|one| (*one).to_owned()).collect(),
        ..connection(number)
    };
    let all = [wants(1, &[]), wants(2, &["order.*"]), wants(3, &["user.*"]), wants(4, &["*"])];
    let got = |event_type: Option<&str>| {
        let event = Event { event_type: event_type.map(str::to_owned), ..samples::event() };
        let deliveries = planned(&event, all.clone());
        deliveries
            .iter()
            .map(|one| one.connection_id.as_str().as_bytes()[20] - b'0')
            .collect::<Vec<_>>()
    };
    assert_eq!(got(Some("order.paid")), [1, 2, 4]);
    assert_eq!(got(Some("user.made")), [1, 3, 4]);
    assert_eq!(got(None), [1, 4]);
}

#[test]
fn a_plan_is_due_after_the_first_wait_and_held_where_the_connection_is_paused() {
    let waits = Connection { retry_config: Some("[60]".to_owned()), ..connection(1) };
    let paused = Connection { status: Status::Paused, ..connection(2) };
    let [waits, paused] = &planned(&samples::event(), [waits, paused])[..] else { panic!() };
    let due = waits.due_at().unwrap().saturating_since(samples::UPDATED).as_secs();
    assert!((60..=66).contains(&due), "a minute and some jitter");
    assert!(matches!(paused.state, State::Held { reason: Hold::ConnectionPaused, .. }));
    assert_eq!((waits.attempts, paused.attempts), (0, 0));
}

/// Nothing of a suspended account goes out, and nothing of it is lost.
#[test]
fn an_account_that_is_not_active_holds_what_it_gets() {
    for status in [account::Status::Suspended, account::Status::Terminated] {
        let way = |connection: Connection| {
            Way::new(connection, None, samples::UPDATED).of_account(status).hold()
        };
        assert_eq!(way(connection(1)), Some(Hold::AccountSuspended));
        let paused = Connection { status: Status::Paused, ..connection(1) };
        assert_eq!(way(paused), Some(Hold::AccountSuspended));
        let deleted = Connection { status: Status::Deleted, ..connection(1) };
        assert_eq!(way(deleted), None, "to be cancelled");
    }
    let active = Way::new(connection(1), None, samples::UPDATED);
    assert_eq!(active.of_account(account::Status::Active).hold(), None);
}

#[test]
fn the_order_key_comes_from_the_event() {
    let ordered = |path: &str| Connection { ordering_key: Some(path.to_owned()), ..connection(1) };
    let key = |path| planned(&samples::event(), [ordered(path)])[0].order_key.clone();
    assert_eq!(key("body.amount").as_deref(), Some("120"));
    assert_eq!(key("body.nothing"), None);
    assert_eq!(key("not a path{"), None, "what nobody understands keeps no order");
}

/// Rules are checked when they are written. One that slipped through must not be guessed at.
#[test]
fn a_rule_that_cannot_be_read_is_told() {
    let bad = Connection { event_types: vec![String::new()], ..connection(1) };
    let env = Env::fixed("2026-01-01T01:00:00Z");
    let error = plan(&samples::event(), &route([bad]), samples::UPDATED, &env).unwrap_err();
    assert!(error.to_string().starts_with("connection conn_0000000000000001: "), "{error}");
}
