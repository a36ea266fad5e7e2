use std::sync::Arc;

use ferryhook_core::delivery::State;
use ferryhook_core::event::Status;
use ferryhook_core::{Connection, Env, Id, samples};
use ferryhook_store::repositories::{Accepted, Arrival};

use super::*;
use crate::probe::Probe;

const NOW: Timestamp = samples::UPDATED;

struct Desk {
    probe: Arc<Probe>,
    store: Store,
    event: Event,
}

impl Desk {
    /// With an event that was just accepted.
    async fn new() -> Self {
        let (probe, store) = Probe::new(&Env::fixed("2026-01-01T01:00:00Z"));
        let event = Event {
            status: Status::Received,
            retry_count: 0,
            pending_since: Some(samples::CREATED),
            processed_at: None,
            delivered_at: None,
            expires_at: None,
            ..samples::event()
        };
        let arrival = Arrival { event: event.clone(), claim: None, items: Vec::new() };
        assert_eq!(store.events().accept(&[arrival]).await.unwrap(), [Accepted::New]);
        Self { probe, store, event }
    }

    fn parcel(&self, deliveries: usize) -> Parcel {
        let event = Stored { record: self.event.clone(), revision: 1 };
        Parcel::new(event, (0..deliveries).map(|place| self.planned(place)).collect())
    }

    fn planned(&self, place: usize) -> Delivery {
        Delivery {
            connection_id: connection(place),
            state: State::Waiting { next_attempt_at: NOW },
            attempts: 0,
            order_key: None,
            last_status_code: None,
            last_error: None,
            created_at: NOW,
            updated_at: NOW,
            expires_at: None,
            ..samples::delivery()
        }
    }

    fn delivered(&self, place: usize) -> (Delivery, Attempt) {
        let state = State::Delivered { settled_at: NOW };
        (Delivery { state, attempts: 1, ..self.planned(place) }, self.attempt(place, 1))
    }

    fn failed(&self, place: usize) -> (Delivery, Attempt) {
        let state = State::Waiting { next_attempt_at: NOW + std::time::Duration::from_secs(30) };
        (Delivery { state, attempts: 1, ..self.planned(place) }, self.attempt(place, 1))
    }

    fn attempt(&self, place: usize, number: u16) -> Attempt {
        let connection_id = connection(place);
        Attempt { connection_id, number, expires_at: None, ..samples::attempt() }
    }

    async fn settle(
        &self,
        parcel: &Parcel,
        place: usize,
        (next, attempt): &(Delivery, Attempt),
    ) -> Result<Written, StoreError> {
        parcel.settle(&self.store, place, next, Some(attempt), NOW).await
    }

    async fn status(&self) -> Status {
        self.found().await.status
    }

    async fn found(&self) -> Stored<Event> {
        self.store.events().find(self.event.id).await.unwrap().unwrap()
    }

    /// The states of its deliveries and how many attempts there are, as the store has them.
    async fn stored(&self) -> (Vec<State>, usize) {
        let all = || Slice::default().limit(100);
        let deliveries = self.store.deliveries().list_by_event(self.event.id, all()).await.unwrap();
        let attempts = self.store.attempts().list_by_event(self.event.id, all()).await.unwrap();
        let states = deliveries.rows.iter().map(|row| row.state).collect();
        (states, attempts.rows.len())
    }
}

fn connection(place: usize) -> Id<Connection> {
    format!("conn_000000000000000{place}").parse().unwrap()
}

const DELIVERED: State = State::Delivered { settled_at: NOW };

#[tokio::test]
async fn the_plan_is_stored_with_the_first_outcome_in_one_commit() {
    let desk = Desk::new().await;
    let parcel = desk.parcel(2);
    let before = desk.probe.commits();
    let settled = desk.settle(&parcel, 0, &desk.delivered(0)).await;
    assert_eq!(settled.unwrap(), Written::Stored);
    assert_eq!(desk.probe.commits() - before, 1);
    let waiting = State::Waiting { next_attempt_at: NOW };
    assert_eq!(desk.stored().await, (vec![DELIVERED, waiting], 1));
    let found = desk.found().await;
    assert_eq!((found.status, found.pending_since), (Status::Retrying, None));

    desk.settle(&parcel, 1, &desk.delivered(1)).await.unwrap();
    assert_eq!(desk.probe.commits() - before, 2);
    assert_eq!(desk.stored().await, (vec![DELIVERED; 2], 2));
    assert_eq!(desk.status().await, Status::Delivered);
    assert_eq!(parcel.stored(1).await.unwrap().revision, 2);
}

#[tokio::test]
async fn a_plan_may_be_stored_alone() {
    let desk = Desk::new().await;
    let parcel = desk.parcel(1);
    assert!(parcel.stored(0).await.is_none());
    for _ in 0..2 {
        assert_eq!(parcel.write(&desk.store, NOW).await.unwrap(), Written::Stored);
    }
    assert_eq!(desk.status().await, Status::Processing);
    desk.settle(&parcel, 0, &desk.delivered(0)).await.unwrap();
    assert_eq!(desk.status().await, Status::Delivered);
}

#[tokio::test]
async fn an_event_that_nobody_wants_is_no_longer_pending() {
    let desk = Desk::new().await;
    desk.probe.lose_an_answer();
    let parcel = desk.parcel(0);
    parcel.write(&desk.store, NOW).await.unwrap_err();
    assert_eq!(parcel.write(&desk.store, NOW).await.unwrap(), Written::Stored);
    let found = desk.found().await;
    assert_eq!((found.status, found.pending_since), (Status::Filtered, None));
}

