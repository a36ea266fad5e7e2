//! What can be typed. Each command lives in its own file under `commands/`.

mod event_types;
mod inbox;
mod listen;
mod live;
mod plans;
mod resources;
mod server;
mod session;
mod signature;
mod words;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, value_parser};
use ferryhook_core::event::Status;
use ferryhook_core::limits::{REPLAY_RATE_DEFAULT, REPLAY_RATE_MAX};
use ferryhook_core::rejection::Cause;
use ferryhook_core::{Account, Event, Id, Rejection};

use crate::config::{DataScope, Flags, FlagsOf, StoreScope, TablesScope};

pub use event_types::{EventTypeOf, EventTypesCommand};
pub use inbox::{InboxCommand, InboxLease, InboxList};
pub use listen::{Listen, Output};
pub use live::{Diff, Send, Tail, Trigger};
pub use plans::{PlansAssign, PlansCommand, PlansEdit, PlansList, PlansOf};
pub use resources::{
    ApiKeyCreate, ApiKeyRevoke, ApiKeysCommand, ConnectionCreate, ConnectionDelete, ConnectionOf,
    ConnectionRotate, ConnectionSettings, ConnectionTest, ConnectionUpdate, ConnectionsCommand,
    ConnectionsList, ListAll, Scope, SourceCreate, SourceDelete, SourceOf, SourceRotate,
    SourceSettings, SourceUpdate, SourcesCommand, With,
};
pub use server::{ServerFlags, WhereFlags};
pub use session::{ContextCommand, Login, Logout, Whoami};
pub use signature::{SignatureCommand, SignatureProviders, SignatureSign, SignatureVerify};
pub use words::Moment;

/// The event gateway in one binary.
#[derive(Debug, Parser)]
#[command(version, after_help = "Without a command: dev.")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a server to try things out on, for this machine only.
    ///
    /// It may deliver to this machine, and on a new data directory it makes a source with a
    /// connection to a receiver of its own and sends a first event through.
    Dev(Dev),
    /// Run the server until it is told to stop.
    Serve(Flags),
    /// Make sources and connections what a file says.
    ///
    /// What the file does not name is left alone, unless --prune is given. Exits with 2 when
    /// --dry-run has found something to change.
    Apply(Apply),
    /// Print sources and connections as a file for `apply`, without their secrets.
    Export(WhereFlags),
    /// Say what `apply` would change. Exits with 2 when there is something.
    Diff(Diff),
    /// Look after sources: the addresses that senders post to.
    #[command(subcommand, visible_alias = "source")]
    Sources(SourcesCommand),
    /// Look after connections: the ways from a source to its destinations.
    #[command(subcommand, visible_alias = "connection")]
    Connections(ConnectionsCommand),
    /// Send one request to a source.
    Send(Send),
    /// Send a sample as a provider would, signed with the source's secret.
    Trigger(Trigger),
    /// Watch events as they come.
    ///
    /// A server that goes away is waited for. Ends with 130 when it is interrupted.
    Tail(Tail),
    /// Have a source's events sent to an app on this machine, and report what it answers.
    ///
    /// For as long as it runs there is a connection for it: attempts are recorded, and failures
    /// tried again, like with every other. Ends with Ctrl-C.
    Listen(Listen),
    /// Fetch events that wait in an inbox, and say what became of them.
    #[command(subcommand)]
    Inbox(InboxCommand),
    /// Look at events and at what became of them.
    #[command(subcommand, visible_alias = "event")]
    Events(EventsCommand),
    /// Look at the types of events, and at what their traffic has taught.
    #[command(subcommand, visible_alias = "event-type")]
    EventTypes(EventTypesCommand),
    /// Say why an event went where it went: what the ledger said, each clause of each connection's
    /// filter with the value it saw, what the transform changed, how long each attempt took.
    Explain(Explain),
    /// Try other rules on the last events of a connection, without any effect.
    ///
    /// Says how many of them would meet another end or would be sent differently, and shows some.
    WhatIf(WhatIf),
    /// Look at what a source refused, and let it in after all.
    #[command(subcommand)]
    Rejections(RejectionsCommand),
    /// Send events again: one, or all that are meant by --source, --status, --type, --since.
    ///
    /// To every connection that wants the event, or to those named with --to. One event goes at
    /// once; several are a job of the server, which goes on when this command has ended. Exits
    /// with 4 when something that was named is not there.
    Replay(Replay),
    /// Erase events for good, with everything that was ever tried with them: those that are named,
    /// or all that a filter means. Says how many first, and asks.
    Erase(Erase),
    /// Look at what was given up, and process it once more.
    #[command(subcommand)]
    DeadLetters(DeadLettersCommand),
    /// Look at plans, change what they allow and cost, and give one to somebody.
    #[command(subcommand)]
    Plans(PlansCommand),
    /// Look after the audit log.
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Verify and sign requests as providers do, without a server.
    #[command(subcommand)]
    Signature(SignatureCommand),
    /// Look after the keys that secrets are sealed with.
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Look after API keys of an account.
    #[command(subcommand)]
    ApiKeys(ApiKeysCommand),
    /// Log in to a server. A key is kept for the next time, never the password.
    ///
    /// The server on this machine needs no login: whoever can read its data is let in.
    Login(Login),
    /// Log out, and have the server revoke the key that `login` has made.
    Logout(Logout),
    /// Say who you are to the server, and in which account.
    Whoami(Whoami),
    /// List the servers you have logged in to, or change the current one.
    #[command(subcommand)]
    Context(ContextCommand),
    /// Print a script that completes commands, for a shell to read.
    #[command(visible_alias = "completion")]
    Completions {
        #[arg(value_name = "SHELL")]
        shell: clap_complete::Shell,
    },
    /// Print the manual page of ferryhook, or of one command.
    Man {
        #[arg(value_name = "COMMAND")]
        command: Vec<String>,
    },
    /// Copy the embedded store into a new directory, also while a server runs on it.
    Backup(Backup),
    /// Make a data directory from a backup, checking every file.
    Restore(Restore),
    /// Compare, make or print the tables of the DynamoDB store.
    #[command(subcommand)]
    Schema(SchemaCommand),
    /// Look at the configuration.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Measure Ferryhook on this machine, beside the least that anyone could do.
    ///
    /// Starts servers of its own on a temporary directory; nothing else is touched. Exits with 1
    /// when a request was not answered with 200 or an event was lost.
    Bench(Bench),
    /// What `bench` compares with.
    #[command(subcommand, hide = true)]
    BenchFloor(BenchFloor),
}

