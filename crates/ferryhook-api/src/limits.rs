//! The bounds of this edge.

use std::time::Duration;

/// The body of a request to the API.
pub const BODY_BYTES_MAX: usize = 1024 * 1024;

/// A request that brings events.
pub const POST_BYTES_MAX: usize = 8 * 1024 * 1024;

/// One page of a list.
pub const PAGE_MAX: usize = 100;
pub const PAGE_DEFAULT: usize = 50;

/// A cursor, as a client sends it back.
pub const CURSOR_BYTES_MAX: usize = 4096;

/// An `Idempotency-Key`.
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 255;

/// Who called is remembered with this much of their `User-Agent`.
pub const AGENT_CHARACTERS_KEPT: usize = 200;

/// Callers whose pace is remembered.
pub const CALLERS_MAX: usize = 50_000;
/// Events that are looked at for one page of a list, and the text that is looked for in them.
pub const LOOKED_AT_MAX: usize = 2_000;
pub const SEARCH_CHARACTERS_MAX: usize = 200;

/// Dead letters that one call drives again, and rejections that one call lets in.
pub const REDRIVEN_MAX: usize = 1_000;
pub const READMITTED_MAX: usize = 200;
/// How many reasons are told.
pub const REASONS_MAX: usize = 20;

/// Results of `ferryhook listen` in one call, and headers that are looked at in each.
pub const CLI_RESULTS_MAX: usize = 100;
pub const CLI_HEADERS_MAX: usize = 100;

/// Streams of changes that an account reads at a time, those that a server has for all of them,
/// the changes that one reads at once, and the sources of which one remembers whose they are.
pub const STREAMS_PER_ACCOUNT_MAX: usize = 16;
pub const STREAMS_MAX: usize = 256;
pub const CHANGES_PER_PAGE: usize = 100;
pub const STREAM_SOURCES_KEPT: usize = 10_000;

/// The key of a consumer's claim, how long it may be held, and how long it is remembered.
pub const CLAIM_KEY_BYTES_MAX: usize = 512;
pub const CLAIM_LEASE_SECONDS_MAX: u32 = 12 * 60 * 60;
pub const CLAIM_KEPT_SECONDS_MAX: u32 = 90 * 24 * 60 * 60;

/// Hours or days of one series: all that are kept of either.
pub const SERIES_POINTS_MAX: u64 = 1_000;
/// Sources in an overview, those that are compared for it, and how many pages of them are looked at.
pub const TOP_SOURCES: usize = 10;
pub const SOURCES_COMPARED_MAX: usize = 100;
pub const SOURCE_PAGES_MAX: usize = 10;

/// Lines of the audit log that one call checks, and examples of a hook's events.
pub const VERIFIED_MAX: usize = 10_000;
pub const SAMPLES_MAX: usize = 3;

/// Requests of one account that may wait for their inbox at once, on this server.
pub const INBOX_WAITING_MAX: usize = 200;
/// Whoever waits looks this often in any case, and not sooner than this after something has come.
pub const INBOX_LOOK_EVERY: Duration = Duration::from_secs(1);
pub const INBOX_GATHER: Duration = Duration::from_millis(20);
/// How often the store is asked for one page of an inbox.
pub const INBOX_LOOKS_MAX: usize = 20;
/// What an event of a list carries is shown up to this size.
pub const INBOX_LISTED_BYTES_MAX: usize = 64 * 1024;
/// Events of one page that are read at a time, since each may be large.
pub const INBOX_READ_AT_ONCE: usize = 10;
/// What has come may be written so much later than something that came after it.
pub const INBOX_WRITTEN_WITHIN: Duration = Duration::from_secs(1);
