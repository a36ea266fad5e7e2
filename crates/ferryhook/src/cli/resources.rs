//! What can be typed about sources, connections and API keys.

use clap::{Args, Subcommand, ValueEnum};
use ferryhook_core::{Event, Id};

use super::ServerFlags;
use super::words::{self, Moment};

#[derive(Debug, Subcommand)]
pub enum SourcesCommand {
    /// List sources.
    List(ListAll),
    /// Show a source.
    Get(SourceOf),
    /// Make a source.
    Create(SourceCreate),
    /// Change some settings of a source.
    Update(SourceUpdate),
    /// Delete a source with its connections. Its events stay until they expire.
    Delete(SourceDelete),
    /// Hold what a source takes in.
    Pause(SourceOf),
    /// Let go what a source has held.
    Resume(SourceOf),
    /// Change the secret that the provider signs with; the old one counts for a day.
    RotateSecret(SourceRotate),
}

#[derive(Debug, Args)]
pub struct ListAll {
    /// At most so many.
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub limit: u16,
    #[command(flatten)]
    pub with: With,
}

/// How the answer is shown, and who gives it.
#[derive(Debug, Args)]
pub struct With {
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub server: ServerFlags,
}

#[derive(Debug, Args)]
pub struct SourceOf {
    #[arg(value_name = "NAME|ID")]
    pub source: String,
    #[command(flatten)]
    pub with: With,
}

#[derive(Debug, Args)]
pub struct SourceCreate {
    #[arg(value_name = "NAME")]
    pub name: String,
    #[command(flatten)]
    pub settings: SourceSettings,
    /// Make up a secret, and show it once: for providers that let you choose it.
    #[arg(long, conflicts_with = "secret")]
    pub new_secret: bool,
    #[command(flatten)]
    pub with: With,
}

#[derive(Debug, Args)]
pub struct SourceUpdate {
    #[arg(value_name = "NAME|ID")]
    pub source: String,
    /// Another name.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    #[command(flatten)]
    pub settings: SourceSettings,
    #[command(flatten)]
    pub with: With,
}

#[derive(Debug, Args)]
pub struct SourceSettings {
    /// Who sends: github, stripe, ...; `ferryhook signature providers` lists them.
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// What the provider signs with; @FILE reads it from a file, @- from the standard input.
    #[arg(long, value_name = "SECRET")]
    pub secret: Option<String>,
    /// Where a request says what type of event it is, such as body.type.
    #[arg(long, value_name = "PATH")]
    pub event_type: Option<String>,
    /// Any other setting, in the words of the API: --set bodyBytesMax=1000000
    #[arg(long, value_name = "FIELD=VALUE")]
    pub set: Vec<String>,
}

#[derive(Debug, Args)]
pub struct SourceDelete {
    #[arg(value_name = "NAME|ID")]
    pub source: String,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub with: With,
}

#[derive(Debug, Args)]
pub struct SourceRotate {
    #[arg(value_name = "NAME|ID")]
    pub source: String,
    /// The secret that comes next; one is made up if nothing is said.
    #[arg(long, value_name = "SECRET")]
    pub secret: Option<String>,
    #[command(flatten)]
    pub with: With,
}

#[derive(Debug, Subcommand)]
pub enum ConnectionsCommand {
    /// List connections, of one source or of all.
    List(ConnectionsList),
    /// Show a connection.
    Get(ConnectionOf),
    /// Make a connection from a source to a URL, or into the inbox.
    Create(ConnectionCreate),
    /// Change some settings of a connection.
    Update(ConnectionUpdate),
    /// Delete a connection.
    Delete(ConnectionDelete),
    /// Hold what is meant for a connection.
    Pause(ConnectionOf),
    /// Let go what a connection has held.
    Resume(ConnectionOf),
    /// Change the secret that requests are signed with; both sign for a day.
    RotateSecret(ConnectionRotate),
    /// Try a connection out with a sample or an event that is stored.
    Test(ConnectionTest),
}

#[derive(Debug, Args)]
pub struct ConnectionsList {
    /// Only of this source.
    #[arg(long, value_name = "NAME|ID")]
    pub source: Option<String>,
    #[command(flatten)]
    pub with: With,
}

