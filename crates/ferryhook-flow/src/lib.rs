//! The data plane: what happens to an event between the sender's request and the destination's
//! answer.
//!
//! In the order an event meets it: where it goes ([`routes`]), who lets it in ([`ingest`]). What
//! comes: process (verifies, filters and reshapes, and plans deliveries), deliver (tries, and
//! tries again), and sweep, the periodic look for work whose bell was lost. None of it manages
//! anything: sources and connections are made in `ferryhook-api`, and the two meet in the store.

pub mod ingest;
pub mod routes;

#[cfg(test)]
mod probe;

pub use ingest::{HandOver, Ingest};
pub use routes::{Route, Routes, Way};
