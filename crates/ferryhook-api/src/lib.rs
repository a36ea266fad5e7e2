//! The control plane: what people, the command line and machines ask of Ferryhook over HTTP.
//!
//! A request changes records and is answered; acting on them is left to `ferryhook-flow`.
//!
//! Reading order: every route ([`router`]), what goes wrong ([`problem`]), then one file per noun.
//! Configuration as a file is [`manifest`] (reading it), [`apply`] (making it so) and
//! [`export`] (writing down what is).

pub mod apply;
pub mod export;
pub mod health;
pub mod manifest;
pub mod owner;
pub mod problem;
pub mod request;
pub mod router;

pub use health::Readiness;
pub use problem::{Code, Problem};
pub use router::{App, router};
