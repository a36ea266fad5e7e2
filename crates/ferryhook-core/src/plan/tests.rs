use super::*;

const NOW: Timestamp = Timestamp::from_seconds(1_767_225_600);

#[test]
fn the_seeded_plans_have_the_published_figures() {
    let figures: Vec<_> = seeded(NOW)
        .into_iter()
        .map(|plan| {
            let kept_seconds = plan.retention().map(|kept| kept.as_secs());
            let limits = plan.limits;
            (plan.id, plan.kind, limits.events_per_minute, limits.events_per_month, kept_seconds)
        })
        .collect();
    let plan = |id: &str, kind, minute, month, kept| {
        (id.to_owned(), kind, Some(minute), Some(month), Some(kept))
    };
    assert_eq!(
        figures,
        [
            plan("free", PlanType::Free, 100, 5_000, 86_400),
            plan("starter", PlanType::Starter, 500, 100_000, 604_800),
            plan("pro", PlanType::Professional, 2_000, 1_000_000, 2_592_000),
            plan("team", PlanType::Enterprise, 10_000, 5_000_000, 7_776_000),
            ("self_hosted".to_owned(), PlanType::Enterprise, None, None, None),
        ]
    );
}

#[test]
fn exactly_the_self_hosted_plan_is_the_default() {
    let defaults: Vec<_> = seeded(NOW).into_iter().filter(|plan| plan.is_default).collect();
    assert_eq!(defaults.len(), 1);
    assert_eq!(defaults[0].id, "self_hosted");
    assert_eq!(defaults[0].limits, Limits::default());
}

#[test]
fn what_arrives_now_expires_after_the_retention() {
    let expiries: Vec<_> = seeded(NOW)
        .iter()
        .map(|plan| plan.expiry(NOW + Duration::from_millis(999)).map(|at| at.to_string()))
        .collect();
    assert_eq!(expiries[0].as_deref(), Some("2026-01-02T00:00:00.000Z"));
    assert_eq!(expiries[3].as_deref(), Some("2026-04-01T00:00:00.000Z"));
    assert_eq!(expiries[4], None);
}
