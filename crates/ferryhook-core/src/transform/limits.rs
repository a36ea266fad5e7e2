//! The bounds of transforms.

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
