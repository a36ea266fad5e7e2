use ferryhook_core::{Env, samples};

use super::*;
use crate::probe::Probe;

#[tokio::test]
async fn counts_are_added_in_one_write_and_kept_while_the_store_is_away() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let (probe, store) = Probe::new(&env);
    let connection = samples::connection();
    store.connections().create(&connection).await.unwrap();
    let tally = Tally::new(store.clone());
    let (source, id) = (connection.source_id, connection.id);
    (0..5).for_each(|_| tally.delivered(source, id));
    tally.failed(source, id);

    probe.is_away(true);
    tally.flush().await;
    probe.is_away(false);
    tally.delivered(source, id);
    let before = probe.commits();
    tally.flush().await;
    tally.flush().await;
    assert_eq!(probe.commits() - before, 1, "and none when there is nothing to add");
    let counted = store.connections().find_of(source, id).await.unwrap().unwrap();
    assert_eq!(counted.delivery_count - connection.delivery_count, 6);
    assert_eq!(counted.failure_count - connection.failure_count, 1);
}

#[tokio::test]
async fn what_was_counted_for_nobody_is_forgotten() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let (probe, store) = Probe::new(&env);
    let tally = Tally::new(store);
    let connection = samples::connection();
    tally.delivered(connection.source_id, connection.id);
    tally.flush().await;
    tally.flush().await;
    assert_eq!(probe.commits(), 1);
}
