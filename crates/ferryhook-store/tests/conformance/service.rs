//! Every access pattern of the thirteen tables, by table and name.

use ferryhook_core::account::AccountType;
use ferryhook_core::member::Role;
use ferryhook_core::{Account, Hook, Member, Run, Schedule, Source, key, plan, run, source};
use ferryhook_store::{Slice, StoreError, Window};

use crate::bench::{Bench, all};

pub(crate) async fn service_accounts_get_account_by_id(bench: Bench) {
    let account = bench.account();
    let accounts = bench.store.accounts();
    assert!(accounts.find(account.id).await.unwrap().is_none());
    accounts.create(&account).await.unwrap();
    let found = accounts.find(account.id).await.unwrap().unwrap();
    assert_eq!(found.record, account);
    assert!(accounts.create(&account).await.unwrap_err().is_refused());
}

pub(crate) async fn service_accounts_list_child_accounts_by_parent(bench: Bench) {
    let parent = bench.id();
    let mut ids = Vec::new();
    for place in 0..5 {
        let account =
            Account { parent_account_id: (place < 4).then_some(parent), ..bench.account() };
        bench.store.accounts().create(&account).await.unwrap();
        ids.push(account.id);
    }
    let accounts = bench.store.accounts();
    let list = async |slice| accounts.list_children(parent, None, slice).await;
    let found = all(Slice::default().limit(3), list).await;
    let mut found: Vec<_> = found.into_iter().map(|account| account.id).collect();
    ids.truncate(4);
    found.sort_unstable();
    ids.sort_unstable();
    assert_eq!(found, ids);
}

pub(crate) async fn service_accounts_query_accounts_by_type(bench: Bench) {
    let parent = bench.id();
    for kind in [AccountType::Division, AccountType::Location, AccountType::Division] {
        let account = Account { parent_account_id: Some(parent), kind, ..bench.account() };
        bench.store.accounts().create(&account).await.unwrap();
    }
    let accounts = bench.store.accounts();
    for (kind, count) in
        [(AccountType::Division, 2), (AccountType::Location, 1), (AccountType::Subsidiary, 0)]
    {
        let page = accounts.list_children(parent, Some(kind), Slice::default());
        let found = page.await.unwrap().rows;
        assert_eq!(found.len(), count);
        assert!(found.iter().all(|account| account.kind == kind));
    }
}

pub(crate) async fn accounts_replace_moves_them_in_the_tree(bench: Bench) {
    let (old, new) = (bench.id(), bench.id());
    let account = Account { parent_account_id: Some(old), ..bench.account() };
    let accounts = bench.store.accounts();
    accounts.create(&account).await.unwrap();
    let was = accounts.find(account.id).await.unwrap().unwrap();
    let moved = Account { parent_account_id: Some(new), ..account.clone() };
    let was = accounts.replace(&was, moved).await.unwrap();
    let children = async |parent| {
        let page = accounts.list_children(parent, None, Slice::default()).await;
        page.unwrap().rows.len()
    };
    assert_eq!((children(old).await, children(new).await), (0, 1));
    let root = Account { parent_account_id: None, ..account };
    accounts.replace(&was, root).await.unwrap();
    assert_eq!(children(new).await, 0);
}

pub(crate) async fn service_users_get_user_by_id(bench: Bench) {
    let user = bench.user();
    bench.store.users().create(&user).await.unwrap();
    let found = bench.store.users().find(user.id).await.unwrap().unwrap();
    assert_eq!(found.record, user);
}

pub(crate) async fn service_users_find_user_by_email(bench: Bench) {
    let user = bench.user();
    bench.store.users().create(&user).await.unwrap();
    let found = bench.store.users().find_by_email(&user.email).await.unwrap();
    assert_eq!(found.unwrap().id, user.id);
}

