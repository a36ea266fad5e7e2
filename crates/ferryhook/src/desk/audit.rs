//! Audit logs, as the command line has them checked: all of the installation, or one.

use std::collections::BTreeSet;

use ferryhook_core::activity::check::Report;
use ferryhook_core::{Account, Activity, Id, limits};
use ferryhook_store::Slice;
use ferryhook_store::repositories::DataKeys;
use serde::{Deserialize, Serialize};

use super::questions::Answer;
use super::{Complaint, Desk};

/// What one answer may have; the next begins where it ended.
const LINES_MAX: usize = 100_000;
const LOGS_MAX: usize = 1_000;

/// A log, or a stretch of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Log {
    pub account: Id<Account>,
    pub report: Report,
}

/// Where the next answer begins.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogPlace {
    pub account: Id<Account>,
    /// The last line that was checked.
    pub behind: Option<Id<Activity>>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Logs {
    pub logs: Vec<Log>,
    pub next: Option<LogPlace>,
}

impl Desk {
    pub(super) async fn verify_logs(
        &self,
        owner: Id<Account>,
        only: Option<Id<Account>>,
        from: Option<LogPlace>,
    ) -> Answer<Logs> {
        let accounts = match only {
            Some(account) => BTreeSet::from([self.known(account).await?]),
            None => self.accounts_with_logs(owner).await?,
        };
        let mut answer = Logs::default();
        let mut left = LINES_MAX;
        let first = from.map(|place| place.account);
        for account in accounts.into_iter().filter(|account| Some(*account) >= first) {
            let behind = from.filter(|place| place.account == account);
            let behind = behind.and_then(|place| place.behind);
            if left == 0 || answer.logs.len() == LOGS_MAX {
                answer.next = Some(LogPlace { account, behind: None });
                return Ok(answer);
            }
            let checked = self.store.activities().check(account, behind, left).await?;
            let Some(checked) = checked else {
                let said = "a line that was there a moment ago is gone; ask again";
                return Err(Complaint::Refused(said.to_owned()));
            };
            let seen = checked.report.lines + checked.report.before;
            left = left.saturating_sub(usize::try_from(seen).unwrap_or(usize::MAX));
            answer.logs.push(Log { account, report: checked.report });
            if let Some(line) = checked.next {
                answer.next = Some(LogPlace { account, behind: Some(line) });
                return Ok(answer);
            }
        }
        Ok(answer)
    }

    async fn known(&self, account: Id<Account>) -> Answer<Id<Account>> {
        match self.store.accounts().find(account).await? {
            Some(_) => Ok(account),
            None => Err(Complaint::NotFound(format!("there is no account {account}"))),
        }
    }

    /// Those whose log has a head, and those that have a key of their own: a head that was removed
    /// must not hide its log.
    async fn accounts_with_logs(&self, owner: Id<Account>) -> Answer<BTreeSet<Id<Account>>> {
        let mut accounts = BTreeSet::from([owner]);
        let mut slice = Slice::default().limit(limits::PAGE_MAX);
        loop {
            let page = self.store.activities().list_logs(slice.clone()).await?;
            accounts.extend(page.rows.iter().map(|head| head.account_id));
            let Some(next) = page.next else { break };
            slice = slice.after(Some(next));
        }
        for shard in DataKeys::shards() {
            let mut slice = Slice::default().limit(limits::PAGE_MAX);
            loop {
                let page = self.store.data_keys().list(shard, slice.clone()).await?;
                let owners = page.rows.iter().map(|key| key.owner_id.parse::<Id<Account>>());
                accounts.extend(owners.flatten());
                let Some(next) = page.next else { break };
                slice = slice.after(Some(next));
            }
        }
        Ok(accounts)
    }
}
