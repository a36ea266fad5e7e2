use super::*;
use crate::key::IndexKey;
use crate::record::Kind;
use crate::tables::Index;
use crate::value::Value;

/// The expressions with their placeholders filled in, for people.
fn readable(expression: &str, placeholders: Placeholders) -> String {
    let (names, values) = placeholders.finish();
    let mut known: Vec<(String, String)> = names.unwrap_or_default().into_iter().collect();
    known.extend(values.unwrap_or_default().into_iter().map(|(name, value)| {
        let value = match value {
            AttributeValue::S(text) => format!("'{text}'"),
            AttributeValue::N(number) => number,
            AttributeValue::Bool(bool) => bool.to_string(),
            AttributeValue::Ss(names) => format!("{names:?}"),
            other => format!("{other:?}"),
        };
        (name, value)
    }));
    known.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    known.into_iter().fold(expression.to_owned(), |text, (name, value)| text.replace(&name, &value))
}

fn condition(table: Table, condition: &Condition) -> String {
    let mut placeholders = Placeholders::default();
    let text = placeholders.condition(table, condition, 100);
    readable(&text, placeholders)
}

#[test]
fn conditions() {
    let is = Condition::Is("status".into(), Value::from("active"));
    assert_eq!(condition(Table::Accounts, &Condition::Absent), "attribute_not_exists(accountId)");
    assert_eq!(
        condition(Table::Ledger, &Condition::Absent),
        "attribute_not_exists(pk) OR expiresAt <= 100"
    );
    assert_eq!(condition(Table::Accounts, &Condition::Exists), "attribute_exists(accountId)");
    assert_eq!(condition(Table::Accounts, &Condition::Revision(7)), "revision = 7");
    assert_eq!(
        condition(Table::Ledger, &Condition::Revision(0)),
        "attribute_exists(pk) AND attribute_not_exists(revision) \
         AND (attribute_not_exists(expiresAt) OR expiresAt > 100)"
    );
    assert_eq!(
        condition(Table::Events, &is),
        "status = 'active' AND (attribute_not_exists(expiresAt) OR expiresAt > 100)"
    );
}

fn delivery() -> Patch {
    let key = Key::new(Table::Events, "EVT#1", "DLV#1");
    Patch::of(Kind::Delivery, key).when(Condition::Revision(1))
}

fn moving(patch: Patch, from: Vec<IndexKey>, to: Vec<IndexKey>) -> Patch {
    let moves = Some(Moves { from, to, expires: Some(Some(900)) });
    Patch { moves, ..patch }
}

fn updated(patch: &Patch) -> String {
    let update = update(patch, 100).unwrap();
    readable(&update.update, update.placeholders)
}

#[test]
fn updates_name_each_attribute_once() {
    let patch = delivery()
        .add("tries", 2)
        .add("tries", 3)
        .add("gone", 1)
        .remove("gone")
        .remove("status")
        .set("status", "open");
    assert_eq!(updated(&patch), "SET status = 'open' ADD tries 5, revision 1 REMOVE gone");
}

#[test]
fn a_sum_must_stay_a_number_that_can_be_read() {
    let patch = Patch::of(Kind::Usage, Key::new(Table::Usage, "acc_1", "2026-01-01")).add("n", 2);
    let update = update(&patch, 100).unwrap();
    assert_eq!(
        readable(&update.condition, update.placeholders),
        format!(
            "attribute_exists(accountId) AND (attribute_not_exists(n) OR n BETWEEN {} AND {})",
            i64::MIN,
            i64::MAX - 2
        )
    );
}

/// The shard is only the index's and goes; the time may be the record's and stays or goes with it.
#[test]
fn leaving_an_index_takes_away_what_is_never_the_records() {
    let due = || vec![IndexKey::new(Index::Due, "3", 500)];
    assert_eq!(
        updated(&moving(delivery(), due(), vec![])),
        "SET expiresAt = 900 ADD revision 1 REMOVE dueShard"
    );
    assert_eq!(
        updated(&moving(delivery().remove("dueAt"), due(), vec![])),
        "SET expiresAt = 900, derived.dueAt = true ADD revision 1 REMOVE dueAt, dueShard"
    );
    assert_eq!(
        updated(&moving(delivery().set("dueAt", 500), vec![], due())),
        "SET dueAt = 500, dueShard = '3', expiresAt = 900 ADD revision 1 \
         REMOVE derived.dueAt"
    );
}

