//! The bounds of the edge. A stranger who keeps a connection open for nothing is gone after
//! [`FIRST_BYTE`], and one who starts a request without finishing its head after [`HEAD`].

use std::time::Duration;

/// Connections at once. Those beyond wait in the kernel's backlog.
pub const CONNECTIONS_MAX: usize = 10_000;
/// Of one address (of IPv6, one /64). Those beyond are closed: a proxy that holds more than half
/// of all is no proxy.
pub const CONNECTIONS_PER_ADDRESS_MAX: usize = CONNECTIONS_MAX / 2;

/// From the accepted connection to its first byte.
pub const FIRST_BYTE: Duration = Duration::from_secs(10);

/// For the whole head of a request, and so also for an idle connection between two of them.
pub const HEAD: Duration = Duration::from_secs(30);

/// Request line and headers together.
pub const HEAD_BYTES_MAX: usize = 32 * 1024;
pub const HEADERS_MAX: usize = 100;

/// For the other side to take anything at all of what we have to say to it. Without that, whoever
/// asks and never reads would hold an answer, and what it is made of, for as long as they like.
pub const TAKEN: Duration = Duration::from_secs(60);

/// HTTP/2: how often a quiet peer is asked whether it lives, and how long it has to say so.
pub const PING_EVERY: Duration = Duration::from_secs(20);
pub const PING_ANSWER: Duration = Duration::from_secs(10);
pub const STREAMS_MAX: u32 = 128;

/// After our side of a connection has been closed: how long, and for how many bytes, the other
/// side may go on talking before it is cut off.
pub const FAREWELL: Duration = Duration::from_secs(2);
pub const FAREWELL_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Pause after the machine refused a socket (no file descriptors left, as a rule). Without it
/// the loop would spin: the connection is still waiting and the next accept fails at once.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// From the signal to stop until connections that are still busy are cut.
pub const DRAIN: Duration = Duration::from_secs(20);
