//! Destinations that misbehave in every way we know of, and what is written down about them.
//!
//! A poison event (one that a transform panics or hangs on) and a costly filter have no case:
//! connections have neither yet. Nor has what cannot be driven from outside in a few seconds:
//! recovery after hours, a storm of retries, a panic of our own, a lease that ends too early.

mod auth;
mod changes;
mod fan_out;
mod guarded;
mod headers;
mod hostile;
mod order;
mod queues;
mod retries;
mod reuse;
