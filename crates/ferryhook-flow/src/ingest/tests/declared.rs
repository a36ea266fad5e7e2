//! What its owner has declared is held, in bounded time.

use ferryhook_core::EventType;
use ferryhook_core::event_type::Declared;
use ferryhook_core::trigger::Posted;
use ferryhook_net::problem::Code;

use super::*;

/// Says before anything comes what events of a type are like.
pub(super) async fn declare(gate: &Gate, name: &str, schema: &Value) {
    let declared = Declared {
        schema: schema.to_string(),
        mode: Mode::Reject,
        declared_at: samples::CREATED,
        told_at: None,
    };
    let new = EventType::new(samples::account().id, name);
    let new = EventType { declared: Some(declared), ..new };
    gate.store.event_types().create(&new).await.unwrap();
}

/// It says of what type it is.
pub(super) fn typed(mut source: Source) -> Source {
    let setting = ferryhook_core::dedup::EVENT_TYPE_SETTING.to_owned();
    source.config.insert(setting, json!("body.type"));
    source
}

fn posted(payload: &Value) -> Posted {
    Posted {
        event_type: "order.paid".to_owned(),
        payload: payload.as_object().unwrap().clone(),
        occurred_at: None,
        metadata: None,
        key: None,
    }
}

impl Gate {
    async fn file(&self, all: Vec<Posted>) -> Result<Vec<Result<Filed, Declined>>, Declined> {
        self.ingest.post(samples::source().id, all, None).await
    }
}

/// So many patterns that each looks at all of a text.
fn dear(patterns: usize) -> Value {
    let patterns: Vec<_> =
        (0..patterns).map(|n| json!({ "pattern": format!("^[a-z]+(?:{n})?$") })).collect();
    json!({ "properties": { "text": { "allOf": patterns } } })
}

#[tokio::test]
async fn a_check_that_would_take_too_long_is_not_made() {
    let gate = gate(typed(plain())).await;
    declare(&gate, "order.paid", &dear(700)).await;
    let long = json!({ "type": "order.paid", "text": "z".repeat(200_000) });
    let short = json!({ "type": "order.paid", "text": "z" });
    let filed = gate.file(vec![posted(&short), posted(&long), posted(&short)]).await.unwrap();
    let [Ok(_), Err(declined), Ok(_)] = &filed[..] else { panic!("{filed:?}") };
    assert_eq!(declined.code, Code::Validation);
    assert!(declined.detail.contains("would take too long"), "{}", declined.detail);
    assert_eq!(declined.errors[0].0, "/payload");
    assert_eq!(gate.said(), ["order.paid: to check it would take too long"]);

    let seen = gate.post(&long.to_string()).await;
    assert_eq!(seen.status, 400);
    assert!(seen.body.to_string().contains("would take too long"), "{}", seen.body);
    assert_eq!(gate.post(&short.to_string()).await.status, 200);
}

/// Five hundred at once take no longer than one may.
#[tokio::test]
async fn those_that_come_together_share_what_a_check_may_take() {
    let gate = gate(plain()).await;
    declare(&gate, "order.paid", &dear(50)).await;
    let one = posted(&json!({ "text": "z".repeat(2_000) }));
    let filed = gate.file(vec![one.clone(); 500]).await.unwrap();
    let good = filed.iter().take_while(|one| one.is_ok()).count();
    assert!((1..500).contains(&good), "{good}");
    assert!(filed[good..].iter().all(Result::is_err));
    // The next request begins anew.
    assert!(gate.file(vec![one]).await.unwrap()[0].is_ok());
}

/// Not even looked at is what comes too fast.
#[tokio::test]
async fn the_rate_comes_before_the_schema() {
    let gate = gate_with(plain(), counting::a_minute(2)).await;
    declare(&gate, "order.paid", &json!({ "required": ["number"] })).await;
    let wrong = || vec![posted(&json!({}))];
    for _ in 0..2 {
        assert!(gate.file(wrong()).await.unwrap()[0].is_err());
    }
    assert_eq!(gate.said().len(), 2);
    assert_eq!(gate.file(wrong()).await.unwrap_err().code, Code::RateLimited);
    assert_eq!(gate.said(), [""; 0]);
}
