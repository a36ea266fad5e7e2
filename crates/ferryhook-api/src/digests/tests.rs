use std::sync::Arc;

use ferryhook_core::env::ManualClock;
use ferryhook_core::member::Role;
use ferryhook_core::operational::TYPES;
use serde_json::json;

use super::*;
use crate::trial::{self, Trial};

const HOUR: Duration = Duration::from_secs(60 * 60);

struct Office {
    trial: Trial,
    clock: Arc<ManualClock>,
    digests: Digests,
}

impl Office {
    async fn open() -> Self {
        let (env, clock) = Env::manual("2026-01-01T00:30:00Z");
        let trial = Trial::over(trial::app_in(env.clone())).await;
        let digests = Digests {
            store: trial.app.store.clone(),
            env,
            mail: trial.app.auth.mail.clone(),
            base_url: "http://trial".to_owned(),
        };
        Self { trial, clock, digests }
    }

    async fn wants(&self, digest: &str) {
        let path = format!("/v1/accounts/{}", self.trial.account.id);
        let body = json!({ "settings": { "alerts": { "digest": digest } } });
        self.trial.patch(&path, body).await.expect(200);
    }

    async fn fires(&self, subject: &str, what: &str) {
        let alert = Alert::fired(self.trial.account.id, subject, what, self.digests.env.now());
        let alert = Alert { reason: Some("a delivery was given up".to_owned()), ..alert };
        let alerts = self.digests.store.alerts();
        alerts.turn(None, &alert, &Announcement::default()).await.unwrap().unwrap();
    }

    async fn recovers(&self, subject: &str) {
        let alerts = self.digests.store.alerts();
        let was = alerts.find(self.trial.account.id, subject).await.unwrap().unwrap();
        let now = was.recovered(self.digests.env.now());
        alerts.turn(Some(&was), &now, &Announcement::default()).await.unwrap().unwrap();
    }

    /// The text of the newest letter.
    fn letter(&self) -> String {
        self.digests.mail.kept()[0].1.text.expose().to_owned()
    }
}

#[tokio::test]
async fn a_digest_is_sent_once_for_each_period_in_which_something_happened() {
    let office = Office::open().await;
    office.wants("hourly").await;
    office.fires("conn_0000000000000001", "Orders").await;
    assert_eq!(office.digests.send_due().await.unwrap(), 0, "the hour is not over");
    office.clock.advance(HOUR);
    // Two servers at once.
    let (one, other) = (office.digests.clone(), office.digests.clone());
    let (one, other) = tokio::join!(one.send_due(), other.send_due());
    assert_eq!(one.unwrap() + other.unwrap(), 1);
    assert!(office.letter().contains("Began to fail:\n  - Orders: a delivery was given up"));
    office.clock.advance(HOUR);
    assert_eq!(office.digests.send_due().await.unwrap(), 1);
    assert!(office.letter().contains("Still fails:\n  - Orders"), "{}", office.letter());
    office.recovers("conn_0000000000000001").await;
    office.clock.advance(HOUR);
    assert_eq!(office.digests.send_due().await.unwrap(), 1);
    assert!(office.letter().contains("Works again:\n  - Orders"));
    office.clock.advance(HOUR);
    assert_eq!(office.digests.send_due().await.unwrap(), 0, "nothing happened");
}

#[tokio::test]
async fn a_digest_is_daily_unless_the_account_says_otherwise() {
    let office = Office::open().await;
    office.fires("conn_0000000000000001", "Orders").await;
    office.clock.advance(HOUR);
    assert_eq!(office.digests.send_due().await.unwrap(), 0);
    office.clock.advance(23 * HOUR);
    let viewer = office.trial.colleague(Role::Viewer).await;
    let manager = office.trial.colleague(Role::Manager).await;
    assert_eq!(office.digests.send_due().await.unwrap(), 2);
    let to: Vec<_> = office.digests.mail.kept().into_iter().map(|(_, letter)| letter.to).collect();
    assert!(to.contains(&manager.user.email) && !to.contains(&viewer.user.email));
    office.wants("off").await;
    office.clock.advance(24 * HOUR);
    assert_eq!(office.digests.send_due().await.unwrap(), 0);
}

#[tokio::test]
async fn an_alarm_is_sent_at_once() {
    let office = Office::open().await;
    let said = TYPES[0].sample();
    office.digests.alarm(&[office.trial.user.id], &said).await.unwrap();
    assert!(office.letter().contains("On Orders, a delivery was given up"));
}

#[tokio::test]
async fn settings_of_alerts_that_are_not_understood_are_refused() {
    let office = Office::open().await;
    let path = format!("/v1/accounts/{}", office.trial.account.id);
    let body = json!({ "settings": { "alerts": { "deadDeliveries": 0 } } });
    let said = office.trial.patch(&path, body).await.expect(400);
    assert_eq!(said["errors"][0]["pointer"], "/settings/alerts/deadDeliveries");
}

/// Else it would be told every day for ever.
#[tokio::test]
async fn an_alert_ends_with_its_connection() {
    let office = Office::open().await;
    office.wants("hourly").await;
    let source = office.trial.post("/v1/sources", json!({"name": "shop"})).await.expect(201);
    let source = source["sourceId"].as_str().unwrap();
    let there = json!({"name": "Orders", "destinationUrl": "https://example.com/"});
    let path = format!("/v1/sources/{source}/connections");
    let connection = office.trial.post(&path, there).await.expect(201);
    let id = connection["connectionId"].as_str().unwrap();
    let (account, now) = (office.trial.account.id, office.digests.env.now());
    let alert = Alert::fired(account, id, "Orders", now);
    let alert = Alert { source_id: source.parse().ok(), ..alert };
    let alerts = office.digests.store.alerts();
    alerts.turn(None, &alert, &Announcement::default()).await.unwrap().unwrap();
    office.clock.advance(HOUR);
    assert_eq!(office.digests.send_due().await.unwrap(), 1);
    office.trial.delete(&format!("/v1/connections/{id}")).await.expect(204);
    office.clock.advance(HOUR);
    assert_eq!(office.digests.send_due().await.unwrap(), 0);
    assert!(!alerts.find(account, id).await.unwrap().unwrap().is_firing());
}
