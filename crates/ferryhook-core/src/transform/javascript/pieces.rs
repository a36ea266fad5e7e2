//! What scripts find around them, and which of it one of them needs.
//!
//! A context is made anew for every event, so it has only what the text of the script names. A
//! name that is put together at run time leads to nothing.

use std::sync::LazyLock;

use super::bytecode::Bytecode;
use super::engine;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Needs {
    // Of the engine.
    pub(super) maps: bool,
    pub(super) promises: bool,
    pub(super) typed_arrays: bool,
    pub(super) dates: bool,
    // Of ours.
    pub(super) random: bool,
    pub(super) console: bool,
    pub(super) helpers: bool,
    pub(super) clone: bool,
    pub(super) encoding: bool,
    pub(super) query: bool,
}

impl Needs {
    pub(super) fn of(code: &str) -> Self {
        let names = |names: &[&str]| {
            // A name may also be written with escapes.
            code.contains("\\u") || names.iter().any(|name| code.contains(name))
        };
        let clone = names(&["structuredClone"]);
        let encoding = names(&["TextEncoder", "TextDecoder"]);
        let typed = ["Int8", "Uint8", "Int16", "Uint16", "Int32", "Uint32", "Float", "ArrayBuffer"];
        Self {
            maps: clone || names(&["Map", "Set"]),
            promises: names(&["Promise", "async", "await", "Async", "import"]),
            typed_arrays: encoding || names(&typed) || names(&["DataView"]),
            dates: names(&["Date"]),
            random: names(&["random"]),
            console: names(&["console"]),
            helpers: names(&["atob", "btoa", "256Hex", "uuid", "crypto"]),
            clone,
            encoding,
            query: names(&["URLSearchParams"]),
        }
    }
}

/// Each is a function that is handed what it needs of the host.
pub(super) struct Pieces {
    pub(super) guard: Bytecode,
    pub(super) pick: Bytecode,
    pub(super) console: Bytecode,
    pub(super) date: Bytecode,
    pub(super) random: Bytecode,
    pub(super) helpers: Bytecode,
    pub(super) clone: Bytecode,
    pub(super) encoding: Bytecode,
    pub(super) query: Bytecode,
}

/// Compiled once for the process. They are part of the program, so one that does not compile is
/// found by the first test.
pub(super) static PIECES: LazyLock<Pieces> = LazyLock::new(|| {
    let compile = |source: &str| {
        engine::compile_own(source)
            .unwrap_or_else(|error| panic!("a piece of the sandbox: {error}"))
    };
    Pieces {
        guard: compile(include_str!("pieces/guard.js")),
        pick: compile(include_str!("pieces/pick.js")),
        console: compile(include_str!("pieces/console.js")),
        date: compile(include_str!("pieces/date.js")),
        random: compile(include_str!("pieces/random.js")),
        helpers: compile(include_str!("pieces/helpers.js")),
        clone: compile(include_str!("pieces/clone.js")),
        encoding: compile(include_str!("pieces/encoding.js")),
        query: compile(include_str!("pieces/query.js")),
    }
});

/// The first literal of a BigInt, such as `10n`, and where it is. Arithmetic on those is done by
/// the engine in one go, however long they are. A text or comment that has such a word in it is
/// taken for one as well: telling them apart would take a whole parser.
pub(super) fn big_integer(code: &str) -> Option<(usize, &str)> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$';
    let bytes = code.as_bytes();
    let mut start = 0;
    while start < bytes.len() {
        if !is_part(bytes[start]) {
            start += 1;
            continue;
        }
        let length = bytes[start..].iter().take_while(|byte| is_part(**byte)).count();
        let word = &code[start..start + length];
        if is_big_integer(word) {
            return Some((start, word));
        }
        start += length;
    }
    None
}

fn is_big_integer(word: &str) -> bool {
    let Some(digits) = word.strip_suffix('n') else { return false };
    let lower = digits.to_ascii_lowercase();
    let all = |digits: &str, radix: u32| {
        !digits.is_empty() && digits.chars().all(|c| c == '_' || c.is_digit(radix))
    };
    match lower.as_bytes() {
        [b'0', b'x', ..] => all(&lower[2..], 16),
        [b'0', b'o', ..] => all(&lower[2..], 8),
        [b'0', b'b', ..] => all(&lower[2..], 2),
        _ => all(&lower, 10) && !lower.starts_with('_'),
    }
}
