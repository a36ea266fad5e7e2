//! Fires an alert when a connection has failed often enough, and ends it with the first success.

use ferryhook_core::alert::{Settings, Step};
use ferryhook_core::operational::Operational;
use ferryhook_core::{Account, Alert, Id, Timestamp};
use ferryhook_store::StoreError;

use super::{Alarm, Report};
use crate::courier::{Courier, lock};
use crate::limits;

impl Courier {
    pub(super) async fn watch_over(&self, report: Report) -> Result<(), StoreError> {
        let inner = self.inner();
        let settings = self.alert_settings(report.account).await?;
        self.read_alert(&report).await?;
        let now = inner.now().wall;
        let (step, was) = {
            let mut known = lock(&inner.signals.known);
            let known = known.entry(report.connection).or_default();
            let alert = known.alert.as_ref().map(|alert| &alert.record);
            let step = known.watch.note(report.outcome, alert, &settings, now);
            (step, known.alert.clone())
        };
        let (next, said) = match (step, &was) {
            (Step::Nothing, _) | (Step::Recover, None) => return Ok(()),
            (Step::Fire(reason), was) => {
                let alert = fired(was.as_ref().map(|was| &was.record), &report, now);
                let alert = Alert { reason: Some(reason.to_string()), ..alert };
                let said = Operational::delivery_failed(&alert);
                (alert, said)
            }
            (Step::Recover, Some(was)) => {
                (was.recovered(now), Operational::delivery_recovered(was, now))
            }
        };
        let prepared = self.prepare(report.account, &said, true).await?;
        let alerts = inner.store.alerts();
        let turned = alerts.turn(was.as_ref(), &next, &prepared.announcement).await?;
        if turned.is_none() {
            // Another process was faster, and has said it.
            lock(&inner.signals.known).remove(&report.connection);
            return self.read_alert(&report).await;
        }
        tracing::warn!(account.id = %report.account, connection.id = %report.connection,
            is_firing = next.is_firing(), "an alert has turned");
        if let Some(known) = lock(&inner.signals.known).get_mut(&report.connection) {
            known.alert = turned;
        }
        let users = prepared.users.clone();
        self.announced(prepared);
        if settings.mail
            && let Some(ring) = inner.signals.letters.get()
        {
            ring(Alarm { account: report.account, users, said });
        }
        Ok(())
    }

    /// As the store has it, once, or now and then where others write it too.
    async fn read_alert(&self, report: &Report) -> Result<(), StoreError> {
        let inner = self.inner();
        let now = inner.env.elapsed();
        let is_known = {
            let known = lock(&inner.signals.known);
            known.get(&report.connection).is_some_and(|known| {
                !inner.shared || now.saturating_sub(known.read_at) < limits::ALERT_FRESH_FOR
            })
        };
        if is_known {
            return Ok(());
        }
        let alert = inner.store.alerts().find(report.account, report.connection.as_str()).await?;
        let mut known = lock(&inner.signals.known);
        if known.len() >= limits::CONNECTIONS_KNOWN_MAX {
            known.retain(|_, known| !known.is_calm());
        }
        if known.len() >= limits::CONNECTIONS_KNOWN_MAX {
            known.clear(); // all of it can be read again
        }
        let known = known.entry(report.connection).or_default();
        known.alert = alert;
        known.read_at = now;
        Ok(())
    }

    async fn alert_settings(&self, account: Id<Account>) -> Result<Settings, StoreError> {
        let inner = self.inner();
        let now = inner.env.elapsed();
        if let Some((read_at, settings)) = lock(&inner.signals.settings).get(&account)
            && now.saturating_sub(*read_at) < limits::ALERT_FRESH_FOR
        {
            return Ok(settings.clone());
        }
        let found = inner.store.accounts().find(account).await?;
        let settings = Settings::of(found.as_ref().and_then(|found| found.settings.as_ref()));
        let mut known = lock(&inner.signals.settings);
        if known.len() >= limits::CONNECTIONS_KNOWN_MAX {
            known.clear();
        }
        known.insert(account, (now, settings.clone()));
        Ok(settings)
    }
}

fn fired(was: Option<&Alert>, report: &Report, now: Timestamp) -> Alert {
    let (account, subject) = (report.account, report.connection.as_str());
    let alert = match was {
        Some(was) => was.again(now),
        None => Alert::fired(account, subject, &report.name, now),
    };
    Alert {
        source_id: Some(report.source),
        what: report.name.clone(),
        last_error: report.error.clone(),
        last_status_code: report.status,
        ..alert
    }
}
