use serde_json::json;

use super::*;
use crate::samples;

const ROLES: [Role; 4] = [Role::Viewer, Role::Member, Role::Manager, Role::Admin];

fn exceptions(value: Value) -> Map {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is no map"),
    }
}

#[test]
fn a_role_includes_the_ones_before_it() {
    for (place, role) in ROLES.into_iter().enumerate() {
        for (asked, needed) in ROLES.into_iter().enumerate() {
            let allowed = may(role, &Map::new(), needed, "sources.create");
            assert_eq!(allowed, place >= asked, "{role} {needed}");
        }
    }
}

#[test]
fn exceptions_give_and_take() {
    // role, exceptions, needed, operation, verdict
    let rows = [
        (Role::Viewer, json!({"sources.create": true}), Role::Member, "sources.create", true),
        (Role::Viewer, json!({"sources.create": true}), Role::Member, "sources.delete", false),
        (Role::Viewer, json!({"sources.*": true}), Role::Member, "sources.delete", true),
        (Role::Viewer, json!({"sources.*": true}), Role::Member, "connections.create", false),
        (Role::Member, json!({"sources.*": false}), Role::Viewer, "sources.list", false),
        (Role::Member, json!({"sources.*": false}), Role::Viewer, "events.list", true),
        // The narrower one counts, whichever comes first.
        (
            Role::Member,
            json!({"sources.*": false, "sources.list": true}),
            Role::Viewer,
            "sources.list",
            true,
        ),
        (
            Role::Viewer,
            json!({"sources.*": true, "sources.delete": false}),
            Role::Member,
            "sources.delete",
            false,
        ),
        // What is no clear yes is a no.
        (Role::Manager, json!({"sources.create": "yes"}), Role::Member, "sources.create", false),
        (Role::Manager, json!({"sources.create": null}), Role::Member, "sources.create", false),
        // A star stands for a whole noun and for nothing else.
        (Role::Viewer, json!({"*": true}), Role::Member, "sources.create", false),
        (Role::Viewer, json!({"sour*": true}), Role::Member, "sources.create", false),
        (Role::Viewer, json!({"": true}), Role::Member, "sources.create", false),
    ];
    for (role, given, needed, operation, verdict) in rows {
        let allowed = may(role, &exceptions(given.clone()), needed, operation);
        assert_eq!(allowed, verdict, "{role} {given} {operation}");
    }
}

#[test]
fn nothing_is_taken_from_an_administrator() {
    let all_taken = exceptions(json!({"members.*": false, "accounts.update": false}));
    assert!(may(Role::Admin, &all_taken, Role::Admin, "members.update"));
    assert!(may(Role::Admin, &all_taken, Role::Admin, "accounts.update"));
}

#[test]
fn a_refusal_says_why() {
    let taken = exceptions(json!({"sources.list": false}));
    assert_eq!(
        check(Role::Viewer, &Map::new(), Role::Member, "sources.create").unwrap_err().to_string(),
        "this needs the role member, and yours is viewer"
    );
    assert_eq!(check(Role::Viewer, &taken, Role::Viewer, "sources.list"), Err(Refused::Exception));
}

#[test]
fn a_key_has_the_role_of_its_scope() {
    // scope, and whether it suffices for viewer, member, manager, admin
    let rows = [
        (Permissions::Read, [true, false, false, false]),
        (Permissions::Write, [true, true, false, false]),
        (Permissions::Admin, [true, true, true, true]),
    ];
    for (permissions, verdicts) in rows {
        let key = Key { permissions, operations: None, ..samples::key() };
        for (needed, verdict) in ROLES.into_iter().zip(verdicts) {
            assert_eq!(key_may(&key, needed, "x.y"), verdict, "{permissions} {needed}");
            assert_eq!(Permissions::giving(needed).role() >= needed, true);
        }
    }
}

#[test]
fn a_list_of_operations_narrows_a_key_and_never_widens_it() {
    let listed = |operations: &[&str]| Key {
        permissions: Permissions::Write,
        operations: Some(operations.iter().map(|text| (*text).to_owned()).collect()),
        ..samples::key()
    };
    let narrow = listed(&["events.*", "sources.list"]);
    assert!(key_may(&narrow, Role::Viewer, "events.get"));
    assert!(key_may(&narrow, Role::Viewer, "sources.list"));
    assert_eq!(check_key(&narrow, Role::Member, "sources.create"), Err(Refused::NotListed));
    let wishful = listed(&["keys.*"]);
    assert_eq!(
        check_key(&wishful, Role::Manager, "keys.create").unwrap_err().to_string(),
        "this needs a key with the permission admin, and this one has write"
    );
    assert!(!key_may(&listed(&[]), Role::Viewer, "sources.list"), "an empty list allows nothing");
}

#[test]
fn a_pattern_is_an_operation_or_a_noun() {
    assert!(matches("sources.*", "sources.secrets.rotate"));
    assert!(!matches("sources.*", "sources."));
    assert!(!matches("sources.*", "sources"));
    assert!(!matches("sources", "sources.list"));
}
