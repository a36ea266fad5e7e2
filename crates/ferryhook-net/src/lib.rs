//! The two edges of the network: the accept loop where strangers come in, and (to come) the one
//! client for every address a user typed.
//!
//! It knows sockets, deadlines and caps, and nothing of events, accounts or stores.

pub mod limits;
pub mod listener;
pub mod tasks;

pub use listener::{Bounds, Peer, serve};
pub use tasks::Tasks;
