//! Replays of many events, of one event, and of what could not be processed.

use ferryhook_core::delivery::{Failure, Lane, State};
use ferryhook_core::event::{Standing, Status};
use ferryhook_core::replay::{Counts, Position, Selection};
use ferryhook_core::{Delivery, Event, Id, Replay, limits};
use ferryhook_store::repositories::{Arrival, Begun};
use ferryhook_store::{Slice, Stored, Window};

use crate::bench::{Bench, all};
use crate::cast::Home;

/// Asked for and read back.
async fn created(bench: &Bench, replay: Replay) -> Stored<Replay> {
    bench.store.replays().create(&replay).await.unwrap();
    bench.store.replays().find_of(replay.account_id, replay.id).await.unwrap().unwrap()
}

/// Those of one home; the queue is everyone's.
async fn running(bench: &Bench, home: Home) -> Vec<Id<Replay>> {
    let replays = bench.store.replays();
    let list = async |slice| replays.list_running(Window::ALWAYS, slice).await;
    let found = all(Slice::default(), list).await.into_iter();
    found.filter(|one| one.account_id == home.account).map(|one| one.id).collect()
}

pub(crate) async fn a_replay_is_found_by_its_account_and_by_its_id(bench: Bench) {
    let home = bench.home();
    let replay = created(&bench, bench.replay(home)).await;
    let found = bench.store.replays().find(replay.id).await.unwrap();
    assert_eq!(found, Some(replay.clone()));
    let stranger = bench.store.replays().find_of(bench.id(), replay.id).await.unwrap();
    assert!(stranger.is_none());
    assert!(bench.store.replays().find(bench.id()).await.unwrap().is_none());
}

pub(crate) async fn replays_are_listed_in_the_order_they_were_asked_for(bench: Bench) {
    let (home, elsewhere) = (bench.home(), bench.home());
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(created(&bench, bench.replay(home)).await.id);
        created(&bench, bench.replay(elsewhere)).await;
        bench.tick();
    }
    let replays = bench.store.replays();
    let list = async |slice| replays.list_by_account(home.account, slice).await;
    let found = all(Slice::newest_first().limit(2), list).await;
    ids.reverse();
    assert_eq!(found.iter().map(|one| one.id).collect::<Vec<_>>(), ids);
}

pub(crate) async fn a_replay_is_in_the_queue_until_it_is_over(bench: Bench) {
    let home = bench.home();
    let was = created(&bench, bench.replay(home)).await;
    assert_eq!(running(&bench, home).await, [was.id]);
    let done = was.finish(bench.now());
    bench.store.replays().save(&was, done).await.unwrap();
    assert!(running(&bench, home).await.is_empty());
    let found = bench.store.replays().find(was.id).await.unwrap().unwrap();
    assert_eq!(found.state.word(), "done");
}

pub(crate) async fn a_replay_is_taken_by_one(bench: Bench) {
    let home = bench.home();
    let was = created(&bench, bench.replay(home)).await;
    let replays = bench.store.replays();
    let leased = replays.lease(&was, bench.later(30)).await.unwrap().unwrap();
    assert_eq!(replays.lease(&was, bench.later(30)).await.unwrap(), None, "another was faster");
    let due = replays.list_running(Window::until(bench.now()), Slice::default());
    let due = due.await.unwrap().rows;
    assert!(!due.iter().any(|one| one.id == was.id), "not due while somebody has it");
    let over = leased.cancel(bench.now());
    let over = replays.save(&leased, over).await.unwrap();
    assert_eq!(replays.lease(&over, bench.later(30)).await.unwrap(), None);
}

