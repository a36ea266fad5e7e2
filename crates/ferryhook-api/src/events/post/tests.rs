use serde_json::json;

use crate::trial::Trial;

/// Nobody takes events in here, so what is understood is answered with 503.
async fn told(body: &str, content_type: &str) -> (u16, String) {
    let trial = Trial::new().await;
    let said = trial.send_text("POST", "/v1/events", body, &[("content-type", content_type)]).await;
    let pointer = said.json()["errors"][0]["pointer"].as_str().unwrap_or_default().to_owned();
    (said.status.as_u16(), pointer)
}

#[tokio::test]
async fn what_is_not_an_event_is_told_why() {
    let good = r#"{"eventType":"order.paid","payload":{}}"#;
    let list = |count: usize| format!("[{}]", vec![good; count].join(","));
    let table = [
        (good.to_owned(), 503, ""),
        (r#"{"event_type":"order.paid","payload":{},"event_id":"1"}"#.to_owned(), 503, ""),
        (r#"{"eventType":"order","payload":{}}"#.to_owned(), 400, "/eventType"),
        (r#"{"eventType":"order.paid","payload":[]}"#.to_owned(), 400, "/payload"),
        (r#"{"eventType":"order.paid"}"#.to_owned(), 400, ""),
        (r#"{"eventType":"order.paid","payload":{},"colour":1}"#.to_owned(), 400, "/colour"),
        (
            r#"{"eventType":"order.paid","payload":{},"timestamp":"2036-01-01T00:00:00Z"}"#
                .to_owned(),
            400,
            "/timestamp",
        ),
        (r#"{"eventType":"order.paid","payload":{},"eventId":""}"#.to_owned(), 400, "/eventId"),
        (list(500), 503, ""),
        (list(501), 400, "/events"),
        ("[]".to_owned(), 400, "/events"),
        (r#"{"events":[]}"#.to_owned(), 400, "/events"),
        (format!(r#"{{"events":{},"more":1}}"#, list(2)), 400, "/more"),
        ("7".to_owned(), 400, ""),
        (String::new(), 400, ""),
    ];
    for (body, status, pointer) in table {
        let told = told(&body, "application/json").await;
        assert_eq!(told, (status, pointer.to_owned()), "{}", &body[..body.len().min(100)]);
    }
    assert_eq!(told(good, "text/plain").await.0, 415);
    assert_eq!(told(&format!("{good}\n\n{good}\n"), "application/x-ndjson").await.0, 503);
    assert_eq!(told("\n", "application/x-ndjson").await, (400, "/events".to_owned()));
}

/// Where all are wrong nobody has to be asked.
#[tokio::test]
async fn each_of_many_is_told_by_itself() {
    let trial = Trial::new().await;
    let bad = json!([{"eventType": "order", "payload": {}}, 7, {"payload": {}}]);
    let said = trial.post("/v1/events", bad).await.expect(200);
    let of = |place: usize| (&said["data"][place]["status"], &said["data"][place]["problem"]);
    for place in 0..3 {
        assert_eq!(of(place).0, 400, "{said:#}");
        assert_eq!(of(place).1["code"], "VALIDATION_ERROR");
    }
    assert_eq!(of(0).1["errors"][0]["pointer"], "/eventType");
    assert!(
        trial
            .app
            .store
            .events()
            .list_by_account(
                trial.account.id,
                ferryhook_store::Window::ALWAYS,
                ferryhook_store::Slice::default(),
            )
            .await
            .unwrap()
            .rows
            .is_empty()
    );
}