pub(crate) async fn service_users_update_user_profile(bench: Bench) {
    let user = bench.user();
    let users = bench.store.users();
    users.create(&user).await.unwrap();
    let was = users.find(user.id).await.unwrap().unwrap();
    let mut now = user;
    now.preferences = None;
    now.two_factor_enabled = true;
    now.last_name = Some("King".to_owned());
    users.replace(&was, now.clone()).await.unwrap();
    assert_eq!(users.find(now.id).await.unwrap().unwrap().record, now);
}

pub(crate) async fn service_members_get_all_accounts_for_a_user(bench: Bench) {
    let user = bench.id();
    let mut accounts = Vec::new();
    for _ in 0..5 {
        let member = bench.member(user, bench.id());
        accounts.push(member.account_id);
        bench.store.members().add(&member).await.unwrap();
    }
    bench.store.members().add(&bench.member(bench.id(), accounts[0])).await.unwrap();
    let members = bench.store.members();
    let list = async |slice| members.list_by_user(user, slice).await;
    let found = all(Slice::default().limit(2), list).await;
    accounts.sort_unstable();
    let found: Vec<_> = found.into_iter().map(|member| member.account_id).collect();
    assert_eq!(found, accounts);
}

pub(crate) async fn service_members_get_all_users_for_an_account(bench: Bench) {
    let account = bench.id();
    let roles = [Role::Viewer, Role::Admin, Role::Member, Role::Admin, Role::Manager];
    for role in roles {
        let member = Member { role, ..bench.member(bench.id(), account) };
        bench.store.members().add(&member).await.unwrap();
    }
    let members = bench.store.members();
    let list = async |slice| members.list_by_account(account, None, slice).await;
    assert_eq!(all(Slice::default().limit(2), list).await.len(), 5);
    let list = async |slice| members.list_by_account(account, Some(Role::Admin), slice).await;
    let admins = all(Slice::default(), list).await;
    assert_eq!(admins.len(), 2);
    assert!(admins.iter().all(|member| member.role == Role::Admin));
}

pub(crate) async fn service_members_check_user_permissions_for_specific_account(bench: Bench) {
    let member = bench.member(bench.id(), bench.id());
    let members = bench.store.members();
    members.add(&member).await.unwrap();
    let found = members.find(member.user_id, member.account_id).await;
    assert_eq!(found.unwrap().unwrap().record, member);
    let stranger = members.find(member.user_id, bench.id()).await;
    assert!(stranger.unwrap().is_none());
}

pub(crate) async fn service_sources_get_source_by_id(bench: Bench) {
    let source = bench.source(bench.home());
    bench.store.sources().create(&source).await.unwrap();
    let found = bench.store.sources().find(source.id).await.unwrap();
    assert_eq!(found.unwrap().record, source);
}

pub(crate) async fn service_sources_list_all_sources_for_an_account(bench: Bench) {
    let home = bench.home();
    for provider in ["stripe", "keap", "stripe", "github", "keap"] {
        let source = Source {
            provider: provider.to_owned(),
            user_id: bench.id(), // one account's sources may have been owned by several
            ..bench.source(home)
        };
        bench.store.sources().create(&source).await.unwrap();
    }
    let sources = bench.store.sources();
    let list = async |slice| sources.list_by_account(home.account, slice).await;
    let found = all(Slice::default().limit(2), list).await;
    let found: Vec<_> = found.iter().map(|source| &*source.provider).collect();
    assert_eq!(found, ["github", "keap", "keap", "stripe", "stripe"]);
}

pub(crate) async fn service_sources_list_sources_by_platform(bench: Bench) {
    let home = bench.home();
    for provider in ["stripe", "stripe_connect", "strip"] {
        let source = Source { provider: provider.to_owned(), ..bench.source(home) };
        bench.store.sources().create(&source).await.unwrap();
    }
    let sources = bench.store.sources();
    let page = sources.list_by_platform(home.account, "stripe", Slice::default());
    let found = page.await.unwrap().rows;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].provider, "stripe");
}

