use super::*;
use crate::samples::{CREATED, UPDATED};

fn made(edit: &Edit) -> Result<Plan, String> {
    Plan::create("gold", edit, CREATED).map_err(|bad| bad.to_string())
}

#[test]
fn a_plan_is_made_of_what_is_said() {
    let edit = Edit {
        name: Some(" Gold ".to_owned()),
        price_cents: Some(9_900),
        currency: Some("eur".to_owned()),
        limits: vec!["eventsPerMonth=1000".to_owned(), "syncFrequency=hourly".to_owned()],
        stripe_price: Some(StripePrice::Is("price_1".to_owned())),
        over_quota: Some(402),
        ..Edit::default()
    };
    let plan = made(&edit).unwrap();
    assert_eq!((&*plan.name, plan.price_cents, &*plan.currency), ("Gold", 9_900, "EUR"));
    assert_eq!(plan.limits.events_per_month, Some(1_000));
    assert_eq!(plan.limits.sync_frequency, Some(ScheduleType::Hourly));
    assert_eq!(plan.stripe_price(), Some("price_1"));
    assert!(plan.is_active && !plan.is_default);

    let edit = Edit { limits: vec!["eventsPerMonth=none".to_owned()], ..Edit::default() };
    let now = plan.edited(&edit, UPDATED).unwrap();
    assert_eq!(now.limits.events_per_month, None);
    assert_eq!((now.updated_at, &now.metadata), (UPDATED, &plan.metadata));
}

#[test]
fn mistakes_are_told_apart() {
    let limit = |text: &str| Edit { limits: vec![text.to_owned()], ..Edit::default() };
    let price = |text: &str| Edit {
        stripe_price: Some(StripePrice::Is(text.to_owned())),
        ..Edit::default()
    };
    let complaints = [
        Plan::create("Gold!", &Edit::default(), CREATED).unwrap_err().to_string(),
        made(&Edit { name: Some(String::new()), ..Edit::default() }).unwrap_err(),
        made(&Edit { currency: Some("euro".to_owned()), ..Edit::default() }).unwrap_err(),
        made(&Edit { over_quota: Some(500), ..Edit::default() }).unwrap_err(),
        made(&limit("eventsPerMonth")).unwrap_err(),
        made(&limit("eventsPerYear=1")).unwrap_err(),
        made(&limit("sources=-1")).unwrap_err(),
        made(&limit("dataRetentionDays=0")).unwrap_err(),
        made(&limit("syncFrequency=often")).unwrap_err(),
        made(&price("prod_1")).unwrap_err(),
        made(&Edit { is_active: Some(false), is_default: Some(true), ..Edit::default() })
            .unwrap_err(),
    ];
    let expected = [
        r#"the id of a plan has 1 to 64 of a-z, 0-9, _ and -, not "Gold!""#,
        "a name is one line of 1 to 100 characters",
        r#"a currency has three letters, such as USD, not "euro""#,
        "over quota means 402 (pay) or 429 (wait), not 500",
        r#"a limit is written NAME=NUMBER or NAME=none, not "eventsPerMonth""#,
        "there is no limit \"eventsPerYear\"; there are eventsPerMinute, eventsPerMonth, \
         apiCallsPerMonth, storageGB, users, sources, syncFrequency, dataRetentionDays, webhooks, \
         customDomains",
        r#"sources must be a whole number within bounds, or none, not "-1""#,
        r#"dataRetentionDays must be a number of days from 1 to 3650, or none, not "0""#,
        "syncFrequency must be one of hourly, daily, weekly, monthly, custom, none, not \"often\"",
        r#"a price of Stripe looks like price_1AbC, not "prod_1""#,
        "a plan that is not on offer cannot be the default",
    ];
    assert_eq!(complaints, expected);
}

#[test]
fn the_default_is_replaced_and_never_taken_away() {
    let plan = made(&Edit { is_default: Some(true), ..Edit::default() }).unwrap();
    for edit in [
        Edit { is_default: Some(false), ..Edit::default() },
        Edit { is_active: Some(false), ..Edit::default() },
    ] {
        assert_eq!(plan.edited(&edit, UPDATED), Err(BadPlan::Default));
    }
}
