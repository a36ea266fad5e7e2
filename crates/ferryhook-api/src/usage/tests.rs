use ferryhook_core::{Env, plan, samples};
use serde_json::json;

use super::*;
use crate::analytics::tests::{add, counted};
use crate::trial::{self, Trial};

async fn trial() -> Trial {
    Trial::over(trial::app_in(Env::fixed("2026-01-20T12:30:00Z"))).await
}

async fn used(trial: &Trial, day: &str) {
    let usage = Usage { account_id: trial.account.id, day: day.to_owned(), ..samples::usage() };
    trial.app.store.usage().add(&usage).await.unwrap();
}

#[tokio::test]
async fn days_are_listed() {
    let trial = trial().await;
    for day in ["2025-12-31", "2026-01-01", "2026-01-20"] {
        used(&trial, day).await;
    }
    let dates = |said: serde_json::Value| -> Vec<String> {
        let days = said["data"].as_array().unwrap().iter();
        days.map(|day| day["date"].as_str().unwrap().to_owned()).collect()
    };
    let all = trial.get("/v1/usage").await.expect(200);
    assert_eq!(all["data"][0]["events"], 40);
    assert_eq!(all["data"][0]["apiCalls"], samples::usage().api_calls);
    assert_eq!(dates(all), ["2026-01-20", "2026-01-01", "2025-12-31"]);
    let since = trial.get("/v1/usage?from=2026-01-01T00:00:00Z&order=asc").await.expect(200);
    assert_eq!(dates(since), ["2026-01-01", "2026-01-20"]);
    let first = trial.get("/v1/usage?limit=2").await.expect(200);
    assert_eq!((dates(first.clone()).len(), &first["hasMore"]), (2, &json!(true)));
    let rest = format!("/v1/usage?limit=2&cursor={}", first["cursor"].as_str().unwrap());
    assert_eq!(dates(trial.get(&rest).await.expect(200)), ["2025-12-31"]);
    trial.get("/v1/usage?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z").await.expect(400);
    assert_eq!(dates(trial.neighbour().await.get("/v1/usage").await.expect(200)).len(), 0);
}

#[tokio::test]
async fn a_month_is_held_against_the_plan() {
    let trial = trial().await;
    let plans = plan::seeded(trial.app.env.now());
    trial.app.store.plans().seed(&plans).await.unwrap();
    let plan = plans.iter().find(|plan| plan.id == trial.user.plan).unwrap();
    trial.post("/v1/sources", json!({ "name": "a" })).await.expect(201);
    let account = Scope::Account(trial.account.id);
    for (day, events) in [("2025-12-31", 1000), ("2026-01-01", 30), ("2026-01-20", 12)] {
        let at = format!("{day}T10:00:00Z").parse().unwrap();
        add(&trial, account, at, &counted(events, 0, 0)).await;
        used(&trial, day).await;
    }
    let usage = trial.get("/v1/billing/usage").await.expect(200);
    assert_eq!((&usage["planId"], &usage["planName"]), (&json!(plan.id), &json!(plan.name)));
    assert_eq!(usage["periodStart"], "2026-01-01T00:00:00.000Z");
    assert_eq!(usage["periodEnd"], "2026-02-01T00:00:00.000Z");
    let limit = plan.limits.events_per_month.unwrap();
    assert_eq!(usage["events"], json!({ "used": 42, "limit": limit }));
    assert_eq!(usage["apiCalls"]["used"], 2 * samples::usage().api_calls);
    // With the last day of December, which is kept for a month.
    assert_eq!(usage["storageBytes"]["used"], 100 * 1042);
    assert_eq!((&usage["sources"]["used"], &usage["users"]["used"]), (&json!(1), &json!(1)));
    assert_eq!(usage["webhooks"]["used"], 0);
}

/// Without a plan there are no limits.
#[tokio::test]
async fn an_account_without_a_plan_has_no_limits() {
    let trial = trial().await;
    let usage = trial.get("/v1/billing/usage").await.expect(200);
    assert_eq!(usage["events"], json!({ "used": 0 }));
    assert!(usage.get("planId").is_none());
}
