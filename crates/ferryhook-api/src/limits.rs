//! The bounds of this edge.

/// The body of a request to the API.
pub const BODY_BYTES_MAX: usize = 1024 * 1024;

/// One page of a list.
pub const PAGE_MAX: usize = 100;
pub const PAGE_DEFAULT: usize = 50;

/// A cursor, as a client sends it back.
pub const CURSOR_BYTES_MAX: usize = 4096;

/// An `Idempotency-Key`.
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 255;

/// How far up the tree of accounts a right may come from.
pub const ACCOUNT_DEPTH_MAX: usize = 16;

/// Who called is remembered with this much of their `User-Agent`.
pub const AGENT_CHARACTERS_KEPT: usize = 200;

/// Callers whose pace is remembered.
pub const CALLERS_MAX: usize = 50_000;