pub(crate) async fn a_replay_remembers_how_far_it_has_come(bench: Bench) {
    let home = bench.home();
    let was = created(&bench, bench.replay(home)).await;
    let event = bench.event(home);
    let counts = Counts { matched: 4, replayed: 2, skipped: 1, failed: 1 };
    let now = was.advance(counts, Some(Position::of(&event)), bench.later(30), bench.now());
    let waiting_for = Some(bench.id());
    let now = Replay { waiting_for, last_error: Some("busy".to_owned()), ..now };
    let saved = bench.store.replays().save(&was, now.clone()).await.unwrap();
    assert_eq!(saved.record, now);
    let found = bench.store.replays().find_of(home.account, was.id).await.unwrap();
    assert_eq!(found, Some(saved));
    let stale = bench.store.replays().save(&was, now).await;
    assert!(stale.unwrap_err().is_refused());
}

pub(crate) async fn a_replay_may_name_ten_thousand_events(bench: Bench) {
    let home = bench.home();
    let ids = (0..limits::REPLAY_IDS_MAX).map(|_| bench.id()).collect();
    let selection = Selection::ids(ids).unwrap();
    let was = created(&bench, Replay { selection, ..bench.replay(home) }).await;
    let counts = Counts { matched: 1, ..Counts::default() };
    let now = was.advance(counts, None, bench.later(30), bench.now());
    bench.store.replays().save(&was, now.clone()).await.unwrap();
    let found = bench.store.replays().find(was.id).await.unwrap().unwrap();
    assert_eq!(found.record, now);
}

pub(crate) async fn a_cancelled_replay_is_over_for_whoever_has_it(bench: Bench) {
    let home = bench.home();
    let was = created(&bench, bench.replay(home)).await;
    let replays = bench.store.replays();
    let cancelled = replays.cancel(home.account, was.id).await.unwrap().unwrap();
    assert_eq!(cancelled.state.word(), "cancelled");
    assert!(running(&bench, home).await.is_empty());
    let counts = Counts { matched: 1, ..Counts::default() };
    let late = was.advance(counts, None, bench.later(30), bench.now());
    assert!(replays.save(&was, late).await.unwrap_err().is_refused());
    let again = replays.cancel(home.account, was.id).await.unwrap();
    assert_eq!(again, Some(cancelled), "over is over");
    assert_eq!(replays.cancel(home.account, bench.id()).await.unwrap(), None);
}

pub(crate) async fn a_replay_that_is_over_is_kept_for_a_while(bench: Bench) {
    let home = bench.home();
    let was = created(&bench, bench.replay(home)).await;
    let over = bench.store.replays().cancel(home.account, was.id).await.unwrap().unwrap();
    let kept = over.expires_at.unwrap().saturating_since(bench.now()).as_secs();
    bench.advance(kept - 1);
    assert!(bench.store.replays().find(was.id).await.unwrap().is_some());
    bench.advance(1);
    assert!(bench.store.replays().find(was.id).await.unwrap().is_none());
}

/// An event that was processed, with one delivery for each state.
async fn processed<const N: usize>(
    bench: &Bench,
    home: Home,
    states: [State; N],
) -> (Stored<Event>, [Stored<Delivery>; N]) {
    let event = bench.event(home);
    let arrival = Arrival { event: event.clone(), claim: None, items: Vec::new() };
    bench.store.events().accept(&[arrival]).await.unwrap();
    let was = bench.store.events().find(event.id).await.unwrap().unwrap();
    let deliveries = states.map(|state| Delivery { state, attempts: 1, ..bench.delivery(&event) });
    let stands = was.record.standing().with(&deliveries, bench.now());
    let planner = bench.store.deliveries();
    planner.plan(&was, &was.standing(), stands, &deliveries, None).await.unwrap();
    let was = bench.store.events().find(event.id).await.unwrap().unwrap();
    (was, deliveries.map(|record| Stored { record, revision: 1 }))
}

fn failed(bench: &Bench) -> State {
    State::Failed { reason: Failure::Exhausted, settled_at: bench.now() }
}

fn standing(event: &Event, deliveries: &[&Delivery], bench: &Bench) -> Standing {
    event.standing().with(deliveries.iter().copied(), bench.now())
}

