//! Event types: counted without reading, learned once however many learn, listed by account.

use ferryhook_core::event_type::{Declared, Mode};
use ferryhook_core::{Account, EventType, Id, Notification, samples};
use ferryhook_store::repositories::{Announcement, Slice};

use crate::bench::Bench;

fn seen(bench: &Bench, account: Id<Account>, name: &str) -> EventType {
    let mut new = EventType::new(account, name);
    new.count(1, bench.now());
    new
}

pub(crate) async fn event_types_are_counted_without_reading(bench: Bench) {
    let types = bench.store.event_types();
    let account = bench.id();
    let at = bench.now();
    assert!(!types.count(account, "order.paid", (1, at), (0, 0)).await.unwrap(), "there is none");
    types.create(&seen(&bench, account, "order.paid")).await.unwrap();
    assert!(types.count(account, "order.paid", (41, at), (0, 0)).await.unwrap());
    assert!(types.count(account, "order.paid", (0, at), (3, 2)).await.unwrap());
    let found = types.find(account, "order.paid").await.unwrap().unwrap();
    assert_eq!((found.count, found.mismatches, found.unchecked), (42, 3, 2));
    assert_eq!(found.last_seen_at, Some(at));
}

/// Of two who learned from the same row one is told to learn again, and what it had to say is not
/// said.
pub(crate) async fn an_event_type_is_learned_once(bench: Bench) {
    let types = bench.store.event_types();
    let (account, user) = (bench.id(), bench.id());
    let new = seen(&bench, account, "order.paid");
    let silence = Announcement::default();
    assert!(types.learn(None, &new, &silence).await.unwrap());
    assert!(!types.learn(None, &new, &silence).await.unwrap());
    let was = types.find(account, "order.paid").await.unwrap().unwrap();
    let notification = |id| {
        let expires_at = None;
        Notification {
            user_id: user,
            id,
            is_read: false,
            read_at: None,
            expires_at,
            ..samples::notification()
        }
    };
    let mut learned = Vec::new();
    for _ in 0..2 {
        let announcement =
            Announcement { event: None, notifications: vec![notification(bench.id())] };
        let mut now = was.record.clone();
        now.learn(&serde_json::json!({"number": 1}), bench.id(), bench.id(), bench.now());
        learned.push(types.learn(Some(&was), &now, &announcement).await.unwrap());
    }
    assert_eq!(learned, [true, false]);
    let told = bench.store.notifications().list(user, Slice::default()).await.unwrap();
    assert_eq!(told.rows.len(), 1);
    let found = types.find(account, "order.paid").await.unwrap().unwrap();
    assert_eq!(found.learned.samples, 1);
}

pub(crate) async fn event_types_are_listed_by_account_and_declaration(bench: Bench) {
    let types = bench.store.event_types();
    let (account, neighbour) = (bench.id(), bench.id());
    for name in ["order.paid", "order.made", "user/new"] {
        types.create(&seen(&bench, account, name)).await.unwrap();
    }
    types.create(&seen(&bench, neighbour, "order.paid")).await.unwrap();
    assert_eq!(types.names(account).await.unwrap(), ["order.made", "order.paid", "user/new"]);
    let page = types.list(account, Slice::default().limit(2)).await.unwrap();
    let rest = types.list(account, Slice::default().after(page.next)).await.unwrap();
    assert_eq!((page.rows.len(), rest.rows[0].name.as_str()), (2, "user/new"));

    let declared = async || {
        let page = types.list_declared(account, Slice::default()).await.unwrap();
        page.rows.into_iter().map(|row| row.record.name).collect::<Vec<_>>()
    };
    assert!(declared().await.is_empty());
    let was = types.find(account, "order.paid").await.unwrap().unwrap();
    let (schema, mode) = ("{}".to_owned(), Mode::Reject);
    let said = Declared { schema, mode, declared_at: bench.now(), told_at: None };
    let now = EventType { declared: Some(said), ..was.record.clone() };
    let was = types.replace(&was, now).await.unwrap();
    assert_eq!(declared().await, ["order.paid"]);
    // What is counted beside leaves it where it stands.
    types.count(account, "order.paid", (1, bench.now()), (1, 0)).await.unwrap();
    assert!(types.replace(&was, was.record.clone()).await.is_err(), "it was counted meanwhile");
    let was = types.find(account, "order.paid").await.unwrap().unwrap();
    let was =
        types.replace(&was, EventType { declared: None, ..was.record.clone() }).await.unwrap();
    assert!(declared().await.is_empty());
    types.delete(&was).await.unwrap();
    assert_eq!(types.names(account).await.unwrap(), ["order.made", "user/new"]);
}
