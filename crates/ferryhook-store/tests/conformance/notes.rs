//! A change and its line in the audit log: both or neither, and once.

use ferryhook_core::Activity;
use ferryhook_store::{Slice, Store, UniqueError};

use crate::bench::{Bench, all, assert_out_of_bounds};
use crate::cast::Home;

/// A handle that notes, and the line it was given.
fn noting(bench: &Bench, home: Home) -> (Store, Activity) {
    let activity = bench.activity(home, "source_created");
    let activity = Activity { number: None, previous_hash: None, hash: None, ..activity };
    (bench.store.noting(activity.clone()), activity)
}

/// What stands in the log, without its place in the chain.
async fn log(bench: &Bench, home: Home) -> Vec<Activity> {
    let activities = bench.store.activities();
    let list = async |slice| activities.list_by_account(home.account, slice).await;
    let lines = all(Slice::default(), list).await.into_iter();
    let said = |line: Activity| Activity { number: None, previous_hash: None, hash: None, ..line };
    lines.map(said).collect()
}

pub(crate) async fn a_change_and_its_line_in_the_log_are_one_commit(bench: Bench) {
    let home = bench.home();
    let (noting, activity) = noting(&bench, home);
    assert!(bench.store.has_noted() && !noting.has_noted());
    let source = bench.source(home);
    noting.sources().create(&source).await.unwrap();
    assert!(noting.has_noted());
    assert_eq!(log(&bench, home).await, std::slice::from_ref(&activity));
    // Had the line been there before, the change would not have happened either.
    let again = bench.store.noting(activity);
    let other = bench.source(home);
    let refused = again.sources().create(&other).await.unwrap_err();
    // Behind the source and its count.
    assert!(refused.refused_at(2), "{refused:?}");
    assert!(bench.store.sources().find_owned(home.user, other.id).await.unwrap().is_none());
}

pub(crate) async fn a_refused_change_is_not_in_the_log(bench: Bench) {
    let home = bench.home();
    let source = bench.source(home);
    bench.store.sources().create(&source).await.unwrap();
    let (noting, activity) = noting(&bench, home);
    let refused = noting.sources().create(&source).await.unwrap_err();
    assert!(refused.refused_at(0), "{refused:?}");
    assert!(!noting.has_noted());
    assert_eq!(log(&bench, home).await, []);
    // Whoever looks again and tries again notes it then.
    noting.sources().create(&bench.source(home)).await.unwrap();
    assert_eq!(log(&bench, home).await, [activity]);
}

pub(crate) async fn a_second_change_is_not_noted_again(bench: Bench) {
    let home = bench.home();
    let (noting, activity) = noting(&bench, home);
    let clone = noting.clone();
    noting.sources().create(&bench.source(home)).await.unwrap();
    clone.sources().create(&bench.source(home)).await.unwrap();
    noting.sources().create(&bench.source(home)).await.unwrap();
    assert_eq!(log(&bench, home).await, [activity]);
}

pub(crate) async fn a_noted_change_still_says_what_is_taken(bench: Bench) {
    let home = bench.home();
    let first = bench.user();
    bench.store.users().create(&first).await.unwrap();
    let mut second = bench.user();
    second.email.clone_from(&first.email);
    let (noting, _) = noting(&bench, home);
    let taken = noting.users().create(&second).await;
    assert!(matches!(taken, Err(UniqueError::Taken(_))), "{taken:?}");
    assert_eq!(log(&bench, home).await, []);
}

/// A count may be lost in a crash; a line of the log may not.
pub(crate) async fn what_is_buffered_is_not_noted(bench: Bench) {
    let home = bench.home();
    let source = bench.source(home);
    bench.store.sources().create(&source).await.unwrap();
    let (noting, _) = noting(&bench, home);
    noting.sources().count_events(home.user, source.id, 1, bench.now()).await.unwrap();
    assert!(!noting.has_noted());
    assert_eq!(log(&bench, home).await, []);
}

pub(crate) async fn nothing_is_noted_without_a_change(bench: Bench) {
    let home = bench.home();
    let (noting, _) = noting(&bench, home);
    assert_out_of_bounds(noting.sources().edit(&[]).await);
    assert_eq!(log(&bench, home).await, []);
}
