//! The chain of an audit log: unbroken whoever writes, and no row of it can be touched unseen.

use ferryhook_core::activity::check::{FaultKind, Report};
use ferryhook_core::{Activity, Id, Map};
use ferryhook_store::batch::Patch;
use ferryhook_store::{Batch, Condition, Durability, Key, Kind, Slice, Store, Stored, Table};
use tokio::task::JoinSet;

use crate::bench::{Bench, all};
use crate::cast::Home;

const AT_ONCE: usize = 16;

fn line(bench: &Bench, home: Home) -> Activity {
    let line = bench.activity(home, "source_created");
    Activity { number: None, previous_hash: None, hash: None, ..line }
}

async fn lines(bench: &Bench, home: Home) -> Vec<Activity> {
    let activities = bench.store.activities();
    all(Slice::default(), async |slice| activities.list_by_account(home.account, slice).await).await
}

async fn check(bench: &Bench, home: Home) -> Report {
    let checked = bench.store.activities().check(home.account, None, usize::MAX).await.unwrap();
    let checked = checked.unwrap();
    assert_eq!(checked.next, None);
    checked.report
}

async fn kinds(bench: &Bench, home: Home) -> Vec<FaultKind> {
    check(bench, home).await.faults.iter().map(|fault| fault.kind).collect()
}

/// A log of six lines.
async fn written(bench: &Bench) -> (Home, Vec<Activity>) {
    let home = bench.home();
    for _ in 0..6 {
        bench.store.activities().record(&line(bench, home)).await.unwrap();
    }
    (home, lines(bench, home).await)
}

/// Behind everybody's back.
async fn tamper(bench: &Bench, batch: Batch) {
    bench.engine.commit(batch, Durability::Synced).await.unwrap();
}

fn key(line: &Activity) -> Key {
    Key::new(Table::Activities, line.account_id.as_str(), line.id.as_str())
}

/// In several processes at once, each with several commits: one chain, and nothing lost or twice.
pub(crate) async fn racing_commits_make_one_unbroken_chain(bench: Bench) {
    let home = bench.home();
    let mut racers = JoinSet::new();
    for place in 0..AT_ONCE {
        // Half of them share a handle, the others come from elsewhere.
        let store = match place % 2 {
            0 => bench.store.clone(),
            _ => Store::new(bench.engine.clone(), bench.env.clone()),
        };
        let (line, source) = (line(&bench, home), bench.source(home));
        racers.spawn(async move { store.noting(line).sources().create(&source).await });
    }
    for done in racers.join_all().await {
        done.unwrap();
    }
    let numbers: Vec<_> = lines(&bench, home).await.iter().map(|line| line.number).collect();
    assert_eq!(numbers, (1..=AT_ONCE as u64).map(Some).collect::<Vec<_>>());
    let report = check(&bench, home).await;
    assert_eq!((report.lines, report.faults), (AT_ONCE as u64, Vec::new()));
}

pub(crate) async fn a_refused_commit_leaves_neither_line_nor_gap(bench: Bench) {
    let home = bench.home();
    let source = bench.source(home);
    let mut racers = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (store, source) = (bench.store.noting(line(&bench, home)), source.clone());
        racers.spawn(async move { store.sources().create(&source).await });
    }
    let done = racers.join_all().await;
    assert_eq!(done.iter().filter(|done| done.is_ok()).count(), 1);
    let refused = |done: &Result<(), _>| {
        done.as_ref().err().is_none_or(ferryhook_store::StoreError::is_refused)
    };
    assert!(done.iter().all(refused), "{done:?}");
    bench.store.activities().record(&line(&bench, home)).await.unwrap();
    let report = check(&bench, home).await;
    assert_eq!((report.lines, report.faults), (2, Vec::new()));
}

/// What any engine keeps of the details comes to the same hash again.
pub(crate) async fn details_are_the_same_after_they_were_stored(bench: Bench) {
    let home = bench.home();
    let details: Map = serde_json::from_str(
        r#"{"z":1.0,"a":[null,true,2.5,-0.0,18446744073709551615,{"é\u0000":""}],"m":{},"l":[],"s":""}"#,
    )
    .unwrap();
    let line = Activity { details: Some(details), ..line(&bench, home) };
    bench.store.activities().record(&line).await.unwrap();
    bench
        .store
        .activities()
        .record(&Activity { id: bench.id(), details: None, ..line })
        .await
        .unwrap();
    assert_eq!(check(&bench, home).await.faults, []);
}

