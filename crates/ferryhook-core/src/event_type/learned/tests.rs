use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::event_type::declared::Compiled;

const SETTLED: usize = limits::TYPE_SETTLED_SAMPLES as usize;
const VANISHED: usize = limits::TYPE_VANISHED_SAMPLES as usize;

fn learned(samples: impl IntoIterator<Item = Value>) -> Learned {
    let mut learned = Learned::default();
    for sample in samples {
        learned.learn(&sample);
    }
    learned
}

/// As lines: `kind path was>now`.
fn shown(changes: &[Change]) -> Vec<String> {
    let words = |types: &[JsonType]| types.iter().map(|one| one.as_str()).collect::<Vec<_>>();
    let line = |change: &Change| {
        let kind = format!("{:?}", change.kind).to_lowercase();
        let (was, now) = (words(&change.was).join("|"), words(&change.now).join("|"));
        format!("{kind} {} {was}>{now}", change.path)
    };
    changes.iter().map(line).collect()
}

fn many(sample: &Value, count: usize) -> Vec<Value> {
    vec![sample.clone(); count]
}

/// What each next sample gives rise to, after enough of the usual ones.
#[test]
fn what_is_different_is_told_and_told_once() {
    let usual = json!({"id": 1, "price": 2.5, "to": {"name": "a"}, "lines": [{"sku": "x"}]});
    let cases: [(&str, Value, &[&str]); 13] = [
        ("the same", usual.clone(), &[]),
        (
            "a new field",
            json!({"id": 1, "price": 2.5, "to": {"name": "a"}, "lines": [], "by": 1}),
            &["new /by >integer"],
        ),
        (
            "a new field further down",
            json!({"id": 1, "price": 1.0, "to": {"name": "a", "zip": "1"}, "lines": []}),
            &["new /to/zip >string"],
        ),
        (
            "a new field in an element",
            json!({"id": 1, "price": 1.0, "to": {"name": "a"}, "lines": [{"sku": "x", "n": 2}]}),
            &["new /lines/*/n >integer"],
        ),
        (
            "a new object is told, what is in it is not",
            json!({"id": 1, "price": 1.0, "to": {"name": "a"}, "lines": [], "by": {"name": "b"}}),
            &["new /by >object"],
        ),
        (
            "another type",
            json!({"id": "1", "price": 2.5, "to": {"name": "a"}, "lines": []}),
            &["retyped /id integer>string"],
        ),
        (
            "another type further down",
            json!({"id": 1, "price": 2.5, "to": {"name": ["a"]}, "lines": [{"sku": 5}]}),
            &["retyped /lines/*/sku string>integer", "retyped /to/name string>array"],
        ),
        (
            "an object that becomes a text",
            json!({"id": 1, "price": 2.5, "to": "a", "lines": []}),
            &["retyped /to object>string"],
        ),
        (
            "a whole amount is a number",
            json!({"id": 1, "price": 2, "to": {"name": "a"}, "lines": []}),
            &[],
        ),
        (
            "half an id is one as well",
            json!({"id": 1.5, "price": 2, "to": {"name": "a"}, "lines": []}),
            &[],
        ),
        ("null is like absent", json!({"id": null, "price": null, "to": null, "lines": null}), &[]),
        ("absent once", json!({"id": 1}), &[]),
        ("a list instead of the whole", json!([1]), &["retyped  object>array"]),
    ];
    for (name, next, expected) in cases {
        let mut learned = learned(many(&usual, SETTLED + 1));
        assert_eq!(shown(&learned.learn(&next)), expected, "{name}");
        for _ in 0..3 {
            assert!(learned.learn(&next).is_empty(), "{name}: once");
        }
    }
}

/// Nothing is different before it is known how it usually is.
#[test]
fn a_young_type_has_no_drift() {
    let mut learned = Learned::default();
    for number in 0..SETTLED {
        let next = match number % 3 {
            0 => json!({"a": 1}),
            1 => json!({"a": "1", format!("n{number}"): true}),
            _ => json!([]),
        };
        assert!(learned.learn(&next).is_empty(), "{number}");
    }
}

#[test]
fn a_field_that_nearly_all_had_vanishes_after_a_run() {
    let (with, without) = (json!({"a": 1, "b": 2}), json!({"a": 1}));
    for gone in [without, json!({"a": 1, "b": null})] {
        let mut learned = learned(many(&with, SETTLED));
        for _ in 1..VANISHED {
            assert!(learned.learn(&gone).is_empty());
        }
        assert_eq!(
            shown(&learned.learn(&gone))[0].split('>').next(),
            Some(if gone.get("b").is_some() {
                "vanished /b null|integer"
            } else {
                "vanished /b integer"
            })
        );
        // Once, also when it comes back and goes again.
        for next in many(&with, 20 * SETTLED).iter().chain(&many(&gone, 2 * VANISHED)) {
            assert!(learned.learn(next).is_empty());
        }
    }
}