pub(crate) async fn service_sources_filter_sources_by_status(bench: Bench) {
    let home = bench.home();
    let (active, error) = (source::Status::Active, source::Status::Error);
    let sources = bench.store.sources();
    for status in [active, error, active] {
        let source = Source { status, ..bench.source(home) };
        sources.create(&source).await.unwrap();
        // Keys and connections have a status in the same index.
        bench.store.keys().create(&bench.key(home)).await.unwrap();
        bench.store.connections().create(&bench.connection(home)).await.unwrap();
    }
    let count = async |status| {
        let list = async |slice| sources.list_by_status(home.account, status, slice).await;
        all(Slice::default().limit(1), list).await.len()
    };
    assert_eq!((count(active).await, count(error).await), (2, 1));
    assert_eq!(count(source::Status::Paused).await, 0);
}

pub(crate) async fn service_sync_schedules_get_schedules_for_a_source(bench: Bench) {
    let (home, elsewhere) = (bench.home(), bench.home());
    let due = bench.now().minute();
    let schedules = bench.store.schedules();
    for home in [home, elsewhere, home] {
        schedules.create(&bench.schedule(home, due)).await.unwrap();
    }
    let page = schedules.list_by_source(home.source, Slice::default()).await;
    assert_eq!(page.unwrap().rows.len(), 2);
}

pub(crate) async fn service_sync_schedules_find_schedules_ready_to_run(bench: Bench) {
    let home = bench.home();
    let due = bench.now().minute();
    let (now, next) = (bench.schedule(home, due), bench.schedule(home, due + MINUTE));
    let paused = Schedule { is_active: false, ..bench.schedule(home, due) };
    let schedules = bench.store.schedules();
    for schedule in [&now, &next, &paused] {
        schedules.create(schedule).await.unwrap();
    }
    let ready = async |at| {
        let list = async |slice| schedules.list_due(at, slice).await;
        let mut found = all(Slice::default(), list).await;
        found.retain(|schedule| schedule.source_id == home.source);
        found
    };
    // At any moment of the minute.
    let late = due + std::time::Duration::from_secs(59);
    assert_eq!(ready(late).await, [now]);
    assert_eq!(ready(due + MINUTE).await, [next]);
}

const MINUTE: std::time::Duration = std::time::Duration::from_secs(60);

pub(crate) async fn service_sync_schedules_update_schedule_after_execution(bench: Bench) {
    let home = bench.home();
    let due = bench.now().minute();
    let schedule = bench.schedule(home, due);
    let schedules = bench.store.schedules();
    schedules.create(&schedule).await.unwrap();
    let was = schedules.find(home.source, schedule.id).await;
    let was = was.unwrap().unwrap();
    let next = due + MINUTE * 60;
    schedules.advance(&was, next).await.unwrap();
    let found = schedules.find(home.source, schedule.id).await;
    let found = found.unwrap().unwrap();
    assert_eq!(found.next_run_at, next);
    assert_eq!(found.last_run_at.unwrap().as_seconds(), bench.now().as_seconds());
    // Another node that wanted to run it too is told so.
    assert!(schedules.advance(&was, next).await.unwrap_err().is_refused());
    let list = async |slice| schedules.list_due(due, slice).await;
    let mut left = all(Slice::default(), list).await;
    left.retain(|schedule| schedule.source_id == home.source);
    assert_eq!(left, []);
}

pub(crate) async fn a_schedule_between_two_minutes_is_refused(bench: Bench) {
    let due = bench.now().minute() + std::time::Duration::from_secs(1);
    let schedule = bench.schedule(bench.home(), due);
    let refused = bench.store.schedules().create(&schedule).await;
    assert!(matches!(refused, Err(StoreError::Malformed(_))), "{refused:?}");
}

pub(crate) async fn a_deleted_schedule_is_gone(bench: Bench) {
    let home = bench.home();
    let schedule = bench.schedule(home, bench.now().minute());
    let schedules = bench.store.schedules();
    schedules.create(&schedule).await.unwrap();
    let was = schedules.find(home.source, schedule.id).await;
    schedules.delete(&was.unwrap().unwrap()).await.unwrap();
    let gone = schedules.find(home.source, schedule.id).await;
    assert!(gone.unwrap().is_none());
}

