//! The domain of Ferryhook: its nouns, its rules, and nothing that touches the outside.
//!
//! Every other crate stands on this one. It knows no I/O, no runtime and no storage engine;
//! it asks [`Env`] for time and randomness, so a test that fixes those gets the same run twice.
//!
//! In reading order:
//! - what a moment and a name are, and where both come from: [`time`], [`id`], [`mod@env`];
//!   every bound: [`limits`], and how often something may happen: [`sliding`];
//! - values that the nouns are made of: [`secret`], [`headers`], [`body`]; how secrets lie on disk:
//!   [`sealing`], [`data_key`];
//! - who: [`user`], [`account`], [`member`], [`invitation`], [`key`], how people sign in
//!   ([`session`], [`ticket`], [`token_key`], [`totp`], [`oauth_state`]), what they may do:
//!   [`permission`], what they were answered: [`answer`], and what they may use and did use:
//!   [`plan`], [`usage`], and what they pay for: [`billing`];
//! - what passes through: [`source`], [`connection`], [`event`], [`claim`], [`rejection`], then
//!   [`delivery`] with its state machine, [`retry`] and [`attempt`], [`replay`] of many at once and
//!   [`erasure`];
//! - what is decided about it on the way: [`handshake`], [`verify`], [`split`], [`cloud_events`],
//!   [`dedup`] and [`hops`] at the door, with what the table of [`providers`] knows, then
//!   [`event_types`], [`filter`] (with [`json_path`]) and [`order_key`], then [`transform`], and for
//!   what leaves [`signature`], [`outgoing`], [`destination_auth`] and [`traceparent`]; how all
//!   that is told: [`explained`];
//! - what is fetched instead of awaited: [`schedule`], [`run`];
//! - what people are told: [`activity`], [`notification`], [`hook`], what Ferryhook says of itself
//!   ([`operational`]) and when ([`alert`]).
//!
//! What serde makes of a noun is what the store keeps: the attribute names, and the form of each
//! time, are those of the tables.

pub mod env;
pub mod id;
pub mod limits;
pub mod quick;
pub mod sliding;
pub mod time;

pub mod body;
pub mod data_key;
pub mod headers;
pub mod sealing;
pub mod secret;

// Who: people, the accounts they work in, and what they may spend.
pub mod account;
pub mod answer;
pub mod billing;
pub mod invitation;
pub mod key;
pub mod member;
pub mod oauth_state;
pub mod permission;
pub mod plan;
pub mod plan_count;
pub mod rollup;
pub mod session;
pub mod ticket;
pub mod token_key;
pub mod totp;
pub mod usage;
pub mod user;

// What passes through: from a source, over connections, to destinations.
pub mod attempt;
pub mod claim;
pub mod cli_session;
pub mod connection;
pub mod delivery;
pub mod erasure;
pub mod event;
pub mod event_type;
pub mod inbox;
pub mod rejection;
pub mod replay;
pub mod retry;
pub mod source;

// What is decided on the way, by functions that only look.
pub mod cloud_events;
pub mod dedup;
pub mod destination_auth;
pub mod event_types;
pub mod explained;
pub mod filter;
pub mod handshake;
pub mod hops;
pub mod json;
pub mod json_path;
pub mod order_key;
pub mod outgoing;
pub mod providers;
pub mod signature;
pub mod split;
pub mod traceparent;
pub mod transform;
pub mod trigger;
pub mod verify;

// What is fetched instead of awaited.
pub mod run;
pub mod schedule;

// What people are told.
pub mod activity;
pub mod alert;
pub mod hook;
pub mod notification;
pub mod operational;

#[cfg(any(test, feature = "samples"))]
pub mod fuzzed;
#[cfg(any(test, feature = "samples"))]
pub mod samples;

pub use account::Account;
pub use activity::Activity;
pub use activity::head::AuditHead;
pub use alert::Alert;
pub use answer::Answer;
pub use attempt::Attempt;
pub use billing::Subscription;
pub use body::Body;
pub use claim::Claim;
pub use cli_session::CliSession;
pub use connection::Connection;
pub use data_key::DataKey;
pub use delivery::Delivery;
pub use env::Env;
pub use erasure::Erasure;
pub use event::Event;
pub use event_type::EventType;
pub use headers::Headers;
pub use hook::Hook;
pub use id::Id;
pub use invitation::Invitation;
pub use key::Key;
pub use member::Member;
pub use notification::Notification;
pub use oauth_state::OauthState;
pub use plan::Plan;
pub use plan_count::PlanCount;
pub use rejection::Rejection;
pub use replay::Replay;
pub use rollup::Rollup;
pub use run::Run;
pub use schedule::Schedule;
pub use secret::Secret;
pub use session::Session;
pub use source::Source;
pub use ticket::Ticket;
pub use time::Timestamp;
pub use token_key::TokenKey;
pub use usage::Usage;
pub use user::User;

/// An attribute whose fields are the customer's or the platform's, not ours.
pub type Map = serde_json::Map<String, serde_json::Value>;
