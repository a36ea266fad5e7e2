//! Keys for programs. Two keys never have the same hash.

use ferryhook_core::key::Status;
use ferryhook_core::{Account, Id, Key, Timestamp, User, limits};

use super::{Slice, TRIES_MAX, UniqueError};
use crate::batch::{Batch, Patch};
use crate::key::IndexKey;
use crate::query::{Page, Query};
use crate::record::{Kind, Record, Stored};
use crate::records::{Unique, key, unique, user};
use crate::tables::Index;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Keys<'a>(pub(crate) &'a Store);

/// Why no key was made.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("an account can have {} keys", limits::KEYS_PER_ACCOUNT_MAX)]
    TooMany,
    #[error(transparent)]
    Unique(#[from] UniqueError),
}

impl From<StoreError> for KeyError {
    fn from(error: StoreError) -> Self {
        Self::Unique(error.into())
    }
}

impl Keys<'_> {
    /// As [`Self::create`], if its account has room for one more, however many make one at once:
    /// the account counts those that are made. One that ends is not counted off, so the count may
    /// be too high; once it reaches the bound, those that work are counted anew (on DynamoDB
    /// through an index, which may not yet know the ones made a moment ago).
    pub async fn create_within_bounds(&self, key: &Key) -> Result<(), KeyError> {
        let most = limits::KEYS_PER_ACCOUNT_MAX;
        let (hash, id) = (Unique::key_hash(key), Unique::key_id(key));
        for _ in 0..TRIES_MAX {
            let account = self.0.accounts().find(key.account_id).await?;
            let mut batch = Batch::new().insert(&hash).insert(&id).insert(key);
            if let Some(was) = &account {
                let count = match was.key_count.filter(|count| *count < most) {
                    Some(count) => count,
                    None => self.count_usable(key.account_id).await?,
                };
                if count >= most {
                    return Err(KeyError::TooMany);
                }
                batch = batch
                    .replace(was, &Account { key_count: Some(count + 1), ..was.record.clone() });
            }
            match self.0.commit(batch).await {
                Err(error) if error.refused_at(3) => {} // the account was written in between
                done => return Ok(done.map_err(UniqueError::at(0, "key"))?),
            }
        }
        Err(StoreError::Unavailable("the account is being changed by others".into(), None).into())
    }

    async fn count_usable(&self, account: Id<Account>) -> Result<u32, StoreError> {
        let now = self.0.now();
        let mut slice = Slice::default().limit(limits::PAGE_MAX);
        let mut usable = 0;
        loop {
            let page = self.list_by_account(account, slice.clone()).await?;
            usable += page.rows.iter().filter(|key| key.is_usable(now)).count();
            match page.next {
                Some(next) if usable < limits::KEYS_PER_ACCOUNT_MAX as usize => {
                    slice = slice.after(Some(next));
                }
                _ => return Ok(u32::try_from(usable).unwrap_or(u32::MAX)),
            }
        }
    }

    pub async fn create(&self, key: &Key) -> Result<(), UniqueError> {
        let (hash, id) = (Unique::key_hash(key), Unique::key_id(key));
        let batch = Batch::new().insert(&hash).insert(&id).insert(key);
        let committed = self.0.commit(batch).await;
        committed.map_err(UniqueError::at(0, "key"))
    }

    pub async fn find(
        &self,
        owner: Id<User>,
        id: Id<Key>,
    ) -> Result<Option<Stored<Key>>, StoreError> {
        self.0.find(&key::key(owner, id)).await
    }

    /// Of an account, whoever made it. By keys, and so as it was last written.
    pub async fn find_in(
        &self,
        account: Id<Account>,
        id: Id<Key>,
    ) -> Result<Option<Stored<Key>>, StoreError> {
        let marker = self.0.find::<Unique>(&unique::key(&key::id_value(id))).await?;
        let Some(owner) = marker.and_then(|marker| marker.record.user_id) else { return Ok(None) };
        let found = self.find(owner, id).await?;
        Ok(found.filter(|key| key.account_id == account))
    }

    /// By keys: one whose revocation was answered is found as revoked, on every engine.
    pub async fn find_by_hash(&self, hash: &str) -> Result<Option<Stored<Key>>, StoreError> {
        let marker = self.0.find::<Unique>(&unique::key(&key::hash_value(hash))).await?;
        let Some(marker) = marker else { return Ok(None) };
        let id = marker.owner_id.parse();
        let id = id.map_err(|error| StoreError::corrupt(Kind::Unique, error))?;
        let owner = match marker.user_id {
            Some(owner) => Some(owner),
            // An old marker does not say. Under whom a key lies never changes, so an index that
            // lags behind will do.
            None => {
                let entry = IndexKey::new(Index::KeyByHash, key::hash_value(hash), "KEY");
                self.0.find_by::<Key>(entry).await?.map(|found| found.record.user_id)
            }
        };
        match owner {
            Some(owner) => self.find(owner, id).await,
            None => Ok(None),
        }
    }

    pub async fn list_by_user(
        &self,
        owner: Id<User>,
        slice: Slice,
    ) -> Result<Page<Stored<Key>>, StoreError> {
        let query = Query::table(Kind::Key, user::partition(owner)).prefix(key::PREFIX);
        self.0.list(slice.of(query)).await
    }

    /// Sorted by status.
    pub async fn list_by_account(
        &self,
        account: Id<Account>,
        slice: Slice,
    ) -> Result<Page<Stored<Key>>, StoreError> {
        let query = Query::index(Kind::Key, Index::AccountStatus, account.as_str());
        self.0.list(slice.of(query)).await
    }

    pub async fn replace(&self, was: &Stored<Key>, now: Key) -> Result<Stored<Key>, StoreError> {
        self.0.replace(was, now).await
    }

    /// Ends it for good; one that has ended stays as it is. `None` if the account has no such key.
    /// The row stays, and with it the hash: a revoked key is never handed out again.
    pub async fn revoke(
        &self,
        account: Id<Account>,
        id: Id<Key>,
    ) -> Result<Option<Stored<Key>>, StoreError> {
        for _ in 0..TRIES_MAX {
            let Some(was) = self.find_in(account, id).await? else { return Ok(None) };
            if was.status == Status::Revoked {
                return Ok(Some(was));
            }
            let now = Key { status: Status::Revoked, ..was.record.clone() };
            match self.0.replace(&was, now).await {
                Err(error) if error.is_refused() => {} // it was used just now; look again
                done => return done.map(Some),
            }
        }
        Err(StoreError::Unavailable("the key is being changed by others".into(), None))
    }

    pub async fn delete(&self, was: &Stored<Key>) -> Result<(), StoreError> {
        let mut batch = Batch::new().delete(was);
        for marker in [Unique::key_hash(was), Unique::key_id(was)] {
            if let Some(marker) = self.0.find::<Unique>(&marker.key()).await? {
                batch = batch.delete(&marker);
            }
        }
        self.0.commit(batch).await
    }

    /// Notes when it was used. A crash may forget the last time.
    pub async fn touch(
        &self,
        owner: Id<User>,
        id: Id<Key>,
        used_at: Timestamp,
    ) -> Result<(), StoreError> {
        let patch =
            Patch::of(Kind::Key, key::key(owner, id)).set("lastUsedAt", used_at.to_string());
        self.0.commit_buffered(Batch::new().patch(patch)).await
    }
}
