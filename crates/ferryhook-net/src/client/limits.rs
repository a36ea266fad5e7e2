//! The bounds of a call. A destination that is slow, endless or hostile costs at most these.

use std::time::Duration;

/// Whole URL, as given.
pub const URL_BYTES_MAX: usize = 8 * 1024;

/// For all questions about one name. Counts within the call's own deadline, as all steps do.
pub const RESOLVE: Duration = Duration::from_secs(5);

/// For one question to one name server; there is time for a second one.
pub const RESOLVE_TRY: Duration = Duration::from_secs(2);

/// An answer is used for new connections for at least and at most so long, whatever its TTL
/// says: long enough for a burst, too short for a name that changes sides.
pub const ANSWER_AGE_MIN: Duration = Duration::from_secs(1);
pub const ANSWER_AGE_MAX: Duration = Duration::from_secs(5);
pub const ANSWERS_KEPT: u64 = 4_096;

/// Names being resolved at once.
pub const LOOKUPS_MAX: usize = 256;

/// Addresses of one name that are tried before giving up.
pub const ADDRESSES_TRIED: usize = 4;

/// For the TCP connection, over all addresses tried.
pub const CONNECT: Duration = Duration::from_secs(5);

/// Certificates that a call may show: its own and those that vouch for it.
pub const CHAIN_MAX: usize = 8;

/// For the TLS handshake.
pub const HANDSHAKE: Duration = Duration::from_secs(5);

/// One head of an answer, and the number of its headers.
pub const HEAD_BYTES_MAX: usize = 64 * 1024;
pub const HEADERS_MAX: usize = 100;

/// Everything read until the final head has come: that head and any 1xx before it.
pub const PREAMBLE_BYTES_MAX: u64 = 256 * 1024;

/// What is kept of an answer's body, unless the client is told otherwise.
pub const BODY_BYTES_KEPT: usize = 16 * 1024;

/// How much of a body is read in all, so that its connection can be used again. Whoever sends
/// more is closed.
pub const BODY_BYTES_READ: usize = 64 * 1024;

/// Connections kept open without a call on them: to one host by one runtime, in all, and how long.
/// Thousands of destinations may lie on one host, and calls begin and end in bursts: with fewer, the
/// lines of each burst were closed, only to be opened again for the next.
pub const IDLE_PER_ORIGIN: usize = 512;
pub const IDLE_MAX: usize = 1_024;
pub const IDLE: Duration = Duration::from_secs(60);

/// Destinations remembered by the pool, those without an idle connection included.
pub const ORIGINS_MAX: usize = 2 * IDLE_MAX;

/// How often idle connections are looked through for dead ones.
pub const SWEEP_EVERY: Duration = Duration::from_secs(10);
