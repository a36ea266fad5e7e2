use super::*;
use crate::samples::{self, CREATED, UPDATED};

fn plan(id: &str, price_cents: u64, price: Option<&str>) -> Plan {
    let plan = Plan { id: id.to_owned(), price_cents, is_default: false, ..samples::plan() };
    Plan { metadata: None, ..plan }.with_stripe_price(price)
}

fn plans() -> Vec<Plan> {
    vec![
        Plan { is_default: true, ..plan("free", 0, None) },
        plan("pro", 4_900, Some("price_pro")),
        plan("team", 19_900, Some("price_team")),
    ]
}

fn said(id: &str, status: Status, price: &str) -> Said {
    Said {
        id: id.to_owned(),
        status,
        cancel_at_period_end: false,
        created: CREATED,
        items: vec![Item { price_id: price.to_owned(), current_period_end: Some(UPDATED) }],
    }
}

fn nobody() -> Subscription {
    let unbought = samples::subscription();
    Subscription { plan_id: None, subscription_status: None, stripe_sub_id: None, ..unbought }
}

fn paying() -> Subscription {
    Subscription { plan_id: Some("pro".to_owned()), ..samples::subscription() }
}

/// Every status of Stripe, for somebody who had the plan and for somebody who did not.
#[test]
fn a_status_gives_the_plan_or_takes_it() {
    let rows = [
        ("active", Some("pro"), None),
        ("trialing", Some("pro"), None),
        ("past_due", Some("pro"), None),
        ("unpaid", None, Some("free")),
        ("canceled", None, Some("free")),
        ("incomplete", None, Some("free")),
        ("incomplete_expired", None, Some("free")),
        ("paused", None, Some("free")),
        // Not understood: whoever has it keeps it, whoever has not does not get it.
        ("frozen", None, None),
    ];
    for (word, given, taken) in rows {
        let status: Status = serde_json::from_value(word.into()).unwrap();
        assert_eq!(serde_json::to_value(&status).unwrap(), word);
        let said = [said("sub_1", status, "price_pro")];
        let told = nobody().told(&said, &plans(), "free", UPDATED);
        assert_eq!(told.plan.as_deref(), given, "{word}");
        let told = paying().told(&said, &plans(), "pro", UPDATED);
        assert_eq!(told.plan.as_deref(), taken, "{word}");
    }
}

#[test]
fn a_price_that_no_plan_has_changes_nothing() {
    let said = [said("sub_1", Status::Active, "price_of_something_else")];
    assert_eq!(Standing::of(&said, &plans()).gives, Gives::Unknown);
    assert_eq!(paying().told(&said, &plans(), "pro", UPDATED).plan, None);
    assert_eq!(nobody().told(&said, &plans(), "free", UPDATED).plan, None);
}

#[test]
fn of_several_the_dearest_counts_and_the_dead_do_not() {
    let mut all = vec![
        said("sub_old", Status::Canceled, "price_team"),
        said("sub_pro", Status::Active, "price_pro"),
        said("sub_team", Status::Trialing, "price_team"),
    ];
    for _ in 0..all.len() {
        all.rotate_left(1);
        let standing = Standing::of(&all, &plans());
        assert_eq!(standing.gives, Gives::Plan("team".to_owned()));
        assert_eq!(standing.best.unwrap().id, "sub_team");
    }
    all.retain(|said| said.id == "sub_old");
    assert_eq!(Standing::of(&all, &plans()).gives, Gives::Nothing);
    assert_eq!(Standing::of(&[], &plans()), Standing { best: None, gives: Gives::Nothing });
}

/// The end of another subscription is not the end of this one.
#[test]
fn one_that_ends_leaves_the_other() {
    let said =
        [said("sub_1", Status::Active, "price_pro"), said("sub_2", Status::Canceled, "price_pro")];
    let told = paying().told(&said, &plans(), "pro", UPDATED);
    assert_eq!((told.plan, told.now.stripe_sub_id.as_deref()), (None, Some("sub_1")));
}

/// What an operator gave by hand stays until the subscription changes.
#[test]
fn a_plan_given_by_hand_stays_while_nothing_changes() {
    let same = [said("sub_1", Status::Active, "price_pro")];
    assert_eq!(paying().told(&same, &plans(), "team", UPDATED).plan, None);
    let over = [said("sub_1", Status::Canceled, "price_pro")];
    let told = paying().told(&over, &plans(), "team", UPDATED);
    assert_eq!((told.plan, told.now.plan_id), (None, None));
    let dearer = [said("sub_1", Status::Active, "price_team")];
    let told = paying().told(&dearer, &plans(), "free", UPDATED);
    assert_eq!(told.plan.as_deref(), Some("team"));
}

/// A plan that was retired, or whose price has changed, is still what was bought.
#[test]
fn what_was_bought_is_kept() {
    let mut plans = plans();
    plans[1].is_active = false;
    plans[1] = plans[1].clone().with_stripe_price(Some("price_new"));
    let said = [said("sub_1", Status::Active, "price_pro")];
    assert_eq!(Standing::of(&said, &plans).gives, Gives::Plan("pro".to_owned()));
    assert_eq!(plans[1].stripe_price(), Some("price_new"));
    let none = plans[1].clone().with_stripe_price(None);
    assert_eq!(none.stripe_price(), None);
    assert!(none.is_sold_as("price_pro") && none.is_sold_as("price_new"));
}

#[test]
fn the_end_of_the_period_is_that_of_the_items() {
    let said = [said("sub_1", Status::Active, "price_pro")];
    let now = nobody().told(&said, &plans(), "free", UPDATED).now;
    assert_eq!(now.current_period_end, Some(UPDATED));
    assert_eq!((now.read_at, now.price_id.as_deref()), (Some(UPDATED), Some("price_pro")));
    assert!(now.is_open() && !nobody().is_open());
}

#[test]
fn each_customer_has_a_key_of_its_own() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let user = samples::user();
    let one = Subscription::new(&user, user.default_account_id, &env);
    let other = Subscription::new(&user, user.default_account_id, &env);
    assert_ne!(one.customer_key, other.customer_key);
    assert!(!one.is_open());
}
