//! The bounds of transforms.

use std::time::Duration;

use crate::limits::BODY_BYTES_MAX;

/// A transform as it is written. It is stored with its connection, which is one item.
pub const TEXT_BYTES_MAX: usize = 128 * 1024;

/// What may come out: no more than what may come in.
pub const OUTPUT_BYTES_MAX: usize = BODY_BYTES_MAX;
pub const HEADERS_MAX: usize = 200;
pub const QUERY_BYTES_MAX: usize = 8 * 1024;
pub const PATH_BYTES_MAX: usize = 2 * 1024;

/// Field maps: steps of one, rules in it over all, names in a path, `each` inside of `each`.
pub const STEPS_MAX: usize = 32;
pub const RULES_MAX: usize = 1000;
pub const PATH_STEPS_MAX: usize = 32;
pub const PATH_TEXT_BYTES_MAX: usize = 1024;
pub const EACH_DEPTH_MAX: usize = 4;
/// Work of one run: rules applied, over all elements of all lists, and bytes copied by them.
pub const WORK_MAX: usize = 1_000_000;
pub const COPIED_BYTES_MAX: usize = 4 * OUTPUT_BYTES_MAX;

/// Scripts: the processor time of one run, and how much more for each MiB of body.
pub const SCRIPT_TIME: Duration = Duration::from_millis(100);
pub const SCRIPT_TIME_PER_MIB: Duration = Duration::from_millis(50);
/// The heap of one run: at least, for each byte of body, and at most.
pub const SCRIPT_HEAP_BYTES: usize = 8 * 1024 * 1024;
pub const SCRIPT_HEAP_PER_BODY_BYTE: usize = 32;
pub const SCRIPT_HEAP_BYTES_MAX: usize = 128 * 1024 * 1024;
/// The stack, of whatever thread it runs on: that one has to have several times as much.
pub const SCRIPT_STACK_BYTES: usize = 256 * 1024;
/// The heap while one is compiled. How long that takes is bounded by the length of the source.
pub const COMPILE_HEAP_BYTES: usize = 64 * 1024 * 1024;
/// Steps of promises that are run before they are given up.
pub const JOBS_MAX: usize = 10_000;

/// What is kept of the console, and of an error.
pub const CONSOLE_LINES_MAX: usize = 100;
pub const CONSOLE_BYTES_MAX: usize = 64 * 1024;
pub const CONSOLE_LINE_BYTES_MAX: usize = 4 * 1024;
pub const ERROR_CHARACTERS_MAX: usize = 500;
pub const STACK_FRAMES_MAX: usize = 8;