#[derive(Debug, Default, Args)]
pub struct Dev {
    /// Make no source, and send nothing.
    #[arg(long)]
    pub no_demo: bool,
    #[command(flatten)]
    pub flags: Flags,
}

#[derive(Debug, Args)]
pub struct Apply {
    /// The file, in YAML; - reads it from the standard input.
    #[arg(short, long, value_name = "FILE")]
    pub file: PathBuf,
    /// Show what would change, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Delete sources and connections that the file does not name.
    #[arg(long)]
    pub prune: bool,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: WhereFlags,
}

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Check that the audit log is what was written: no line changed, removed, put in or moved.
    ///
    /// Every log of the installation, or that of one account. Exits with 1 when something is
    /// wrong, and says which line and why.
    Verify(AuditVerify),
}

#[derive(Debug, Args)]
pub struct AuditVerify {
    /// Only the log of this account.
    #[arg(long, value_name = "ID")]
    pub account: Option<Id<Account>>,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: FlagsOf<StoreScope>,
}

#[derive(Debug, Subcommand)]
pub enum EventsCommand {
    /// List events, newest first.
    List(EventsList),
    /// Show one event with its deliveries and every attempt.
    #[command(visible_alias = "get")]
    Show(EventsShow),
    /// Print the bytes an event brought.
    Body(EventsBody),
    /// List events that have a text in their body or headers, newest first.
    Search(EventsSearch),
}

#[derive(Debug, Args)]
pub struct EventsBody {
    #[arg(value_name = "EVENT")]
    pub event: Id<Event>,
    #[command(flatten)]
    pub flags: WhereFlags,
}

#[derive(Debug, Args)]
pub struct EventsSearch {
    /// In any case of letters.
    #[arg(value_name = "TEXT")]
    pub text: String,
    #[command(flatten)]
    pub list: EventsList,
}

