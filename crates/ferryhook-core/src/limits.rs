//! Every bound in one place. Each is a promise: a test stands at its edge.

use std::time::Duration;

/// One commit. The numbers are those of a DynamoDB transaction, and the other engines refuse the
/// same: a batch that passes a test on any of them is not too large in production.
pub mod batch {
    pub const ACTIONS_MAX: usize = 100;
    pub const BYTES_MAX: usize = 4 * 1024 * 1024;
}

/// One stored item, names and values together, as DynamoDB counts it.
pub const ITEM_BYTES_MAX: usize = 400 * 1024;
pub const PARTITION_KEY_BYTES_MAX: usize = 2048;
pub const SORT_KEY_BYTES_MAX: usize = 1024;
/// How deep lists and maps may nest inside an item.
pub const ITEM_DEPTH_MAX: usize = 32;

/// One page of a list.
pub const PAGE_MAX: usize = 1000;
pub const PAGE_DEFAULT: usize = 50;

/// Body of one ingested request unless its source says otherwise.
pub const BODY_BYTES_DEFAULT: usize = 256 * 1024;
pub const BODY_BYTES_MAX: usize = 10 * 1024 * 1024;

/// What is kept of a destination's answer.
pub const RESPONSE_CHARACTERS_KEPT: usize = 1000;

/// Attempts of one delivery, and how far ahead the next one may lie.
pub const ATTEMPTS_MAX: usize = 32;
pub const RETRY_DELAY_SECONDS_MAX: u64 = 24 * 60 * 60;
/// A custom retry configuration: its text, its rules, and how far jitter may stretch a delay.
pub const RETRY_CONFIG_BYTES_MAX: usize = 8 * 1024;
pub const RETRY_RULES_MAX: usize = 32;
pub const JITTER_PERCENT_MAX: u8 = 10;

/// How long a destination may take to answer.
pub const TIMEOUT_MS_MIN: u32 = 1_000;
pub const TIMEOUT_MS_DEFAULT: u32 = 10_000;
pub const TIMEOUT_MS_MAX: u32 = 30_000;

/// What a delivery remembers of its last error; the attempt has the rest.
pub const ERROR_CHARACTERS_KEPT: usize = 200;

/// Changes of sources and connections in one commit, with room for the count that the plan limits,
/// the line in the audit log and the end of that log.
pub const EDITS_MAX: usize = batch::ACTIONS_MAX - 3;
/// What people may write into a source or a connection. One source with all its connections is
/// one commit.
pub const NAME_CHARACTERS_MAX: usize = 100;
pub const CONNECTIONS_PER_SOURCE_MAX: usize = EDITS_MAX - 1 - HOOKS_PER_ACCOUNT_MAX as usize;
pub const URL_BYTES_MAX: usize = 2048;
pub const SECRET_BYTES_MAX: usize = 1024;
pub const SOURCE_CONFIG_BYTES_MAX: usize = 16 * 1024;
pub const CUSTOM_RESPONSE_BYTES_MAX: usize = 16 * 1024;
pub const CONCURRENCY_MAX: u16 = 1_000;
pub const RATE_PER_SECOND_MAX: u32 = 100_000;

/// What is kept of an answer to a request with an `Idempotency-Key`, and for how long. Sealed, the
/// largest one still fits an item. A larger one is not kept.
pub const ANSWER_BODY_BYTES_MAX: usize = 256 * 1024;
pub const ANSWER_HEADERS_BYTES_MAX: usize = 4 * 1024;
pub const ANSWER_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// Keys of owners that stay unwrapped in memory (about a kilobyte each), and how many are fetched
/// at the same time for a page of records.
pub const DATA_KEYS_IN_MEMORY_MAX: usize = 10_000;
pub const DATA_KEYS_AT_ONCE: usize = 16;

/// How long a replaced secret is still honoured.
pub const SECRET_OVERLAP: Duration = Duration::from_secs(24 * 60 * 60);

/// A replay of many events: those it may name, how fast it goes, how long it is remembered after
/// its end, and how many of an account may wait for their turn.
pub const REPLAY_IDS_MAX: usize = 10_000;
pub const REPLAY_CONNECTIONS_MAX: usize = 97;
pub const REPLAY_RATE_DEFAULT: u32 = 100;
pub const REPLAY_RATE_MAX: u32 = 1_000;
pub const REPLAY_KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
pub const REPLAYS_WAITING_MAX: usize = 32;