pub(crate) async fn service_sync_history_get_sync_history_for_a_source(bench: Bench) {
    let home = bench.home();
    let mut ids = Vec::new();
    for _ in 0..5 {
        let run = bench.run(home, run::Status::Completed);
        ids.insert(0, run.id);
        bench.store.runs().start(&run).await.unwrap();
        bench.tick();
    }
    let runs = bench.store.runs();
    let list = async |slice| runs.list_by_source(home.source, slice).await;
    let found = all(Slice::newest_first().limit(2), list).await;
    let found: Vec<_> = found.into_iter().map(|run| run.id).collect();
    assert_eq!(found, ids);
}

pub(crate) async fn service_sync_history_query_recent_failed_syncs(bench: Bench) {
    let home = bench.home();
    let start = bench.now();
    let runs = bench.store.runs();
    let mut failed = Vec::new();
    for status in [run::Status::Failed, run::Status::Completed, run::Status::Failed] {
        let run = bench.run(home, status);
        if status == run::Status::Failed {
            failed.insert(0, run.id);
        }
        runs.start(&run).await.unwrap();
        bench.tick();
    }
    let window = Window::between(start, bench.now());
    let list = async |slice| runs.list_by_status(run::Status::Failed, window, slice).await;
    let mut found = all(Slice::newest_first(), list).await;
    found.retain(|run| run.source_id == home.source);
    let found: Vec<_> = found.into_iter().map(|run| run.id).collect();
    assert_eq!(found, failed);
}

pub(crate) async fn service_sync_history_calculate_sync_statistics(bench: Bench) {
    let home = bench.home();
    let runs = bench.store.runs();
    for records in [10, 20, 30] {
        let run = bench.run(home, run::Status::Running);
        runs.start(&run).await.unwrap();
        let was = runs.find(home.source, run.id).await.unwrap().unwrap();
        let ended = Run {
            status: run::Status::Completed,
            records_processed: [("contacts".to_owned(), records)].into(),
            duration_seconds: Some(records),
            ..run
        };
        runs.replace(&was, ended).await.unwrap();
    }
    let list = async |slice| runs.list_by_source(home.source, slice).await;
    let found = all(Slice::default(), list).await;
    let contacts: u64 = found.iter().map(|run| run.records_processed["contacts"]).sum();
    assert_eq!(contacts, 60);
    assert!(found.iter().all(|run| run.status == run::Status::Completed));
}

pub(crate) async fn service_activities_get_activities_for_an_account(bench: Bench) {
    let (home, elsewhere) = (bench.home(), bench.home());
    let mut ids = Vec::new();
    for _ in 0..5 {
        let activity = bench.activity(home, "login");
        ids.insert(0, activity.id);
        bench.store.activities().record(&activity).await.unwrap();
        let other = bench.activity(elsewhere, "login");
        bench.store.activities().record(&other).await.unwrap();
        bench.tick();
    }
    let activities = bench.store.activities();
    let list = async |slice| activities.list_by_account(home.account, slice).await;
    let found = all(Slice::newest_first().limit(2), list).await;
    let found: Vec<_> = found.into_iter().map(|activity| activity.id).collect();
    assert_eq!(found, ids);
}

pub(crate) async fn service_activities_query_user_activity_history(bench: Bench) {
    let home = bench.home();
    let start = bench.now();
    let activities = bench.store.activities();
    for place in 0..4 {
        let mut activity = bench.activity(home, "login");
        if place == 3 {
            activity.user_id = None; // the system itself
        }
        activities.record(&activity).await.unwrap();
        bench.tick();
    }
    let count = async |window| {
        let list = async |slice| activities.list_by_user(home.user, window, slice).await;
        all(Slice::default(), list).await.len()
    };
    assert_eq!(count(Window::ALWAYS).await, 3);
    assert_eq!(count(Window::until(start)).await, 1);
}