#[test]
fn what_another_entry_needs_stays() {
    let inbox = IndexKey::new(Index::Inbox, "acc_1", "1#evt_1");
    let status = |status: &str| IndexKey::new(Index::EventStatus, "acc_1", status);
    let key = Key::new(Table::Events, "SRC#1", "EVT#1");
    let patch =
        moving(Patch::of(Kind::Event, key), vec![inbox, status("open#1")], vec![status("done#1")]);
    assert_eq!(
        updated(&patch),
        "SET expiresAt = 900, status#timestamp = 'done#1' ADD revision 1 \
         REMOVE timestamp#event_id"
    );
}

/// A paused schedule keeps its next run, and is not to be found by it.
#[test]
fn a_row_can_leave_an_index_and_keep_the_attributes() {
    let key = Key::new(Table::Schedules, "src_1", "sch_1");
    let next = || vec![IndexKey::alone(Index::ScheduleNextRun, 60)];
    let schedule = |from, to| {
        let moves = Moves { from, to, expires: None };
        Patch { moves: Some(moves), ..Patch::of(Kind::Schedule, key.clone()) }
    };
    assert_eq!(
        updated(&schedule(next(), vec![])),
        "SET unlisted = [\"nextRunAt-index\"] ADD revision 1"
    );
    assert_eq!(
        updated(&schedule(vec![], next())),
        "SET nextRunAt = 60 ADD revision 1 REMOVE unlisted"
    );

    let mut placeholders = Placeholders::default();
    let query = Query::index(Kind::Schedule, Index::ScheduleNextRun, 60);
    let filter = placeholders.filter(&query, 100);
    assert_eq!(
        readable(&filter, placeholders),
        "kind = 'schedule' AND (attribute_not_exists(unlisted) \
         OR NOT contains(unlisted, 'nextRunAt-index'))"
    );
}

#[test]
fn keys_are_never_updated() {
    let key = Key::new(Table::Members, "usr_1", "acc_1");
    let role = |role: &str| IndexKey::new(Index::MemberRole, "acc_1", role);
    let moves = Moves { from: vec![role("viewer")], to: vec![role("admin")], expires: None };
    let patch = Patch { moves: Some(moves), ..Patch::of(Kind::Member, key) };
    assert_eq!(
        updated(&patch.set("role", "admin")),
        "SET role = 'admin' ADD revision 1 REMOVE unlisted, derived.role"
    );
}

fn asked(query: &Query) -> Option<String> {
    let mut placeholders = Placeholders::default();
    let text = placeholders.key_condition(query)?;
    Some(readable(&text, placeholders))
}

#[test]
fn key_conditions() {
    let query = || Query::table(Kind::Source, "USER#1");
    let between = |from: Option<&str>, to: Option<&str>| {
        asked(&query().between(from.map(Part::from), to.map(Part::from)))
    };
    let all = Some("PK = 'USER#1'".to_owned());
    assert_eq!(asked(&query()), all);
    assert_eq!(asked(&query().prefix("")), all);
    assert_eq!(between(None, None), all);
    assert_eq!(
        asked(&query().prefix("SRC#")).unwrap(),
        "PK = 'USER#1' AND begins_with(SK, 'SRC#')"
    );
    assert_eq!(between(Some("a"), None).unwrap(), "PK = 'USER#1' AND SK >= 'a'");
    assert_eq!(between(Some(""), Some("b")).unwrap(), "PK = 'USER#1' AND SK <= 'b'");
    assert_eq!(between(Some("a"), Some("b")).unwrap(), "PK = 'USER#1' AND SK BETWEEN 'a' AND 'b'");
    assert_eq!(between(Some("b"), Some("a")), None);
    assert_eq!(between(None, Some("")), None);
    assert_eq!(asked(&Query::table(Kind::Source, "")), None);
    assert_eq!(
        asked(&Query::index(Kind::Schedule, Index::ScheduleNextRun, 60)).unwrap(),
        "nextRunAt = 60"
    );
}
