//! The master key: the one secret that is not in the store. It wraps the keys that are.
//!
//! It is never used by itself. Whatever needs a key has one derived for its purpose, so that none
//! of them says anything about another.

use std::fmt;

use aws_lc_rs::aead::LessSafeKey;
use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{BASE64, KEY_BYTES, OpenError, Place, cipher, open, seal};
use crate::{Env, Secret};

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a master key is 32 bytes in base64, as `openssl rand -base64 32` prints them")]
pub struct NotAMasterKey;

pub struct MasterKey {
    root: hmac::Key,
    text: Secret,
    /// Says which it is, and nothing about what it is.
    id: String,
    wrapping: LessSafeKey,
}

impl MasterKey {
    pub fn new(key: &[u8; KEY_BYTES]) -> Self {
        let root = hmac::Key::new(hmac::HMAC_SHA256, key);
        let id = derive(&root, "id");
        let id = id[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        let wrapping = cipher(&derive(&root, "data keys"));
        Self { root, text: Secret::new(STANDARD.encode(key)), id, wrapping }
    }

    pub fn generate(env: &Env) -> Self {
        let mut key = [0; KEY_BYTES];
        env.fill(&mut key);
        Self::new(&key)
    }

    /// From base64, with or without white space around it.
    pub fn parse(text: &str) -> Result<Self, NotAMasterKey> {
        let bytes = STANDARD.decode(text.trim()).map_err(|_| NotAMasterKey)?;
        let key = <&[u8; KEY_BYTES]>::try_from(&*bytes).map_err(|_| NotAMasterKey)?;
        Ok(Self::new(key))
    }

    /// As [`MasterKey::parse`] reads it.
    pub fn text(&self) -> &Secret {
        &self.text
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn wrap(&self, key: &[u8; KEY_BYTES], place: Place<'_>, env: &Env) -> Secret {
        Secret::new(BASE64.encode(seal(&self.wrapping, key, place, env)))
    }

    pub fn unwrap(&self, wrapped: &Secret, place: Place<'_>) -> Result<[u8; KEY_BYTES], OpenError> {
        let wrapped = BASE64.decode(wrapped.expose()).map_err(|_| OpenError::Form)?;
        let key = open(&self.wrapping, wrapped, place)?;
        key.try_into().map_err(|_| OpenError::Form)
    }

    /// A key for something else than wrapping, always the same for the same purpose.
    pub fn derive(&self, purpose: &str) -> [u8; KEY_BYTES] {
        derive(&self.root, &format!("purpose: {purpose}"))
    }
}

/// The second half of HKDF (RFC 5869) for one block. The first half makes a key even, and this
/// one is.
fn derive(root: &hmac::Key, info: &str) -> [u8; KEY_BYTES] {
    let mut context = hmac::Context::with_key(root);
    context.update(b"ferryhook v1: ");
    context.update(info.as_bytes());
    context.update(&[1]);
    let mut key = [0; KEY_BYTES];
    key.copy_from_slice(context.sign().as_ref());
    key
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MasterKey").field("id", &self.id).finish_non_exhaustive()
    }
}