pub(crate) async fn service_activities_filter_by_event_type(bench: Bench) {
    let home = bench.home();
    let activities = bench.store.activities();
    let (created, deleted) = (bench.own("created"), bench.own("deleted"));
    for event_type in [&created, &deleted, &created] {
        activities.record(&bench.activity(home, event_type)).await.unwrap();
        bench.tick();
    }
    let count = async |event_type| {
        let window = Window::ALWAYS;
        let list = async |slice| activities.list_by_type(event_type, window, slice).await;
        all(Slice::newest_first(), list).await.len()
    };
    assert_eq!((count(&created).await, count(&deleted).await), (2, 1));
}

pub(crate) async fn service_api_keys_validate_api_key(bench: Bench) {
    let key = bench.key(bench.home());
    bench.store.keys().create(&key).await.unwrap();
    let found = bench.store.keys().find_by_hash(key.hash.expose()).await;
    assert_eq!(found.unwrap().unwrap().record, key);
}

pub(crate) async fn service_api_keys_list_keys_for_an_account(bench: Bench) {
    let home = bench.home();
    let keys = bench.store.keys();
    for _ in 0..3 {
        keys.create(&bench.key(home)).await.unwrap();
        bench.store.sources().create(&bench.source(home)).await.unwrap();
    }
    let list = async |slice| keys.list_by_account(home.account, slice).await;
    assert_eq!(all(Slice::default().limit(2), list).await.len(), 3);
}

pub(crate) async fn service_api_keys_revoke_key(bench: Bench) {
    let key = bench.key(bench.home());
    let keys = bench.store.keys();
    keys.create(&key).await.unwrap();
    keys.revoke(key.account_id, key.id).await.unwrap().unwrap();
    let found = keys.find_by_hash(key.hash.expose()).await.unwrap().unwrap();
    assert_eq!(found.status, key::Status::Revoked);
    assert!(!found.is_usable(bench.now()));
    // The hash is not free again.
    let mut again = bench.key(bench.home());
    again.hash = key.hash;
    assert!(keys.create(&again).await.is_err());
}

/// People want to see that it ran out; the row is not gone.
pub(crate) async fn an_expired_key_is_still_listed(bench: Bench) {
    let mut key = bench.key(bench.home());
    key.expires_at = Some(bench.now().minute());
    let keys = bench.store.keys();
    keys.create(&key).await.unwrap();
    bench.advance(3600);
    assert!(keys.find(key.user_id, key.id).await.unwrap().is_some());
}

pub(crate) async fn service_webhooks_get_webhook_configuration(bench: Bench) {
    let hook = bench.hook(bench.home());
    let hooks = bench.store.hooks();
    hooks.create(&hook).await.unwrap();
    let found = hooks.find(hook.id).await.unwrap().unwrap();
    assert_eq!(found.record, hook);
    hooks.delete(&found).await.unwrap();
    assert!(hooks.find(hook.id).await.unwrap().is_none());
}

pub(crate) async fn service_webhooks_list_webhooks_for_account(bench: Bench) {
    let home = bench.home();
    let hooks = bench.store.hooks();
    for is_active in [true, false, true] {
        let hook = Hook { is_active, ..bench.hook(home) };
        hooks.create(&hook).await.unwrap();
    }
    let list = async |slice| hooks.list_by_account(home.account, slice).await;
    assert_eq!(all(Slice::default().limit(2), list).await.len(), 3);
    let list = async |slice| hooks.list_active(home.account, slice).await;
    let active = all(Slice::default().limit(1), list).await;
    assert_eq!(active.len(), 2);
    assert!(active.iter().all(|hook| hook.is_active));
}

pub(crate) async fn service_webhooks_find_webhooks_for_specific_event(bench: Bench) {
    let home = bench.home();
    let hooks = bench.store.hooks();
    for event in ["delivery.failed", "source.created", "delivery.failed"] {
        let hook = Hook { events: vec![event.to_owned()], ..bench.hook(home) };
        hooks.create(&hook).await.unwrap();
    }
    let subscribed = async |event| {
        let list = async |slice| hooks.list_subscribed(home.account, event, slice).await;
        all(Slice::default(), list).await
    };
    let found = subscribed("delivery.failed").await;
    assert_eq!(found.len(), 2);
    // One that was switched off hears nothing.
    let was = hooks.find(found[0].id).await.unwrap().unwrap();
    let off = Hook { is_active: false, ..was.record.clone() };
    hooks.replace(&was, off).await.unwrap();
    assert_eq!(subscribed("delivery.failed").await.len(), 1);
}

