//! Deliveries to somebody who listens, beside ordinary ones: the same attempts, retries and ends.

use ferryhook_core::CliSession;
use ferryhook_core::cli_session::{Answered, Ended, Errand, Report, Told};
use ferryhook_core::connection::DestinationType;
use ferryhook_core::delivery::{Cancel, State};
use futures_util::StreamExt;

use super::*;
use crate::listeners::Reader;

fn session() -> CliSession {
    CliSession {
        id: "lsn_0000000000000001".parse().unwrap(),
        account_id: the_source().account_id,
        user_id: samples::user().id,
        path: "/hooks".to_owned(),
        connections: vec![(the_source().id, connection("cli").id)],
    }
}

/// Opens the session and makes its connection, as the API does.
async fn listen(courier: &Courier, store: &Store) {
    courier.open_session(session()).unwrap();
    let cli = Connection {
        destination_type: DestinationType::Cli,
        destination_url: Some("http://127.0.0.1:3000/hooks".to_owned()),
        destination_config: Some(session().destination(courier.session_lease())),
        retry_config: Some("[0,10,10]".to_owned()),
        timeout_ms: Some(5_000),
        ..connection("cli")
    };
    store.connections().create(&cli).await.unwrap();
    courier.changed(Some(the_source().id)).await;
}

fn read(courier: &Courier) -> Reader {
    courier.read_session(session().id, 0).unwrap()
}

async fn next(reader: &mut Reader) -> Errand {
    match reader.next().await {
        Some(Told::Errand(errand)) => *errand,
        other => panic!("not an errand: {other:?}"),
    }
}

fn says(courier: &Courier, errand: &Errand, status: u16, headers: Headers) {
    let answered = Answered { status, headers, body: "said".to_owned() };
    let latency = Duration::from_millis(12);
    let report = Report { number: errand.number, latency, result: Ok(answered) };
    assert!(courier.report(session().id, report));
}

async fn is_deleted(store: &Store) -> bool {
    let found = store.connections().find_of(the_source().id, connection("cli").id).await;
    found.unwrap().unwrap().status == ConnectionStatus::Deleted
}

async fn cancelled(ferry: &Ferry, id: Id<Event>) -> bool {
    let delivery = ferry.delivery(id, "cli").await;
    matches!(delivery.state, State::Cancelled { reason: Cancel::ConnectionDeleted, .. })
}

#[tokio::test(start_paused = true)]
async fn what_the_local_app_says_is_the_attempt() {
    let ferry = Ferry::new(&[connection("a")]).await;
    listen(&ferry.courier, &ferry.store).await;
    let mut reader = read(&ferry.courier);
    let id = ferry.arrives_as(Some("order.paid")).await;
    let first = next(&mut reader).await;
    assert_eq!((first.event_id, first.attempt), (id, 1));
    assert_eq!(first.path, "/hooks/orders?v=2");
    assert_eq!(first.body.as_text(), Some(r#"{"key":"k"}"#));
    assert!(first.headers.find("webhook-signature").is_some());
    let later: Headers = [("retry-after", "30")].into_iter().collect();
    says(&ferry.courier, &first, 503, later);
    let second = next(&mut reader).await;
    assert_eq!((second.event_id, second.attempt), (id, 2));
    assert!(ferry.env.elapsed() >= seconds(30), "it was asked to wait");
    says(&ferry.courier, &second, 200, Headers::default());
    sleep(seconds(1)).await;
    assert_eq!(ferry.event(id).await.status, Status::Delivered);
    let attempts = ferry.store.attempts();
    let attempts = attempts.list_by_event(id, Slice::default()).await.unwrap().rows;
    let cli = attempts.iter().filter(|attempt| attempt.connection_id == connection("cli").id);
    let told: Vec<_> = cli
        .map(|one| (one.number, one.status_code, one.latency_ms, one.response_body.as_deref()))
        .collect();
    assert_eq!(told, [(1, 503, 12, Some("said")), (2, 200, 12, Some("said"))]);
}

/// As long as nobody reads, nothing is tried; when nobody comes, it is over.
#[tokio::test(start_paused = true)]
async fn without_a_reader_no_attempt_is_used_up() {
    let ferry = Ferry::new(&[]).await;
    listen(&ferry.courier, &ferry.store).await;
    let id = ferry.arrives().await;
    sleep(seconds(20)).await;
    let mut reader = read(&ferry.courier);
    let first = next(&mut reader).await;
    assert_eq!(first.attempt, 1);
    says(&ferry.courier, &first, 500, Headers::default());
    sleep(seconds(1)).await;
    drop(reader);
    sleep(seconds(40)).await;
    assert!(is_deleted(&ferry.store).await);
    assert!(ferry.courier.find_session(session().id).is_none());
    sleep(seconds(60)).await;
    assert!(cancelled(&ferry, id).await);
    assert_eq!(ferry.delivery(id, "cli").await.attempts, 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stops_takes_its_sessions_along() {
    let mut ferry = Ferry::new(&[]).await;
    listen(&ferry.courier, &ferry.store).await;
    let mut reader = read(&ferry.courier);
    let id = ferry.arrives().await;
    next(&mut reader).await;
    ferry.courier.hang_up();
    assert_eq!(reader.next().await, Some(Told::End(Ended::Stopping)));
    assert_eq!(ferry.courier.finish().await, 0);
    assert!(is_deleted(&ferry.store).await);
    ferry.restart();
    sleep(seconds(60)).await;
    assert!(cancelled(&ferry, id).await);
}

/// What a crash leaves is found by the look that every start takes at all queues.
#[tokio::test(start_paused = true)]
async fn the_next_start_removes_what_a_crash_has_left() {
    let mut ferry = Ferry::new(&[]).await;
    listen(&ferry.courier, &ferry.store).await;
    let mut reader = read(&ferry.courier);
    let id = ferry.arrives().await;
    let errand = next(&mut reader).await;
    says(&ferry.courier, &errand, 500, Headers::default());
    sleep(seconds(1)).await;
    ferry.restart();
    sleep(seconds(5)).await; // before the second attempt is due
    assert!(is_deleted(&ferry.store).await);
    sleep(seconds(10)).await;
    assert!(cancelled(&ferry, id).await);
}

/// One process has the session, another takes the event in.
#[tokio::test(start_paused = true)]
async fn the_process_that_has_the_session_gets_what_others_take_in() {
    let ferry = Ferry::new(&[]).await;
    let (ours, other) = (ferry.join(), ferry.join());
    sleep(seconds(1)).await;
    listen(&ours, &ferry.store).await;
    let mut reader = read(&ours);
    let event = ferry.stored(the_source().id, None, |_| {}).await;
    let route = other.inner().routes.find(event.source_id).await.unwrap().unwrap();
    let id = event.id;
    let begun = ferry.env.elapsed();
    other.take(event, route);
    let errand = next(&mut reader).await;
    assert_eq!((errand.event_id, errand.attempt), (id, 1));
    assert!(ferry.env.elapsed() - begun < seconds(3));
    says(&ours, &errand, 200, Headers::default());
    sleep(seconds(1)).await;
    assert_eq!(ferry.event(id).await.status, Status::Delivered);
    // It stays as long as it is there, and not for long after it has crashed.
    sleep(seconds(600)).await;
    assert!(!is_deleted(&ferry.store).await);
    drop((reader, ours));
    sleep(seconds(200)).await;
    assert!(is_deleted(&ferry.store).await);
}
