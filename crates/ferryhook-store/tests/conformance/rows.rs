//! Single rows and batches: what is written, what is refused, what comes back.

use ferryhook_core::{limits, samples};
use ferryhook_store::batch::Patch;
use ferryhook_store::{
    Batch, Condition, Durability, Index, IndexKey, Key, Kind, Record, StoreError, Stored, Table,
    Value,
};
use serde_json::json;

use crate::bench::{Bench, assert_malformed, assert_out_of_bounds, assert_refused_at};
use crate::probe::Probe;

fn patch(probe: &Probe) -> Patch {
    Patch::of(Kind::Event, probe.key())
}

pub(crate) async fn what_is_inserted_can_be_read(bench: Bench) {
    let probe = bench.probe("a").count(7).mail("m").wait(3).body("bytes");
    bench.insert(&probe).await;
    let read = bench.read(&probe).await;
    assert_eq!((read.record, read.revision), (probe, 1));
}

pub(crate) async fn what_was_never_written_is_absent(bench: Bench) {
    assert_eq!(bench.get(&bench.probe("a")).await, None);
}

pub(crate) async fn a_row_says_its_kind_and_shape(bench: Bench) {
    let probe = bench.probe("a");
    bench.insert(&probe).await;
    let row = bench.row(&probe.key()).await.unwrap();
    assert_eq!((row.kind, row.version, row.revision), (Kind::Event, 1, 1));
}

pub(crate) async fn a_buffered_commit_is_visible_at_once(bench: Bench) {
    let probe = bench.probe("a");
    let batch = Batch::new().insert(&probe);
    let committed = bench.engine.commit(batch, Durability::Buffered).await;
    committed.unwrap();
    assert!(bench.get(&probe).await.is_some());
    assert_eq!(bench.labels(probe.neighbours()).await, ["a"]);
}

pub(crate) async fn a_second_insert_is_refused_by_name(bench: Bench) {
    let (first, second) = (bench.probe("a").count(1), bench.probe("a").count(2));
    bench.insert(&first).await;
    let batch = Batch::new().insert(&bench.probe("b")).insert(&second);
    let error = bench.commit(batch).await.unwrap_err();
    let StoreError::Refused { action, key, condition } = error else { panic!("{error:?}") };
    assert_eq!((action, key, *condition), (1, first.key(), Condition::Absent));
    assert_eq!(bench.read(&first).await.record, first);
    assert_eq!(bench.get(&bench.probe("b")).await, None);
}

pub(crate) async fn an_expired_row_cannot_be_read(bench: Bench) {
    let probe = bench.probe("a").expires(bench.later(10));
    bench.insert(&probe).await;
    bench.advance(9);
    assert!(bench.get(&probe).await.is_some());
    bench.advance(1);
    assert_eq!(bench.get(&probe).await, None);
}

pub(crate) async fn an_expired_row_is_in_no_list(bench: Bench) {
    let gone = bench.probe("a").mail("m1").wait(1).expires(bench.later(10));
    let kept = bench.probe("b").mail("m2").wait(2);
    bench.insert_all(&[gone.clone(), kept]).await;
    assert_eq!(bench.labels(gone.neighbours()).await, ["a", "b"]);
    bench.advance(10);
    assert_eq!(bench.labels(gone.neighbours()).await, ["b"]);
    assert_eq!(bench.labels(gone.mails()).await, ["b"]);
    assert_eq!(bench.labels(gone.waits()).await, ["b"]);
}

pub(crate) async fn an_expired_row_may_be_inserted_again(bench: Bench) {
    let old = bench.probe("a").count(1).mail("old").expires(bench.later(10));
    bench.insert(&old).await;
    let new = bench.probe("a").count(2).expires(bench.later(100));
    assert_refused_at(bench.commit(Batch::new().insert(&new)).await, 0);
    bench.advance(10);
    bench.insert(&new).await;
    assert_eq!(bench.read(&new).await.record, new);
    // Nothing of the old one is left, not even where only it stood.
    assert!(bench.labels(new.mails()).await.is_empty());
}

