//! Who pays for what: one customer for each owner, and no answer of Stripe over a newer one.

use ferryhook_core::billing::Told;
use ferryhook_core::{Plan, Subscription, User};
use ferryhook_store::{Stored, UniqueError};
use tokio::task::JoinSet;

use crate::bench::Bench;

async fn owner(bench: &Bench) -> User {
    let user = User { github_id: None, google_id: None, ..bench.user() };
    bench.store.users().create(&user).await.unwrap();
    user
}

async fn begun(bench: &Bench, owner: &User) -> Stored<Subscription> {
    let new = Subscription::new(owner, owner.default_account_id, &bench.env);
    bench.store.subscriptions().begin(&new).await.unwrap()
}

/// However many begin at once, all of them have the same key to make a customer with.
pub(crate) async fn of_many_who_begin_to_pay_all_are_the_same_customer(bench: Bench) {
    let owner = owner(&bench).await;
    let mut all = JoinSet::new();
    for _ in 0..8 {
        let (store, env, owner) = (bench.store.clone(), bench.env.clone(), owner.clone());
        all.spawn(async move {
            let new = Subscription::new(&owner, owner.default_account_id, &env);
            store.subscriptions().begin(&new).await.unwrap().record.customer_key
        });
    }
    let mut keys = all.join_all().await;
    keys.dedup();
    assert_eq!(keys.len(), 1);
}

pub(crate) async fn a_customer_pays_for_one_owner(bench: Bench) {
    let subscriptions = bench.store.subscriptions();
    let customer = bench.own("cus");
    let (one, other) = (owner(&bench).await, owner(&bench).await);
    let was = begun(&bench, &one).await;
    let now = subscriptions.set_customer(&was, &customer).await.unwrap();
    assert_eq!(subscriptions.find(one.id).await.unwrap().unwrap(), now);
    assert_eq!(subscriptions.find_by_customer(&customer).await.unwrap().unwrap(), now);
    assert!(subscriptions.find_by_customer(&bench.own("none")).await.unwrap().is_none());
    let user = bench.store.users().find(one.id).await.unwrap().unwrap();
    assert_eq!(user.stripe_customer_id.as_deref(), Some(&*customer));
    let again = subscriptions.set_customer(&was, &bench.own("cus2")).await;
    assert!(matches!(again, Err(UniqueError::Store(error)) if error.is_refused()));
    let was = begun(&bench, &other).await;
    let taken = subscriptions.set_customer(&was, &customer).await;
    assert!(matches!(taken, Err(UniqueError::Taken(_))));
}

/// The plan and what it comes from change together, once, and only from what was seen.
pub(crate) async fn what_stripe_said_is_written_over_what_was_read(bench: Bench) {
    let subscriptions = bench.store.subscriptions();
    let owner = owner(&bench).await;
    let was = begun(&bench, &owner).await;
    let mut told = Told { now: was.record.clone(), plan: Some("team".to_owned()) };
    told.now.stripe_sub_id = Some("sub_1".to_owned());
    let elsewhere = subscriptions.settle(&was, &told, "another").await;
    assert!(elsewhere.unwrap_err().is_refused());
    let now = subscriptions.settle(&was, &told, &owner.plan).await.unwrap();
    assert!(subscriptions.settle(&was, &told, "team").await.unwrap_err().is_refused());
    let user = bench.store.users().find(owner.id).await.unwrap().unwrap();
    assert_eq!((&*user.plan, user.stripe_sub_id.as_deref()), ("team", Some("sub_1")));
    told = Told { now: now.record.clone(), plan: None };
    told.now.stripe_sub_id = None;
    subscriptions.settle(&now, &told, "team").await.unwrap();
    let user = bench.store.users().find(owner.id).await.unwrap().unwrap();
    assert_eq!((&*user.plan, user.stripe_sub_id.as_deref()), ("team", None));
}

pub(crate) async fn a_plan_is_changed_from_the_one_that_was_seen(bench: Bench) {
    let owner = owner(&bench).await;
    let users = bench.store.users();
    users.change_plan(&owner, "team").await.unwrap();
    assert!(users.change_plan(&owner, "free").await.unwrap_err().is_refused());
    assert_eq!(users.find(owner.id).await.unwrap().unwrap().plan, "team");
}

/// Also when several are made the default at once, and there was none before.
pub(crate) async fn there_is_one_default_plan(bench: Bench) {
    let plans = bench.store.plans();
    let mut all = JoinSet::new();
    for number in 0..8 {
        let plan = Plan { is_default: true, ..bench.plan(&format!("many{number}")) };
        let store = bench.store.clone();
        all.spawn(async move {
            store.plans().make_default(None, &plan).await.unwrap();
            plan.id
        });
    }
    let mut defaults = 0;
    for id in all.join_all().await {
        defaults += usize::from(plans.find(&id).await.unwrap().unwrap().is_default);
    }
    assert_eq!(defaults, 1);
    let [one, other] = ["one", "other"].map(|name| Plan { is_default: true, ..bench.plan(name) });
    plans.make_default(None, &one).await.unwrap();
    plans.make_default(None, &other).await.unwrap();
    let was = plans.find(&one.id).await.unwrap().unwrap();
    assert!(!was.is_default);
    plans.make_default(Some(&was), &one).await.unwrap();
    assert!(!plans.find(&other.id).await.unwrap().unwrap().is_default);
    assert!(plans.find(&one.id).await.unwrap().unwrap().is_default);
}
