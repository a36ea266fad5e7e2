//! Activities: the audit log. Written once, never changed, each behind the last of its account.

use ferryhook_core::activity::check::{Check, Report};
use ferryhook_core::activity::head::Before;
use ferryhook_core::{Account, Activity, AuditHead, Id, Timestamp, User, limits};

use super::{Slice, Window};
use crate::batch::{Batch, Condition};
use crate::key::Key;
use crate::query::{Page, Query};
use crate::record::{Kind, Stored};
use crate::records::{account, audit_head};
use crate::tables::{Index, Table};
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Activities<'a>(pub(crate) &'a Store);

/// A stretch of a log that was checked.
#[derive(Debug, Clone)]
pub struct Checked {
    pub report: Report,
    /// The line that was checked last, where there are more behind it.
    pub next: Option<Id<Activity>>,
}

impl Activities<'_> {
    /// Writes a line that belongs to no other change.
    pub async fn record(&self, activity: &Activity) -> Result<(), StoreError> {
        self.0.commit_line(activity).await
    }

    pub async fn find(
        &self,
        account: Id<Account>,
        id: Id<Activity>,
    ) -> Result<Option<Stored<Activity>>, StoreError> {
        self.0.find(&Key::new(Table::Activities, account.as_str(), id.as_str())).await
    }

    /// Writes the line that this store was given ([`Store::noting`]) by itself, for what changes
    /// nothing here and is to be known all the same.
    pub async fn note(&self, account: Id<Account>) -> Result<(), StoreError> {
        self.0.commit(Batch::new().require(account::key(account), Condition::Exists)).await
    }

    pub async fn list_by_account(
        &self,
        account: Id<Account>,
        slice: Slice,
    ) -> Result<Page<Stored<Activity>>, StoreError> {
        let query = Query::table(Kind::Activity, account.as_str());
        self.0.list(slice.of(query)).await
    }

    /// In all of the user's accounts; to the second.
    pub async fn list_by_user(
        &self,
        user: Id<User>,
        window: Window,
        slice: Slice,
    ) -> Result<Page<Stored<Activity>>, StoreError> {
        let query = Query::index(Kind::Activity, Index::ActivityUser, user.as_str());
        let query = window.numbers(query, Timestamp::as_seconds);
        self.0.list(slice.of(query)).await
    }

    /// In all accounts: for the operator. To the second.
    pub async fn list_by_type(
        &self,
        event_type: &str,
        window: Window,
        slice: Slice,
    ) -> Result<Page<Stored<Activity>>, StoreError> {
        let query = Query::index(Kind::Activity, Index::ActivityType, event_type);
        let query = window.numbers(query, Timestamp::as_seconds);
        self.0.list(slice.of(query)).await
    }

    /// Whether an account's log is what was written: from its beginning or from behind a line, as
    /// far as `lines_max` go. `None` when there is no such line.
    pub async fn check(
        &self,
        account: Id<Account>,
        behind: Option<Id<Activity>>,
        lines_max: usize,
    ) -> Result<Option<Checked>, StoreError> {
        let head = self.head(account).await?.map(|head| head.record);
        let mut check = match behind {
            None => Check::new(head),
            Some(id) => match self.find(account, id).await? {
                Some(line) => Check::behind(&line, head),
                None => return Ok(None),
            },
        };
        let mut left = lines_max.max(1);
        let mut query = Query::table(Kind::Activity, account.as_str());
        if let Some(id) = behind {
            query = query.between(Some(id.following().as_str().into()), None);
        }
        loop {
            let page = query.clone().limit(left.clamp(1, limits::PAGE_MAX));
            let page: Page<Stored<Activity>> = self.0.list(page).await?;
            left = left.saturating_sub(page.rows.len());
            page.rows.iter().for_each(|line| check.line(line));
            let Some(next) = page.next else { break };
            if let (0, Some(place)) = (left, check.resting_place()) {
                return Ok(Some(Checked { report: check.so_far(), next: Some(place) }));
            }
            query = query.after(Some(next));
        }
        let head = self.head(account).await?;
        let report = check.end(head.as_ref().map(|head| &head.record));
        Ok(Some(Checked { report, next: None }))
    }

    /// The accounts that have a log, one after the other.
    pub async fn list_logs(&self, slice: Slice) -> Result<Page<Stored<AuditHead>>, StoreError> {
        let query = Query::index(Kind::AuditHead, Index::SourceOrConnectionById, audit_head::ALL);
        self.0.list(slice.of(query)).await
    }

    pub(crate) async fn head(
        &self,
        account: Id<Account>,
    ) -> Result<Option<Stored<AuditHead>>, StoreError> {
        self.0.find(&audit_head::key(account)).await
    }

    /// What stands in a log that has no chain yet. Read once in the life of an account, and empty
    /// for those that are made today.
    pub(crate) async fn before(&self, account: Id<Account>) -> Result<Before, StoreError> {
        let mut before = Before::default();
        let mut slice = Slice::oldest_first().limit(limits::PAGE_MAX);
        loop {
            let page = self.list_by_account(account, slice.clone()).await?;
            before = page.rows.iter().fold(before, |before, line| before.with(line));
            let Some(next) = page.next else { return Ok(before) };
            slice = slice.after(Some(next));
        }
    }
}
