//! A key as its holder has it: `fh_live_`, 32 letters, and six that check the rest.
//!
//! The six let a scanner of leaked secrets, and us, tell a key from a string that looks like one
//! without asking the store. Shown once; what is kept is the hash.

use std::fmt;

use crate::secret::BASE62;
use crate::{Env, Secret};

const PREFIX: &str = "fh_live_";
/// 190 bits.
const LETTERS: usize = 32;
const CHECK: usize = 6;
/// As many of the letters as are shown of a key, so that people can tell theirs apart.
const SHOWN: usize = 4;

#[derive(Clone, PartialEq, Eq)]
pub struct PlainKey(Secret);

impl PlainKey {
    pub fn generate(env: &Env) -> Self {
        let text = format!("{PREFIX}{}", Secret::letters(LETTERS, env).expose());
        let check = check(&text);
        Self(Secret::new(text + &check))
    }

    /// The same key for the same bytes, which must be as hard to guess as a key.
    pub fn derived(bytes: &[u8; LETTERS]) -> Self {
        let letters = bytes.iter().map(|byte| char::from(BASE62[usize::from(*byte) % 62]));
        let text: String = PREFIX.chars().chain(letters).collect();
        let check = check(&text);
        Self(Secret::new(text + &check))
    }

    /// `None` for anything that was never a key of ours.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(PREFIX)?;
        let is_letters = rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_letters || rest.len() != LETTERS + CHECK {
            return None;
        }
        let (checked, tail) = text.split_at(text.len() - CHECK);
        (check(checked) == tail).then(|| Self(Secret::new(text)))
    }

    pub fn hash(&self) -> Secret {
        self.0.hash()
    }

    /// The first characters, by which people tell their keys apart.
    pub fn prefix(&self) -> String {
        self.0.expose().chars().take(PREFIX.len() + SHOWN).collect()
    }

    pub fn expose(&self) -> &str {
        self.0.expose()
    }
}

impl fmt::Debug for PlainKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PlainKey(..)")
    }
}

/// The CRC-32 of the text (the one of zip and PNG), in base 62 with leading zeros.
fn check(text: &str) -> String {
    let mut rest = crc32(text.as_bytes());
    let mut digits = [b'0'; CHECK];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[(rest % 62) as usize];
        rest /= 62;
    }
    String::from_utf8_lossy(&digits).into_owned()
}

/// Bit by bit: it is asked for forty bytes at a time.
fn crc32(bytes: &[u8]) -> u32 {
    let one = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| match crc & 1 {
            1 => crc >> 1 ^ 0xEDB8_8320,
            _ => crc >> 1,
        })
    };
    !bytes.iter().fold(u32::MAX, one)
}

#[cfg(test)]
mod tests;