/// Counting a copy changes the event's row while its parcel is under way.
#[tokio::test]
async fn a_copy_that_is_counted_does_not_come_between() {
    let desk = Desk::new().await;
    let parcel = desk.parcel(2);
    let count = || async {
        let (source, at) = (desk.event.source_id, desk.event.received_at);
        desk.store.events().count_duplicates(source, at, desk.event.id, 1).await.unwrap();
    };
    for place in 0..2 {
        count().await;
        let settled = desk.settle(&parcel, place, &desk.delivered(place)).await;
        assert_eq!(settled.unwrap(), Written::Stored);
    }
    assert_eq!(desk.stored().await, (vec![DELIVERED; 2], 2));
    let found = desk.found().await;
    assert_eq!((found.status, found.duplicate_count), (Status::Delivered, 3));
}

#[tokio::test]
async fn an_outcome_whose_answer_was_lost_is_recognised() {
    for place in [0, 1] {
        let desk = Desk::new().await;
        let parcel = desk.parcel(2);
        if place == 1 {
            desk.settle(&parcel, 0, &desk.delivered(0)).await.unwrap();
        }
        desk.probe.lose_an_answer();
        let outcome = desk.delivered(place);
        desk.settle(&parcel, place, &outcome).await.unwrap_err();
        assert_eq!(desk.settle(&parcel, place, &outcome).await.unwrap(), Written::Stored);
        assert_eq!(desk.stored().await.1, place + 1, "and its attempt is there once");
    }
}

/// The first write of a plan got through, and then another outcome is the next to be written.
#[tokio::test]
async fn it_does_not_matter_which_outcome_finds_the_lost_answer() {
    let desk = Desk::new().await;
    let parcel = desk.parcel(2);
    desk.probe.lose_an_answer();
    desk.settle(&parcel, 0, &desk.delivered(0)).await.unwrap_err();
    assert_eq!(desk.settle(&parcel, 1, &desk.delivered(1)).await.unwrap(), Written::Stored);
    assert_eq!(desk.settle(&parcel, 0, &desk.delivered(0)).await.unwrap(), Written::Stored);
    assert_eq!(desk.stored().await, (vec![DELIVERED; 2], 2));
    assert_eq!(desk.status().await, Status::Delivered);
}

/// It failed, and goes on by the queue; the parcel does not hear of that.
#[tokio::test]
async fn a_sibling_that_goes_its_own_way_is_caught_up_with() {
    let desk = Desk::new().await;
    let parcel = desk.parcel(2);
    desk.settle(&parcel, 0, &desk.failed(0)).await.unwrap();
    let was = parcel.stored(0).await.unwrap();
    let next = Delivery { state: DELIVERED, attempts: 2, ..was.record.clone() };
    let event = desk.found().await;
    let stands = event.standing().with([&next, &desk.planned(1)], NOW);
    let (stood, attempt) = (event.standing(), desk.attempt(0, 2));
    let with_event = (&*event, &stood, stands);
    let settled = desk.store.deliveries().settle(&was, next, Some(&attempt), with_event, []).await;
    settled.unwrap();

    assert_eq!(desk.settle(&parcel, 1, &desk.delivered(1)).await.unwrap(), Written::Stored);
    assert_eq!(desk.stored().await, (vec![DELIVERED; 2], 3));
    assert_eq!(desk.status().await, Status::Delivered);
}

#[tokio::test]
async fn what_someone_else_has_planned_is_left_alone() {
    let desk = Desk::new().await;
    let theirs = Delivery { created_at: samples::CREATED, ..desk.planned(0) };
    let event = Stored { record: desk.event.clone(), revision: 1 };
    Parcel::new(event, vec![theirs]).write(&desk.store, NOW).await.unwrap();
    let parcel = desk.parcel(1);
    assert_eq!(desk.settle(&parcel, 0, &desk.delivered(0)).await.unwrap(), Written::Lost);
    assert!(parcel.delivery(0).await.is_none());
    assert_eq!(parcel.write(&desk.store, NOW).await.unwrap(), Written::Lost);
    assert_eq!(desk.stored().await.1, 0);
}

#[tokio::test]
async fn what_someone_has_decided_meanwhile_stays() {
    let desk = Desk::new().await;
    let parcel = desk.parcel(1);
    parcel.write(&desk.store, NOW).await.unwrap();
    let was = parcel.stored(0).await.unwrap();
    let cancelled = was.cancel(ferryhook_core::delivery::Cancel::Requested, NOW);
    desk.store.deliveries().replace(&was, cancelled.clone()).await.unwrap();
    assert_eq!(desk.settle(&parcel, 0, &desk.delivered(0)).await.unwrap(), Written::Lost);
    assert_eq!(desk.stored().await, (vec![cancelled.state], 0));
}

#[tokio::test]
async fn an_event_that_is_gone_takes_its_parcel_along() {
    let desk = Desk::new().await;
    desk.store.events().delete(&desk.found().await).await.unwrap();
    let parcel = desk.parcel(1);
    assert_eq!(desk.settle(&parcel, 0, &desk.delivered(0)).await.unwrap(), Written::Lost);
    assert_eq!(desk.stored().await, (vec![], 0));
}