pub(crate) async fn a_changed_line_is_found(bench: Bench) {
    let (home, lines) = written(&bench).await;
    assert_eq!(kinds(&bench, home).await, []);
    for (place, name) in [(0, "action"), (2, "resourceId"), (5, "ipAddress")] {
        let patch = Patch::of(Kind::Activity, key(&lines[place])).set(name, "another");
        tamper(&bench, Batch::new().patch(patch)).await;
    }
    let report = check(&bench, home).await;
    let found: Vec<_> = report.faults.iter().map(|fault| (fault.kind, fault.line)).collect();
    let changed = |line| (FaultKind::Changed, Some(line));
    assert_eq!(found, [changed(1), changed(3), changed(6)]);
}

pub(crate) async fn a_removed_line_is_found(bench: Bench) {
    for place in [0, 3, 5] {
        let (home, lines) = written(&bench).await;
        tamper(&bench, Batch::new().delete_when(&lines[place], Condition::Exists)).await;
        assert_eq!(kinds(&bench, home).await, [FaultKind::Removed], "{place}");
    }
}

pub(crate) async fn a_line_that_was_put_in_is_found(bench: Bench) {
    let (home, lines) = written(&bench).await;
    let id: Id<Activity> = lines[2].id.following();
    let foreign = Activity { id, ..line(&bench, home) };
    tamper(&bench, Batch::new().insert(&foreign)).await;
    assert_eq!(kinds(&bench, home).await, [FaultKind::Inserted]);
    // And at the end, with everything a line has.
    let (home, lines) = written(&bench).await;
    let forged = Activity { id: lines[5].id.following(), number: Some(7), ..lines[5].clone() };
    tamper(&bench, Batch::new().insert(&forged)).await;
    let found = kinds(&bench, home).await;
    assert!(found.contains(&FaultKind::Inserted), "{found:?}");
}

pub(crate) async fn lines_that_changed_places_are_found(bench: Bench) {
    let (home, lines) = written(&bench).await;
    let (one, other) = (&lines[1], &lines[3]);
    let gone =
        Batch::new().delete_when(one, Condition::Exists).delete_when(other, Condition::Exists);
    tamper(&bench, gone).await;
    let back = Batch::new()
        .insert(&Activity { id: other.id, ..one.clone() })
        .insert(&Activity { id: one.id, ..other.clone() });
    tamper(&bench, back).await;
    let found = kinds(&bench, home).await;
    assert!(found.contains(&FaultKind::Changed), "{found:?}");
    assert!(found.contains(&FaultKind::Moved), "{found:?}");
}

/// Lines of a version that knew no chain are counted and held fast from the first new one on.
pub(crate) async fn lines_from_before_the_chain_are_counted(bench: Bench) {
    let home = bench.home();
    let old: Vec<_> = (0..3).map(|_| line(&bench, home)).collect();
    for line in &old {
        tamper(&bench, Batch::new().insert(line)).await;
    }
    let report = check(&bench, home).await;
    assert_eq!((report.before, report.lines, report.faults), (3, 0, Vec::new()));
    bench.tick();
    bench.store.activities().record(&line(&bench, home)).await.unwrap();
    let report = check(&bench, home).await;
    assert_eq!((report.before, report.lines, report.faults), (3, 1, Vec::new()));
    tamper(&bench, Batch::new().delete_when(&old[1], Condition::Exists)).await;
    assert_eq!(kinds(&bench, home).await, [FaultKind::BeforeChanged]);
}

/// Two lines at a time: how many there were, and what was found.
async fn in_stretches(bench: &Bench, home: Home) -> (u64, Vec<FaultKind>) {
    let (mut behind, mut seen, mut found) = (None, 0, Vec::new());
    for _ in 0..20 {
        let checked = bench.store.activities().check(home.account, behind, 2).await.unwrap();
        let checked = checked.unwrap();
        seen += checked.report.lines + checked.report.before;
        found.extend(checked.report.faults.iter().map(|fault| fault.kind));
        behind = checked.next;
        if behind.is_none() {
            return (seen, found);
        }
    }
    panic!("it comes to no end: {found:?}");
}

