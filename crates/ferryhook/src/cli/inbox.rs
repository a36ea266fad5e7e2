//! What can be typed about the inbox: look, lease, reply.

use clap::{Args, Subcommand, value_parser};

use super::resources::With;
use super::words;
use ferryhook_core::event::Status;

#[derive(Debug, Subcommand)]
pub enum InboxCommand {
    /// List what is in an inbox, newest first, without taking anything.
    List(InboxList),
    /// Lease events to work on. Each has a token, with which ack, nack and extend reply to it.
    Lease(InboxLease),
    /// Say that leased events are done with.
    Ack(InboxReply),
    /// Give leased events back, for somebody else or for later.
    Nack(InboxNack),
    /// Make leases longer.
    Extend(InboxExtend),
}

#[derive(Debug, Args)]
pub struct InboxList {
    /// Whose inbox; default if nothing is said.
    #[arg(long, value_name = "NAME")]
    pub group: Option<String>,
    /// Only where it stands so: received, retrying, delivered or failed.
    #[arg(long, value_name = "STATUS", value_parser = words::status)]
    pub status: Option<Status>,
    /// Only of exactly this type.
    #[arg(long = "type", value_name = "TYPE")]
    pub event_type: Option<String>,
    /// Only what came since then: 90s, 30m, 1h, 7d ago, or 2026-01-31T12:00:00Z.
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only what came until then.
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// The oldest first.
    #[arg(long)]
    pub oldest_first: bool,
    /// If there is nothing: wait so long for something, up to 20s.
    #[arg(long, value_name = "SPAN")]
    pub wait: Option<String>,
    /// At most so many.
    #[arg(long, value_name = "N", default_value = "50", value_parser = value_parser!(u16).range(1..=1000))]
    pub limit: u16,
    #[command(flatten)]
    pub with: With,
}

#[derive(Debug, Args)]
pub struct InboxLease {
    /// At most so many.
    #[arg(long, short = 'n', value_name = "N", default_value = "1", value_parser = value_parser!(u16).range(1..=100))]
    pub count: u16,
    /// How long they are yours: 30s, 5m, 12h; 30s if nothing is said.
    #[arg(long, value_name = "SPAN")]
    pub visibility: Option<String>,
    /// Only of this type, with wildcards: order.*; may be given several times.
    #[arg(long = "type", value_name = "PATTERN")]
    pub event_types: Vec<String>,
    /// Whose inbox; default if nothing is said.
    #[arg(long, value_name = "NAME")]
    pub group: Option<String>,
    /// If there is nothing: wait so long for something, up to 20s.
    #[arg(long, value_name = "SPAN")]
    pub wait: Option<String>,
    #[command(flatten)]
    pub with: With,
}

#[derive(Debug, Args)]
pub struct InboxReply {
    #[arg(value_name = "TOKEN", required = true)]
    pub tokens: Vec<String>,
    #[command(flatten)]
    pub with: With,
}

#[derive(Debug, Args)]
pub struct InboxNack {
    #[arg(value_name = "TOKEN", required = true)]
    pub tokens: Vec<String>,
    /// Nobody is to have them before so long: 30s, 5m, 7d; at once if nothing is said.
    #[arg(long, value_name = "SPAN")]
    pub delay: Option<String>,
    /// Kept with the events.
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    #[command(flatten)]
    pub with: With,
}

#[derive(Debug, Args)]
pub struct InboxExtend {
    #[arg(value_name = "TOKEN", required = true)]
    pub tokens: Vec<String>,
    /// How long they are yours from now on; 30s if nothing is said.
    #[arg(long, value_name = "SPAN")]
    pub visibility: Option<String>,
    #[command(flatten)]
    pub with: With,
}