#[derive(Debug, Args)]
pub struct EventsList {
    #[command(flatten)]
    pub which: Which,
    /// At most so many.
    #[arg(long, value_name = "N", default_value = "50", value_parser = value_parser!(u16).range(1..=1000))]
    pub limit: u16,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: WhereFlags,
}

/// Which events are meant.
#[derive(Debug, Default, Clone, Args)]
pub struct Which {
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
    /// Only what came since then: 90s, 30m, 1h, 7d ago, or 2026-01-31T12:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = words::moment)]
    pub since: Option<Moment>,
    /// Only what came until then.
    #[arg(long, value_name = "TIME", value_parser = words::moment)]
    pub until: Option<Moment>,
}

#[derive(Debug, Args)]
pub struct EventsShow {
    #[arg(value_name = "EVENT")]
    pub event: Id<Event>,
    /// With its body.
    #[arg(long)]
    pub body: bool,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: WhereFlags,
}

#[derive(Debug, Args)]
pub struct Explain {
    #[arg(value_name = "EVENT")]
    pub event: Id<Event>,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: WhereFlags,
}

#[derive(Debug, Args)]
pub struct WhatIf {
    /// Whose rules would change.
    #[arg(long, value_name = "NAME|ID")]
    pub connection: String,
    /// The rules it would have instead: eventTypes, filters, transform and pipelineOrder, as in a
    /// file for `apply`; - reads them from the standard input.
    #[arg(long, value_name = "FILE")]
    pub rules: PathBuf,
    /// On so many events, the newest.
    #[arg(long, value_name = "N", default_value = "1000", value_parser = value_parser!(u32).range(1..=100_000))]
    pub last: u32,
    /// Show so many of those that differ.
    #[arg(long, value_name = "N", default_value = "5", value_parser = value_parser!(u16).range(0..=20))]
    pub examples: u16,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: FlagsOf<StoreScope>,
}

#[derive(Debug, Subcommand)]
pub enum RejectionsCommand {
    /// List what a source refused and why, newest first.
    List(RejectionsList),
    /// Show one request that was refused, and what to mend.
    Show(RejectionsShow),
    /// Let in what was refused for its signature or its form, now that its cause is mended.
    ///
    /// Signatures are checked with the secrets of now and the time of then. Exits with 1 when some
    /// of it is refused again.
    Readmit(RejectionsReadmit),
}

#[derive(Debug, Args)]
pub struct RejectionsList {
    #[arg(long, value_name = "NAME|ID")]
    pub source: String,
    /// Only for this cause: signature, too_large, rate, quota or unparsable.
    #[arg(long, value_name = "CAUSE", value_parser = words::cause)]
    pub cause: Option<Cause>,
    /// At most so many.
    #[arg(long, value_name = "N", default_value = "50", value_parser = value_parser!(u16).range(1..=1000))]
    pub limit: u16,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: WhereFlags,
}

#[derive(Debug, Args)]
pub struct RejectionsShow {
    #[arg(value_name = "REJECTION")]
    pub rejection: Id<Rejection>,
    #[arg(long, value_name = "NAME|ID")]
    pub source: String,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: WhereFlags,
}

#[derive(Debug, Args)]
pub struct RejectionsReadmit {
    /// These; without any, the newest of the source.
    #[arg(value_name = "REJECTION")]
    pub rejections: Vec<Id<Rejection>>,
    #[arg(long, value_name = "NAME|ID")]
    pub source: String,
    /// Without any named: only those with this cause.
    #[arg(long, value_name = "CAUSE", value_parser = words::cause)]
    pub cause: Option<Cause>,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: WhereFlags,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Replay {
    #[command(subcommand)]
    pub command: Option<ReplayCommand>,
    #[command(flatten)]
    pub asked: ReplayAsked,
}

#[derive(Debug, Args)]
pub struct ReplayAsked {
    #[arg(value_name = "EVENT")]
    pub events: Vec<Id<Event>>,
    /// Read the events from a file, one id a line; - reads them from the standard input.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub which: Which,
    /// Every event there is.
    #[arg(long)]
    pub all: bool,
    /// Only to this connection, also if it would not want the event; may be given several times.
    #[arg(long, value_name = "NAME|ID")]
    pub to: Vec<String>,
    /// So many events a second, when there are several.
    #[arg(
        long,
        value_name = "N",
        default_value_t = REPLAY_RATE_DEFAULT,
        value_parser = value_parser!(u32).range(1..=i64::from(REPLAY_RATE_MAX))
    )]
    pub rate: u32,
    /// Say how many events it would be, and do nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Wait until it is over, and say how far it is.
    #[arg(long)]
    pub wait: bool,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: WhereFlags,
}

