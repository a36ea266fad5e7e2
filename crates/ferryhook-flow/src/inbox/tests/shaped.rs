//! What a connection's rules make of what is leased over it.

use ferryhook_core::connection::PipelineOrder;

use super::*;

const RENAME: &str = r#"{"type":"field_map","rename":{"amount":"sum"}}"#;
const HAS_SUM: &str = r#"[{"path":"body.sum","operator":"exists"}]"#;

fn shaping(transform: &str) -> Connection {
    Connection {
        transform: Some(transform.to_owned()),
        ..to_inbox("some", &json!({"group": "some", "maxLeases": 2}))
    }
}

fn of_some(count: usize) -> Wanted {
    Wanted { group: "some".parse().unwrap(), ..wanted(count) }
}

fn carried(leased: &Leased) -> &str {
    leased.event.body.as_text().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_lease_gives_what_the_transform_made() {
    let shop = Shop::new(&[shaping(RENAME)]).await;
    shop.post(&["order.paid"]).await;
    let leased = shop.lease(of_some(1)).await.remove(0);
    assert_eq!(carried(&leased), r#"{"sum":7}"#);
    let plain = shop.lease(wanted(1)).await.remove(0);
    assert_eq!(plain.event.payload.unwrap()["amount"], 7, "the other group has no transform");
}

/// What waits was meant for the connection as it was.
#[tokio::test(start_paused = true)]
async fn a_deleted_connection_still_shapes_what_waits() {
    let shop = Shop::new(&[shaping(RENAME)]).await;
    shop.post(&["order.paid"]).await;
    let connections = shop.store.connections();
    let was = connections.find_of(triggers().id, shaping(RENAME).id).await.unwrap().unwrap();
    connections.delete(&was).await.unwrap();
    sleep(seconds(301)).await; // nobody remembers the route
    let leased = shop.lease(of_some(1)).await.remove(0);
    assert_eq!(carried(&leased), r#"{"sum":7}"#);
}

/// However many there are before one that is wanted, and without a lease each.
#[tokio::test(start_paused = true)]
async fn what_the_rules_do_not_want_is_passed_over() {
    let picky = Connection {
        filters: Some(HAS_SUM.to_owned()),
        pipeline_order: PipelineOrder::TransformFirst,
        ..shaping(r#"{"type":"passthrough"}"#)
    };
    let shop = Shop::new(&[picky]).await;
    let unwanted = shop.post(&["order.paid"; 30]).await;
    shop.post_each([("order.paid", json!({"sum": 1}))].into_iter()).await;
    let leased = shop.lease(of_some(1)).await;
    assert_eq!(leased.len(), 1);
    assert_eq!(leased[0].token.lease, 1);
    let items = shop.items(unwanted[29].id).await;
    let dropped = items.iter().find(|item| item.connection_id == leased[0].token.connection);
    assert!(matches!(dropped.unwrap().state, State::Cancelled { .. }));
    assert_eq!(dropped.unwrap().attempts, 0);
}

#[tokio::test(start_paused = true)]
async fn a_transform_that_fails_uses_up_the_leases() {
    let shop = Shop::new(&[shaping("{}")]).await;
    let id = shop.post(&["order.paid"]).await[0].id;
    let item = async || {
        let mut items = shop.items(id).await;
        items.retain(|item| item.connection_id == shaping("{}").id);
        items.remove(0)
    };
    assert!(shop.lease(of_some(1)).await.is_empty());
    let back = item().await;
    assert!(matches!(back.state, State::Waiting { .. }), "{back:?}");
    assert!(back.last_error.unwrap().starts_with("the transform cannot be read"));
    sleep(seconds(5)).await;
    assert!(shop.lease(of_some(1)).await.is_empty());
    let dead = item().await;
    assert!(matches!(dead.state, State::Failed { .. }), "{dead:?}");
    assert_eq!(dead.attempts, 2);
}
