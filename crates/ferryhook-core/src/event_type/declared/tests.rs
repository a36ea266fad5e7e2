use serde_json::json;

use super::*;

fn refused(schema: &Value) -> (String, String) {
    match Compiled::of(schema) {
        Ok(_) => panic!("{schema} was taken"),
        Err(bad) => (bad.pointer, bad.reason),
    }
}

#[test]
fn a_mismatch_says_where_and_nothing_of_the_value() {
    let schema = json!({
        "type": "object",
        "required": ["id"],
        "properties": {
            "id": {"type": "integer"},
            "mail": {"$ref": "#/$defs/mail"},
            "lines": {"items": {"properties": {"sku": {"type": "string"}}}},
        },
        "$defs": {"mail": {"pattern": "^[^@]+@[^@]+$"}},
    });
    let compiled = Compiled::of(&schema).unwrap();
    assert_eq!(compiled.mismatches(&json!({"id": 1, "mail": "a@b", "lines": [{"sku": "x"}]})), []);
    let wrong = json!({"mail": "hush", "lines": [{"sku": "x"}, {"sku": 4711}]});
    let wrong = compiled.mismatches(&wrong);
    let mut pointers: Vec<_> = wrong.iter().map(|one| one.pointer.as_str()).collect();
    pointers.sort_unstable();
    assert_eq!(pointers, ["", "/lines/1/sku", "/mail"]);
    let told = format!("{wrong:?}");
    assert!(told.contains(r#"\"id\" is a required property"#), "{told}");
    assert!(!told.contains("hush") && !told.contains("4711"), "{told}");
}

#[test]
fn only_the_first_few_are_told() {
    let compiled = Compiled::of(&json!({"items": {"type": "string"}})).unwrap();
    let wrong = compiled.mismatches(&json!(vec![1; 1000]));
    assert_eq!(wrong.len(), limits::MISMATCHES_TOLD);
}

#[test]
fn what_is_no_schema_is_refused_with_its_place() {
    let table = [
        (json!([]), "", "a schema is an object"),
        (json!({"type": "objekt"}), "/type", ""),
        (json!({"properties": {"a": {"minimum": "1"}}}), "/properties/a/minimum", ""),
        (json!({"properties": {"a": 5}}), "/properties/a", ""),
        (json!({"pattern": "("}), "/pattern", ""),
        (json!({"pattern": "(?=a)"}), "/pattern", ""),
        (json!({"$ref": "https://example.com/x.json"}), "/$ref", "nothing is fetched"),
        (json!({"items": {"$ref": "other.json#/a"}}), "/items/$ref", "nothing is fetched"),
        (json!({"$ref": "file:///etc/passwd"}), "/$ref", "nothing is fetched"),
        (json!({"$ref": "#/$defs/none"}), "/$ref", "there is nothing"),
        (json!({"$ref": "#named"}), "/$ref", "plain JSON pointer"),
        (json!({"$schema": "https://example.com/mine"}), "/$schema", "the dialects are"),
        (json!({"items": {"$id": "x"}}), "/items/$id", "only the whole"),
        (json!({"$dynamicRef": "#x"}), "/$dynamicRef", "not understood"),
    ];
    for (schema, pointer, reason) in table {
        let (at, said) = refused(&schema);
        assert_eq!(at, pointer, "{schema}: {said}");
        assert!(said.contains(reason), "{schema}: {said}");
    }
    let (_, said) = refused(&json!({"description": "x".repeat(limits::SCHEMA_BYTES_MAX)}));
    assert!(said.contains("bytes"), "{said}");
}

/// Whoever could make a check endless, or exponential, could stop the door.
#[test]
fn what_could_hold_the_door_up_is_refused() {
    for round in [
        json!({"$ref": "#"}),
        json!({"properties": {"a": {"$ref": "#"}}}),
        json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}}),
        json!({"$defs": {"a": {"properties": {"x": {"$ref": "#/$defs/a"}}}}}),
    ] {
        let (_, said) = refused(&round);
        assert_eq!(said, "it comes back to itself");
    }
    let twice = |next: usize| {
        let next = json!({"$ref": format!("#/$defs/n{next}")});
        json!({"allOf": [next, next]})
    };
    let mut defs: crate::Map = (0..30).map(|n| (format!("n{n}"), twice(n + 1))).collect();
    defs.insert("n30".to_owned(), json!({"type": "string"}));
    let (_, said) = refused(&json!({"$ref": "#/$defs/n0", "$defs": defs}));
    assert!(said.contains("more than"), "{said}");
    let deep = (0..100).fold(json!({}), |inner, _| json!({"not": inner}));
    let (_, said) = refused(&deep);
    assert!(said.contains("deeper"), "{said}");
}