pub(crate) async fn service_notifications_get_notifications_for_user(bench: Bench) {
    let (home, elsewhere) = (bench.home(), bench.home());
    let notifications = bench.store.notifications();
    let mut ids = Vec::new();
    for _ in 0..3 {
        let notification = bench.notification(home);
        ids.insert(0, notification.id);
        notifications.create(&notification).await.unwrap();
        notifications.create(&bench.notification(elsewhere)).await.unwrap();
        bench.tick();
    }
    let page = notifications.list(home.user, Slice::newest_first()).await;
    let found: Vec<_> = page.unwrap().rows.iter().map(|row| row.id).collect();
    assert_eq!(found, ids);
    bench.advance(3600);
    let page = notifications.list(home.user, Slice::newest_first()).await;
    assert!(page.unwrap().rows.is_empty());
}

pub(crate) async fn service_notifications_query_unread_and_mark_as_read(bench: Bench) {
    let home = bench.home();
    let notifications = bench.store.notifications();
    let mut ids = Vec::new();
    for _ in 0..3 {
        let notification = bench.notification(home);
        ids.push(notification.id);
        notifications.create(&notification).await.unwrap();
        bench.tick();
    }
    let unread = async || {
        let page = notifications.list_unread(home.user, Slice::oldest_first()).await;
        let rows = page.unwrap().rows;
        rows.into_iter().map(|row| row.record.id).collect::<Vec<_>>()
    };
    assert_eq!(unread().await, ids);
    let was = notifications.find(home.user, ids[1]).await.unwrap().unwrap();
    let read = notifications.mark_read(&was).await.unwrap();
    assert!(read.is_read);
    assert_eq!(unread().await, [ids[0], ids[2]]);
    let found = notifications.find(home.user, ids[1]).await.unwrap().unwrap();
    assert_eq!(found.read_at.unwrap().as_seconds(), bench.now().as_seconds());
    let page = notifications.list(home.user, Slice::default()).await;
    assert_eq!(page.unwrap().rows.len(), 3);
}

pub(crate) async fn service_usage_metrics_get_daily_metrics_for_account(bench: Bench) {
    let home = bench.home();
    let more = bench.usage(home, "2026-01-31");
    let usage = bench.store.usage();
    usage.add(&more).await.unwrap();
    let found = usage.find(home.account, &more.day).await.unwrap().unwrap();
    assert_eq!(found.record, more);
    usage.add(&more).await.unwrap();
    let found = usage.find(home.account, &more.day).await.unwrap().unwrap();
    assert_eq!(found.api_calls, 2 * more.api_calls);
    assert_eq!(found.data_processed_bytes, 2 * more.data_processed_bytes);
    assert_eq!(found.hourly_counts[23], 46);
    assert_eq!(found.by_platform["stripe"]["events"], 80);
    assert_eq!(found.active_users, more.active_users, "a level, not a count");
}

pub(crate) async fn service_usage_metrics_calculate_monthly_usage(bench: Bench) {
    let home = bench.home();
    let usage = bench.store.usage();
    for day in ["2025-12-31", "2026-01-01", "2026-01-15", "2026-01-31", "2026-02-01"] {
        usage.add(&bench.usage(home, day)).await.unwrap();
    }
    let list = async |slice| {
        let (first, last) = ("2026-01-01", "2026-01-31");
        usage.list_days(home.account, first, last, slice).await
    };
    let found = all(Slice::default().limit(2), list).await;
    let days: Vec<_> = found.iter().map(|usage| &*usage.day).collect();
    assert_eq!(days, ["2026-01-01", "2026-01-15", "2026-01-31"]);
}

