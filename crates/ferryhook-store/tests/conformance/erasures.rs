//! Erasures, and what is left when something was erased: nothing, except what keeps copies out.

use std::slice::from_ref;

use ferryhook_core::erasure::{Counts, What};
use ferryhook_core::{Claim, Erasure, Event, Id};
use ferryhook_store::repositories::{Accepted, Arrival};
use ferryhook_store::{Slice, Stored, Window};

use crate::bench::{Bench, all};
use crate::cast::Home;

const FILTER: &str = r#"{"body":{"email":"ada@example.com"}}"#;

fn erasure(bench: &Bench, home: Home) -> Erasure {
    let what = What::subject(FILTER.to_owned(), None, None, None, bench.now()).unwrap();
    Erasure::new(home.account, what, None, &bench.env)
}

/// Asked for and read back.
async fn created(bench: &Bench, home: Home) -> Stored<Erasure> {
    let erasure = erasure(bench, home);
    bench.store.erasures().create(&erasure).await.unwrap();
    bench.store.erasures().find(home.account, erasure.id).await.unwrap().unwrap()
}

/// Those of one home; the index is everyone's.
async fn open(bench: &Bench, home: Home) -> Vec<Id<Erasure>> {
    let erasures = bench.store.erasures();
    let found = all(Slice::default(), async |slice| erasures.list_open(slice).await).await;
    found.iter().filter(|one| one.account_id == home.account).map(|one| one.id).collect()
}

/// An event that came with a claim, as it is stored.
async fn claimed(bench: &Bench, home: Home, key: &str) -> (Stored<Event>, Claim) {
    let mut event = bench.event(home);
    let claim = bench.claim(key, Some(event.id));
    event.dedup_key = Some(claim.key.clone());
    let arrival = Arrival { event: event.clone(), claim: Some(claim.clone()), items: Vec::new() };
    bench.store.events().accept(&[arrival]).await.unwrap();
    (bench.store.events().find(event.id).await.unwrap().unwrap(), claim)
}

fn copy(bench: &Bench, home: Home, claim: &Claim) -> Arrival {
    let mut event = bench.event(home);
    event.dedup_key = Some(claim.key.clone());
    let claim = Claim { event_id: Some(event.id), ..claim.clone() };
    Arrival { event, claim: Some(claim), items: Vec::new() }
}

pub(crate) async fn an_erasure_is_open_until_it_is_over(bench: Bench) {
    let (home, elsewhere) = (bench.home(), bench.home());
    let was = created(&bench, home).await;
    created(&bench, elsewhere).await;
    assert_eq!(open(&bench, home).await, [was.id]);
    assert!(bench.store.erasures().find(elsewhere.account, was.id).await.unwrap().is_none());
    let counts = Counts { looked_at: 9, erased: 2, failed: 0 };
    let now = was.advance(counts, None, bench.later(30), bench.now());
    let was = bench.store.erasures().save(&was, now.looked_through(bench.now())).await.unwrap();
    assert_eq!(open(&bench, home).await, [was.id], "not over before the scrub");
    let was = bench.store.erasures().save(&was, was.scrubbed(bench.now())).await.unwrap();
    assert!(open(&bench, home).await.is_empty());
    let erasures = bench.store.erasures();
    let list = async |slice| erasures.list_by_account(home.account, slice).await;
    let listed = all(Slice::newest_first(), list).await;
    assert_eq!(listed, std::slice::from_ref(&was.record));
    assert_eq!((was.state.word(), was.counts.erased), ("done", 2));
}

pub(crate) async fn an_erasure_is_taken_by_one(bench: Bench) {
    let home = bench.home();
    let was = created(&bench, home).await;
    let erasures = bench.store.erasures();
    let leased = erasures.lease(&was, bench.later(30)).await.unwrap().unwrap();
    assert_eq!(erasures.lease(&was, bench.later(30)).await.unwrap(), None, "another was faster");
    let cancelled = erasures.cancel(home.account, was.id).await.unwrap().unwrap();
    assert!(erasures.save(&leased, leased.lease(bench.later(60))).await.is_err());
    assert!(!cancelled.is_over(), "what was erased is still to be scrubbed");
    let again = erasures.cancel(home.account, was.id).await.unwrap().unwrap();
    assert_eq!(again, cancelled);
    let over = erasures.save(&cancelled, cancelled.scrubbed(bench.now())).await.unwrap();
    assert_eq!(over.state.word(), "cancelled");
    assert_eq!(erasures.lease(&over, bench.later(30)).await.unwrap(), None);
    assert_eq!(erasures.cancel(home.account, bench.id()).await.unwrap(), None);
}

pub(crate) async fn an_erasure_that_ends_forgets_whom_it_was_about(bench: Bench) {
    let home = bench.home();
    let was = created(&bench, home).await;
    assert!(was.names_someone());
    let was = bench.store.erasures().cancel(home.account, was.id).await.unwrap().unwrap();
    let found = bench.store.erasures().find(home.account, was.id).await.unwrap().unwrap();
    assert!(!format!("{found:?}").contains("ada@"), "{found:?}");
    bench.store.scrub().await.unwrap();
    assert_eq!(bench.store.erasures().find(home.account, was.id).await.unwrap(), Some(found));
}