pub(crate) async fn an_expired_row_cannot_be_changed(bench: Bench) {
    let probe = bench.probe("a").expires(bench.later(10));
    bench.insert(&probe).await;
    let was = bench.read(&probe).await;
    bench.advance(10);
    let now = probe.clone().count(1);
    assert_refused_at(bench.commit(Batch::new().replace(&was, &now)).await, 0);
    assert_refused_at(bench.commit(Batch::new().delete(&was)).await, 0);
    let add = Batch::new().patch(patch(&probe).add("count", 1));
    assert_refused_at(bench.commit(add).await, 0);
    let exists = Batch::new().require(probe.key(), Condition::Exists);
    assert_refused_at(bench.commit(exists).await, 0);
    let absent = Batch::new().require(probe.key(), Condition::Absent);
    bench.commit(absent).await.unwrap();
}

pub(crate) async fn expiry_can_be_put_off(bench: Bench) {
    let probe = bench.probe("a").expires(bench.later(10));
    bench.insert(&probe).await;
    let was = bench.read(&probe).await;
    let now = probe.clone().expires(bench.later(100));
    bench.commit(Batch::new().replace(&was, &now)).await.unwrap();
    bench.advance(50);
    assert_eq!(bench.read(&probe).await.record, now);
    assert_eq!(bench.labels(probe.neighbours()).await, ["a"]);
    bench.advance(50);
    assert_eq!(bench.get(&probe).await, None);
}

pub(crate) async fn expiry_can_be_lifted(bench: Bench) {
    let probe = bench.probe("a").expires(bench.later(10));
    bench.insert(&probe).await;
    let was = bench.read(&probe).await;
    let now = bench.probe("a");
    bench.commit(Batch::new().replace(&was, &now)).await.unwrap();
    bench.advance(1000);
    assert_eq!(bench.read(&probe).await.record, now);
}

pub(crate) async fn a_replacement_changes_what_differs(bench: Bench) {
    let probe = bench.probe("a").count(1).data(json!({"x": 1})).body("b");
    bench.insert(&probe).await;
    let was = bench.read(&probe).await;
    let now = bench.probe("a").count(2).label("new").body("b");
    bench.commit(Batch::new().replace(&was, &now)).await.unwrap();
    let read = bench.read(&probe).await;
    assert_eq!((read.record, read.revision), (now, 2));
}

pub(crate) async fn a_replacement_by_the_same_still_counts(bench: Bench) {
    let probe = bench.probe("a").mail("m");
    bench.insert(&probe).await;
    let was = bench.read(&probe).await;
    bench.commit(Batch::new().replace(&was, &probe)).await.unwrap();
    let read = bench.read(&probe).await;
    assert_eq!((read.record, read.revision), (probe, 2));
}

