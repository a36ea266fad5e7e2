//! The bounds of the door.

use std::time::Duration;

use ferryhook_core::limits;

/// From the end of the head to the last byte of the body, however it drips.
pub const BODY: Duration = Duration::from_secs(30);

/// Bodies that come in pieces and are not whole yet, all together.
pub const READING_BYTES_MAX: usize = 64 * 1024 * 1024;
/// What is whole and waits for the store: requests, and their bytes.
pub const WAITING_MAX: usize = 4096;
pub const WAITING_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Beside body and headers: attribute names, ids, index entries, as the store counts them.
pub const EVENT_OVERHEAD_BYTES: usize = 2048;
/// What a body and its headers may have together to fit into one item.
pub const EVENT_BYTES_MAX: usize = limits::ITEM_BYTES_MAX - EVENT_OVERHEAD_BYTES;
/// The same of an item of the inbox beside its event, index entries included.
pub const ITEM_OVERHEAD_BYTES: usize = 2048;
/// Of one commit: each event may have a claim beside it and items of inboxes; the rest of the bytes
/// is headroom.
pub const COMMIT_ACTIONS_MAX: usize = limits::batch::ACTIONS_MAX;
pub const COMMIT_BYTES_MAX: usize = limits::batch::BYTES_MAX / 8 * 7;

/// Up to here a body is copied out of the connection's buffer, which it would else keep alive.
pub const COPIED_BYTES_MAX: usize = 16 * 1024;

/// When a sender may ask again after we could not take something.
pub const STORE_AWAY_SECONDS: u64 = 5;
pub const CROWDED_SECONDS: u64 = 1;

/// Sources whose rate is being watched, and accounts whose month is counted.
pub const WINDOWS_MAX: usize = 64 * 1024;
pub const MONTHS_MAX: usize = 64 * 1024;
/// Events of a month that a server takes at once: this part of what is left, and at most so many.
/// Near the limit it takes one by one.
pub const BLOCK_SHARE: u64 = 64;
pub const BLOCK_MAX: u64 = 1024;
/// After so long without an event, what is left of a block is given back for others.
pub const BLOCK_IDLE: Duration = Duration::from_secs(30);
/// How long a used-up month is taken for granted before somebody looks whether there is room again.
pub const USED_UP_FOR: Duration = Duration::from_secs(2);

/// How often what was counted in memory goes to the store.
pub const FLUSH_EVERY: Duration = Duration::from_secs(5);
/// How many writes of a flush are under way at once.
pub const FLUSH_AT_ONCE: usize = 16;

/// Rejections kept of one source in a minute: those that could be let in once their cause is
/// mended, and those that are only there to be seen. A flood is counted, not written.
pub const REJECTIONS_WHOLE_PER_MINUTE: u32 = 60;
pub const REJECTIONS_PER_MINUTE: u32 = 10;
/// Rejections that wait for a flush, and their bytes.
pub const REJECTIONS_MAX: usize = 1024;
pub const REJECTIONS_BYTES_MAX: usize = 16 * 1024 * 1024;
/// For a certificate, or to confirm a subscription; calls at once.
pub const FETCH: Duration = Duration::from_secs(5);
pub const FETCHES_AT_ONCE: usize = 4;
/// Certificates that are kept, for how long, and how long one that cannot be had is left alone.
pub const CERTIFICATES_MAX: usize = 64;
pub const CERTIFICATE_FRESH_FOR: Duration = Duration::from_secs(24 * 60 * 60);
pub const CERTIFICATE_PAUSE: Duration = Duration::from_secs(30);
/// Certificates that one request may need.
pub const CERTIFICATES_PER_REQUEST: usize = 2;

/// A check against a declared schema with more steps has a thread to itself, so many at once.
pub const CHECK_STEPS_AT_ONCE: usize = 50_000;
pub const CHECKS_AT_ONCE: usize = 2;

/// Of a body that was too large.
pub const BEGINNING_BYTES_KEPT: usize = 4 * 1024;