pub(crate) async fn a_log_is_checked_in_stretches(bench: Bench) {
    let (home, lines) = written(&bench).await;
    let patch = Patch::of(Kind::Activity, key(&lines[4])).set("action", "another");
    tamper(&bench, Batch::new().patch(patch)).await;
    assert_eq!(in_stretches(&bench, home).await, (6, vec![FaultKind::Changed]));

    // What was put in where a stretch would end hides nothing that is missing behind it.
    let (home, lines) = written(&bench).await;
    for gone in &lines[2..4] {
        tamper(&bench, Batch::new().delete_when(gone, Condition::Exists)).await;
        let foreign = Activity { id: gone.id, ..line(&bench, home) };
        tamper(&bench, Batch::new().insert(&foreign)).await;
    }
    let expected = vec![FaultKind::Inserted, FaultKind::Inserted, FaultKind::Removed];
    assert_eq!(in_stretches(&bench, home).await, (4, expected));

    // Those from before the chain are looked at as a whole.
    let home = bench.home();
    for _ in 0..5 {
        tamper(&bench, Batch::new().insert(&line(&bench, home))).await;
        bench.tick();
    }
    bench.store.activities().record(&line(&bench, home)).await.unwrap();
    assert_eq!(in_stretches(&bench, home).await, (6, Vec::new()));
    let nowhere = bench.store.activities().check(home.account, Some(bench.id()), 2).await.unwrap();
    assert!(nowhere.is_none());
}

/// An alert is told by the one who writes it first, together with what it tells.
pub(crate) async fn an_alert_is_told_once(bench: Bench) {
    use ferryhook_core::Alert;
    use ferryhook_store::repositories::Announcement;
    let home = bench.home();
    let mut racers = JoinSet::new();
    for _ in 0..AT_ONCE {
        let alert = Alert::fired(home.account, "conn_0000000000000001", "Orders", bench.now());
        let said = Announcement {
            event: Some(bench.event(home)),
            notifications: vec![bench.notification(home)],
        };
        let store = Store::new(bench.engine.clone(), bench.env.clone());
        racers.spawn(async move { store.alerts().turn(None, &alert, &said).await.unwrap() });
    }
    let told: Vec<Stored<Alert>> = racers.join_all().await.into_iter().flatten().collect();
    assert_eq!(told.len(), 1);
    let unread =
        bench.store.notifications().list_unread(home.user, Slice::default()).await.unwrap();
    assert_eq!(unread.rows.len(), 1);
    let alerts = bench.store.alerts();
    let was = alerts.find(home.account, "conn_0000000000000001").await.unwrap().unwrap();
    assert!(was.is_firing());
    let over = alerts.turn(Some(&was), &was.recovered(bench.now()), &Announcement::default()).await;
    assert!(!over.unwrap().unwrap().is_firing());
    let late = alerts.turn(Some(&was), &was.recovered(bench.now()), &Announcement::default()).await;
    assert!(late.unwrap().is_none());
    let of_account =
        all(Slice::default(), async |s| alerts.list_by_account(home.account, s).await).await;
    let of_all = all(Slice::default(), async |slice| alerts.list_all(slice).await).await;
    assert_eq!(of_account.len(), 1);
    assert!(of_all.iter().any(|alert| alert.account_id == home.account));
}

/// Newest first, the unread ones before all others, without a gap between the two.
pub(crate) async fn unread_notifications_come_first(bench: Bench) {
    let home = bench.home();
    let notifications = bench.store.notifications();
    let mut made = Vec::new();
    for _ in 0..6 {
        let one = bench.notification(home);
        notifications.create(&one).await.unwrap();
        made.push(one.id);
        bench.tick();
    }
    for place in [1, 4, 5] {
        let was = notifications.find(home.user, made[place]).await.unwrap().unwrap();
        notifications.mark_read(&was).await.unwrap();
    }
    let expected = [3, 2, 0, 5, 4, 1].map(|place: usize| made[place]);
    for limit in 1..=7 {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = notifications.list_unread_first(home.user, limit, after).await.unwrap();
            assert!(page.rows.len() <= limit);
            seen.extend(page.rows.iter().map(|row| row.id));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(seen, expected, "{limit} at a time");
    }
    assert_eq!(notifications.count_unread(home.user).await.unwrap(), 3);
    assert_eq!(notifications.mark_all_read(home.user).await.unwrap(), 3);
    assert_eq!(notifications.count_unread(home.user).await.unwrap(), 0);
}

/// Whoever starts finds every hook, whoever's it is.
pub(crate) async fn hooks_are_found_by_shard(bench: Bench) {
    let mut made: Vec<_> = (0..10).map(|_| bench.hook(bench.home())).collect();
    for hook in &made {
        bench.store.hooks().create(hook).await.unwrap();
    }
    let mut found = Vec::new();
    for shard in ferryhook_store::Shard::all() {
        let hooks = bench.store.hooks();
        found.extend(
            all(Slice::default(), async |slice| hooks.list_lanes(shard, slice).await).await,
        );
    }
    found.retain(|hook| made.iter().any(|own| own.id == hook.id));
    found.sort_unstable_by_key(|hook| hook.id);
    made.sort_unstable_by_key(|hook| hook.id);
    assert_eq!(found, made);
}
