//! Destinations that misbehave in every way we know of, and what is written down about them.
//!
//! A poison event (one that a transform panics or hangs on) has no case here: connections have no
//! transforms yet. Ramps after a long outage, retry storms, panics and leases need a clock that
//! can be set and are looked at inside the flow crate; large replays beside the replay commands.

mod changes;
mod fan_out;
mod guarded;
mod hostile;
mod order;
mod queues;
mod retries;
mod reuse;
