//! Rotation: every data key is wrapped anew, by another master key.
//!
//! What is sealed stays as it is, so this is quick and nothing has to stop for it. It may be
//! interrupted at any point and run again: each row says which master key wrapped it, and the
//! installation's own row, written first, remembers which ones are still needed until the end.

use ferryhook_core::DataKey;
use ferryhook_core::data_key::INSTALLATION;
use ferryhook_core::limits;
use ferryhook_core::sealing::MasterKey;

use super::{TRIES_MAX, Vault};
use crate::record::{Kind, Stored};
use crate::repositories::DataKeys;
use crate::{Slice, StoreError};

/// How far a rotation has come, or how far it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rotated {
    pub rewrapped: u64,
    /// Were under the new key before.
    pub already: u64,
}

impl Vault {
    /// Makes `new` the master key; without it, ends what was begun with the current one. When this
    /// returns, no other is needed for what was there when it began.
    ///
    /// Another process that uses the store at the same time must know both keys, with the new one
    /// first: what it makes under the old one behind our back would be left behind.
    pub async fn rotate(
        &self,
        new: Option<MasterKey>,
        mut progress: impl FnMut(Rotated),
    ) -> Result<Rotated, StoreError> {
        // First, so that whatever this process makes from now on is under the new one.
        let new = match new {
            Some(new) => self.keyring.change_master(new),
            None => self.keyring.master(),
        };
        let mut rotated = Rotated::default();
        self.begin(&new, &mut rotated).await?;
        for shard in DataKeys::shards() {
            let mut slice = Slice::oldest_first().limit(limits::PAGE_MAX);
            loop {
                let page = self.store.data_keys().list(shard, slice.clone()).await?;
                for key in page.rows {
                    if key.owner_id != INSTALLATION {
                        self.rewrap(key, &new, &mut rotated).await?;
                        progress(rotated);
                    }
                }
                match page.next {
                    None => break,
                    next => slice = slice.after(next),
                }
            }
        }
        self.end().await?;
        self.keyring.forget_former();
        Ok(rotated)
    }

    /// The installation's own key goes first, and notes what the others may still need.
    async fn begin(&self, new: &MasterKey, rotated: &mut Rotated) -> Result<(), StoreError> {
        let own = self.own().await?;
        if own.master_id == new.id() {
            rotated.already += 1;
            return Ok(());
        }
        let mut now = own.rewrap(&self.unwrap(&own)?, new, self.store.env());
        now.former_master_ids.retain(|id| id != new.id());
        now.former_master_ids.push(own.master_id.clone());
        self.store.data_keys().replace(&own, now).await?;
        rotated.rewrapped += 1;
        Ok(())
    }

    async fn rewrap(
        &self,
        key: Stored<DataKey>,
        new: &MasterKey,
        rotated: &mut Rotated,
    ) -> Result<(), StoreError> {
        let mut key = key;
        for _ in 0..TRIES_MAX {
            if key.master_id == new.id() {
                rotated.already += 1;
                return Ok(());
            }
            let now = key.rewrap(&self.unwrap(&key)?, new, self.store.env());
            match self.store.data_keys().replace(&key, now).await {
                Ok(_) => {
                    rotated.rewrapped += 1;
                    return Ok(());
                }
                Err(error) if !error.is_refused() => return Err(error),
                // Another rotation is at it. If it is to the same key, all is well.
                Err(_) => match self.store.data_keys().find(&key.owner_id).await? {
                    Some(found) => key = found,
                    None => return Ok(()), // gone, and its secrets with it
                },
            }
        }
        let what = "another rotation of the master key is under way".to_owned();
        Err(StoreError::Unavailable(what, None))
    }

    async fn end(&self) -> Result<(), StoreError> {
        let own = self.own().await?;
        if own.former_master_ids.is_empty() {
            return Ok(());
        }
        let now = DataKey { former_master_ids: Vec::new(), ..own.record.clone() };
        self.store.data_keys().replace(&own, now).await.map(drop)
    }

    async fn own(&self) -> Result<Stored<DataKey>, StoreError> {
        let own = self.store.data_keys().find(INSTALLATION).await?;
        own.ok_or_else(|| super::no_key(Kind::DataKey))
    }
}