#[derive(Debug, Subcommand)]
pub enum ReplayCommand {
    /// List replays of several events, newest first.
    List(ReplayList),
    /// Show how far one is.
    Show(ReplayOf),
    /// Stop one. What it has begun goes on.
    Cancel(ReplayOf),
}

#[derive(Debug, Args)]
pub struct ReplayList {
    /// At most so many.
    #[arg(long, value_name = "N", default_value = "20", value_parser = value_parser!(u16).range(1..=1000))]
    pub limit: u16,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: WhereFlags,
}

#[derive(Debug, Args)]
pub struct ReplayOf {
    #[arg(value_name = "REPLAY")]
    pub replay: Id<ferryhook_core::Replay>,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: WhereFlags,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Erase {
    #[command(subcommand)]
    pub command: Option<EraseCommand>,
    #[command(flatten)]
    pub asked: EraseAsked,
}

#[derive(Debug, Args)]
pub struct EraseAsked {
    #[arg(value_name = "EVENT")]
    pub events: Vec<Id<Event>>,
    /// All events and rejections that this filter matches, written like that of a connection:
    /// '{"body": {"customer": {"email": "ada@example.com"}}}'. @FILE reads it from a file, and @-
    /// from the standard input, so that it is in no history.
    #[arg(long = "where", value_name = "FILTER", conflicts_with = "events")]
    pub filter: Option<String>,
    /// With --where: only of this source.
    #[arg(long, value_name = "NAME|ID", requires = "filter")]
    pub source: Option<String>,
    /// With --where: only what came since then: 90s, 30m, 1h, 7d ago, or 2026-01-31T12:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = words::moment, requires = "filter")]
    pub since: Option<Moment>,
    /// With --where: only what came until then.
    #[arg(long, value_name = "TIME", value_parser = words::moment, requires = "filter")]
    pub until: Option<Moment>,
    /// Say how many events it would be, and do nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: WhereFlags,
}

#[derive(Debug, Subcommand)]
pub enum EraseCommand {
    /// List erasures, newest first.
    List(ReplayList),
    /// Show how far one is.
    Show(EraseOf),
    /// Have one erase nothing more. What is erased stays so.
    Cancel(EraseOf),
}

#[derive(Debug, Args)]
pub struct EraseOf {
    #[arg(value_name = "ERASURE")]
    pub erasure: Id<ferryhook_core::Erasure>,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: WhereFlags,
}

#[derive(Debug, Subcommand)]
pub enum DeadLettersCommand {
    /// List events that could not be processed, newest first.
    List(DeadLettersList),
    /// Process them once more, as if they had just come.
    Redrive(Redrive),
}

#[derive(Debug, Args)]
pub struct DeadLettersList {
    /// Instead of those, deliveries that were given up, by event and connection; replay sends
    /// them again.
    #[arg(long)]
    pub deliveries: bool,
    /// At most so many.
    #[arg(long, value_name = "N", default_value = "50", value_parser = value_parser!(u16).range(1..=1000))]
    pub limit: u16,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: WhereFlags,
}

#[derive(Debug, Args)]
pub struct Redrive {
    #[arg(value_name = "EVENT", required_unless_present = "all")]
    pub events: Vec<Id<Event>>,
    /// All there are.
    #[arg(long, conflicts_with = "events")]
    pub all: bool,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: WhereFlags,
}

#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Exchange the master key for another, also while a server runs.
    ///
    /// The new one is in --new-key-file or in the variable FERRYHOOK_NEW_MASTER_KEY. With neither,
    /// an embedded store that has a key file of its own gets a new one, and where several master
    /// keys are configured it is the first. Run it again when it was interrupted.
    RotateMaster(RotateMaster),
}

