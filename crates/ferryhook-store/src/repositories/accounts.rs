//! Accounts, and the tree they form.
//!
//! A parent counts its children, and whoever adds or ends one writes the parent too: so the bound
//! holds however many add at once, and a change of the tree that was decided on an older view of
//! it is refused.

use ferryhook_core::account::{AccountType, Status};
use ferryhook_core::{Account, Id, Map, limits};

use super::{Slice, TRIES_MAX};
use crate::batch::{Batch, Patch};
use crate::query::{Page, Query};
use crate::record::{Kind, Stored};
use crate::records::{account, word};
use crate::tables::Index;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Accounts<'a>(pub(crate) &'a Store);

/// An account that is to lie beneath another.
#[derive(Debug, Clone)]
pub struct NewChild {
    pub id: Id<Account>,
    pub name: String,
    pub kind: AccountType,
    pub metadata: Option<Map>,
    pub settings: Option<Map>,
}

/// Why the tree was left as it is.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    #[error("there is no such account")]
    Missing,
    #[error("the account is not active")]
    Closed,
    #[error("accounts lie at most {} levels deep", limits::ACCOUNT_LEVELS_MAX)]
    TooDeep,
    #[error("an account has at most {} others beneath it", limits::ACCOUNT_CHILDREN_MAX)]
    TooMany,
    #[error("accounts lie beneath this one")]
    HasChildren,
    #[error(
        "more than {} accounts lie beneath this one, and their paths cannot follow at once",
        limits::ACCOUNTS_RENAMED_MAX
    )]
    TooManyToRename,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Accounts<'_> {
    pub async fn create(&self, account: &Account) -> Result<(), StoreError> {
        self.0.insert(account).await
    }

    pub async fn find(&self, id: Id<Account>) -> Result<Option<Stored<Account>>, StoreError> {
        self.0.find(&account::key(id)).await
    }

    /// The account and those above it, from itself up to the root; empty if there is none. By
    /// keys, and so as they were last written.
    pub async fn lineage(&self, id: Id<Account>) -> Result<Vec<Stored<Account>>, StoreError> {
        let mut found = Vec::new();
        let mut next = Some(id);
        while let Some(id) = next.filter(|_| found.len() < limits::ACCOUNT_LEVELS_MAX.into()) {
            let Some(account) = self.find(id).await? else { break };
            next = account.parent_account_id;
            found.push(account);
        }
        Ok(found)
    }

    /// How it stands: like the worst off of itself and those above it. `None` if there is none.
    pub async fn status(&self, id: Id<Account>) -> Result<Option<Status>, StoreError> {
        let lineage = self.lineage(id).await?;
        Ok(lineage.iter().map(|account| account.status).max())
    }

    /// Direct children only, sorted by type; with a type, only those of it.
    pub async fn list_children(
        &self,
        parent: Id<Account>,
        kind: Option<AccountType>,
        slice: Slice,
    ) -> Result<Page<Stored<Account>>, StoreError> {
        let mut query = Query::index(Kind::Account, Index::AccountParent, parent.as_str());
        if let Some(kind) = kind {
            query = query.exactly(word(kind));
        }
        self.0.list(slice.of(query)).await
    }

    /// A new account beneath `parent`. Nobody gets a place in it: the administrators above have
    /// theirs already, for as long as they are that, and whoever made it is one of them.
    pub async fn create_child(
        &self,
        parent: Id<Account>,
        new: &NewChild,
    ) -> Result<Account, TreeError> {
        for _ in 0..TRIES_MAX {
            let was = self.find(parent).await?.ok_or(TreeError::Missing)?;
            let now = self.0.now();
            let child = Account {
                metadata: new.metadata.clone(),
                settings: new.settings.clone(),
                ..was.child(new.id, &new.name, new.kind, now)
            };
            if was.status != Status::Active {
                return Err(TreeError::Closed);
            }
            if child.level >= limits::ACCOUNT_LEVELS_MAX {
                return Err(TreeError::TooDeep);
            }
            if was.child_count >= limits::ACCOUNT_CHILDREN_MAX {
                return Err(TreeError::TooMany);
            }
            let counted = Account { child_count: was.child_count + 1, ..was.record.clone() };
            let batch = Batch::new().replace(&was, &counted).insert(&child);
            match self.0.commit(batch).await {
                Err(error) if error.refused_at(0) => {} // the parent changed; look again
                done => return done.map(|()| child).map_err(Into::into),
            }
        }
        Err(busy().into())
    }

    /// Everything but its name and its place in the tree.
    pub async fn replace(
        &self,
        was: &Stored<Account>,
        now: Account,
    ) -> Result<Stored<Account>, StoreError> {
        self.0.replace(was, now).await
    }

    /// Under a new name, with the paths of all that lie beneath: one commit, so that no path ever
    /// leads through a name that is gone. Larger trees than fit into one keep their names.
    pub async fn rename(
        &self,
        was: &Stored<Account>,
        now: Account,
    ) -> Result<Stored<Account>, TreeError> {
        let mut batch = Batch::new().replace(was, &now);
        let mut above = vec![(was.clone(), now.clone())];
        let mut count = 0;
        while let Some((parent, renamed)) = above.pop() {
            for child in self.living_children(&parent).await? {
                count += 1;
                if count > limits::ACCOUNTS_RENAMED_MAX {
                    return Err(TreeError::TooManyToRename);
                }
                let moved = child.beneath(&renamed);
                batch = batch.replace(&child, &moved);
                above.push((child, moved));
            }
        }
        self.0.commit(batch).await?;
        Ok(was.followed_by(now))
    }

    pub async fn set_status(
        &self,
        was: &Stored<Account>,
        status: Status,
    ) -> Result<Stored<Account>, TreeError> {
        let now = Account { status, updated_at: self.0.now(), ..was.record.clone() };
        let mut batch = Batch::new().replace(was, &now);
        if status == Status::Terminated && was.status != Status::Terminated {
            if was.child_count > 0 {
                return Err(TreeError::HasChildren);
            }
            if let Some(parent) = was.parent_account_id {
                let patch = Patch::of(Kind::Account, account::key(parent)).add("childCount", -1);
                batch = batch.patch(patch);
            }
        }
        self.0.commit(batch).await?;
        Ok(was.followed_by(now))
    }

    /// Those directly beneath that are not terminated, as they were last written. An index may
    /// lag behind; the parent's count says whether anyone is missing.
    async fn living_children(&self, parent: &Account) -> Result<Vec<Stored<Account>>, TreeError> {
        if usize::try_from(parent.child_count).unwrap_or(usize::MAX) > limits::ACCOUNTS_RENAMED_MAX
        {
            return Err(TreeError::TooManyToRename);
        }
        let mut living = Vec::new();
        let mut slice = Slice::default().limit(limits::PAGE_MAX);
        for _ in 0..TRIES_MAX {
            let page = self.list_children(parent.id, None, slice.clone()).await?;
            for row in page.rows {
                let now = self.find(row.id).await?;
                living.extend(now.filter(|child| child.status != Status::Terminated));
            }
            if page.next.is_none() {
                break;
            }
            slice = slice.after(page.next);
        }
        match u32::try_from(living.len()) == Ok(parent.child_count) {
            true => Ok(living),
            false => Err(busy().into()),
        }
    }
}

fn busy() -> StoreError {
    StoreError::Unavailable("the accounts are being changed by others".into(), None)
}