/// What one takes, of a budget that nothing was taken from.
fn steps(compiled: &Compiled, content: &Value) -> Result<usize, TooLong> {
    compiled.spend(content, &mut Budget::default())
}

/// A large event against a large schema is not looked at.
#[test]
fn a_check_has_an_end() {
    let parts: Vec<_> = (0..500).map(|n| json!({"maximum": n + 1_000_000})).collect();
    let compiled = Compiled::of(&json!({"items": {"allOf": parts}})).unwrap();
    assert!(steps(&compiled, &json!(vec![1; 5_000])).is_ok());
    assert_eq!(steps(&compiled, &json!(vec![1; 50_000])), Err(TooLong));
    // All that came together share what there is, and none that is too dear takes it from others.
    let mut budget = Budget::default();
    let half = json!(vec![1; 5_000]);
    assert!(compiled.spend(&half, &mut budget).is_ok());
    assert_eq!(compiled.spend(&half, &mut budget), Err(TooLong));
    assert!(compiled.spend(&json!(vec![1; 500]), &mut budget).is_ok());
}

/// A text is one value and can be long, a name as well, and a pattern looks at all of it.
#[test]
fn texts_count_by_their_length() {
    let parts: Vec<_> = (0..700).map(|n| json!({"pattern": format!("[a-y]+{n}$")})).collect();
    let compiled = Compiled::of(&json!({"properties": {"a": {"allOf": parts}}})).unwrap();
    let long = "z".repeat(350_000);
    assert_eq!(steps(&compiled, &json!({"a": long})), Err(TooLong));
    assert_eq!(steps(&compiled, &json!({long: 1})), Err(TooLong));
    assert!(steps(&compiled, &json!({"a": "z".repeat(1_000)})).is_ok());

    let one = Compiled::of(&json!({"properties": {"a": {"pattern": "^[a-z]+$"}}})).unwrap();
    assert!(steps(&one, &json!({"a": "z".repeat(350_000)})).is_ok());
    let named = Compiled::of(&json!({"patternProperties": {"^[a-z]+$": {}}})).unwrap();
    let dear = Compiled::of(&json!({"pattern": "^(a|b)*a(a|b){400}$"})).unwrap();
    assert!(named.work.of_a_text > 1 && dear.work.of_a_text > one.work.of_a_text);
}

/// A schema that has no use for texts does not read them.
#[test]
fn a_long_text_that_nobody_reads_costs_nothing() {
    let parts: Vec<_> = (0..500).map(|n| json!({"maximum": n})).collect();
    let compiled = Compiled::of(&json!({"items": {"allOf": parts}})).unwrap();
    let short = steps(&compiled, &json!(["z"])).unwrap();
    assert_eq!(steps(&compiled, &json!(["z".repeat(1_000_000)])), Ok(short));
}

/// So does what a value is compared with.
#[test]
fn what_is_listed_counts() {
    let words: Vec<_> = (0..3_000).map(|n| format!("w{n}")).collect();
    let compiled = Compiled::of(&json!({"items": {"enum": words}})).unwrap();
    assert!(steps(&compiled, &json!(vec!["w1"; 100])).is_ok());
    assert_eq!(steps(&compiled, &json!(vec!["w2999"; 20_000])), Err(TooLong));
}

#[test]
fn both_dialects_are_understood() {
    let old = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"a": {"type": "string"}},
        "items": [{"$ref": "#/definitions/a"}],
    });
    let compiled = Compiled::of(&old).unwrap();
    assert_eq!(compiled.mismatches(&json!(["x", 1])), []);
    assert_eq!(compiled.mismatches(&json!([1])).len(), 1);
}
