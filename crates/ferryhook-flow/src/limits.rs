//! The bounds of the data plane.

use std::time::Duration;

/// Attempts at once, over all destinations, until their outcome is stored.
pub const SLOTS_MAX: usize = 2048;
/// For each that is free an account may hold so many: one alone three quarters of all, of ten each a
/// tenth part of nearly all. The same for a connection of what its account may yet take.
pub const HELD_FOR_EACH_LEFT: usize = 3;

/// How far threads stand back behind those that take events in and send them out: what one has of
/// a busy processor is a tenth of what one of those has.
pub const NICENESS: i32 = 10;
/// How far the system lets any.
pub const NICENESS_MAX: i32 = 19;

/// Attempts at once to one destination: where a connection does not say, and where all begin.
pub const CONCURRENCY_DEFAULT: usize = 64;
pub const CONCURRENCY_FIRST: usize = 8;
/// The same for replays, which are in no hurry.
pub const REPLAY_CONCURRENCY_MAX: usize = 8;

/// Events that wait in memory for one destination, and their bytes over all of them. What comes
/// beyond is planned in the store and read again when there is room.
pub const FRESH_MAX: usize = 4096;
/// From here on senders are answered a little later, so that deliveries get their share of a busy
/// machine: when half of those have gone, and at the latest after this.
pub const CROWDED: usize = 96;
pub const PATIENCE: Duration = Duration::from_millis(10);
/// A destination that takes longer for an attempt is slow by itself, and so is one of which nothing
/// was heard for longer: no sender waits for it.
pub const QUICK: Duration = Duration::from_millis(100);
pub const SILENT: Duration = Duration::from_millis(250);
pub const FRESH_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Events that wait, where order counts, for those before them to be in their lanes.
pub const AT_THE_GATE_MAX: usize = 16 * 1024;

/// Deliveries of one queue that are read at once. In order, more of them have to be in sight,
/// because the first may have to wait while others need not.
pub const QUEUE_PAGE: usize = 64;
pub const ORDERED_IN_SIGHT: usize = 256;
/// Of a key that has to wait, so many stay in sight where much is; and so much may be, in one lane,
/// while others are read past it. Keys that are left out so far are remembered up to a number.
pub const KEPT_OF_A_KEY: usize = 4;
pub const ORDERED_KEPT_MAX: usize = 1024;
pub const LEFT_OUT_MAX: usize = 4096;
/// Of one moment, so many pages are read at once, because reading goes on by the moment.
pub const PAGES_OF_A_MOMENT_MAX: usize = 16;
/// Where order has ceased to count, some lie before others and are due after them. For each that is
/// passed over, the next look waits this much.
pub const EARLY_PAUSE: Duration = Duration::from_millis(1);

/// Failures in a row after which a destination is given a rest, and how long that is: the first
/// time, and at most.
pub const FAILURES_UNTIL_OPEN: u32 = 20;
pub const REST_FIRST: Duration = Duration::from_secs(1);
pub const REST_MAX: Duration = Duration::from_secs(60);

/// A rate limit lets this much time's worth through at once, because timers are not finer.
pub const PACE_GRAIN: Duration = Duration::from_millis(10);

/// How often an event whose planning goes wrong is tried, and how long it waits in between.
pub const PROCESSING_TRIES_MAX: u8 = 3;
pub const PROCESSING_PAUSE: Duration = Duration::from_secs(5);
/// Until a delivery is looked at again where not even its crash could be written down.
pub const CRASH_PAUSE: Duration = Duration::from_secs(60);

/// How often somebody looks for events that nobody took.
pub const SWEEP_EVERY: Duration = Duration::from_secs(30);
/// Where several processes share a store, an event is another's until it has waited this long.
pub const ANOTHERS_FOR: Duration = Duration::from_secs(120);
pub const SWEEP_PAGE: usize = 100;
/// What is stamped further ahead than this when the process begins is of a clock that was wrong.
pub const CLOCK_AHEAD: Duration = Duration::from_secs(60);

/// How often somebody looks for deliveries that wait while their event is about to go, how long
/// before that they are given up, and how long after they were due, since no attempt takes longer.
pub const EXPIRY_LOOK_EVERY: Duration = Duration::from_secs(300);
pub const EXPIRY_AHEAD: Duration = Duration::from_secs(900);
pub const EXPIRY_PATIENCE: Duration = Duration::from_secs(120);

