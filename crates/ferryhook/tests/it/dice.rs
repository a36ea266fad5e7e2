//! Chance that a seed decides, so that a run can be had again.

use ferryhook_core::Env;

/// SplitMix64: every seed is a good one, and a dice can be thrown for a dice.
#[derive(Debug, Clone)]
pub struct Dice(pub u64);

impl Dice {
    /// Of `FERRYHOOK_TEST_SEED`, or of a new seed. A test that fails shows which.
    pub fn of_this_run() -> Self {
        let given = std::env::var("FERRYHOOK_TEST_SEED").ok();
        let seed = given.and_then(|text| text.parse().ok()).unwrap_or_else(|| {
            let mut seed = [0; 8];
            Env::system().fill(&mut seed);
            u64::from_le_bytes(seed)
        });
        println!("FERRYHOOK_TEST_SEED={seed}");
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to `sides - 1`.
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.next() % sides
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(count + 8);
        while bytes.len() < count {
            bytes.extend_from_slice(&self.next().to_le_bytes());
        }
        bytes.truncate(count);
        bytes
    }
}
