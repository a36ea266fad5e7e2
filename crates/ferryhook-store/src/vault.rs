//! The vault: seals secrets on their way into the store and opens them on their way out.
//!
//! Every owner has a key of its own, kept in the store and wrapped by the master key, which never
//! is. Repositories know nothing of this: they give and take plain records, and a store that has a
//! vault ([`Store::sealed_by`]) puts it in between. What was written in the open by an older
//! version stays readable and is sealed at its next write.
//!
//! Keys that were unwrapped stay in memory, as many as [`limits::DATA_KEYS_IN_MEMORY_MAX`].

mod keyring;
mod rotation;

use std::sync::Arc;

use ferryhook_core::data_key::INSTALLATION;
use ferryhook_core::sealing::{DataCipher, KEY_BYTES, MasterKey, is_sealed};
use ferryhook_core::{DataKey, limits};
use futures_util::stream::{self, StreamExt, TryStreamExt};

use crate::batch::{Batch, Binding};
use crate::engine::Row;
use crate::record::{Kind, Secrets};
use crate::value::{Name, Value, packed};
use crate::{Store, StoreError};

use keyring::Keyring;
pub use rotation::Rotated;

/// How often a key is looked for and made when others make it at the same time.
const TRIES_MAX: usize = 4;

/// Why a store cannot be opened with the master keys at hand. For people: names keys by their ids.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    #[error(
        "the secrets in this store need the master key {needed}; what was given is {given}. \
         Nothing was changed"
    )]
    WrongKey { needed: String, given: String },
    #[error(
        "the rotation to the master key {to} was not finished: some secrets still need {from}, \
         which was not given. Run `ferryhook keys rotate-master` again with both, or start with \
         both: the new key, a comma, the old one"
    )]
    Unfinished { to: String, from: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The keys to a store.
#[derive(Debug)]
pub struct MasterKeys {
    /// Wraps what is new.
    pub current: MasterKey,
    /// Open what they wrapped, until a rotation is over.
    pub former: Vec<MasterKey>,
}

#[derive(Debug)]
pub struct Vault {
    /// Without a vault: keys are wrapped, not sealed.
    store: Store,
    keyring: Keyring,
}

impl Vault {
    /// Checks that the keys open what is there, before anything depends on it.
    pub async fn open(store: &Store, masters: MasterKeys) -> Result<Self, VaultError> {
        let vault = Self { store: store.bare(), keyring: Keyring::new(masters) };
        let own = vault.find_or_make(INSTALLATION).await?;
        if vault.keyring.find_master(&own.master_id).is_none() {
            let (needed, given) = (own.master_id, vault.keyring.names());
            return Err(VaultError::WrongKey { needed, given });
        }
        vault.unwrap(&own)?;
        let former = own.former_master_ids.iter();
        match former.into_iter().find(|id| vault.keyring.find_master(id).is_none()) {
            None => Ok(vault),
            Some(from) => {
                let (to, from) = (own.master_id.clone(), from.clone());
                Err(VaultError::Unfinished { to, from })
            }
        }
    }

    /// A key for something that is signed and not stored, such as a cursor. Another master key
    /// makes another of it.
    pub fn derive(&self, purpose: &str) -> [u8; KEY_BYTES] {
        self.keyring.master().derive(purpose)
    }

    /// Whether there are former master keys, because a rotation may not be over.
    pub fn has_former(&self) -> bool {
        self.keyring.has_former()
    }

    /// The id of the master key that wraps what is new.
    pub fn master_id(&self) -> String {
        self.keyring.master().id().to_owned()
    }

    /// Seals whatever is secret in the batch.
    pub(crate) async fn seal(&self, batch: Batch) -> Result<Batch, StoreError> {
        let mut ciphers: Vec<(String, Arc<DataCipher>)> = Vec::new();
        for owner in batch.owners() {
            if !ciphers.iter().any(|(known, _)| known == owner) {
                ciphers.push((owner.to_owned(), self.cipher_for(owner).await?));
            }
        }
        batch.seal(|binding, name, value| {
            let cipher = ciphers.iter().find(|(owner, _)| *owner == binding.owner);
            let (_, cipher) = cipher.ok_or_else(|| no_key(binding.kind))?;
            let mut plain = Vec::new();
            packed::push_value(&mut plain, value);
            let env = self.store.env();
            Ok(binding.place(name, |place| cipher.seal(&plain, place, env)).into())
        })
    }

    /// Opens whatever is sealed in the rows.
    pub(crate) async fn open_rows(
        &self,
        secrets: Secrets,
        rows: &mut [Row],
    ) -> Result<(), StoreError> {
        let sealed = rows.iter_mut().filter(|row| has_sealed(secrets, row));
        let sealed: Vec<_> =
            sealed.map(|row| (Binding::of_item(row.kind, secrets, &row.item), row)).collect();
        self.fetch(sealed.iter().map(|(binding, _)| (binding.kind, &*binding.owner))).await?;
        for (binding, row) in sealed {
            // One that was crowded out since is fetched again.
            let cipher = match self.keyring.find(&binding.owner) {
                Some(cipher) => cipher,
                None => self.cipher_of(row.kind, &binding.owner).await?,
            };
            open_row(&binding, &cipher, row)?;
        }
        Ok(())
    }

    /// Has the keys of a page of rows at hand, several at a time: a page may be of as many owners
    /// as it has rows.
    async fn fetch(&self, owners: impl Iterator<Item = (Kind, &str)>) -> Result<(), StoreError> {
        let mut missing: Vec<_> =
            owners.filter(|(_, owner)| self.keyring.find(owner).is_none()).collect();
        missing.sort_unstable();
        missing.dedup();
        let fetching: Vec<_> =
            missing.into_iter().map(|(kind, owner)| self.cipher_of(kind, owner)).collect();
        stream::iter(fetching)
            .buffer_unordered(limits::DATA_KEYS_AT_ONCE)
            .try_for_each(|_| async { Ok(()) })
            .await
    }

    /// The owner's key, made if it has none.
    async fn cipher_for(&self, owner: &str) -> Result<Arc<DataCipher>, StoreError> {
        if let Some(cipher) = self.keyring.find(owner) {
            return Ok(cipher);
        }
        let key = self.find_or_make(owner).await?;
        self.keep(&key)
    }

    /// The owner's key, which must be there since a record of this kind was sealed with it.
    async fn cipher_of(&self, kind: Kind, owner: &str) -> Result<Arc<DataCipher>, StoreError> {
        match self.store.data_keys().find(owner).await? {
            Some(key) => self.keep(&key),
            None => Err(no_key(kind)),
        }
    }

    async fn find_or_make(&self, owner: &str) -> Result<DataKey, StoreError> {
        let keys = self.store.data_keys();
        let mut tries = 0;
        loop {
            if let Some(found) = keys.find(owner).await? {
                return Ok(found.record);
            }
            let key = DataKey::generate(owner, &self.keyring.master(), self.store.env());
            tries += 1;
            match keys.create(&key).await {
                Ok(()) => return Ok(key),
                // Somebody was faster, and theirs counts.
                Err(error) if error.is_refused() && tries < TRIES_MAX => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn keep(&self, key: &DataKey) -> Result<Arc<DataCipher>, StoreError> {
        let cipher = Arc::new(DataCipher::new(key.id.clone(), &self.unwrap(key)?));
        self.keyring.keep(&key.owner_id, cipher.clone());
        Ok(cipher)
    }

    fn unwrap(&self, key: &DataKey) -> Result<[u8; KEY_BYTES], StoreError> {
        let Some(master) = self.keyring.find_master(&key.master_id) else {
            let (needed, given) = (&key.master_id, self.keyring.names());
            let reason = format!("it takes the master key {needed}, and this is {given}");
            return Err(StoreError::corrupt(Kind::DataKey, reason));
        };
        key.unwrap(&master).map_err(|error| StoreError::corrupt(Kind::DataKey, error))
    }
}

fn no_key(kind: Kind) -> StoreError {
    StoreError::corrupt(kind, "the key that its secrets were sealed with is gone")
}

/// Whether anything in the row is sealed.
pub(crate) fn has_sealed(secrets: Secrets, row: &Row) -> bool {
    let mut names = secrets.attributes.iter();
    names.any(|name| matches!(row.item.get(name), Some(Value::Text(text)) if is_sealed(text)))
}

fn open_row(binding: &Binding, cipher: &DataCipher, row: &mut Row) -> Result<(), StoreError> {
    for name in binding.attributes() {
        let Some(Value::Text(text)) = row.item.get(name) else { continue };
        if !is_sealed(text) {
            continue; // of a version that knew no vault
        }
        let corrupt = |why: &dyn std::fmt::Display| {
            StoreError::corrupt(row.kind, format!("its {name} does not open: {why}"))
        };
        let plain = binding.place(name, |place| cipher.open(text, place));
        let plain = plain.map_err(|error| corrupt(&error))?;
        let mut rest = plain.as_slice();
        let value = packed::take_value(&mut rest, 0).filter(|_| rest.is_empty());
        let value = value.ok_or_else(|| corrupt(&"what is in it is no value"))?;
        row.item.set(Name::Borrowed(name), value);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