/// An erasure: the events it may name, how long it is remembered after its end, how many of an
/// account may wait for their turn, and what is kept of where its filter looked.
pub const ERASURE_IDS_MAX: usize = 1_000;
pub const ERASURE_KEPT: Duration = Duration::from_secs(90 * 24 * 60 * 60);
pub const ERASURES_WAITING_MAX: usize = 32;
pub const ERASURE_PATHS_MAX: usize = 32;
pub const ERASURE_PATH_CHARACTERS_MAX: usize = 200;

/// A session of `ferryhook listen`: the sources it may have, the requests it is asked to make at
/// once, how long each may take, and how long what is left of its connections is kept.
pub const CLI_SOURCES_MAX: usize = 16;
pub const CLI_REQUESTS_MAX: usize = 16;
pub const CLI_TIMEOUT_MS: u32 = TIMEOUT_MS_MAX;
pub const CLI_CONNECTION_KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A file for `ferryhook apply`.
pub const MANIFEST_BYTES_MAX: usize = 1024 * 1024;
pub const MANIFEST_DEPTH_MAX: usize = 32;

/// The tree of accounts: its levels, and how many lie directly beneath one. A name stands in the
/// path of all beneath it, so as many as fit into one commit may have to be renamed together.
pub const ACCOUNT_LEVELS_MAX: u16 = 8;
pub const ACCOUNT_CHILDREN_MAX: u32 = 1_000;
pub const ACCOUNTS_RENAMED_MAX: usize = batch::ACTIONS_MAX - 3;
/// What people may keep beside an account.
pub const ACCOUNT_SETTINGS_BYTES_MAX: usize = 16 * 1024;

/// How long an invitation can be accepted, how long it is shown after that, how many of an account
/// may be open at once, and how many it gives out within a day, whatever became of them.
pub const INVITATION_LIVES: Duration = Duration::from_secs(7 * 24 * 60 * 60);
pub const INVITATION_KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
pub const INVITATIONS_OPEN_MAX: usize = 100;
pub const INVITATIONS_A_DAY_MAX: usize = 200;

/// Keys of an account that can be used, what one may list, and how often its use is noted.
pub const KEYS_PER_ACCOUNT_MAX: u32 = 100;
pub const KEY_OPERATIONS_MAX: usize = 100;
pub const KEY_USE_NOTED_EVERY: Duration = Duration::from_secs(60);
/// Exceptions to a member's role.
pub const EXCEPTIONS_MAX: usize = 100;
pub const EMAIL_BYTES_MAX: usize = 254;

/// What an app posts by itself. An item holds the payload a few levels down.
pub const TRIGGERS_MAX: usize = 500;
pub const TRIGGER_TYPE_BYTES_MAX: usize = 128;
pub const TRIGGER_KEY_BYTES_MAX: usize = 255;
pub const TRIGGER_METADATA_BYTES_MAX: usize = 4 * 1024;
pub const TRIGGER_DEPTH_MAX: usize = ITEM_DEPTH_MAX - 4;
pub const TRIGGER_CLOCK_AHEAD_MAX: Duration = Duration::from_secs(5 * 60);

/// Items of the inbox that one request leases or replies to, and how long a lease may be.
pub const INBOX_ITEMS_MAX: usize = 100;
/// What the events of one lease carry together, unless the first alone has more.
pub const INBOX_LEASE_BYTES_MAX: usize = 4 * 1024 * 1024;
pub const INBOX_VISIBILITY_MIN: Duration = Duration::from_secs(1);
pub const INBOX_VISIBILITY_DEFAULT: Duration = Duration::from_secs(30);
pub const INBOX_VISIBILITY_MAX: Duration = Duration::from_secs(12 * 60 * 60);
/// How long an item that was given back may be out of sight.
pub const INBOX_DELAY_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How long a request may wait for something to come.
pub const INBOX_WAIT_MAX: Duration = Duration::from_secs(20);
pub const INBOX_GROUP_BYTES_MAX: usize = 64;
/// How often an item is leased before it is given up.
pub const INBOX_LEASES_DEFAULT: u16 = 5;
pub const INBOX_LEASES_MAX: u16 = 1000;

