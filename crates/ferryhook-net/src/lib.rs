//! Where the process meets the network: the accept loop that lets strangers in, and the client
//! that calls the addresses users have typed.
//!
//! It knows sockets, deadlines and caps, and nothing of events, accounts or stores.

mod alarm;
pub mod client;
pub mod limits;
pub mod listener;
pub mod problem;
pub mod tasks;

pub use client::{
    BadIdentity, BadRoots, Client, Guard, Identity, Outbound, Outgoing, Refusal, Reply, Resolve,
    Roots, SystemResolver, Target, Timing, Unresolved, Unsent, Why,
};
pub use listener::{Bounds, Peer, Trusted, framing, serve};
pub use tasks::Tasks;
