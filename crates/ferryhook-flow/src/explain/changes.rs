//! How one shape of an event differs from another, for people to read.

use ferryhook_core::explained::Change;
use ferryhook_core::{Event, Headers};
use serde_json::Value;

/// Differences that are listed, how deep they are looked for, and how much of a value is shown.
const CHANGES_MAX: usize = 50;
const DEPTH_MAX: usize = 32;
const VALUE_CHARACTERS_MAX: usize = 200;

/// The first of them, if there are very many. Path and query are not among them: where an event
/// goes is up to the connection alone.
pub(super) fn between(before: &Event, after: &Event) -> Vec<Change> {
    let mut found = Found(Vec::new());
    found.texts("method", before.method.as_deref(), after.method.as_deref());
    found.headers(&before.headers, &after.headers);
    if before.body != after.body {
        match (json(before), json(after)) {
            (Some(was), Some(is)) => {
                found.values("body", Some(&was), Some(&is), DEPTH_MAX);
                if was == is {
                    found.put("body", Some("the same JSON"), Some("written differently"));
                }
            }
            _ => found.put("body", Some(&shown(before)), Some(&shown(after))),
        }
    }
    found.0
}

fn json(event: &Event) -> Option<Value> {
    serde_json::from_slice(event.body.as_bytes()).ok()
}

fn shown(event: &Event) -> String {
    match event.body.as_text() {
        Some(text) => text.to_owned(),
        None => format!("{} bytes that are not text", event.body.len()),
    }
}

struct Found(Vec<Change>);

impl Found {
    fn put(&mut self, at: &str, before: Option<&str>, after: Option<&str>) {
        if self.0.len() < CHANGES_MAX {
            let (before, after) = (before.map(cut), after.map(cut));
            self.0.push(Change { at: at.to_owned(), before, after });
        }
    }

    fn texts(&mut self, at: &str, before: Option<&str>, after: Option<&str>) {
        if before != after {
            self.put(at, before, after);
        }
    }

    fn headers(&mut self, before: &Headers, after: &Headers) {
        let all = |headers: &Headers, name: &str| {
            let own = headers.iter().filter(|(own, _)| own.eq_ignore_ascii_case(name));
            let values: Vec<_> = own.map(|(_, value)| value.to_owned()).collect();
            (!values.is_empty()).then(|| values.join(", "))
        };
        let names = before.iter().chain(after.iter()).map(|(name, _)| name.to_ascii_lowercase());
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let (was, is) = (all(before, &name), all(after, &name));
            self.texts(&format!("headers.{name}"), was.as_deref(), is.as_deref());
        }
    }

    fn values(&mut self, at: &str, before: Option<&Value>, after: Option<&Value>, depth: usize) {
        if before == after || self.0.len() == CHANGES_MAX {
            return;
        }
        match (before, after) {
            (Some(Value::Object(was)), Some(Value::Object(is))) if depth > 0 => {
                let added = is.keys().filter(|name| !was.contains_key(*name));
                for name in was.keys().chain(added) {
                    self.values(&format!("{at}.{name}"), was.get(name), is.get(name), depth - 1);
                }
            }
            (Some(Value::Array(was)), Some(Value::Array(is))) if depth > 0 => {
                for place in 0..was.len().max(is.len()) {
                    let at = format!("{at}[{place}]");
                    self.values(&at, was.get(place), is.get(place), depth - 1);
                }
            }
            (was, is) => {
                let text = |value: &Value| value.to_string();
                self.put(at, was.map(text).as_deref(), is.map(text).as_deref());
            }
        }
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(VALUE_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use ferryhook_core::samples;
    use serde_json::json;

    use super::*;

    fn event(body: &str) -> Event {
        Event { body: body.as_bytes().to_vec().into(), ..samples::event() }
    }

    #[test]
    fn each_place_that_differs_is_named() {
        let was = event(r#"{"a":1,"b":{"c":[1,2,3],"gone":true},"same":"x"}"#);
        let is = Event {
            headers: Headers::from_iter([("X-New", "1")]),
            method: Some("PUT".into()),
            ..event(r#"{"a":"1","b":{"c":[1,5]},"same":"x","new":null}"#)
        };
        let was = Event { headers: Headers::default(), method: Some("POST".into()), ..was };
        let lines: Vec<_> = between(&was, &is).into_iter().map(|c| json!(c)).collect();
        let expected = [
            json!({"at": "method", "before": "POST", "after": "PUT"}),
            json!({"at": "headers.x-new", "after": "1"}),
            json!({"at": "body.a", "before": "1", "after": "\"1\""}),
            json!({"at": "body.b.c[1]", "before": "2", "after": "5"}),
            json!({"at": "body.b.c[2]", "before": "3"}),
            json!({"at": "body.b.gone", "before": "true"}),
            json!({"at": "body.new", "after": "null"}),
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn what_is_not_json_differs_as_a_whole_and_long_values_are_cut() {
        let changes = between(&event("a"), &event(&"é".repeat(300)));
        assert_eq!(changes.len(), 1);
        assert_eq!(changes[0].after.as_ref().map(|text| text.chars().count()), Some(201));
        assert_eq!(
            between(&event("{}"), &event("{ }"))[0].after.as_deref(),
            Some("written differently")
        );
        assert_eq!(between(&event("{}"), &event("{}")), []);
    }

    #[test]
    fn the_list_ends() {
        let many = |of: &str| format!("[{}]", vec![of; 10_000].join(","));
        assert_eq!(between(&event(&many("1")), &event(&many("2"))).len(), CHANGES_MAX);
    }
}
