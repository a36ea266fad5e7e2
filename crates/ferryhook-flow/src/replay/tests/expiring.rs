//! Events that go while something of them still waits.

use ferryhook_core::Member;
use ferryhook_core::connection::OrderingPolicy;
use ferryhook_core::delivery::{Failure, State};
use ferryhook_core::member::Role;

use super::*;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl Ferry {
    /// Under a plan that keeps events for a day.
    async fn keeping_a_day(connections: &[Connection]) -> Self {
        let ferry = Self::new(connections).await;
        let was = ferry.store.plans().find(&samples::plan().id).await.unwrap().unwrap();
        let mut plan = was.record.clone();
        plan.limits.data_retention_days = Some(1);
        ferry.store.plans().replace(&was, plan).await.unwrap();
        sleep(seconds(1)).await;
        ferry
    }

    async fn arrives_for_a_day(&self, change: impl FnOnce(&mut Event)) -> Id<Event> {
        let change = |event: &mut Event| {
            event.expires_at = Some(event.received_at + DAY);
            change(event);
        };
        let event = self.stored(the_source().id, None, change).await;
        let (id, is_pending) = (event.id, event.pending_since.is_some());
        if is_pending {
            let route = self.courier.inner().routes.find(event.source_id).await.unwrap().unwrap();
            self.courier.take(event, route);
        }
        id
    }

    async fn has_expired(&self, id: Id<Event>, name: &str) -> bool {
        let state = self.delivery(id, name).await.state;
        matches!(state, State::Failed { reason: Failure::Expired, .. })
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_paused_until_its_event_goes_fails_before_that() {
    let paused = Connection { status: ConnectionStatus::Paused, ..connection("a") };
    let ferry = Ferry::keeping_a_day(&[paused, connection("b")]).await;
    let member = Member { role: Role::Admin, ..samples::member() };
    ferry.store.members().add(&member).await.unwrap();
    let id = ferry.arrives_for_a_day(|_| {}).await;
    sleep(DAY - seconds(3600)).await;
    assert_eq!(ferry.event(id).await.status, Status::Held);
    sleep(seconds(3600) - limits::EXPIRY_AHEAD / 2).await;
    assert!(ferry.has_expired(id, "a").await);
    assert_eq!(ferry.event(id).await.status, Status::Failed);
    let told = ferry.store.notifications();
    let told = told.list(samples::user().id, Slice::default().limit(10)).await.unwrap();
    assert_eq!(told.rows.len(), 1, "people are told");
    assert_eq!(ferry.sent_count(), 1);
}

#[tokio::test(start_paused = true)]
async fn so_does_what_is_parked() {
    let ordered = Connection {
        ordering_key: Some("body.key".into()),
        ordering_policy: Some(OrderingPolicy::Park),
        ..connection("a")
    };
    let ferry = Ferry::keeping_a_day(&[ordered]).await;
    ferry.answers("a", 500);
    let id = ferry.arrives_for_a_day(|_| {}).await;
    sleep(DAY - limits::EXPIRY_AHEAD / 2).await;
    assert!(ferry.has_expired(id, "a").await);
}

#[tokio::test(start_paused = true)]
async fn so_does_an_event_whose_source_is_paused() {
    let ferry = Ferry::keeping_a_day(&[connection("a")]).await;
    let held = ferry.arrives_for_a_day(|event| {
        event.status = Status::Held;
        event.pending_since = None;
    });
    let id = held.await;
    sleep(DAY - limits::EXPIRY_AHEAD / 2).await;
    let event = ferry.event(id).await;
    assert_eq!(event.status, Status::Failed);
    assert!(event.processing_error.unwrap().contains("paused"));
}

/// The destination has been busy with another all the time.
#[tokio::test(start_paused = true)]
async fn so_does_what_was_never_tried() {
    let narrow = Connection { concurrency_max: Some(1), ..connection("a") };
    let ferry = Ferry::keeping_a_day(&[narrow]).await;
    ferry.answers_after("a", 200, 2 * DAY);
    let mut ids = Vec::new();
    for _ in 0..3 {
        let event = ferry.arrives_for_a_day(|event| {
            event.status = Status::Filtered;
            event.pending_since = None;
            event.processed_at = Some(event.received_at);
        });
        ids.push(event.await);
    }
    for id in &ids {
        assert!(ferry.courier.replay(*id, None).await.unwrap().is_any());
    }
    sleep(DAY - limits::EXPIRY_AHEAD / 2).await;
    assert_eq!(ferry.sent_count(), 1);
    for id in &ids[1..] {
        assert!(ferry.has_expired(*id, "a").await);
    }
}

/// Its time comes a minute before the event goes, and it is not yet.
#[tokio::test(start_paused = true)]
async fn what_only_waits_for_its_time_is_left_alone() {
    let late = DAY.as_secs() - 60;
    let retry = format!(r#"{{"schedule":[0,{late}],"jitterPercent":0}}"#);
    let patient = Connection { retry_config: Some(retry), ..connection("a") };
    let ferry = Ferry::keeping_a_day(&[patient]).await;
    ferry.answers("a", 500);
    let id = ferry.arrives_for_a_day(|_| {}).await;
    sleep(seconds(10)).await;
    ferry.answers("a", 200);
    sleep(DAY - seconds(30)).await;
    assert_eq!(ferry.event(id).await.status, Status::Delivered);
}
