//! Work that waits for someone is spread over a few partitions, so that no single one is written
//! by every event and several workers can look at different ones.

use ferryhook_core::{Connection, Event, Id, Source};
use xxhash_rust::xxh3::xxh3_64;

/// How many there are. Rows in the store have been dealt out by it: a larger number leaves what
/// waits where the larger number finds it, a smaller one would lose sight of some.
pub const COUNT: u8 = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shard(u8);

impl Shard {
    pub fn all() -> impl Iterator<Item = Shard> {
        (0..COUNT).map(Shard)
    }

    /// Everything that waits on account of one event waits in one shard.
    pub fn of(event: Id<Event>) -> Self {
        Self::of_text(event.as_str())
    }

    pub fn of_connection(connection: Id<Connection>) -> Self {
        Self::of_text(connection.as_str())
    }

    pub fn of_source(source: Id<Source>) -> Self {
        Self::of_text(source.as_str())
    }

    fn of_text(text: &str) -> Self {
        // The remainder is below `COUNT`, so nothing is cut off.
        Self((xxh3_64(text.as_bytes()) % u64::from(COUNT)) as u8)
    }

    pub(crate) fn partition(self) -> String {
        self.0.to_string()
    }
}
