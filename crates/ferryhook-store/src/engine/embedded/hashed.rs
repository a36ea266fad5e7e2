//! Maps whose keys are hashes already: hashing them again would be work for nothing.

use std::hash::{BuildHasherDefault, Hasher};

pub(super) type ByHash = BuildHasherDefault<Hashed>;

#[derive(Debug, Clone, Default)]
pub(super) struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only numbers are hashed here");
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
