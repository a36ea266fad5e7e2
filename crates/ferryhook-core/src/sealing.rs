//! Sealing: secrets as they lie on disk, readable only by whoever has the key of their owner.
//!
//! AES-256-GCM. What is sealed is bound to its place: the owner, the record and the attribute it
//! was written for. Moved anywhere else it does not open, so nobody who can write to the store but
//! has no key can make one account's secret another's. The key of an owner lies beside the data,
//! wrapped by the [`MasterKey`], which does not.
//!
//! Nothing here is kept or fetched; nonces and new keys come from [`Env`]. A nonce is random, which
//! is good for four billion seals under one key.

mod master;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;

use crate::Env;

pub use master::{MasterKey, NotAMasterKey};

/// In front of everything that is sealed, followed by the key's id, a colon and the rest.
const MARK: &str = "sealed:v1:";

pub const KEY_BYTES: usize = 32;

/// Why something does not open. Says nothing about what is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    #[error("it is not sealed as this version seals")]
    Form,
    #[error("it was sealed with another key")]
    OtherKey,
    #[error("it was altered, or belongs elsewhere")]
    Forged,
}

/// Where a sealed value belongs, from the largest to the smallest: owner, kind of record, which
/// record, attribute.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a>(pub &'a [&'a str]);

impl Place<'_> {
    /// No two places have the same bytes: each part says how long it is.
    fn bytes(&self) -> Vec<u8> {
        let length = |text: &str| (text.len() as u64).to_be_bytes();
        self.0.iter().flat_map(|part| length(part).into_iter().chain(part.bytes())).collect()
    }
}

/// The key of one owner.
#[derive(Debug)]
pub struct DataCipher {
    id: String,
    cipher: LessSafeKey,
}

impl DataCipher {
    pub fn new(id: String, key: &[u8; KEY_BYTES]) -> Self {
        Self { id, cipher: cipher(key) }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn seal(&self, plain: &[u8], place: Place<'_>, env: &Env) -> String {
        let sealed = seal(&self.cipher, plain, place, env);
        format!("{MARK}{}:{}", self.id, BASE64.encode(sealed))
    }

    pub fn open(&self, text: &str, place: Place<'_>) -> Result<Vec<u8>, OpenError> {
        let (id, sealed) =
            text.strip_prefix(MARK).and_then(|rest| rest.split_once(':')).ok_or(OpenError::Form)?;
        if id != self.id {
            return Err(OpenError::OtherKey);
        }
        let sealed = BASE64.decode(sealed).map_err(|_| OpenError::Form)?;
        open(&self.cipher, sealed, place)
    }
}

/// Whether this is the outside of something sealed.
pub fn is_sealed(text: &str) -> bool {
    text.starts_with(MARK)
}

/// A name for a new key: short, and different each time.
pub fn new_key_id(env: &Env) -> String {
    let mut bytes = [0; 8];
    env.fill(&mut bytes);
    format!("{:016x}", u64::from_be_bytes(bytes))
}

fn cipher(key: &[u8; KEY_BYTES]) -> LessSafeKey {
    match UnboundKey::new(&AES_256_GCM, key) {
        Ok(key) => LessSafeKey::new(key),
        Err(_) => unreachable!("only the wrong length is refused"),
    }
}

/// The nonce, the sealed bytes, the tag.
fn seal(cipher: &LessSafeKey, plain: &[u8], place: Place<'_>, env: &Env) -> Vec<u8> {
    let mut nonce = [0; NONCE_LEN];
    env.fill(&mut nonce);
    let mut sealed = Vec::with_capacity(NONCE_LEN + plain.len() + AES_256_GCM.tag_len());
    sealed.extend_from_slice(&nonce);
    sealed.extend_from_slice(plain);
    let (nonce, aad) = (Nonce::assume_unique_for_key(nonce), Aad::from(place.bytes()));
    let tag = cipher.seal_in_place_separate_tag(nonce, aad, &mut sealed[NONCE_LEN..]);
    match tag {
        Ok(tag) => sealed.extend_from_slice(tag.as_ref()),
        Err(_) => unreachable!("only more than 64 GiB are refused"),
    }
    sealed
}

fn open(cipher: &LessSafeKey, mut sealed: Vec<u8>, place: Place<'_>) -> Result<Vec<u8>, OpenError> {
    let (nonce, rest) = sealed.split_first_chunk_mut::<NONCE_LEN>().ok_or(OpenError::Form)?;
    let (nonce, aad) = (Nonce::assume_unique_for_key(*nonce), Aad::from(place.bytes()));
    let plain = cipher.open_in_place(nonce, aad, rest).map_err(|_| OpenError::Forged)?;
    Ok(plain.to_vec())
}

#[cfg(test)]
mod tests;