/// A lease outlives the longest attempt by this much.
pub const LEASE_MARGIN: Duration = Duration::from_secs(30);

/// The store is asked again after a failure: how long at first, and at most.
pub const STORE_PAUSE_FIRST: Duration = Duration::from_millis(50);
pub const STORE_PAUSE_MAX: Duration = Duration::from_secs(5);
/// How often it is asked once the process is to stop; with those pauses that is three seconds.
pub const STORE_TRIES_LAST: usize = 6;
/// How often a step is tried that another's write came before.
pub const CONFLICT_TRIES_MAX: usize = 8;
/// Places at which outcomes of one event wait for each other; all attempts at once are four to one.
pub const TURNS: usize = 512;

/// From the signal to stop until attempts that are still under way are cut.
pub const DRAIN: Duration = Duration::from_secs(20);

/// Spans that wait for the collector of traces; more are dropped.
pub const SPANS_MAX: usize = 4096;

/// Replays of many events at once; one for each account.
pub const REPLAYS_MAX: usize = 8;
/// Of one replay: events that are looked at together, and those that begin together.
pub const REPLAY_PAGE: usize = 100;
pub const REPLAY_AT_ONCE: usize = 16;
/// Where a replay stands is saved after so many events or so much time.
pub const REPLAY_SAVE_EVENTS: usize = 100;
pub const REPLAY_SAVE_EVERY: Duration = Duration::from_secs(1);
/// A queue that is longer than this gets nothing more; one that is not gets as many again before
/// it is looked at the next time.
pub const REPLAY_AHEAD: usize = 500;
pub const REPLAY_ROOM_PAUSE: Duration = Duration::from_secs(1);
/// Where several processes share a store, how long a replay is left to one that is silent, and how
/// often the others look.
pub const REPLAY_LEASE: Duration = Duration::from_secs(60);
pub const REPLAY_LOOK_EVERY: Duration = Duration::from_secs(10);
/// Replays that are looked at to find those whose turn it is.
pub const REPLAYS_LOOKED_AT_MAX: usize = 1000;

/// Erasures that are done before the store is scrubbed for all of them.
pub const ERASURES_AT_ONCE: usize = 100;
/// How often somebody looks for one that nobody rang for, and how long one that could not go on
/// waits at most.
pub const ERASURE_LOOK_EVERY: Duration = Duration::from_secs(5);
pub const ERASURE_PAUSE_MAX: Duration = Duration::from_secs(600);
/// Of one erasure: events that are looked at together, and those that are erased together.
pub const ERASURE_PAGE: usize = 100;
pub const ERASURE_COMMITS_AT_ONCE: usize = 16;
/// Where it stands is saved after so many events or so much time.
pub const ERASURE_SAVE_EVENTS: usize = 100;
pub const ERASURE_SAVE_EVERY: Duration = Duration::from_secs(1);
/// Where several processes share a store, how long an erasure is left to one that is silent.
pub const ERASURE_LEASE: Duration = Duration::from_secs(600);
/// Erased events that are remembered because something of them waits in memory: beyond so many,
/// those of which nothing waits any more are dropped.
pub const ERASED_REMEMBERED: usize = 1024;

/// Groups of inboxes that somebody has asked for lately; those that nobody uses go first.
pub const INBOX_QUEUES_MAX: usize = 16 * 1024;
/// How often a queue is looked at from its very beginning, and where other processes write to the
/// same store, how often whoever waits looks by themselves.
pub const INBOX_LOOK_EVERY: Duration = Duration::from_secs(1);
/// Whoever wants only some types passes over the others page by page, this many pages at a time
/// before somebody else may look; and lists of types of one group for which it is remembered how
/// far that came.
pub const INBOX_PAGE: usize = 200;
pub const INBOX_PAGES_PASSED_MAX: usize = 10;
pub const INBOX_TYPES_REMEMBERED: usize = 16;
/// Items that a lease looks at before it says that there is nothing, if it is not to wait.
pub const INBOX_ROWS_MAX: usize = 20_000;
/// Events that a lease reads at a time, before it is known how large they are.
pub const INBOX_READ_AT_ONCE: usize = 25;
/// Leases that a reply need not read again; about a kilobyte each.
pub const INBOX_LEASES_REMEMBERED: usize = 8 * 1024;
/// Until whoever waits looks again after other processes have been faster time and again.
pub const INBOX_CONFLICT_PAUSE: Duration = Duration::from_millis(50);