pub(crate) async fn service_usage_metrics_generate_billing_reports(bench: Bench) {
    let homes = [bench.home(), bench.home(), bench.home()];
    let usage = bench.store.usage();
    let day = bench.now().day();
    for home in homes {
        usage.add(&bench.usage(home, &day)).await.unwrap();
        usage.add(&bench.usage(home, "1999-12-31")).await.unwrap();
    }
    let list = async |slice| usage.list_by_date(&day, slice).await;
    let mut found = all(Slice::default().limit(2), list).await;
    found.retain(|usage| homes.iter().any(|home| home.account == usage.account_id));
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|usage| usage.day == day));
}

pub(crate) async fn service_billing_plans_get_plan_details(bench: Bench) {
    let plan = bench.plan("pro");
    let plans = bench.store.plans();
    plans.create(&plan).await.unwrap();
    let found = plans.find(&plan.id).await.unwrap().unwrap();
    assert_eq!(found.record, plan);
    assert!(plans.find(&bench.own("nothing")).await.unwrap().is_none());
}

pub(crate) async fn service_billing_plans_list_available_plans(bench: Bench) {
    let plans = bench.store.plans();
    let own = ["a", "b", "c"].map(|name| bench.plan(name));
    plans.seed(&own).await.unwrap();
    let list = async |slice| plans.list(slice).await;
    let mut found = all(Slice::default().limit(2), list).await;
    found.retain(|plan| own.iter().any(|own| own.id == plan.id));
    assert_eq!(found, own);
}

/// The installation's plans can be laid side by side, whatever their limits.
pub(crate) async fn service_billing_plans_compare_plan_features(bench: Bench) {
    let plans = bench.store.plans();
    let prefixed = plan::seeded(bench.now().minute()).into_iter().map(|mut plan| {
        plan.id = bench.own(&plan.id);
        plan
    });
    let seeded: Vec<_> = prefixed.collect();
    plans.seed(&seeded).await.unwrap();
    for plan in seeded {
        let found = plans.find(&plan.id).await.unwrap().unwrap();
        assert_eq!(found.record, plan);
    }
}

pub(crate) async fn seeding_leaves_edited_plans_alone(bench: Bench) {
    let plans = bench.store.plans();
    let mut seed = vec![bench.plan("a"), bench.plan("b")];
    plans.seed(&seed).await.unwrap();
    let was = plans.find(&seed[0].id).await.unwrap().unwrap();
    let mut edited = was.record.clone();
    edited.price_cents = 1;
    plans.replace(&was, edited.clone()).await.unwrap();
    seed.push(bench.plan("c"));
    for _ in 0..2 {
        plans.seed(&seed).await.unwrap();
    }
    let found = plans.find(&edited.id).await.unwrap().unwrap();
    assert_eq!(found.record, edited);
    assert!(plans.find(&seed[2].id).await.unwrap().is_some());
}

fn oauth_state(bench: &Bench, name: &str) -> ferryhook_core::OauthState {
    ferryhook_core::OauthState {
        state: ferryhook_core::Secret::new(bench.own(name)),
        expires_at: bench.later(600),
        ..ferryhook_core::samples::oauth_state()
    }
}

pub(crate) async fn service_oauth_states_validate_oauth_callback_state(bench: Bench) {
    let state = oauth_state(&bench, "s");
    let states = bench.store.oauth_states();
    states.create(&state).await.unwrap();
    assert_eq!(states.take(&bench.own("guess")).await.unwrap(), None);
    let taken = states.take(state.state.expose()).await.unwrap();
    assert_eq!(taken, Some(state.clone()));
    let again = states.take(state.state.expose()).await.unwrap();
    assert_eq!(again, None);
}

pub(crate) async fn service_oauth_states_clean_up_expired_states(bench: Bench) {
    let state = oauth_state(&bench, "s");
    let states = bench.store.oauth_states();
    states.create(&state).await.unwrap();
    bench.advance(600);
    assert_eq!(states.take(state.state.expose()).await.unwrap(), None);
}
