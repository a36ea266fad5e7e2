//! The domain of Ferryhook: its nouns, its rules, and nothing that touches the outside.
//!
//! Every other crate stands on this one. It knows no I/O, no runtime and no storage engine;
//! time and randomness come in through [`Env`], so that a run is a function of its inputs.
//!
//! Reading order: what a moment and a name are ([`time`], [`id`], [`env`]), the bounds
//! ([`limits`]), then the nouns.

pub mod env;
pub mod id;
pub mod limits;
pub mod time;

pub use env::Env;
pub use id::Id;
pub use time::Timestamp;
