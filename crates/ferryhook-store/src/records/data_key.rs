//! Data keys, in the main table, spread over a few partitions so that all can be listed and none
//! grows without end.

use ferryhook_core::DataKey;
use xxhash_rust::xxh3::xxh3_64;

use crate::key::Key;
use crate::record::{Kind, Record};
use crate::tables::Table;

/// How many partitions there are. Keys have been dealt out by it: it never changes.
pub(crate) const SHARDS: u8 = 16;

pub(crate) fn partition(shard: u8) -> String {
    format!("DATAKEYS#{shard:02}")
}

pub(crate) fn key(owner: &str) -> Key {
    // The remainder is below `SHARDS`, so nothing is cut off.
    let shard = (xxh3_64(owner.as_bytes()) % u64::from(SHARDS)) as u8;
    Key::new(Table::Main, partition(shard), owner)
}

impl Record for DataKey {
    const KIND: Kind = Kind::DataKey;

    fn key(&self) -> Key {
        key(&self.owner_id)
    }
}
