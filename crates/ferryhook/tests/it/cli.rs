//! The command line as a client: the real binary, against a real server, as somebody would type it.

mod calm;
mod configuration;
mod event_types;
mod events;
mod inbox;
mod local;
mod refusals;
mod resources;
mod samples;
mod sessions;
mod shell;
mod tail;
mod transcript;