pub(crate) async fn deliveries_begin_again_together_with_their_event(bench: Bench) {
    let home = bench.home();
    let (event, [old]) = processed(&bench, home, [failed(&bench)]).await;
    let again = old.replay(bench.now());
    let new = Delivery { lane: Lane::Replay, ..bench.delivery(&event) };
    let stands = standing(&event, &[&again, &new], &bench);
    let begun = [
        Begun { was: Some(old.clone()), now: again.clone() },
        Begun { was: None, now: new.clone() },
    ];
    let deliveries = bench.store.deliveries();
    let told = deliveries.replay(&event, stands, &begun, &[]).await.unwrap();
    let found = bench.store.events().find(event.id).await.unwrap().unwrap();
    assert_eq!((found.standing(), found.status), (told, Status::Retrying));
    assert_eq!(found.body, event.body);
    for expected in [&again, &new] {
        let found = deliveries.find(event.id, expected.connection_id).await.unwrap();
        assert_eq!(&found.unwrap().record, expected);
    }
    // Whoever comes second is refused as a whole.
    let refused = deliveries.replay(&event, stands, &begun, &[]).await;
    assert!(refused.unwrap_err().is_refused());
}

/// One who settles a delivery beside it must look again, or would say that all is done.
pub(crate) async fn a_replay_counts_as_a_change_of_its_event(bench: Bench) {
    let home = bench.home();
    let open = State::Waiting { next_attempt_at: bench.now() };
    let (event, [old, other]) = processed(&bench, home, [failed(&bench), open]).await;
    let again = old.replay(bench.now());
    let stands = standing(&event, &[&again, &other], &bench);
    assert_eq!(stands, event.record.standing(), "it stands where it stood");
    let begun = [Begun { was: Some(old.clone()), now: again }];
    let deliveries = bench.store.deliveries();
    deliveries.replay(&event, stands, &begun, &[&other]).await.unwrap();
    let delivered =
        Delivery { state: State::Delivered { settled_at: bench.now() }, ..other.record.clone() };
    let wrong = standing(&event, &[&old, &delivered], &bench);
    let with_event = (&*event, &event.standing(), wrong);
    let refused = deliveries.settle(&other, delivered, None, with_event, []).await;
    assert!(refused.unwrap_err().is_refused());
}

pub(crate) async fn a_replay_is_refused_when_a_sibling_has_moved(bench: Bench) {
    let home = bench.home();
    let open = State::Waiting { next_attempt_at: bench.now() };
    let (event, [old, other]) = processed(&bench, home, [failed(&bench), open]).await;
    let deliveries = bench.store.deliveries();
    let put_off = State::Waiting { next_attempt_at: bench.later(60) };
    let moved = Delivery { state: put_off, ..other.record.clone() };
    deliveries.replace(&other, moved).await.unwrap();
    let again = old.replay(bench.now());
    let stands = standing(&event, &[&again, &other], &bench);
    let begun = [Begun { was: Some(old.clone()), now: again }];
    let refused = deliveries.replay(&event, stands, &begun, &[&other]).await;
    assert!(refused.unwrap_err().is_refused());
    let found = deliveries.find(event.id, old.connection_id).await.unwrap();
    assert_eq!(found, Some(old), "and nothing has begun");
}

pub(crate) async fn a_replayed_delivery_waits_in_a_queue_of_its_own(bench: Bench) {
    let home = bench.home();
    let (event, [old]) = processed(&bench, home, [failed(&bench)]).await;
    let again = old.replay(bench.now());
    let stands = standing(&event, &[&again], &bench);
    let begun = [Begun { was: Some(old.clone()), now: again }];
    let deliveries = bench.store.deliveries();
    deliveries.replay(&event, stands, &begun, &[]).await.unwrap();
    let waiting = async |lane| {
        let slice = Slice::default();
        let page = deliveries.list_open(old.connection_id, lane, Window::ALWAYS, slice).await;
        page.unwrap().rows.len()
    };
    assert_eq!(waiting(Lane::Live).await, 0);
    assert_eq!(waiting(Lane::Replay).await, 1);
}

