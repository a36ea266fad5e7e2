use super::*;
use crate::tables::Table;

/// `headers` is content of an event, and an ordinary attribute of a delivery or a hook.
#[test]
fn conditions_ask_for_no_content() {
    let is = || Condition::Is("headers".into(), "x".into());
    let delete = |kind: Kind| {
        let key = Key::new(Table::Events, "p", "s");
        Action::Delete(Delete { kind, key, condition: is(), indexes: Vec::new() })
    };
    assert!(matches!(delete(Kind::Event).check(), Err(StoreError::Malformed(_))));
    assert!(delete(Kind::Delivery).check().is_ok());

    let require = |key: Key| Action::Require { key, condition: is() };
    let event_or_other = require(Key::new(Table::Events, "p", "s"));
    assert!(matches!(event_or_other.check(), Err(StoreError::Malformed(_))));
    assert!(require(Key::alone(Table::Hooks, "p")).check().is_ok());
}
