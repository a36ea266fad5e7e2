//! What customers write: filters, paths, lists of event types, and the JSON they look at.

use super::{headers, pieces, text};
use crate::event_types::EventTypes;
use crate::filter::{Filter, Seen};
use crate::json::{Decimal, Document, Kind, NotJson, Value};
use crate::json_path::{Effort, Flow, Path, Stop};
use crate::{Event, samples};

/// Reads what another reader reads, and as that.
pub(super) fn json(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let theirs = serde_json::from_str::<&serde_json::value::RawValue>(text);
    match Document::read(text) {
        // It skips what nobody asked for, however deep.
        Err(NotJson::TooDeep | NotJson::TooLarge) => {}
        Err(NotJson::Malformed(at, _)) => {
            assert!(theirs.is_err(), "refused");
            assert!(at <= text.len());
        }
        Ok(document) => {
            assert!(theirs.is_ok(), "accepted");
            let root = document.root();
            if let Ok(theirs) = serde_json::from_str::<serde_json::Value>(text) {
                assert!(agree(root, &theirs), "read as something else");
            }
            assert!(root.equals(root));
            assert!(root.detached().root().equals(root));
            assert!(root.shown(64).len() <= 64 + '…'.len_utf8());
        }
    }
}

fn agree(ours: Value<'_>, theirs: &serde_json::Value) -> bool {
    use serde_json::Value as Theirs;
    match theirs {
        Theirs::Null => ours.kind() == Kind::Null,
        Theirs::Bool(truth) => ours.as_bool() == Some(*truth),
        Theirs::Number(number) => ours.as_number().is_some_and(|ours| is_worth(ours, number)),
        Theirs::String(text) => ours.as_text().as_deref() == Some(text),
        Theirs::Array(items) => {
            ours.items().count() == items.len()
                && ours.items().zip(items).all(|(ours, theirs)| agree(ours, theirs))
        }
        Theirs::Object(members) => {
            let own = ours.members();
            own.len() == members.len()
                && own
                    .iter()
                    .zip(members)
                    .all(|((name, ours), (other, theirs))| name == other && agree(*ours, theirs))
        }
    }
}

/// Whole numbers are worth the same to both; the other reader rounds the rest.
fn is_worth(ours: &str, theirs: &serde_json::Number) -> bool {
    let Some(theirs) = theirs.as_i64().map(|whole| whole.to_string()) else { return true };
    let both = Decimal::read(ours).zip(Decimal::read(&theirs));
    both.is_some_and(|(ours, theirs)| ours.compare(&theirs).is_eq())
}

/// `path 0 document`
pub(super) fn json_path(data: &[u8]) {
    const STEPS: usize = 20_000;
    let [path, document] = pieces(data);
    let (path, document) = (text(path), text(document));
    let steps = Path::parse_steps(&path);
    if let Err(error) = &steps {
        assert!(error.at <= path.len());
    }
    let Ok(document) = Document::read(&*document) else { return };
    for path in [Path::parse(&path), steps].into_iter().flatten() {
        let select = || {
            let (effort, mut found) = (Effort::new(STEPS), Vec::new());
            let flow = path.select(document.root(), &effort, &mut |value| {
                found.push(value.place());
                Flow::Continue(())
            });
            assert_ne!(flow, Flow::Break(Stop::Enough));
            (found, flow)
        };
        let (found, flow) = select();
        assert!(found.len() <= STEPS);
        assert!(!path.is_singular() || found.len() <= 1);
        assert!(select() == (found, flow));
    }
}

/// `filter 0 headers 0 query 0 body`
pub(super) fn filter(data: &[u8]) {
    let [filter, head, query, body] = pieces(data);
    let filter = match Filter::parse(&text(filter)) {
        Ok(filter) => filter,
        Err(error) => {
            assert!(error.pointer.is_empty() || error.pointer.starts_with('/'));
            return;
        }
    };
    let event = Event {
        headers: headers(head),
        query: Some(text(query).into_owned()),
        path: Some("/orders/7".to_owned()),
        body: body.to_vec().into(),
        payload: None,
        content_type: None,
        ..samples::event()
    };
    let seen = Seen::of(&event);
    let verdict = filter.matches(&seen);
    let explanation = filter.explain(&seen);
    assert_eq!(explanation.holds, verdict);
    assert!(explanation.gave_up || explanation.clause.holds == verdict);
    assert!(!explanation.to_string().is_empty());
    assert_eq!(filter.matches(&Seen::of(&event)), verdict);
}

/// `patterns on lines 0 event type`, against the plainest way to compare them.
pub(super) fn event_types(data: &[u8]) {
    let [patterns, event_type] = pieces(data);
    let patterns: Vec<String> = text(patterns).lines().map(str::to_owned).collect();
    let event_type = text(event_type);
    let Ok(types) = EventTypes::compile(&patterns) else { return };
    if event_type.len() * patterns.len() > 10_000 {
        return;
    }
    let wanted = patterns.is_empty()
        || patterns.iter().any(|pattern| globs(pattern.as_bytes(), event_type.as_bytes()));
    assert_eq!(types.wants(Some(&event_type)), wanted);
    assert!(types.wants(Some(&event_type)) || !types.wants(None));
}

/// A row of the table says up to where the text can have been matched so far.
fn globs(pattern: &[u8], text: &[u8]) -> bool {
    let mut row = vec![false; text.len() + 1];
    row[0] = true;
    for byte in pattern {
        let mut next = vec![false; text.len() + 1];
        for at in 0..=text.len() {
            next[at] = match byte {
                b'*' => row[at] || (at > 0 && next[at - 1]),
                byte => at > 0 && row[at - 1] && text[at - 1] == *byte,
            };
        }
        row = next;
    }
    row[text.len()]
}