pub(crate) async fn a_stale_replacement_is_refused(bench: Bench) {
    let probe = bench.probe("a");
    bench.insert(&probe).await;
    let was = bench.read(&probe).await;
    let (first, second) = (probe.clone().count(1), probe.clone().count(2));
    bench.commit(Batch::new().replace(&was, &first)).await.unwrap();
    let error = bench.commit(Batch::new().replace(&was, &second)).await;
    match error {
        Err(StoreError::Refused { condition, .. }) => {
            assert_eq!(*condition, Condition::Revision(1))
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(bench.read(&probe).await.record, first);
}

pub(crate) async fn a_replacement_of_nothing_is_refused(bench: Bench) {
    let record = bench.probe("a");
    let was = Stored { record: record.clone(), revision: 1 };
    assert_refused_at(bench.commit(Batch::new().replace(&was, &record)).await, 0);
    assert_eq!(bench.get(&record).await, None);
}

pub(crate) async fn a_replacement_cannot_change_the_key(bench: Bench) {
    let probe = bench.probe("a");
    bench.insert(&probe).await;
    let was = bench.read(&probe).await;
    assert_malformed(bench.commit(Batch::new().replace(&was, &bench.probe("b"))).await);
}

pub(crate) async fn content_never_changes(bench: Bench) {
    let probe = bench.probe("a").body("before");
    bench.insert(&probe).await;
    let was = bench.read(&probe).await;
    let now = probe.clone().body("after");
    assert_malformed(bench.commit(Batch::new().replace(&was, &now)).await);
    assert_eq!(bench.read(&probe).await.record, probe);
}

pub(crate) async fn content_can_be_neither_patched_nor_asked_for(bench: Bench) {
    let probe = bench.probe("a").body("before");
    bench.insert(&probe).await;
    let was = bench.read(&probe).await;
    for name in Kind::Event.content().iter().copied() {
        for change in [
            patch(&probe).set(name, "after"),
            patch(&probe).add(name, 1),
            patch(&probe).remove(name),
        ] {
            assert_malformed(bench.commit(Batch::new().patch(change)).await);
        }
        let is = || Condition::Is(name.into(), "before".into());
        let asking = patch(&probe).when(is()).set("label", "new");
        assert_malformed(bench.commit(Batch::new().patch(asking)).await);
        assert_malformed(bench.commit(Batch::new().require(probe.key(), is())).await);
    }
    assert_eq!(bench.read(&probe).await, was);
}

pub(crate) async fn content_cannot_be_added_later(bench: Bench) {
    let probe = bench.probe("a");
    bench.insert(&probe).await;
    let was = bench.read(&probe).await;
    let now = probe.clone().body("after");
    assert_malformed(bench.commit(Batch::new().replace(&was, &now)).await);
    assert_eq!(bench.read(&probe).await, was);
}

pub(crate) async fn content_survives_a_change_of_the_rest(bench: Bench) {
    let probe = bench.probe("a").body(vec![0xff, 0x00, 0xfe]);
    bench.insert(&probe).await;
    for count in 1..5 {
        let was = bench.read(&probe).await;
        let now = was.record.clone().count(count);
        bench.commit(Batch::new().replace(&was, &now)).await.unwrap();
    }
    let read = bench.read(&probe).await;
    assert_eq!((read.revision, read.count), (5, 4));
    assert_eq!(read.body, probe.body);
    let listed = bench.page(probe.neighbours()).await;
    assert_eq!(listed.rows[0].body, probe.body);
}

pub(crate) async fn a_patch_sets_adds_and_removes(bench: Bench) {
    let probe = bench.probe("a").count(5).data(json!("x"));
    bench.insert(&probe).await;
    let change = patch(&probe).set("label", "new").add("count", -7).remove("data");
    bench.commit(Batch::new().patch(change)).await.unwrap();
    let read = bench.read(&probe).await;
    assert_eq!(read.record, bench.probe("a").label("new").count(-2));
    assert_eq!(read.revision, 2);
}

pub(crate) async fn adding_to_an_absent_attribute_begins_at_zero(bench: Bench) {
    let probe = bench.probe("a");
    bench.insert(&probe).await;
    let add = Batch::new().patch(patch(&probe).add("fresh", 3));
    bench.commit(add).await.unwrap();
    let row = bench.row(&probe.key()).await.unwrap();
    assert_eq!(row.item.get("fresh"), Some(&Value::from(3)));
}

pub(crate) async fn removing_an_absent_attribute_is_nothing(bench: Bench) {
    let probe = bench.probe("a");
    bench.insert(&probe).await;
    let remove = Batch::new().patch(patch(&probe).remove("nowhere"));
    bench.commit(remove).await.unwrap();
    assert_eq!(bench.read(&probe).await.record, probe);
}

pub(crate) async fn a_patch_of_nothing_is_refused(bench: Bench) {
    let probe = bench.probe("a");
    let add = Batch::new().patch(patch(&probe).add("count", 1));
    assert_refused_at(bench.commit(add).await, 0);
    assert_eq!(bench.get(&probe).await, None);
}

pub(crate) async fn a_patch_keeps_its_index_entries(bench: Bench) {
    let probe = bench.probe("a").mail("m").wait(1);
    bench.insert(&probe).await;
    let add = Batch::new().patch(patch(&probe).add("count", 1));
    bench.commit(add).await.unwrap();
    for query in [probe.mails(), probe.waits()] {
        let page = bench.page(query).await;
        assert_eq!(page.rows[0].count, 1);
        assert_eq!(page.rows[0].revision, 2);
    }
}

pub(crate) async fn a_patch_may_ask_for_a_value(bench: Bench) {
    let probe = bench.probe("a").count(5);
    bench.insert(&probe).await;
    let when = |label: &str, count: i64| {
        let is = Condition::Is("label".into(), label.into());
        Batch::new().patch(patch(&probe).when(is).add("count", count))
    };
    assert_refused_at(bench.commit(when("b", 1)).await, 0);
    bench.commit(when("a", 1)).await.unwrap();
    assert_eq!(bench.read(&probe).await.count, 6);
}

pub(crate) async fn asking_for_the_value_of_an_absent_attribute_is_refused(bench: Bench) {
    let probe = bench.probe("a");
    bench.insert(&probe).await;
    let is = Condition::Is("nowhere".into(), "x".into());
    let batch = Batch::new().patch(patch(&probe).when(is).add("count", 1));
    assert_refused_at(bench.commit(batch).await, 0);
}

pub(crate) async fn a_patch_may_ask_for_a_revision(bench: Bench) {
    let probe = bench.probe("a");
    bench.insert(&probe).await;
    let at = |revision| {
        let change = patch(&probe).when(Condition::Revision(revision));
        Batch::new().patch(change.add("count", 1))
    };
    assert_refused_at(bench.commit(at(2)).await, 0);
    bench.commit(at(1)).await.unwrap();
    bench.commit(at(2)).await.unwrap();
    assert_eq!(bench.read(&probe).await.count, 2);
}

pub(crate) async fn a_patch_cannot_ask_for_absence(bench: Bench) {
    let change = patch(&bench.probe("a")).when(Condition::Absent).add("count", 1);
    assert_malformed(bench.commit(Batch::new().patch(change)).await);
}

pub(crate) async fn an_attribute_cannot_be_changed_twice_in_a_patch(bench: Bench) {
    let probe = bench.probe("a");
    bench.insert(&probe).await;
    let twice = patch(&probe).set("count", 1).add("count", 1);
    assert_malformed(bench.commit(Batch::new().patch(twice)).await);
    let twice = patch(&probe).set("label", "x").remove("label");
    assert_malformed(bench.commit(Batch::new().patch(twice)).await);
}

pub(crate) async fn a_sum_beyond_the_largest_number_is_refused(bench: Bench) {
    let probe = bench.probe("a").count(i64::MAX);
    bench.insert(&probe).await;
    let batch = Batch::new().insert(&bench.probe("b")).patch(patch(&probe).add("count", 1));
    bench.commit(batch).await.unwrap_err();
    assert_eq!(bench.read(&probe).await.record, probe);
    assert_eq!(bench.get(&bench.probe("b")).await, None);
}

pub(crate) async fn adding_to_text_is_refused(bench: Bench) {
    let probe = bench.probe("a");
    bench.insert(&probe).await;
    let add = Batch::new().patch(patch(&probe).add("label", 1));
    bench.commit(add).await.unwrap_err();
    assert_eq!(bench.read(&probe).await.record, probe);
}

pub(crate) async fn what_is_deleted_is_gone_from_everywhere(bench: Bench) {
    let probe = bench.probe("a").mail("m").wait(1).body("b");
    bench.insert(&probe).await;
    let was = bench.read(&probe).await;
    bench.commit(Batch::new().delete(&was)).await.unwrap();
    assert_eq!(bench.get(&probe).await, None);
    for query in [probe.neighbours(), probe.mails(), probe.waits()] {
        assert!(bench.labels(query).await.is_empty());
    }
}

pub(crate) async fn what_was_deleted_can_be_inserted_again(bench: Bench) {
    let probe = bench.probe("a").body("old");
    bench.insert(&probe).await;
    let was = bench.read(&probe).await;
    bench.commit(Batch::new().delete(&was)).await.unwrap();
    let again = bench.probe("a").count(2);
    bench.insert(&again).await;
    assert_eq!(bench.read(&probe).await.record, again);
}

pub(crate) async fn a_stale_deletion_is_refused(bench: Bench) {
    let probe = bench.probe("a").mail("m");
    bench.insert(&probe).await;
    let was = bench.read(&probe).await;
    let add = Batch::new().patch(patch(&probe).add("count", 1));
    bench.commit(add).await.unwrap();
    assert_refused_at(bench.commit(Batch::new().delete(&was)).await, 0);
    assert_eq!(bench.labels(probe.mails()).await, ["a"]);
}

pub(crate) async fn a_second_deletion_is_refused(bench: Bench) {
    let probe = bench.probe("a");
    bench.insert(&probe).await;
    let was = bench.read(&probe).await;
    bench.commit(Batch::new().delete(&was)).await.unwrap();
    assert_refused_at(bench.commit(Batch::new().delete(&was)).await, 0);
}

pub(crate) async fn requirements_decide_over_the_batch(bench: Bench) {
    let there = bench.probe("there").label("x");
    bench.insert(&there).await;
    let absent = bench.probe("absent").key();
    let is = |value: &str| Condition::Is("label".into(), value.into());
    let cases = [
        (there.key(), Condition::Exists, true),
        (there.key(), Condition::Absent, false),
        (there.key(), Condition::Revision(1), true),
        (there.key(), Condition::Revision(2), false),
        (there.key(), is("x"), true),
        (there.key(), is("y"), false),
        (absent.clone(), Condition::Absent, true),
        (absent.clone(), Condition::Exists, false),
        (absent.clone(), Condition::Revision(1), false),
        (absent, is("x"), false),
    ];
    for (place, (key, condition, holds)) in cases.into_iter().enumerate() {
        let probe = bench.probe(&format!("new{place}"));
        let batch = Batch::new().insert(&probe).require(key, condition);
        match holds {
            true => bench.commit(batch).await.unwrap(),
            false => assert_refused_at(bench.commit(batch).await, 1),
        }
        assert_eq!(bench.get(&probe).await.is_some(), holds, "{place}");
    }
    assert_eq!(bench.read(&there).await.revision, 1);
}

/// Everything that a batch can do, undone by its last action.
pub(crate) async fn a_batch_with_one_failing_action_does_nothing(bench: Bench) {
    let (changed, deleted) = (bench.probe("changed").mail("m1"), bench.probe("deleted"));
    let (patched, there) = (bench.probe("patched"), bench.probe("there"));
    let all = [changed.clone(), deleted.clone(), patched.clone(), there.clone()];
    bench.insert_all(&all).await;
    let (was_changed, was_deleted) = (bench.read(&changed).await, bench.read(&deleted).await);
    let batch = Batch::new()
        .insert(&bench.probe("new").mail("m2"))
        .replace(&was_changed, &changed.clone().mail("m3"))
        .patch(patch(&patched).add("count", 1))
        .delete(&was_deleted)
        .insert(&there);
    assert_refused_at(bench.commit(batch).await, 4);
    for probe in &all {
        let read = bench.read(probe).await;
        assert_eq!((&read.record, read.revision), (probe, 1));
    }
    assert_eq!(bench.labels(changed.mails()).await, ["changed"]);
    assert_eq!(bench.labels(changed.neighbours()).await.len(), 4);
}

pub(crate) async fn the_first_failing_action_is_named(bench: Bench) {
    let there = bench.probe("there");
    bench.insert(&there).await;
    let batch = Batch::new()
        .insert(&bench.probe("new"))
        .insert(&there)
        .require(bench.probe("absent").key(), Condition::Exists);
    assert_refused_at(bench.commit(batch).await, 1);
}

/// One batch over several tables and partitions is still one.
pub(crate) async fn a_batch_may_span_tables(bench: Bench) {
    let probe = bench.probe("a");
    let (mut account, mut member) = (samples::account(), samples::member());
    account.id = bench.id();
    member.account_id = account.id;
    member.user_id = bench.id();
    let batch = |probe: &Probe| {
        let batch = Batch::new().insert(&account).insert(&member);
        batch.insert(probe)
    };
    bench.insert(&probe).await;
    assert_refused_at(bench.commit(batch(&probe)).await, 2);
    assert!(bench.row(&account.key()).await.is_none());
    bench.commit(batch(&bench.probe("b"))).await.unwrap();
    assert!(bench.row(&account.key()).await.is_some());
    assert!(bench.row(&member.key()).await.is_some());
}

fn many(bench: &Bench, count: usize) -> Vec<Probe> {
    let sorts = (0..count).map(|number| format!("{number:04}"));
    sorts.map(|sort| bench.probe(&sort)).collect()
}

pub(crate) async fn a_batch_may_have_a_hundred_actions(bench: Bench) {
    let probes = many(&bench, limits::batch::ACTIONS_MAX);
    let batch = probes.iter().fold(Batch::new(), Batch::insert);
    bench.commit(batch).await.unwrap();
    assert_eq!(bench.labels(probes[0].neighbours()).await.len(), 100);
}

pub(crate) async fn a_batch_of_more_than_a_hundred_actions_is_refused(bench: Bench) {
    let probes = many(&bench, limits::batch::ACTIONS_MAX + 1);
    let batch = probes.iter().fold(Batch::new(), Batch::insert);
    assert_out_of_bounds(bench.commit(batch).await);
    assert!(bench.labels(probes[0].neighbours()).await.is_empty());
}

pub(crate) async fn an_empty_batch_is_refused(bench: Bench) {
    assert_out_of_bounds(bench.commit(Batch::new()).await);
}

pub(crate) async fn a_batch_cannot_name_a_row_twice(bench: Bench) {
    let probe = bench.probe("a");
    let batch = Batch::new().insert(&probe).insert(&probe);
    assert_malformed(bench.commit(batch).await);
    let batch = Batch::new().require(probe.key(), Condition::Absent).insert(&probe);
    assert_malformed(bench.commit(batch).await);
    assert_eq!(bench.get(&probe).await, None);
}

/// A little below the bound, because what DynamoDB adds (keys, index entries) counts there too.
pub(crate) async fn an_item_may_nearly_fill_its_bound(bench: Bench) {
    let bytes = vec![0xfe; limits::ITEM_BYTES_MAX - 2048];
    let probe = bench.probe("a").mail("m").body(bytes);
    bench.insert(&probe).await;
    assert_eq!(bench.read(&probe).await.record, probe);
}

pub(crate) async fn an_item_over_its_bound_is_refused(bench: Bench) {
    let probe = bench.probe("a").body(vec![b'x'; limits::ITEM_BYTES_MAX]);
    assert_out_of_bounds(bench.commit(Batch::new().insert(&probe)).await);
    assert_eq!(bench.get(&probe).await, None);
}

pub(crate) async fn a_change_cannot_grow_an_item_over_its_bound(bench: Bench) {
    let probe = bench.probe("a").body(vec![0xfe; limits::ITEM_BYTES_MAX - 4096]);
    let other = bench.probe("b");
    bench.insert_all(&[probe.clone(), other.clone()]).await;
    let grow = |bytes: usize| {
        let large = patch(&probe).set("label", "x".repeat(bytes));
        Batch::new().patch(patch(&other).add("count", 1)).patch(large)
    };
    assert_out_of_bounds(bench.commit(grow(8192)).await);
    assert_eq!(bench.read(&probe).await, Stored { record: probe.clone(), revision: 1 });
    assert_eq!(bench.read(&other).await, Stored { record: other.clone(), revision: 1 });
    bench.commit(grow(1024)).await.unwrap();
    assert_eq!(bench.read(&probe).await.label.len(), 1024);
    assert_eq!(bench.read(&other).await.count, 1);
}

pub(crate) async fn a_batch_over_its_bytes_is_refused(bench: Bench) {
    let probes: Vec<_> =
        many(&bench, 11).into_iter().map(|probe| probe.body(vec![b'x'; 390 * 1024])).collect();
    let batch = probes.iter().fold(Batch::new(), Batch::insert);
    assert_out_of_bounds(bench.commit(batch).await);
    assert_eq!(bench.get(&probes[0]).await, None);
}

pub(crate) async fn a_key_cannot_be_empty(bench: Bench) {
    assert_malformed(bench.commit(Batch::new().insert(&bench.probe(""))).await);
    let nowhere = Probe::new(String::new(), "a");
    assert_malformed(bench.commit(Batch::new().insert(&nowhere)).await);
    let no_entry = bench.probe("a").mail("");
    assert_malformed(bench.commit(Batch::new().insert(&no_entry)).await);
    assert_malformed(bench.engine.get(&Key::new(Table::Events, "", "a")).await);
}

pub(crate) async fn a_key_may_be_as_long_as_its_bound(bench: Bench) {
    let mut probe = bench.probe(&"s".repeat(limits::SORT_KEY_BYTES_MAX));
    let fill = limits::PARTITION_KEY_BYTES_MAX - probe.partition.len();
    probe.partition.push_str(&"p".repeat(fill));
    bench.insert(&probe).await;
    assert_eq!(bench.read(&probe).await.record, probe);
}

pub(crate) async fn a_key_over_its_bound_is_refused(bench: Bench) {
    let long_sort = bench.probe(&"s".repeat(limits::SORT_KEY_BYTES_MAX + 1));
    let long_partition = Probe::new("p".repeat(limits::PARTITION_KEY_BYTES_MAX + 1), "a");
    let long_entry = bench.probe("a").mail(&"m".repeat(limits::SORT_KEY_BYTES_MAX + 1));
    for probe in [long_sort, long_partition, long_entry] {
        assert_out_of_bounds(bench.commit(Batch::new().insert(&probe)).await);
    }
}

pub(crate) async fn a_key_has_the_parts_its_table_has(bench: Bench) {
    let without = Key::alone(Table::Events, bench.own("p"));
    assert_malformed(bench.engine.get(&without).await);
    let with = Key::new(Table::Ledger, bench.own("p"), "sort");
    assert_malformed(bench.engine.get(&with).await);
}

/// A record whose index entries are not those of its table.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Misplaced {
    name: String,
    entry: u8,
}

impl Record for Misplaced {
    const KIND: Kind = Kind::Event;

    fn key(&self) -> Key {
        Key::new(Table::Events, &*self.name, "x")
    }

    fn indexes(&self) -> Vec<IndexKey> {
        vec![match self.entry {
            0 => IndexKey::new(Index::UserByEmail, "p", "s"),
            1 => IndexKey::new(Index::Pending, "p", "text"),
            2 => IndexKey::new(Index::Inbox, 1, "s"),
            _ => IndexKey::alone(Index::Inbox, "p"),
        }]
    }
}

pub(crate) async fn an_index_entry_has_to_fit_its_index(bench: Bench) {
    for entry in 0..4 {
        let name = bench.own("p");
        let misplaced = Misplaced { name, entry };
        assert_malformed(bench.commit(Batch::new().insert(&misplaced)).await);
        assert!(bench.row(&misplaced.key()).await.is_none());
    }
}

async fn comes_back(bench: &Bench, sort: &str, probe: Probe) {
    let probe = Probe { sort: sort.to_owned(), ..probe };
    bench.insert(&probe).await;
    assert_eq!(bench.read(&probe).await.record, probe);
    let listed = bench.page(probe.neighbours().exactly(sort)).await;
    assert_eq!(listed.rows[0].record, probe);
}

pub(crate) async fn any_text_comes_back(bench: Bench) {
    let texts = ["", "\0", "a\0b", "ü 漢字 🦀", "\u{10ffff}", "\r\n\t", "\"\\/", "#~"];
    for (place, text) in texts.into_iter().enumerate() {
        comes_back(&bench, &format!("{place}"), bench.probe("x").label(text)).await;
    }
}

pub(crate) async fn any_text_can_be_a_key(bench: Bench) {
    for text in ["\0", "a\0b", "a", "ü", "🦀", "\u{10ffff}", "~", "#"] {
        let probe = bench.probe(text).mail(text).label(text);
        bench.insert(&probe).await;
        assert_eq!(bench.read(&probe).await.record, probe);
    }
    // By their UTF-8 bytes, which is the order of their characters.
    let sorted = ["\0", "#", "a", "a\0b", "~", "ü", "🦀", "\u{10ffff}"];
    let probe = bench.probe("a");
    assert_eq!(bench.labels(probe.neighbours()).await, sorted);
    assert_eq!(bench.labels(probe.mails()).await, sorted);
}

/// Where one partition's name begins with another's, or ends where a sort key begins.
pub(crate) async fn partitions_do_not_run_into_each_other(bench: Bench) {
    let names = ["p", "p\0", "p\0a", "pa", "p#", "p\u{1}"];
    for name in names {
        let probe = bench.probe_in(name, "x").label(name).mail("x").wait(0);
        bench.insert(&probe).await;
    }
    for name in names {
        let probe = bench.probe_in(name, "x");
        for query in [probe.neighbours(), probe.mails(), probe.waits()] {
            assert_eq!(bench.labels(query).await, [name]);
        }
    }
}

pub(crate) async fn any_bytes_come_back(bench: Bench) {
    let all: Vec<u8> = (0..=255).collect();
    for (place, bytes) in [vec![0xff], vec![0, 0xff, 0], all].into_iter().enumerate() {
        comes_back(&bench, &format!("{place}"), bench.probe("x").body(bytes)).await;
    }
    comes_back(&bench, "text", bench.probe("x").body("plain \0 text")).await;
}

pub(crate) async fn empty_values_come_back(bench: Bench) {
    let data = json!({"text": "", "list": [], "map": {}, "null": null, "in": [[], {}, "", null]});
    comes_back(&bench, "a", bench.probe("x").data(data)).await;
    comes_back(&bench, "b", bench.probe("x").data(json!([]))).await;
    comes_back(&bench, "c", bench.probe("x").data(json!({}))).await;
}

pub(crate) async fn deep_values_come_back(bench: Bench) {
    // One level is the attribute itself.
    let deep = |levels: usize| (1..levels).fold(json!("core"), |inner, _| json!({ "in": inner }));
    let max = limits::ITEM_DEPTH_MAX;
    comes_back(&bench, "a", bench.probe("x").data(deep(max))).await;
    let over = bench.probe("b").data(deep(max + 1));
    assert_out_of_bounds(bench.commit(Batch::new().insert(&over)).await);
}

pub(crate) async fn any_number_comes_back(bench: Bench) {
    let numbers = json!([
        0,
        1,
        -1,
        i64::MAX,
        i64::MIN,
        u64::MAX,
        9_007_199_254_740_993_u64,
        0.5,
        -0.1,
        1e-100,
        1.7976931348623157e100,
        0.30000000000000004
    ]);
    comes_back(&bench, "a", bench.probe("x").data(numbers)).await;
    comes_back(&bench, "b", bench.probe("x").count(i64::MIN)).await;
    comes_back(&bench, "c", bench.probe("x").count(i64::MAX)).await;
}

pub(crate) async fn a_number_no_engine_keeps_is_refused(bench: Bench) {
    for number in [json!(1e126), json!(1e-131)] {
        let probe = bench.probe("a").data(number);
        assert_out_of_bounds(bench.commit(Batch::new().insert(&probe)).await);
    }
}

pub(crate) async fn truth_values_come_back(bench: Bench) {
    comes_back(&bench, "a", bench.probe("x").data(json!([true, false]))).await;
}

pub(crate) async fn revisions_count_every_write(bench: Bench) {
    let probe = bench.probe("a").mail("m0");
    bench.insert(&probe).await;
    for revision in 1..=5 {
        let was = bench.read(&probe).await;
        assert_eq!(was.revision, revision * 2 - 1);
        let now = was.record.clone().mail(&format!("m{revision}"));
        bench.commit(Batch::new().replace(&was, &now)).await.unwrap();
        let add = Batch::new().patch(patch(&probe).add("count", 1));
        bench.commit(add).await.unwrap();
    }
    assert_eq!(bench.read(&probe).await.revision, 11);
}

pub(crate) async fn a_requirement_does_not_count_as_a_write(bench: Bench) {
    let probe = bench.probe("a");
    bench.insert(&probe).await;
    let batch = Batch::new().require(probe.key(), Condition::Exists);
    bench.commit(batch).await.unwrap();
    assert_eq!(bench.read(&probe).await.revision, 1);
}
