//! Letters about what fails: at once where an account wants that, and a digest once in each period
//! in which something happened.
//!
//! The data plane writes alerts down; here they are read. Several servers may do this on one
//! store: a claim in the ledger decides which of them sends the digest of an account.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use ferryhook_core::alert::{Settings, State};
use ferryhook_core::operational::Operational;
use ferryhook_core::{Alert, Env, Id, Timestamp, User, connection, limits};
use ferryhook_store::repositories::{Announcement, Claiming};
use ferryhook_store::{Slice, Store, StoreError};

use crate::mail::{Mailer, letters};

const LOOK_EVERY: Duration = Duration::from_secs(60);
/// To write the letters of one account.
const LEASE: Duration = Duration::from_secs(60);
/// What one digest lists of each sort; the rest is counted.
const LINES_MAX: usize = 50;

/// What is needed to write to people.
#[derive(Debug, Clone)]
pub struct Digests {
    pub store: Store,
    pub env: Env,
    pub mail: Mailer,
    pub base_url: String,
}

/// What happened in an account within a period.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    pub fired: Vec<String>,
    pub recovered: Vec<String>,
    /// Since before.
    pub failing: Vec<String>,
}

impl Digests {
    /// Looks every minute whether a period is over.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        if !self.mail.can_send() {
            return;
        }
        let mut stop = pin!(stop);
        loop {
            if let Err(error) = self.send_due().await {
                tracing::warn!(%error, "digests have to wait");
            }
            tokio::select! {
                () = stop.as_mut() => return,
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }

    /// Sends what nobody has sent of the periods that ended last; tells how many letters.
    pub async fn send_due(&self) -> Result<usize, StoreError> {
        let mut slice = Slice::oldest_first().limit(limits::PAGE_MAX);
        let mut sent = 0;
        let mut of_one: Vec<Alert> = Vec::new();
        loop {
            let page = self.store.alerts().list_all(slice.clone()).await?;
            for row in page.rows {
                if self.is_orphan(&row).await? {
                    let over = row.recovered(self.env.now());
                    let nothing = Announcement::default();
                    self.store.alerts().turn(Some(&row), &over, &nothing).await?;
                    continue;
                }
                let alert = row.record;
                // One account after the other.
                if of_one.last().is_some_and(|last| last.account_id != alert.account_id) {
                    sent += self.send_of(&std::mem::take(&mut of_one)).await?;
                }
                of_one.push(alert);
            }
            let Some(next) = page.next else { break };
            slice = slice.after(Some(next));
        }
        Ok(sent + self.send_of(&of_one).await?)
    }

    /// Whether it fires for a connection that is gone: nothing can succeed there and end it.
    async fn is_orphan(&self, alert: &Alert) -> Result<bool, StoreError> {
        let (true, Some(source)) = (alert.is_firing(), alert.source_id) else { return Ok(false) };
        let Ok(id) = alert.subject.parse() else { return Ok(false) };
        let found = self.store.connections().find_of(source, id).await?;
        Ok(found.is_none_or(|found| found.status == connection::Status::Deleted))
    }

    async fn send_of(&self, alerts: &[Alert]) -> Result<usize, StoreError> {
        let Some(first) = alerts.first() else { return Ok(0) };
        let Some(account) = self.store.accounts().find(first.account_id).await? else {
            return Ok(0);
        };
        let settings = Settings::of(account.settings.as_ref());
        let Some(period) = settings.digest.period() else { return Ok(0) };
        let end = last_end(self.env.now(), period);
        let summary = Summary::of(alerts, end, period);
        if summary == Summary::default() {
            return Ok(0);
        }
        let key = format!("ferryhook:digest:{}:{}", account.id, end.as_seconds());
        let claim = self.store.ledger().claim(&key, LEASE, 2 * period).await?;
        let Claiming::Yours { token, .. } = claim else { return Ok(0) };
        let mut sent = 0;
        for id in self.store.members().keepers(account.id).await? {
            let Some(user) = self.store.users().find(id).await? else { continue };
            let letter = letters::digest(&user, &self.base_url, &account.name, &summary);
            // Logged where it is sent; a digest that is lost is not sent twice.
            let _ = self.mail.send(letter);
            sent += 1;
        }
        self.store.ledger().complete(&key, token).await?;
        Ok(sent)
    }

    /// A letter to these people, now.
    pub async fn alarm(&self, users: &[Id<User>], said: &Operational) -> Result<(), StoreError> {
        for id in users {
            if let Some(user) = self.store.users().find(*id).await? {
                let letter = letters::alarm(&user, &self.base_url, &said.title, &said.message);
                let _ = self.mail.send(letter);
            }
        }
        Ok(())
    }
}

/// When the last whole period ended; periods begin at midnight, and at each hour.
fn last_end(now: Timestamp, period: Duration) -> Timestamp {
    let seconds = i64::try_from(period.as_secs()).unwrap_or(i64::MAX).max(1);
    Timestamp::from_seconds(now.as_seconds().div_euclid(seconds) * seconds)
}

impl Summary {
    /// What of these happened within the period that ended then.
    fn of(alerts: &[Alert], end: Timestamp, period: Duration) -> Self {
        let start = end - period;
        let is_within = |at: Timestamp| start <= at && at < end;
        let mut summary = Self::default();
        for alert in alerts {
            let reason = alert.reason.as_deref().unwrap_or("it failed");
            let line = format!("{}: {reason} ({})", alert.what, alert.fired_at);
            if is_within(alert.fired_at) {
                summary.fired.push(line);
            } else if alert.is_firing() && alert.fired_at < start {
                summary.failing.push(line);
            }
            match alert.state {
                // What has no end of its own was over when it was told.
                State::Recovered { recovered_at }
                    if is_within(recovered_at) && recovered_at > alert.fired_at =>
                {
                    summary.recovered.push(format!("{} ({recovered_at})", alert.what));
                }
                _ => {}
            }
        }
        for lines in [&mut summary.fired, &mut summary.recovered, &mut summary.failing] {
            let more = lines.len().saturating_sub(LINES_MAX);
            if more > 0 {
                lines.truncate(LINES_MAX);
                lines.push(format!("and {more} more"));
            }
        }
        summary
    }
}

#[cfg(test)]
mod tests;