/// How long counts are kept, by hour and by day; and how many of them a rollup may have: one for
/// each kind of answer, one for each step of latency, and the plain ones.
pub const ROLLUP_HOURS_KEPT: Duration = Duration::from_secs(35 * 24 * 60 * 60);
pub const ROLLUP_DAYS_KEPT: Duration = Duration::from_secs(400 * 24 * 60 * 60);
pub const ROLLUP_COUNTS_MAX: usize = 215;
/// Rollups that are added to in one commit: few enough for a slow server to answer in time. And how
/// many counts of each: what DynamoDB is told about an item has at most 4 KB.
pub const ROLLUPS_AT_ONCE: usize = batch::ACTIONS_MAX / 4;
pub const ROLLUP_COUNTS_AT_ONCE: usize = 60;
/// How long after its end the count of a month is kept.
pub const MONTH_COUNT_KEPT: Duration = Duration::from_secs(40 * 24 * 60 * 60);

/// Hooks of an account, also under a plan without a limit: each is a way of every source, which
/// with their event must fit into one commit. How often a hook may fail in a row before it stops.
pub const HOOKS_PER_ACCOUNT_MAX: u32 = 20;
pub const HOOK_FAILURES_MAX: u32 = 50;
pub const HOOK_HEADERS_MAX: usize = 32;

/// What people are told about: how many at once, and for how long it is kept.
pub const NOTIFIED_MAX: usize = 50;
pub const NOTIFICATION_KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How long an alert is remembered that is over, and how soon the same may fire again.
pub const ALERT_KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
pub const ALERT_PAUSE: Duration = Duration::from_secs(5 * 60);
pub const ALERT_FAILURES_MAX: u32 = 10_000;
pub const ALERT_WINDOW_MINUTES_MAX: u64 = 7 * 24 * 60;
/// Faults of an audit log that are told one by one.
pub const AUDIT_FAULTS_TOLD: usize = 100;

/// Event types that are learned from traffic: of one account, the name of one, the samples that are
/// all looked at while it is young, and the drifts that are kept.
pub const TYPES_PER_ACCOUNT_MAX: usize = 1_000;
pub const TYPE_NAME_BYTES_MAX: usize = 128;
pub const TYPE_YOUNG_SAMPLES: u32 = 100;
pub const TYPE_DRIFTS_KEPT: usize = 50;
/// What is learned of one: paths, their length and depth, the names of one object (with more it is a
/// map, whose names mean nothing), and the elements of a list that are looked at. A sample is looked
/// at until so many paths or values.
pub const TYPE_PATHS_MAX: usize = 300;
pub const TYPE_PATH_BYTES_MAX: usize = 256;
pub const TYPE_DEPTH_MAX: usize = 8;
pub const TYPE_FIELDS_OF_OBJECT_MAX: usize = 100;
pub const TYPE_ELEMENTS_LOOKED_AT: usize = 64;
pub const TYPE_PATHS_SURVEYED_MAX: usize = 1_000;
pub const TYPE_VALUES_SURVEYED_MAX: usize = 5_000;
/// Samples after which what they have in common counts, and samples in a row without a field that
/// nearly all before had.
pub const TYPE_SETTLED_SAMPLES: u32 = 30;
pub const TYPE_VANISHED_SAMPLES: u32 = 20;
pub const TYPE_NEARLY_ALL_PERCENT: u64 = 95;
/// Declared schemas: of one account, and what one may have. To check the events of one request takes
/// at most so many steps: the parts of the schema times the values of the events, and one for every
/// so many bytes of a text or a name whenever it is read, where a pattern counts as many times as it
/// has KiB, rounded up to one of these sizes. What a schema compares with counts as a part for every
/// so many bytes of it. Some mismatches are told, not all.
pub const DECLARED_PER_ACCOUNT_MAX: usize = 100;
pub const SCHEMA_BYTES_MAX: usize = 32 * 1024;
pub const SCHEMA_STEPS_MAX: usize = 1_000;
pub const SCHEMA_DEPTH_MAX: usize = 64;
pub const SCHEMA_PATTERN_BYTES_MAX: usize = 256 * 1024;
pub const SCHEMA_PATTERN_SIZES: [usize; 3] = [4 * 1024, 16 * 1024, 64 * 1024];
pub const SCHEMA_TEXT_BYTES_PER_STEP: usize = 32;
pub const SCHEMA_COMPARED_BYTES_PER_STEP: usize = 64;
pub const SCHEMA_CHECK_STEPS_MAX: usize = 5_000_000;
pub const MISMATCHES_TOLD: usize = 10;
