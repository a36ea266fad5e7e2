//! A store that is away, and senders that are.

use super::*;

/// Never a yes for what is not stored.
#[tokio::test]
async fn a_store_that_is_away_is_not_a_yes() {
    let gate = gate(plain()).await;
    gate.post("warm").await;
    gate.probe.is_away(true);
    let seen = gate.post("x").await;
    assert_eq!((seen.status, &seen.body["code"]), (503, &json!("UNAVAILABLE")));
    assert_eq!(seen.header("retry-after"), Some("5"));
    gate.ingest.0.routes.forget_all();
    assert_eq!(gate.post("x").await.status, 503, "also when the source is not known");
    gate.probe.is_away(false);
    assert_eq!(gate.post("x").await.status, 200);
    assert_eq!((gate.events().await.len(), gate.handed().len()), (2, 2));
}

/// The sender goes while its event is being written: it is written and handed over all the same.
#[tokio::test]
async fn a_sender_that_goes_away_changes_nothing() {
    let gate = gate(plain()).await;
    gate.post("warm").await;
    gate.probe.hold();
    let mut request = Box::pin(gate.post("x"));
    assert!(futures_util::poll!(&mut request).is_pending());
    drop(request);
    assert_eq!(gate.handed().len(), 1, "only the first so far");
    gate.probe.let_go();
    gate.tasks.finish(Duration::from_secs(5)).await;
    assert_eq!((gate.events().await.len(), gate.handed().len()), (2, 2));
}

/// Also in the middle of a list that takes several commits.
#[tokio::test]
async fn a_sender_that_goes_away_leaves_no_half_list() {
    let gate = gate(hubspot()).await;
    gate.post("{}").await;
    gate.probe.hold();
    let list = format!("[{}]", vec![r#"{"a":1}"#; 120].join(","));
    let mut request = Box::pin(gate.post(&list));
    assert!(futures_util::poll!(&mut request).is_pending());
    drop(request);
    gate.probe.let_go();
    gate.tasks.finish(Duration::from_secs(5)).await;
    assert_eq!((gate.events().await.len(), gate.handed().len()), (121, 121));
}

/// Before its body is there, an event that is not wanted any more is not begun.
#[tokio::test]
async fn a_sender_that_goes_early_leaves_nothing() {
    let gate = gate(plain()).await;
    gate.post("warm").await;
    let never = http_body_util::StreamBody::new(futures_util::stream::pending::<
        Result<hyper::body::Frame<Bytes>, Infallible>,
    >());
    let mut request = Box::pin(gate.send(Request::post(ADDRESS).body(never).unwrap()));
    assert!(futures_util::poll!(&mut request).is_pending());
    drop(request);
    gate.tasks.finish(Duration::from_secs(5)).await;
    assert_eq!(gate.events().await.len(), 1);
}

/// A hand-over that panics costs its request, and nothing else.
#[tokio::test]
async fn a_panic_stays_with_its_request() {
    struct Clumsy;
    impl HandOver for Clumsy {
        fn take(&self, _: Stored<Event>, _: Arc<Route>) {
            panic!("dropped it");
        }
    }
    let gate = gate(plain()).await;
    let door = &gate.ingest.0;
    let (store, env, routes) = (door.store.clone(), door.env.clone(), door.routes.clone());
    let tally = Tally::default();
    let clumsy =
        Ingest::new(store, env, &gate.tasks, routes, Arc::new(Clumsy), &tally, Settings::default());
    for _ in 0..2 {
        let answer = clumsy.clone().answer(post("x")).await;
        assert_eq!(answer.status(), 500);
    }
    assert_eq!(gate.events().await.len(), 2, "the sweep finds them");
}