/// With the object that it was in, only that has vanished.
#[test]
fn what_was_in_it_does_not_vanish_beside_it() {
    let mut learned = learned(many(&json!({"a": 1, "b": {"c": {"d": 1}}}), SETTLED));
    let changes: Vec<_> = (0..3 * VANISHED).flat_map(|_| learned.learn(&json!({"a": 1}))).collect();
    assert_eq!(shown(&changes), ["vanished /b object>"]);
}

#[test]
fn an_optional_field_may_come_and_go() {
    let mut learned = Learned::default();
    let mut changes = Vec::new();
    for number in 0..40 * SETTLED {
        // In runs that are longer than those after which a field has vanished.
        let has = (number / (VANISHED + 5)).is_multiple_of(2);
        let next = if has { json!({"a": 1, "b": 2}) } else { json!({"a": 1}) };
        let told = learned.learn(&next);
        // The first run is as long as it takes to be sure only if a type is young.
        changes.extend(told);
    }
    assert!(changes.is_empty(), "{:?}", shown(&changes));
}

/// A map by id: every name is new, and none of them means anything.
#[test]
fn names_that_are_ever_new_are_no_fields() {
    let mut learned = Learned::default();
    for number in 0..1_000 {
        let stock = json!({format!("sku{number}"): number, format!("sku{}", number + 1): 1});
        let changes = learned.learn(&json!({"id": number, "stock": stock}));
        assert!(changes.is_empty(), "{number}: {:?}", shown(&changes));
    }
    assert_eq!(learned.json_schema().unwrap()["properties"]["stock"], json!({"type": "object"}));
    assert_eq!(learned.paths(), 3);
}

#[test]
fn the_schema_says_what_was_seen() {
    let learned = learned([
        json!({"id": 1, "tags": [], "note": null, "a/b": {"~": 1, "*": 2}}),
        json!({"id": 1.5, "tags": ["x", 1], "note": "n", "by": {}, "a/b": {"~": 1}}),
    ]);
    assert_eq!(
        learned.json_schema().unwrap(),
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "a/b": {
                    "type": "object",
                    "properties": {"~": {"type": "integer"}, "*": {"type": "integer"}},
                    "required": ["~"],
                },
                "by": {"type": "object"},
                "id": {"type": "number"},
                "note": {"type": ["null", "string"]},
                "tags": {"type": "array", "items": {"type": ["integer", "string"]}},
            },
            "required": ["a/b", "id", "note", "tags"],
        })
    );
    assert_eq!(Learned::default().json_schema(), None);
}

#[test]
fn nothing_grows_without_end() {
    let deep = (0..100).fold(json!(1), |inner, _| json!({"a": inner}));
    let wide: crate::Map = (0..5_000).map(|n| (format!("f{n}"), json!({"x": n}))).collect();
    let long = json!({"x".repeat(limits::TYPE_PATH_BYTES_MAX): 1});
    let list = json!((0..50_000).map(|n| json!({format!("n{n}"): n})).collect::<Vec<_>>());
    let mut learned = learned([deep, wide.into(), long, list]);
    for number in 0..400 {
        learned.learn(&json!({"o": {format!("a{}", number % 90): {format!("b{number}"): 1}}}));
    }
    assert!(learned.paths() <= limits::TYPE_PATHS_MAX, "{}", learned.paths());
    let stored = serde_json::to_string(&learned).unwrap();
    assert!(stored.len() < crate::limits::ITEM_BYTES_MAX / 2);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..3).prop_map(Value::from),
        Just(json!(0.5)),
        "[a-c~/*]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c~/*]{0,2}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    /// The judge is the same that declared schemas are checked by.
    #[test]
    fn every_sample_is_valid_against_what_was_learned(samples in prop::collection::vec(any_json(), 1..12)) {
        let learned = learned(samples.clone());
        let schema = learned.json_schema().unwrap();
        let compiled = Compiled::of(&schema).unwrap();
        for sample in &samples {
            prop_assert_eq!(compiled.mismatches(sample), [], "{} {}", schema, sample);
        }
    }

    /// Whatever comes, a change of one kind at one path is told at most once; and it is stored as
    /// it was.
    #[test]
    fn no_change_is_told_twice(
        first in any_json(),
        rest in prop::collection::vec((any_json(), 1usize..60), 0..8),
    ) {
        let mut learned = learned(many(&first, SETTLED + 1));
        let mut told = Vec::new();
        for (sample, times) in rest {
            for _ in 0..times {
                for change in learned.learn(&sample) {
                    let key = (change.path, change.kind, change.now);
                    prop_assert!(!told.contains(&key), "{:?}", key);
                    told.push(key);
                }
            }
        }
        let stored = serde_json::to_string(&learned).unwrap();
        prop_assert_eq!(serde_json::from_str::<Learned>(&stored).unwrap(), learned);
    }

    /// The same over and over is never different.
    #[test]
    fn nothing_changes_where_nothing_is_different(sample in any_json()) {
        let mut learned = Learned::default();
        for _ in 0..100 {
            prop_assert_eq!(learned.learn(&sample), []);
        }
    }
}
