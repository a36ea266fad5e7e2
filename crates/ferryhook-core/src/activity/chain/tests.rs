//! The vectors were computed by another program, from the description of the form alone.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{Activity, Map, samples};

fn at(line: &Activity) -> String {
    hash(line, Link { number: line.number.unwrap_or(1), previous: line.previous_hash.as_deref() })
}

fn bare() -> Activity {
    Activity {
        user_id: None,
        event_type: "login".to_owned(),
        resource: "user".to_owned(),
        resource_id: None,
        action: String::new(),
        details: None,
        ip_address: None,
        user_agent: None,
        number: None,
        previous_hash: None,
        hash: None,
        ..samples::activity()
    }
}

#[test]
fn the_hash_is_what_another_program_computes() {
    let full = "4cede0a6a0be08c241d190b9521abc53434ddd01f7debeb0f033bab21463ec6e";
    assert_eq!(at(&samples::activity()), full);
    let empty = "149bb9a9b975aa86ac27c0bd4fde883af2fba8bd240d685dcfd11dcb4264cbea";
    assert_eq!(at(&bare()), empty);
}

/// In whatever order they were written, and however a number is spelled.
#[test]
fn details_have_one_spelling() {
    let spelled = [
        r#"{"d":1e20,"c":18446744073709551615,"b":3.0,"a":[1,2.5,null,true,{"x":"\"é\n"}]}"#,
        r#"{"a":[1.0,25e-1,null,true,{"x":"\"é\n"}],"b":3,"c":18446744073709551615,"d":1e20}"#,
    ];
    for text in spelled {
        let details: Map = serde_json::from_str(text).unwrap();
        let line = Activity { details: Some(details), ..bare() };
        let known = "4a6aa37d1993e323a8a6ee760cc1581a3651d79298775bbf74b7537302190e69";
        assert_eq!(at(&line), known, "{text}");
    }
}

#[test]
fn what_is_absent_is_not_what_is_empty() {
    let empty = |text: &str| Some(text.to_owned());
    let lines = [
        bare(),
        Activity { resource_id: empty(""), ..bare() },
        Activity { ip_address: empty(""), ..bare() },
        Activity { user_agent: empty(""), ..bare() },
        Activity { details: Some(Map::new()), ..bare() },
        // Nor can one part be taken for the next.
        Activity { resource: "user\nresourceId:0:".to_owned(), ..bare() },
    ];
    let mut hashes: Vec<_> = lines.iter().map(at).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), lines.len());
}

/// One line with one attribute changed to something else, whichever it is.
fn changed() -> impl Strategy<Value = (Activity, &'static str)> {
    let text = ".{0,12}".prop_map(|text| format!("{text}!"));
    (0..12usize, text, 1..1_000_000u64).prop_map(|(which, text, number)| {
        let line = samples::activity();
        let moved =
            |at: crate::Timestamp| crate::Timestamp::from_seconds(at.as_seconds() + number as i64);
        match which {
            0 => (Activity { at: moved(line.at), ..line }, "at"),
            1 => (Activity { user_id: None, ..line }, "user"),
            2 => (Activity { event_type: text, ..line }, "type"),
            3 => (Activity { resource: text, ..line }, "resource"),
            4 => (Activity { resource_id: Some(text), ..line }, "resourceId"),
            5 => (Activity { action: text, ..line }, "action"),
            6 => {
                let details = json!({ "after": { "name": text } });
                (Activity { details: details.as_object().cloned(), ..line }, "details")
            }
            7 => (Activity { ip_address: Some(text), ..line }, "ip"),
            8 => (Activity { user_agent: Some(text), ..line }, "agent"),
            9 => (Activity { number: Some(number + 2), ..line }, "number"),
            10 => (Activity { previous_hash: Some(text), ..line }, "previous"),
            _ => (Activity { id: line.id.following(), ..line }, "id"),
        }
    })
}

proptest! {
    #[test]
    fn any_change_changes_the_hash((line, what) in changed()) {
        prop_assert_ne!(at(&line), at(&samples::activity()), "{}", what);
    }
}
