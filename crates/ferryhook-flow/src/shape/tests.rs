use ferryhook_core::{Connection, samples};

use super::*;

fn way(filters: Option<&str>, transform: Option<&str>, order: PipelineOrder) -> Way {
    let connection = Connection {
        filters: filters.map(str::to_owned),
        transform: transform.map(str::to_owned),
        pipeline_order: order,
        event_types: Vec::new(),
        ..samples::connection()
    };
    Way::new(connection, None, samples::UPDATED)
}

fn event(body: &str) -> Event {
    let content_type = Some("application/json".to_owned());
    Event { body: body.as_bytes().to_vec().into(), content_type, ..samples::event() }
}

async fn shaped(way: &Way, body: &str) -> String {
    match shape(&event(body), way, &Scripts::default()).await {
        Shape::AsItCame => "as it came".to_owned(),
        Shape::Changed(event) => event.body.as_text().unwrap().to_owned(),
        Shape::Unwanted(reason, said) => format!("{reason:?}: {said}"),
        Shape::NotNow(reason) => format!("not now: {reason}"),
        Shape::Failed(reason) => format!("failed: {reason}"),
    }
}

const RENAME: &str = r#"{"type":"field_map","rename":{"a":"b"}}"#;
const HAS_B: &str = r#"[{"path":"body.b","operator":"exists"}]"#;

#[tokio::test]
async fn without_rules_nothing_is_copied() {
    let way = way(None, None, PipelineOrder::FilterFirst);
    assert_eq!(shaped(&way, "{}").await, "as it came");
}

#[tokio::test]
async fn the_filter_sees_the_shape_only_where_it_comes_second() {
    let first = way(Some(HAS_B), Some(RENAME), PipelineOrder::FilterFirst);
    let second = way(Some(HAS_B), Some(RENAME), PipelineOrder::TransformFirst);
    let arrived = event(r#"{"a":1}"#);
    let seen = Seen::of(&arrived);
    assert_eq!(first.wants(&arrived, &seen), Ok(false));
    assert_eq!(second.wants(&arrived, &seen), Ok(true), "it is asked later");
    assert_eq!(shaped(&second, r#"{"a":1}"#).await, r#"{"b":1}"#);
    let unwanted = shaped(&second, r#"{"c":1}"#).await;
    assert!(unwanted.starts_with("Filtered: "), "{unwanted}");
}

#[tokio::test]
async fn rules_that_cannot_be_read_deliver_nothing() {
    let transform = way(None, Some("{}"), PipelineOrder::FilterFirst);
    let said = shaped(&transform, "{}").await;
    assert!(said.starts_with("failed: the transform cannot be read: "), "{said}");
    let filter = way(Some("7"), None, PipelineOrder::TransformFirst);
    let said = shaped(&filter, "{}").await;
    assert!(said.starts_with("failed: the filter cannot be read: "), "{said}");
    let filter = way(Some("7"), None, PipelineOrder::FilterFirst);
    let arrived = event("{}");
    assert!(filter.wants(&arrived, &Seen::of(&arrived)).is_err());
}

/// A route is loaded again and again; what has not changed is not compiled again.
#[test]
fn rules_are_compiled_once_for_each_text() {
    let before = way(Some(HAS_B), Some(RENAME), PipelineOrder::FilterFirst);
    let same = Way::new(before.connection.clone(), Some(&before), samples::UPDATED);
    let is_shared = |one: &Way, other: &Way| {
        let (one, other) = (one.filter().unwrap().unwrap(), other.filter().unwrap().unwrap());
        std::sync::Arc::ptr_eq(one, other)
    };
    assert!(is_shared(&before, &same));
    let changed = Connection {
        filters: Some(HAS_B.replace("body.b", "body.c")),
        ..before.connection.clone()
    };
    assert!(!is_shared(&before, &Way::new(changed, Some(&before), samples::UPDATED)));
}

/// A mistake of ours in one connection's rules is that connection's trouble.
#[tokio::test]
async fn rules_that_crash_have_failed() {
    let Shape::Failed(said) = survived(async { panic!("on purpose") }).await else {
        panic!("it went on");
    };
    assert_eq!(said, "the connection's rules crashed on our side");
}