#[derive(Debug, Args)]
pub struct RotateMaster {
    /// The new key: 32 bytes in base64.
    #[arg(long, value_name = "FILE")]
    pub new_key_file: Option<PathBuf>,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: FlagsOf<StoreScope>,
}

#[derive(Debug, Args)]
pub struct Backup {
    /// Where the copy goes; must not exist yet.
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Leave out the master key of the data directory. What was sealed with it can then be read
    /// only by someone who has the key from elsewhere.
    #[arg(long)]
    pub without_master_key: bool,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: FlagsOf<DataScope>,
}

#[derive(Debug, Args)]
pub struct Restore {
    /// What `ferryhook backup` has made. It stays as it is.
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    /// Its `data` is the directory to make, which must be absent or empty.
    #[command(flatten)]
    pub flags: FlagsOf<DataScope>,
}

#[derive(Debug, Subcommand)]
pub enum SchemaCommand {
    /// Show what `apply` would change.
    ///
    /// Exits with 0 when every table is as declared, with 2 when there is something to change,
    /// and with 1 when a table needs an operator first or cannot be looked at.
    Plan(SchemaPlan),
    /// Create and complete the tables. Nothing is ever dropped; running it again is harmless.
    Apply(FlagsOf<TablesScope>),
    /// Print the same tables as a Terraform file (.tf.json).
    Terraform(FlagsOf<TablesScope>),
}

#[derive(Debug, Args)]
pub struct SchemaPlan {
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: FlagsOf<TablesScope>,
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Check every setting and show which value counts, and where it comes from.
    Check(Flags),
}

#[derive(Debug, Args)]
pub struct Bench {
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    /// Measure the API instead of ingest and delivery: so many requests a second, on a server that
    /// has much already.
    #[arg(long, conflicts_with_all = ["connections", "stored", "compare_growth"])]
    pub api: bool,
    /// Measure an inbox instead: how fast workers empty it beside how fast it was filled, and what
    /// its pages cost.
    #[arg(long, conflicts_with_all = ["api", "connections", "sources", "stored", "compare_growth", "seconds"])]
    pub inbox: bool,
    /// Measure a backlog instead: a start with so many deliveries that were held, and what those
    /// who send notice while they are delivered.
    #[arg(long, conflicts_with_all = ["api", "inbox", "connections", "sources", "stored", "compare_growth"])]
    pub backlog: bool,
    /// With --api: so many requests a second, whatever the answers do.
    #[arg(long, value_name = "N", default_value = "500", requires = "api", value_parser = value_parser!(u32).range(1..=100_000))]
    pub rate: u32,
    /// How long each measurement sends; 5 seconds, 30 with --api, or 10 with --backlog.
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=3600))]
    pub seconds: Option<u64>,
    /// Send so many events in each measurement instead. With --api: have so many stored before
    /// anything is measured, 1,000,000 if nothing is said. With --inbox and --backlog: fill it with
    /// so many, the same.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=10_000_000))]
    pub events: Option<u32>,
    /// Measure with each of these numbers of connections.
    #[arg(
        long,
        value_name = "N,...",
        value_delimiter = ',',
        default_value = "32,128",
        value_parser = value_parser!(u16).range(1..=1000)
    )]
    pub connections: Vec<u16>,
    /// Have so many sources, each with a connection; the load is spread over them.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1_000_000))]
    pub sources: Option<u32>,
    /// Have so many events stored and delivered before anything is measured.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(0..=100_000_000))]
    pub stored: Option<u32>,
    /// Measure twice: with one source and nothing stored, then with 10,000 sources and 1,000,000
    /// events (or what --sources and --stored say).
    #[arg(long)]
    pub compare_growth: bool,
    /// Where the temporary directory goes: on the disk that is to be measured.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,
}

#[derive(Debug, Subcommand)]
pub enum BenchFloor {
    /// Reads the body and answers.
    Http,
    /// Appends the body to a file, syncs, answers and passes it on.
    Relay {
        #[arg(long)]
        file: PathBuf,
        #[arg(long)]
        forward: hyper::Uri,
    },
}
