//! What can be typed about events as they come: watched, sent, made up.

use clap::Args;
use ferryhook_core::event::Status;

use super::words::{self, Moment};
use super::{ServerFlags, WhereFlags};

#[derive(Debug, Args)]
pub struct Tail {
    /// Only of this source.
    #[arg(long, value_name = "NAME|ID")]
    pub source: Option<String>,
    /// Only with this status: received, processing, delivered, retrying, failed, filtered,
    /// signature_failed or held.
    #[arg(long, value_name = "STATUS", value_parser = words::status)]
    pub status: Option<Status>,
    /// Only of this type, with wildcards: order.*
    #[arg(long = "type", value_name = "PATTERN")]
    pub event_type: Option<String>,
    /// Begin with what came since then: 90s, 30m, 1h, 7d ago, or 2026-01-31T12:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = words::moment)]
    pub since: Option<Moment>,
    /// Say it as JSON, one event a line.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub server: ServerFlags,
}

#[derive(Debug, Args)]
pub struct Send {
    /// By name or id, or the whole address that takes events.
    #[arg(value_name = "SOURCE|URL")]
    pub source: String,
    /// What to send: a text, @FILE, or @- (or just -) for the standard input.
    #[arg(long, short, value_name = "DATA", default_value = "{}")]
    pub data: String,
    /// Send this header too; may be given several times.
    #[arg(long, short = 'H', value_name = "NAME: VALUE")]
    pub header: Vec<String>,
    #[arg(long, short = 'X', value_name = "METHOD", default_value = "POST")]
    pub method: String,
    /// What follows the source's address, such as orders/7?dry=1
    #[arg(long, value_name = "PATH")]
    pub path: Option<String>,
    /// Sign it with the source's secret, as its provider would.
    #[arg(long)]
    pub sign: bool,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub server: ServerFlags,
}

#[derive(Debug, Args)]
pub struct Trigger {
    /// Whose sample: github:push, stripe:invoice.paid; the provider alone takes its first.
    #[arg(value_name = "PROVIDER[:EVENT]", required_unless_present = "list")]
    pub what: Option<String>,
    /// Where it is sent, by name or id.
    #[arg(long, short, value_name = "NAME|ID", required_unless_present = "list")]
    pub source: Option<String>,
    /// Change the sample: --set data.object.amount=5; may be given several times.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Sign with this secret instead of the source's, which is needed where a provider's proof is
    /// the secret itself.
    #[arg(long, value_name = "SECRET")]
    pub secret: Option<String>,
    /// List the samples, of all providers or of the one that is named.
    #[arg(long)]
    pub list: bool,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub server: ServerFlags,
}

#[derive(Debug, Args)]
pub struct Diff {
    /// The file, in YAML; - reads it from the standard input.
    #[arg(short, long, value_name = "FILE")]
    pub file: std::path::PathBuf,
    /// Count what the file does not name as something to delete.
    #[arg(long)]
    pub prune: bool,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: WhereFlags,
}
