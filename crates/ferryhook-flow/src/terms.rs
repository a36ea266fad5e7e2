//! What a connection asks of its lane.

use ferryhook_core::Connection;
use ferryhook_core::connection::{OrderingPolicy, Status};
use ferryhook_core::delivery::Lane;

use crate::lanes::{Ordering, Terms};
use crate::limits;

/// As the connection says by itself; a route knows whether its account is open.
pub(crate) fn of(connection: &Connection, lane: Lane) -> Terms {
    let wanted = connection.concurrency_max.map(usize::from).filter(|wanted| *wanted > 0);
    let wanted = wanted.unwrap_or(limits::CONCURRENCY_DEFAULT).min(limits::SLOTS_MAX);
    let is_gone = connection.status == Status::Deleted;
    Terms {
        // What is left of a deleted connection is looked at, to be cancelled.
        open: connection.status != Status::Paused,
        concurrency: match lane {
            Lane::Live => wanted,
            Lane::Replay => wanted.min(limits::REPLAY_CONCURRENCY_MAX),
        },
        together: wanted,
        per_second: connection.rate_per_second_max,
        ordering: connection.ordering_key.as_ref().filter(|_| !is_gone).map(|_| Ordering {
            skip_after: match connection.ordering_policy {
                Some(OrderingPolicy::Skip { after }) => Some(after),
                Some(OrderingPolicy::Block | OrderingPolicy::Park) | None => None,
            },
        }),
        is_shared: false,
        is_gone,
    }
}

#[cfg(test)]
mod tests;
