//! The data plane: what happens to an event between the sender's request and the destination's
//! answer.
//!
//! In the order an event meets it: who lets it in ([`ingest`]) and where it goes ([`routes`]);
//! which connections want it (`plan`), what is known of it before the store knows the plan
//! (`parcel`); which delivery goes next (`lanes`, with the `terms` of each connection); the one
//! who carries it ([`courier`]), in the `shape` that a transform gave it ([`scripts`]), with the
//! `credentials` that its destination wants, through an `attempt`, to an address or to one of the
//! [`listeners`]; where it waits for those who fetch it themselves (`inbox`); what sends it once
//! more ([`replay`], [`dead_letters`]) and what makes it gone for good ([`erase`]); the periodic
//! look for what nobody has in hand (`sweep`); what is learned of its type (`types`); what people
//! are told of it (`signals`); and for people why all of this happened ([`explain`]). None of it
//! manages anything: sources and connections are made in `ferryhook-api`, and the two meet in the
//! store.

pub mod ingest;
pub mod routes;

mod lanes;
mod parcel;
mod plan;
mod terms;

mod attempt;
pub mod courier;
mod credentials;
pub mod dead_letters;
pub mod erase;
mod expiry;
pub mod explain;
mod inbox;
pub mod replay;
pub mod scripts;
mod shape;
mod signals;
mod sweep;

pub mod feed;
mod gauges;
pub mod limits;
pub mod listeners;
mod moment;
pub mod priority;
mod shards;
mod tally;
pub mod trace;
mod types;
mod writes;

#[cfg(test)]
mod probe;

pub use courier::{Courier, Parts};
pub use feed::Happening;
pub use ingest::{HandOver, Ingest};
pub use listeners::{NoRoom, Reader};
pub use replay::{ReplayError, Replayed};
pub use routes::{Declarations, Route, Routes, Way};
pub use signals::Alarm;
pub use tally::Tally;