/// The key may say who it was about, so it goes; a copy is still recognised.
pub(crate) async fn an_erased_event_leaves_no_key_and_still_keeps_copies_out(bench: Bench) {
    let home = bench.home();
    let (event, claim) = claimed(&bench, home, "ada@example.com").await;
    assert_eq!(bench.store.ledger().erased_until(home.source).await.unwrap(), None);
    bench.store.events().erase(&event).await.unwrap();
    assert!(bench.store.events().find(event.id).await.unwrap().is_none());
    assert!(bench.store.ledger().find(&claim.key).await.unwrap().is_none());
    let until = bench.store.ledger().erased_until(home.source).await.unwrap();
    assert!(until.is_some_and(|until| until >= claim.expires_at));
    let events = bench.store.events();
    let copy = copy(&bench, home, &claim);
    let other = Arrival {
        event: bench.event(home),
        claim: Some(bench.claim("other", None)),
        items: Vec::new(),
    };
    let accepted = events.accept_after_erasures(&[copy.clone(), other]).await.unwrap();
    assert_eq!(accepted, [Accepted::Duplicate { first: None }, Accepted::New]);
    bench.advance(14 * 86_400);
    let accepted = events.accept_after_erasures(from_ref(&copy)).await.unwrap();
    assert_eq!(accepted, [Accepted::New], "as long as the claim would have");
}

/// A later event has the claim by then, which is none of the erased one's business.
pub(crate) async fn an_erased_event_leaves_another_ones_claim_alone(bench: Bench) {
    let home = bench.home();
    let (event, claim) = claimed(&bench, home, "k").await;
    let other = Event { dedup_key: event.dedup_key.clone(), ..bench.event(home) };
    let arrival = Arrival { event: other.clone(), claim: None, items: Vec::new() };
    bench.store.events().accept(&[arrival]).await.unwrap();
    let other = bench.store.events().find(other.id).await.unwrap().unwrap();
    bench.store.events().erase(&other).await.unwrap();
    assert!(bench.store.ledger().find(&claim.key).await.unwrap().is_some());
}

/// Whoever carries it meanwhile knows it as it was, and brings nothing back.
pub(crate) async fn an_erased_event_does_not_come_back_with_its_delivery(bench: Bench) {
    let home = bench.home();
    let (event, _) = claimed(&bench, home, "k").await;
    let (planned, unplanned) = (bench.delivery(&event), bench.delivery(&event));
    let stands = event.standing().with([&planned], bench.now());
    let deliveries = bench.store.deliveries();
    let plan = [planned.clone()];
    let stood = deliveries.plan(&event, &event.standing(), stands, &plan, None).await.unwrap();
    let was = deliveries.find(event.id, planned.connection_id).await.unwrap().unwrap();
    // Erased as it was before it was planned: somebody else was faster.
    bench.store.events().erase(&event).await.unwrap();
    let attempt = bench.attempt(&planned, 1);
    let beside: [(&ferryhook_core::Delivery, u64); 0] = [];
    let settled = deliveries
        .settle(&was, planned.clone(), Some(&attempt), (&event, &stood, stands), beside)
        .await;
    assert!(settled.unwrap_err().is_refused());
    assert!(deliveries.count_attempt(&was, &attempt).await.unwrap_err().is_refused());
    let again = deliveries.plan(&event, &event.standing(), stands, &[unplanned], None).await;
    assert!(again.unwrap_err().is_refused());
    let counted = bench.store.events();
    let counted = counted.count_duplicates(event.source_id, event.received_at, event.id, 1).await;
    assert!(counted.unwrap_err().is_refused());
    let left = deliveries.list_by_event(event.id, Slice::default()).await.unwrap();
    assert!(left.rows.is_empty());
    let left = bench.store.attempts().list_by_event(event.id, Slice::default()).await.unwrap();
    assert!(left.rows.is_empty());
    bench.store.events().erase(&event).await.expect("once more is no mistake");
}

pub(crate) async fn an_erased_rejection_is_gone(bench: Bench) {
    let home = bench.home();
    let rejections = bench.store.rejections();
    let (rejection, other) = (bench.rejection(home), bench.rejection(home));
    for one in [&rejection, &other] {
        rejections.record(one).await.unwrap();
    }
    let found = rejections.find(home.source, rejection.rejected_at, rejection.id).await;
    let found = found.unwrap().unwrap();
    rejections.erase(&found).await.unwrap();
    rejections.erase(&found).await.expect("once more is no mistake");
    bench.store.scrub().await.unwrap();
    let list = async |slice| rejections.list_by_source(home.source, Window::ALWAYS, slice).await;
    assert_eq!(all(Slice::default(), list).await, [other]);
}