pub(crate) async fn an_event_may_be_replayed_over_ninety_eight_connections(bench: Bench) {
    let home = bench.home();
    let (event, []) = processed(&bench, home, []).await;
    let new = || Delivery { lane: Lane::Replay, ..bench.delivery(&event) };
    let begun: Vec<_> =
        (0..limits::REPLAY_CONNECTIONS_MAX).map(|_| Begun { was: None, now: new() }).collect();
    let stands = event.record.standing().with(begun.iter().map(|one| &one.now), bench.now());
    bench.store.deliveries().replay(&event, stands, &begun, &[]).await.unwrap();
}

/// Given up before anything was planned.
async fn dead(bench: &Bench, home: Home) -> Stored<Event> {
    let event = Event {
        status: Status::Failed,
        pending_since: None,
        processed_at: Some(bench.now()),
        processing_tries: 3,
        processing_error: Some("the rules of a connection crashed".to_owned()),
        ..bench.event(home)
    };
    let arrival = Arrival { event: event.clone(), claim: None, items: Vec::new() };
    bench.store.events().accept(&[arrival]).await.unwrap();
    bench.store.events().find(event.id).await.unwrap().unwrap()
}

async fn dead_letters(bench: &Bench, home: Home) -> Vec<Id<Event>> {
    let events = bench.store.events();
    let list = async |slice| events.list_dead_letters(home.account, Window::ALWAYS, slice).await;
    all(Slice::default().limit(2), list).await.into_iter().map(|event| event.id).collect()
}

pub(crate) async fn dead_letters_are_those_without_a_delivery(bench: Bench) {
    let home = bench.home();
    processed(&bench, home, [failed(&bench)]).await;
    bench.tick();
    let first = dead(&bench, home).await;
    bench.tick();
    // This one was planned after all, and failed as others do.
    let planned = dead(&bench, home).await;
    let delivery = Delivery { state: failed(&bench), ..bench.delivery(&planned) };
    bench.store.deliveries().create(&delivery).await.unwrap();
    bench.tick();
    let second = dead(&bench, home).await;
    dead(&bench, bench.home()).await;
    assert_eq!(dead_letters(&bench, home).await, [first.id, second.id]);
}

pub(crate) async fn a_dead_letter_is_pending_again_when_it_is_redriven(bench: Bench) {
    let home = bench.home();
    let was = dead(&bench, home).await;
    bench.tick();
    let redriven = bench.store.events().redrive(&was).await.unwrap();
    assert_eq!(bench.store.events().find(was.id).await.unwrap(), Some(redriven.clone()));
    let Event { status, pending_since, processing_tries, processing_error, .. } = redriven.record;
    assert_eq!((status, pending_since), (Status::Received, Some(bench.now())));
    assert_eq!((processing_tries, processing_error), (0, None));
    assert!(dead_letters(&bench, home).await.is_empty());
    assert!(bench.store.events().redrive(&was).await.unwrap_err().is_refused());
}

pub(crate) async fn a_replay_forgets_what_kept_an_event_from_being_processed(bench: Bench) {
    let home = bench.home();
    let was = dead(&bench, home).await;
    let new = Delivery { lane: Lane::Replay, ..bench.delivery(&was) };
    let stands = standing(&was, &[&new], &bench);
    let begun = [Begun { was: None, now: new }];
    bench.store.deliveries().replay(&was, stands, &begun, &[]).await.unwrap();
    let found = bench.store.events().find(was.id).await.unwrap().unwrap();
    assert_eq!((found.processing_tries, &found.processing_error), (0, &None));
    assert!(dead_letters(&bench, home).await.is_empty());
}