#[derive(Debug, Args)]
pub struct ConnectionOf {
    #[arg(value_name = "SOURCE/NAME|ID")]
    pub connection: String,
    #[command(flatten)]
    pub with: With,
}

#[derive(Debug, Args)]
pub struct ConnectionCreate {
    #[arg(value_name = "SOURCE")]
    pub source: String,
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Where events go.
    #[arg(long, value_name = "URL", required_unless_present = "inbox")]
    pub url: Option<String>,
    /// Into the inbox instead, to be fetched by those of this group.
    #[arg(long, value_name = "GROUP", num_args = 0..=1, default_missing_value = "default", conflicts_with_all = ["url", "secret"])]
    pub inbox: Option<String>,
    #[command(flatten)]
    pub settings: ConnectionSettings,
    #[command(flatten)]
    pub with: With,
}

#[derive(Debug, Args)]
pub struct ConnectionUpdate {
    #[arg(value_name = "SOURCE/NAME|ID")]
    pub connection: String,
    /// Another name.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Where events go from now on.
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    #[command(flatten)]
    pub settings: ConnectionSettings,
    #[command(flatten)]
    pub with: With,
}

#[derive(Debug, Args)]
pub struct ConnectionSettings {
    /// Only events of this type, with wildcards: order.*; may be given several times.
    #[arg(long = "type", value_name = "PATTERN")]
    pub event_types: Vec<String>,
    /// What requests are signed with; one is made up if nothing is said. @FILE reads it from a file.
    #[arg(long, value_name = "SECRET")]
    pub secret: Option<String>,
    /// Any other setting, in the words of the API: --set timeoutMs=5000
    #[arg(long, value_name = "FIELD=VALUE")]
    pub set: Vec<String>,
}

#[derive(Debug, Args)]
pub struct ConnectionDelete {
    #[arg(value_name = "SOURCE/NAME|ID")]
    pub connection: String,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub with: With,
}

#[derive(Debug, Args)]
pub struct ConnectionRotate {
    #[arg(value_name = "SOURCE/NAME|ID")]
    pub connection: String,
    /// The secret that comes next; one is made up if nothing is said.
    #[arg(long, value_name = "SECRET")]
    pub secret: Option<String>,
    #[command(flatten)]
    pub with: With,
}

#[derive(Debug, Args)]
pub struct ConnectionTest {
    #[arg(value_name = "SOURCE/NAME|ID")]
    pub connection: String,
    /// With this event, which is stored.
    #[arg(long, value_name = "EVENT", conflicts_with_all = ["data", "event_type"])]
    pub event: Option<Id<Event>>,
    /// With a body of your own: a text, @FILE, or @- for the standard input.
    #[arg(long, value_name = "DATA")]
    pub data: Option<String>,
    /// The type the sample has.
    #[arg(long = "type", value_name = "TYPE")]
    pub event_type: Option<String>,
    /// Send it, once, to the real destination.
    #[arg(long)]
    pub deliver: bool,
    #[command(flatten)]
    pub with: With,
}

#[derive(Debug, Subcommand)]
pub enum ApiKeysCommand {
    /// List keys.
    List(ListAll),
    /// Make a key, and show it once.
    Create(ApiKeyCreate),
    /// Revoke a key at once.
    Revoke(ApiKeyRevoke),
}

#[derive(Debug, Args)]
pub struct ApiKeyCreate {
    #[arg(value_name = "NAME")]
    pub name: String,
    /// What it may do; each includes the ones before.
    #[arg(long, value_name = "SCOPE", default_value = "write")]
    pub permissions: Scope,
    /// The only operations it may do, such as sources.list or events.*; may be given several times.
    #[arg(long, value_name = "OPERATION")]
    pub operation: Vec<String>,
    /// How long it counts: 12h, 30d, or until 2026-12-31T00:00:00Z; for ever if nothing is said.
    #[arg(long, value_name = "TIME", value_parser = words::moment)]
    pub expires: Option<Moment>,
    #[command(flatten)]
    pub with: With,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Scope {
    Read,
    Write,
    Admin,
}

#[derive(Debug, Args)]
pub struct ApiKeyRevoke {
    /// Its id, or its name if only one has it.
    #[arg(value_name = "NAME|ID")]
    pub key: String,
    #[command(flatten)]
    pub with: With,
}
