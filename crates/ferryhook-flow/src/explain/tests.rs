use ferryhook_core::samples;
use serde_json::{Value, json};

use super::*;

const PAID: &str = r#"[{"path":"body.amount","operator":"gte","value":100}]"#;
const RENAME: &str = r#"{"type":"field_map","rename":{"amount":"total"}}"#;

fn connection(filters: Option<&str>, transform: Option<&str>) -> Connection {
    Connection {
        filters: filters.map(str::to_owned),
        transform: transform.map(str::to_owned),
        pipeline_order: PipelineOrder::FilterFirst,
        event_types: vec!["order.*".into()],
        ..samples::connection()
    }
}

fn event(event_type: &str, body: &str) -> Event {
    Event {
        event_type: Some(event_type.into()),
        body: body.as_bytes().to_vec().into(),
        content_type: Some("application/json".into()),
        ..samples::event()
    }
}

async fn explained(connection: Connection, event: &Event) -> Value {
    let way = Way::new(connection, None, samples::UPDATED);
    json!(explain(event, &way, &Scripts::default()).await)
}

#[tokio::test]
async fn each_step_is_told_as_far_as_it_went() {
    let both = || connection(Some(PAID), Some(RENAME));
    let paid = explained(both(), &event("order.paid", r#"{"amount":250}"#)).await;
    assert_eq!(paid["verdict"], "delivered");
    assert_eq!(paid["filter"]["holds"], true);
    let changes = json!([
        { "at": "body.amount", "before": "250" },
        { "at": "body.total", "after": "250" },
    ]);
    assert_eq!(paid["transform"]["changes"], changes, "{paid:#}");

    let small = explained(both(), &event("order.paid", r#"{"amount":2}"#)).await;
    assert_eq!((&small["verdict"], &small["filter"]["holds"]), (&json!("filtered"), &json!(false)));
    assert_eq!(small["transform"], Value::Null, "its turn never came");

    let other = explained(both(), &event("user.new", r#"{"amount":250}"#)).await;
    assert_eq!((&other["verdict"], &other["transform"]), (&json!("other_type"), &Value::Null));

    let broken = explained(connection(None, Some("{}")), &event("order.paid", "{}")).await;
    assert_eq!(broken["verdict"], "failed");
    assert!(broken["reason"].as_str().unwrap().contains("transform"), "{broken:#}");
}

#[tokio::test]
async fn behind_a_transform_the_filter_sees_what_it_made() {
    let turned = Connection {
        pipeline_order: PipelineOrder::TransformFirst,
        ..connection(Some(&PAID.replace("amount", "total")), Some(RENAME))
    };
    let told = explained(turned, &event("order.paid", r#"{"amount":250}"#)).await;
    assert_eq!((&told["verdict"], &told["filter"]["holds"]), (&json!("delivered"), &json!(true)));
}

#[tokio::test]
async fn a_trial_compares_both_ends() {
    let now = samples::UPDATED;
    let trial = Trial::new(connection(None, None), connection(Some(PAID), Some(RENAME)), now);
    let scripts = Scripts::default();
    let small = trial.compare(&event("order.paid", r#"{"amount":2}"#), &scripts).await;
    assert_eq!((&small.before, &small.after), (&Verdict::Delivered, &Verdict::Filtered));
    assert!(small.changes_verdict() && !small.changes_content());
    let large = trial.compare(&event("order.paid", r#"{"amount":200}"#), &scripts).await;
    assert!(!large.changes_verdict() && large.changes_content(), "{large:?}");
    let other = trial.compare(&event("user.new", "{}"), &scripts).await;
    assert!(!other.differs(), "{other:?}");
}

#[tokio::test]
async fn a_script_is_run_once() {
    let script = r#"{"type":"javascript","code":"function transform(p) { console.log(p.amount); return { total: p.amount } }"}"#;
    for order in [PipelineOrder::FilterFirst, PipelineOrder::TransformFirst] {
        let connection = Connection { pipeline_order: order, ..connection(None, Some(script)) };
        let way = Way::new(connection, None, samples::UPDATED);
        let scripts = Scripts::default();
        let told = explain(&event("order.paid", r#"{"amount":7}"#), &way, &scripts).await;
        assert_eq!(told.verdict, Verdict::Delivered);
        assert_eq!(told.transform.unwrap().console, ["7"]);
        assert_eq!(scripts.begun(), 1);
    }
}
