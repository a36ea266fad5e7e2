//! The control plane: what people, the command line and machines ask of Ferryhook over HTTP.
//!
//! A request changes records and is answered; acting on them is left to `ferryhook-flow`.
//!
//! Reading order: every route ([`router`]), what goes wrong ([`problem`]), then one file per noun.
//! Configuration as a file is [`manifest`] (reading it), [`apply`] (making it so) and
//! [`export`] (writing down what is).

pub mod router;

// The way of a request.
pub mod call;
pub mod caller;
pub mod gate;
pub mod idempotency;
pub mod limiter;
pub mod limits;
pub mod operations;
pub mod problem;
pub mod request;
pub mod route;
pub mod visit;

// What lists, descriptions and machines need.
pub mod cursors;
pub mod docs;
pub mod health;
pub mod openapi;
pub mod page;

// Signing in.
pub mod auth;
mod home;
mod html;
pub mod mail;
pub mod passwords;
pub mod tokens;

// What nouns share: the data plane, what is the caller's, settings.
pub mod address;
pub mod names;
pub mod owned;
pub mod settings;
pub mod works;

// The nouns.
pub mod accounts;
pub mod activities;
pub mod analytics;
pub mod billing;
pub mod claims;
pub mod cli_sessions;
pub mod connections;
pub mod dead_letters;
pub mod digests;
pub mod erasures;
pub mod event_types;
pub mod events;
pub mod hooks;
pub mod inbox;
pub mod invitations;
pub mod keys;
pub mod members;
pub mod notifications;
pub mod providers;
pub mod rejections;
pub mod replays;
pub mod sources;
pub mod stream;
pub mod usage;
pub mod whoami;

// Configuration as a file, and whom it belongs to.
pub mod apply;
pub mod export;
pub mod manifest;
pub mod owner;

#[cfg(test)]
pub(crate) mod trial;

pub use health::Readiness;
pub use problem::{Code, Problem};
pub use router::{App, Bell, Settings, router};
