//! Erasures beside deliveries: what is meant is gone, and nothing more of it goes out.

use ferryhook_core::erasure::What;
use ferryhook_core::{Claim, Erasure, Rejection, dedup};
use ferryhook_store::Window;
use ferryhook_store::search::count_erased;

use super::*;

const ADA: &str = r#"{"body":{"email":"ada@example.com"}}"#;

impl Ferry {
    async fn with_email(&self, email: &str) -> Stored<Event> {
        let body = format!(r#"{{"email":"{email}"}}"#);
        self.stored(the_source().id, None, |event| event.body = body.into_bytes().into()).await
    }

    async fn erase(&self, what: What) -> Id<Erasure> {
        let erasure = Erasure::new(the_source().account_id, what, None, &self.env);
        self.courier.erase(&self.store, &erasure).await.unwrap();
        erasure.id
    }

    fn ada(&self) -> What {
        What::subject(ADA.to_owned(), None, None, None, self.env.now()).unwrap()
    }

    async fn erasure(&self, id: Id<Erasure>) -> Erasure {
        let account = the_source().account_id;
        self.store.erasures().find(account, id).await.unwrap().unwrap().record
    }

    async fn is_there(&self, id: Id<Event>) -> bool {
        self.store.events().find(id).await.unwrap().is_some()
    }
}

#[tokio::test(start_paused = true)]
async fn all_that_a_filter_means_is_erased_and_nothing_else() {
    let ferry = Ferry::new(&[connection("a")]).await;
    let mut ids = Vec::new();
    for number in 0..250 {
        let email = if number % 5 == 0 { "ada@example.com" } else { "bob@example.com" };
        ids.push(ferry.with_email(email).await.id);
        sleep(Duration::from_millis(1)).await;
    }
    let mut rejection = Rejection {
        source_id: the_source().id,
        account_id: the_source().account_id,
        rejected_at: ferry.env.now(),
        body: r#"{"email":"ada@example.com"}"#.into(),
        expires_at: None,
        ..samples::rejection()
    };
    ferry.store.rejections().record(&rejection).await.unwrap();
    rejection.id = Id::new(&ferry.env);
    rejection.body = "{}".into();
    ferry.store.rejections().record(&rejection).await.unwrap();

    let id = ferry.erase(ferry.ada()).await;
    sleep(seconds(1)).await;
    let over = ferry.erasure(id).await;
    assert_eq!(over.state.word(), "done");
    assert_eq!((over.counts.looked_at, over.counts.erased), (252, 51));
    assert!(!over.names_someone());
    for (number, id) in ids.iter().enumerate() {
        assert_eq!(ferry.is_there(*id).await, number % 5 != 0, "{number}");
    }
    let rejections = ferry.store.rejections();
    let left =
        rejections.list_by_source(the_source().id, Window::ALWAYS, Slice::default()).await.unwrap();
    assert_eq!(left.rows.iter().map(|one| one.id).collect::<Vec<_>>(), [rejection.id]);
}

#[tokio::test(start_paused = true)]
async fn named_events_are_erased_of_the_own_account_only() {
    let ferry = Ferry::new(&[connection("a")]).await;
    let mine = ferry.with_email("ada@example.com").await;
    let other = ferry.with_email("ada@example.com").await;
    let theirs =
        ferry.stored(the_source().id, None, |event| event.account_id = stranger(&ferry.env)).await;
    let what = What::events(vec![mine.id, theirs.id, Id::new(&ferry.env)]).unwrap();
    let id = ferry.erase(what).await;
    sleep(seconds(1)).await;
    let over = ferry.erasure(id).await;
    assert_eq!((over.state.word(), over.counts.looked_at, over.counts.erased), ("done", 3, 1));
    assert!(!ferry.is_there(mine.id).await);
    assert!(ferry.is_there(other.id).await && ferry.is_there(theirs.id).await);
}

/// One is on its way, one waits behind it in memory: the first is finished, and that is all.
#[tokio::test(start_paused = true)]
async fn what_waits_in_memory_is_not_sent_any_more() {
    let slow = Connection { concurrency_max: Some(1), ..connection("a") };
    let ferry = Ferry::new(&[slow]).await;
    ferry.answers_after("a", 200, seconds(60));
    let (first, second) = (ferry.arrives().await, ferry.arrives().await);
    sleep(seconds(1)).await;
    assert_eq!(ferry.sent_count(), 1);
    let what = What::events(vec![first, second]).unwrap();
    let id = ferry.erase(what).await;
    sleep(seconds(300)).await;
    assert_eq!(ferry.sent_count(), 1, "{}", ferry.sent());
    assert_eq!(ferry.erasure(id).await.counts.erased, 2);
    for id in [first, second] {
        assert!(!ferry.is_there(id).await);
        let deliveries = ferry.store.deliveries().list_by_event(id, Slice::default()).await;
        assert!(deliveries.unwrap().rows.is_empty());
        let attempts = ferry.store.attempts().list_by_event(id, Slice::default()).await;
        assert!(attempts.unwrap().rows.is_empty());
    }
    ferry.answers("a", 200);
    ferry.arrives().await;
    sleep(seconds(10)).await;
    assert_eq!(ferry.sent_count(), 2, "the lane goes on");
}

/// A destination that fails is tried again later, from the store.
#[tokio::test(start_paused = true)]
async fn a_retry_of_what_was_erased_is_not_made() {
    let again = Connection { retry_config: Some("[0, 60, 60]".into()), ..connection("a") };
    let ferry = Ferry::new(&[again]).await;
    ferry.answers("a", 500);
    let event = ferry.arrives().await;
    sleep(seconds(10)).await;
    assert_eq!(ferry.sent_count(), 1);
    ferry.erase(What::events(vec![event]).unwrap()).await;
    sleep(seconds(600)).await;
    assert_eq!(ferry.sent_count(), 1, "{}", ferry.sent());
}

/// The process dies in the middle; the next one has no bell to hear.
#[tokio::test(start_paused = true)]
async fn an_erasure_goes_on_after_a_restart() {
    let mut ferry = Ferry::new(&[connection("a")]).await;
    let mut ids = Vec::new();
    for _ in 0..400 {
        ids.push(ferry.with_email("ada@example.com").await.id);
        sleep(Duration::from_millis(1)).await;
    }
    let id = ferry.erase(ferry.ada()).await;
    while ferry.erasure(id).await.counts.erased == 0 {
        tokio::task::yield_now().await;
    }
    ferry.probe.is_away(true);
    ferry.courier.finish().await;
    ferry.probe.is_away(false);
    let cut = ferry.erasure(id).await;
    assert!(!cut.is_over() && cut.counts.erased < 400, "{cut:?}");
    ferry.restart();
    sleep(seconds(30)).await;
    let over = ferry.erasure(id).await;
    assert_eq!(over.state.word(), "done");
    for id in ids {
        assert!(!ferry.is_there(id).await);
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_erasure_erases_no_more() {
    let ferry = Ferry::new(&[connection("a")]).await;
    let event = ferry.with_email("ada@example.com").await;
    ferry.probe.hold();
    let erasure = Erasure::new(the_source().account_id, ferry.ada(), None, &ferry.env);
    ferry.probe.let_go();
    ferry.store.erasures().create(&erasure).await.unwrap();
    ferry.store.erasures().cancel(erasure.account_id, erasure.id).await.unwrap();
    sleep(seconds(30)).await;
    let over = ferry.erasure(erasure.id).await;
    assert_eq!((over.state.word(), over.counts.erased), ("cancelled", 0));
    assert!(ferry.is_there(event.id).await);
}

#[tokio::test(start_paused = true)]
async fn it_can_be_counted_first() {
    let ferry = Ferry::new(&[connection("a")]).await;
    for email in ["ada@example.com", "bob@example.com", "ada@example.com"] {
        ferry.with_email(email).await;
        sleep(Duration::from_millis(1)).await;
    }
    let account = the_source().account_id;
    let count = count_erased(&ferry.store, account, &ferry.ada(), None).await.unwrap();
    assert_eq!((count.matched, count.looked_at, count.next), (2, 3, None));
    let stranger = stranger(&ferry.env);
    let count = count_erased(&ferry.store, stranger, &ferry.ada(), None).await.unwrap();
    assert_eq!(count.matched, 0);
}

/// The route in memory learns that copies have to be looked for.
#[tokio::test(start_paused = true)]
async fn the_door_looks_for_copies_of_what_was_erased() {
    let ferry = Ferry::new(&[connection("a")]).await;
    let source = the_source().id;
    let route = ferry.courier.inner().routes.find(source).await.unwrap().unwrap();
    assert_eq!(route.erased_until, None);
    let event = ferry.with_email("ada@example.com").await;
    let key = dedup::ledger_key(source, "custom", "ada@example.com");
    let claimed = Event { id: Id::new(&ferry.env), dedup_key: Some(key.clone()), ..event.record };
    let claim = Claim {
        key,
        seen_at: ferry.env.now(),
        expires_at: ferry.env.now() + seconds(3600),
        event_id: Some(claimed.id),
        state: None,
        fencing_token: None,
        lease_until: None,
        ..samples::claim()
    };
    let arrival = Arrival { event: claimed.clone(), claim: Some(claim), items: Vec::new() };
    ferry.store.events().accept(&[arrival]).await.unwrap();
    ferry.erase(What::events(vec![claimed.id]).unwrap()).await;
    sleep(seconds(1)).await;
    let route = ferry.courier.inner().routes.find(source).await.unwrap().unwrap();
    assert!(route.erased_until.is_some());
}
