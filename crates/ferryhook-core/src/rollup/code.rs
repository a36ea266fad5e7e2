//! The answers that destinations give, by status code, in a number of kinds that is known.

use std::fmt;

use super::sparse::Sparse;

/// Those that are counted one by one. Any other is counted with its class: a destination that
/// makes codes up cannot make a row grow.
const KNOWN: [u16; 49] = [
    200, 201, 202, 203, 204, 205, 206, 207, 300, 301, 302, 303, 304, 307, 308, 400, 401, 402, 403,
    404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 417, 418, 421, 422, 425, 426, 428,
    429, 431, 451, 500, 501, 502, 503, 504, 507, 520, 524,
];

/// How often each was given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Codes(Sparse);

impl Codes {
    pub fn iter(&self) -> impl Iterator<Item = (Code, u64)> + '_ {
        self.0.iter().map(|(number, count)| (Code::from_number(number), count))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0);
    }

    pub(super) fn add(&mut self, code: Code, more: u64) {
        self.0.add(code.0, more);
    }
}

/// A status code, a class of them, or that there was no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(u16);

impl Code {
    /// Nobody answered, or nothing was sent.
    pub const NONE: Self = Self(0);

    /// 0 is [`Code::NONE`].
    pub fn of(status: u16) -> Self {
        match KNOWN.binary_search(&status) {
            Ok(_) => Self(status),
            Err(_) => Self((status / 100).min(9)),
        }
    }

    pub(super) fn number(self) -> u16 {
        self.0
    }

    pub(super) fn from_number(number: u16) -> Self {
        match number {
            0..=9 => Self(number),
            status => Self::of(status),
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("none"),
            class @ 1..=9 => write!(f, "{class}xx"),
            status => write!(f, "{status}"),
        }
    }
}
