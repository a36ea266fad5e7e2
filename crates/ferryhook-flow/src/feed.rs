//! What happens, for whoever watches: the terminal of `ferryhook dev`, later a live view.

use ferryhook_core::event::Status;
use ferryhook_core::{Connection, Event, Id, Source};

/// What a slow listener may fall behind before it misses something.
pub(crate) const KEPT: usize = 256;

#[derive(Debug, Clone)]
pub enum Happening {
    /// An event came in and is durable.
    Accepted {
        /// Of a copy: as it would have been called.
        event: Id<Event>,
        source: Id<Source>,
        source_name: String,
        method: Option<String>,
        bytes: usize,
        status: Status,
        is_duplicate: bool,
    },
    Attempted {
        event: Id<Event>,
        source: Id<Source>,
        connection: Id<Connection>,
        destination: String,
        /// 0 when there was no answer.
        status: u16,
        error: Option<String>,
        latency_ms: u32,
        delivered: bool,
    },
}
