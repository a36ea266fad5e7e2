//! The front door: starts the real binary and talks to it as a stranger would.

#![allow(
    unreachable_pub,
    reason = "nothing is outside a program: `pub` is what a module shows the others"
)]
#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]
#![allow(clippy::needless_pass_by_value, reason = "what a test hands over it is done with")]

mod client;
mod destination;
mod dice;
mod ferry;
mod message;
mod parcel;
mod receiver;
mod sender;
mod stage;
mod tables;
mod way;

mod accounts;
mod api_resources;
mod apply;
mod audit;
mod auth;
mod backups;
mod bench;
mod billing;
mod carriers;
mod cli;
mod configuration;
mod crash;
mod described;
mod destinations;
mod dev;
mod durable;
mod erase;
mod event_types;
mod health;
mod hostile;
mod http2;
mod idle;
mod inbox;
mod inbox_crash;
mod ingest;
mod listen;
mod neighbours;
mod one_store;
mod proof;
mod replay;
mod rules;
mod schema;
mod seed_routes;
mod signals;
mod signature;
mod stopping;
mod storage;
mod stream;
mod traces;
mod triggers;
mod usage;
mod vault;
