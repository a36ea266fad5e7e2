//! Events that could not be processed.

use ferryhook_store::Window;

use super::*;

async fn dead_letters(ferry: &Ferry) -> Vec<Id<Event>> {
    let events = ferry.store.events();
    let account = the_source().account_id;
    let page = events.list_dead_letters(account, Window::ALWAYS, Slice::default()).await;
    page.unwrap().rows.iter().map(|event| event.id).collect()
}

/// Its rules cannot be read, so it is tried three times and given up.
async fn given_up(ferry: &Ferry) -> Id<Event> {
    ferry.change(|one| one.event_types = vec![String::new()], "a").await;
    let id = ferry.arrives().await;
    sleep(seconds(1200)).await;
    assert_eq!(ferry.event(id).await.status, Status::Failed);
    id
}

#[tokio::test(start_paused = true)]
async fn a_dead_letter_is_processed_at_once_when_it_is_redriven() {
    let ferry = Ferry::new(&[connection("a")]).await;
    let id = given_up(&ferry).await;
    assert_eq!(dead_letters(&ferry).await, [id]);
    ferry.change(|one| one.event_types = Vec::new(), "a").await;
    ferry.courier.redrive(&ferry.store, id).await.unwrap();
    sleep(seconds(1)).await;
    assert_eq!(ferry.event(id).await.status, Status::Delivered);
    assert!(dead_letters(&ferry).await.is_empty());
    assert_eq!(ferry.sent_count(), 1);
}

#[tokio::test(start_paused = true)]
async fn one_that_still_cannot_be_processed_is_given_up_again() {
    let ferry = Ferry::new(&[connection("a")]).await;
    let id = given_up(&ferry).await;
    ferry.courier.redrive(&ferry.store, id).await.unwrap();
    sleep(seconds(1200)).await;
    assert_eq!(dead_letters(&ferry).await, [id]);
    assert_eq!(ferry.event(id).await.processing_tries, limits::PROCESSING_TRIES_MAX);
}

#[tokio::test(start_paused = true)]
async fn only_a_dead_letter_is_redriven() {
    let ferry = Ferry::new(&[connection("a")]).await;
    ferry.answers("a", 500);
    let id = ferry.arrives().await;
    sleep(seconds(1)).await;
    assert_eq!(ferry.event(id).await.status, Status::Failed);
    let refused = ferry.courier.redrive(&ferry.store, id).await;
    assert!(matches!(refused, Err(ReplayError::NotDead(_))), "{refused:?}");
    let unknown = ferry.courier.redrive(&ferry.store, Id::new(&ferry.env)).await;
    assert!(unknown.unwrap_err().is_not_found());
}

/// What a source was deleted for goes nowhere, and is no dead letter any more.
#[tokio::test(start_paused = true)]
async fn one_whose_source_is_gone_is_settled() {
    let ferry = Ferry::new(&[connection("a")]).await;
    let id = given_up(&ferry).await;
    let was = ferry.store.sources().find(the_source().id).await.unwrap().unwrap();
    ferry.store.sources().delete(&was).await.unwrap();
    ferry.courier.changed(Some(the_source().id)).await;
    ferry.courier.redrive(&ferry.store, id).await.unwrap();
    sleep(seconds(1)).await;
    assert_eq!(ferry.event(id).await.status, Status::Filtered);
}

#[tokio::test(start_paused = true)]
async fn one_that_is_redriven_without_a_courier_is_found_at_the_start() {
    let mut ferry = Ferry::new(&[connection("a")]).await;
    let id = given_up(&ferry).await;
    ferry.change(|one| one.event_types = Vec::new(), "a").await;
    assert_eq!(ferry.courier.finish().await, 0);
    crate::dead_letters::redrive(&ferry.store, id).await.unwrap();
    ferry.restart();
    sleep(seconds(1)).await;
    assert_eq!(ferry.event(id).await.status, Status::Delivered);
}
