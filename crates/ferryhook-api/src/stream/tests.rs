use ferryhook_core::{Event, samples};
use serde_json::{Value, json};

use super::*;
use crate::trial::Trial;

#[tokio::test]
async fn what_is_no_place_is_refused_before_the_stream_begins() {
    let trial = Trial::new().await;
    for after in ["x", "-1", "99999999999999"] {
        let said = trial.get(&format!("/v1/stream?after={after}")).await.expect(400);
        assert_eq!(said["errors"][0]["pointer"], "after", "{said:#}");
    }
    let said = trial.get("/v1/stream?type=").await.expect(400);
    assert_eq!(said["errors"][0]["pointer"], "type", "{said:#}");
    trial.get("/v1/stream?source=src_0000000000000000").await.expect(404);
    trial.get("/v1/stream?from=yesterday").await.expect(400);
}

#[test]
fn an_account_has_so_many_seats() {
    let seats = Seats::default();
    let account = samples::account().id;
    let mut taken: Vec<_> = std::iter::from_fn(|| seats.take(account).ok()).collect();
    assert_eq!(taken.len(), limits::STREAMS_PER_ACCOUNT_MAX);
    assert_eq!(seats.take(account).unwrap_err(), Full::ByAccount);
    assert!(seats.take("acc_0000000000000009".parse().unwrap()).is_ok(), "others have theirs");
    taken.pop();
    assert!(seats.take(account).is_ok());
}

#[test]
fn a_server_has_so_many_seats() {
    let seats = Seats::default();
    let account = |number: usize| format!("acc_{number:016}").parse().unwrap();
    let mut taken: Vec<_> = (0..limits::STREAMS_MAX).map(|n| seats.take(account(n))).collect();
    assert!(taken.iter().all(Result::is_ok));
    assert_eq!(seats.take(account(limits::STREAMS_MAX)).unwrap_err(), Full::ByAll);
    taken.pop();
    assert!(seats.take(account(0)).is_ok());
}

fn shown(change: &EventChange) -> Value {
    let account = samples::account().id;
    serde_json::to_value(StreamRecord::of(change, account, "111".into(), None)).unwrap()
}

#[test]
fn a_record_has_the_shape_that_readers_of_dynamodb_know() {
    let payload = json!({ "total": 12.5, "lines": [1, null, true], "who": { "name": "Ü" } });
    let event = Event {
        account_id: samples::account().id,
        event_type: Some("order.paid".into()),
        payload: payload.as_object().cloned(),
        body: Default::default(),
        ..samples::event()
    };
    let record = shown(&EventChange::Inserted(Box::new(event.clone())));
    assert_eq!(record["eventName"], "INSERT");
    assert_eq!(
        (&record["eventVersion"], &record["eventSource"]),
        (&json!("1.1"), &json!("aws:dynamodb"))
    );
    assert_eq!((&record["awsRegion"], &record["eventID"]), (&json!("local"), &json!("111")));
    let change = &record["dynamodb"];
    assert_eq!(
        (&change["SequenceNumber"], &change["StreamViewType"]),
        (&json!("111"), &json!("NEW_IMAGE"))
    );
    let sort = format!("{}#{}", event.received_at.to_micros_text(), event.id);
    let keys = json!({ "user_id": { "S": event.account_id }, "timestamp#event_id": { "S": sort } });
    assert_eq!(change["Keys"], keys);
    let image = &change["NewImage"];
    let expected = json!({ "M": {
        "total": { "N": "12.5" },
        "lines": { "L": [{ "N": "1" }, { "NULL": true }, { "BOOL": true }] },
        "who": { "M": { "name": { "S": "Ü" } } },
    }});
    assert_eq!(image["payload"], expected);
    assert_eq!(image["event_type"], json!({ "S": "order.paid" }));
    assert_eq!(image["retry_count"], json!({ "N": event.retry_count.to_string() }));

    let text = Event { payload: None, body: "not json".into(), ..event.clone() };
    let record = shown(&EventChange::Changed(Box::new(text)));
    assert_eq!(record["eventName"], "MODIFY");
    assert_eq!(record["dynamodb"]["NewImage"]["body"], json!({ "B": "bm90IGpzb24=" }));

    let Event { source_id: source, received_at, id, .. } = event;
    let record = shown(&EventChange::Removed { source, received_at, id });
    assert_eq!((&record["eventName"], &record["dynamodb"]["Keys"]), (&json!("REMOVE"), &keys));
    assert!(record["dynamodb"].get("NewImage").is_none());
}