/// Until a delivery is looked at again whose transform had to wait for a thread.
pub const SHAPE_PAUSE: Duration = Duration::from_secs(5);

/// Sessions of `ferryhook listen`: of one account, and in all. Each has room for so many requests at
/// once as a connection may have, so that together they leave most slots to others.
pub const LISTENERS_PER_ACCOUNT_MAX: usize = 10;
pub const LISTENERS_MAX: usize = 64;
/// How long a session waits for somebody who reads it, at first and after a reader has gone.
pub const LISTENER_GRACE: Duration = Duration::from_secs(30);
/// What a report may take on its way beyond the time that the request itself had.
pub const LISTENER_MARGIN: Duration = Duration::from_secs(5);
/// Until a delivery is looked at again whose session has just ended.
pub const LISTENER_PAUSE: Duration = Duration::from_secs(1);
/// Where several processes share a store: how long a session is taken to be there after the last
/// word of its server, how often that is renewed, and how often the server looks for what the others
/// have left for it.
pub const LISTENER_LEASE: Duration = Duration::from_secs(90);
pub const LISTENER_RENEW_EVERY: Duration = Duration::from_secs(30);
pub const LISTENER_LOOK_EVERY: Duration = Duration::from_secs(1);

/// Tokens for destinations that are kept at once; beyond that some are fetched again.
pub const TOKENS_MAX: usize = 4096;
/// How long before its end a token is replaced; less for one that is short-lived.
pub const TOKEN_MARGIN: Duration = Duration::from_secs(60);
/// Until a token endpoint is asked again after it failed, or for another token.
pub const TOKEN_PAUSE: Duration = Duration::from_millis(500);

/// Counts that wait for a flush: accounts, sources, connections, events that came again.
pub const TALLIES_MAX: usize = 64 * 1024;
/// Rows of a kind that wait to be added to, the half of them for what comes next.
pub const ROWS_WAITING_MAX: usize = 128 * 1024;
/// Rows of a kind that one flush adds to, where no more wait.
pub const ROWS_AT_ONCE: usize = 1024;
/// Where more do, each has its turn within so many flushes: a busy source costs a few writes a
/// minute, and not a few every time.
pub const ROW_TURNS: usize = 12;
/// People of an account whose calls of a day are counted one by one.
pub const USERS_COUNTED_MAX: usize = 200;
/// Sources of an account that are told apart when the active ones of a day are counted.
pub const ACTIVE_SOURCES_MAX: usize = 10_000;
/// How often event types are written, the samples that are taken of one meanwhile, as long as it is
/// young and later, what one may have, and what all that wait may have together.
pub const TYPES_FLUSH_EVERY: Duration = Duration::from_secs(2);
pub const TYPE_SAMPLES_YOUNG: usize = 32;
pub const TYPE_SAMPLES: usize = 3;
pub const TYPE_SAMPLE_BYTES_MAX: usize = 64 * 1024;
pub const TYPE_SAMPLES_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Events of a type that are looked at meanwhile because somebody wants to be warned.
pub const TYPE_CHECKS: usize = 100;
/// Samples of a type that are read without asking a thread for it.
pub const TYPE_BYTES_AT_ONCE: usize = 64 * 1024;
/// Types of an account that wait as long as nobody knows which of them it has.
pub const TYPES_WAITING_MAX: usize = 10_000;
/// Accounts whose types are known by heart.
pub const TYPE_CATALOGUES_MAX: usize = 4096;
/// Outcomes that wait to be counted for alerts, and connections whose alerts are known by heart.
pub const SIGNALS_MAX: usize = 16 * 1024;
pub const CONNECTIONS_KNOWN_MAX: usize = 64 * 1024;
/// How long settings of alerts are taken for true, and alerts where other processes fire them too.
pub const ALERT_FRESH_FOR: Duration = Duration::from_secs(30);
/// How often the calls of hooks are written to their records.
pub const CALLS_FLUSH_EVERY: Duration = Duration::from_secs(5);
