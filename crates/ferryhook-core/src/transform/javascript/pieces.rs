//! What scripts find around them, and which of it one of them needs.
//!
//! A context is made anew for every event, so it has only what the text of the script names: less
//! to make, and less to misuse. A name that is put together at run time leads to nothing.

/// Of the engine itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Needs {
    pub(super) json: bool,
    pub(super) regexps: bool,
    pub(super) maps: bool,
    pub(super) promises: bool,
    pub(super) typed_arrays: bool,
    pub(super) dates: bool,
    // Of what the host hands over.
    pub(super) random: bool,
    pub(super) console: bool,
    pub(super) helpers: bool,
}

/// Built-ins that are guarded if they are named, and removed if not: of lists, and of texts.
const LISTS: [&str; 12] = [
    "fill",
    "copyWithin",
    "reverse",
    "shift",
    "unshift",
    "splice",
    "slice",
    "sort",
    "toSorted",
    "concat",
    "flat",
    "flatMap",
];
const TEXTS: [&str; 23] = [
    "includes",
    "indexOf",
    "lastIndexOf",
    "startsWith",
    "endsWith",
    "isWellFormed",
    "toWellFormed",
    "trim",
    "trimStart",
    "trimEnd",
    "trimLeft",
    "trimRight",
    "replace",
    "replaceAll",
    "match",
    "matchAll",
    "search",
    "toLowerCase",
    "toUpperCase",
    "toLocaleLowerCase",
    "toLocaleUpperCase",
    "split",
    "normalize",
];
/// Of both.
const FOUND: [&str; 3] = ["includes", "indexOf", "lastIndexOf"];
const TYPED_ARRAYS: [&str; 10] = [
    "Int8",
    "Uint8",
    "Int16",
    "Uint16",
    "Int32",
    "Uint32",
    "Float",
    "ArrayBuffer",
    "DataView",
    "Text",
];

/// What a script needs, and the text that runs before it. That text is a function of what ticks
/// and of what the host hands over; it returns another that tells which handler was added.
pub(super) fn prelude(code: &str) -> (Needs, String) {
    // A name may also be written with escapes; then everything is there.
    let all = code.contains("\\u") || code.contains("\\x");
    let names = |names: &[&str]| all || names.iter().any(|name| code.contains(name));
    let clone = names(&["structuredClone"]);
    let query = names(&["URLSearchParams"]);
    let encoding = names(&["TextEncoder", "TextDecoder"]);
    let dates = names(&["Date"]);
    let console = names(&["console"]);
    let needs = Needs {
        json: console || names(&["JSON"]),
        regexps: dates || query || names(&["RegExp", "/", "match", "search"]),
        maps: clone || names(&["Map", "Set"]),
        promises: names(&["Promise", "async", "await", "Async", "import"]),
        typed_arrays: encoding || names(&TYPED_ARRAYS),
        dates,
        random: names(&["random"]),
        console,
        helpers: names(&["atob", "btoa", "256Hex", "uuid", "crypto"]),
    };

    let mut text = String::from("(function (tick, host) { 'use strict';\n");
    let mut add = |name: &str| text.push_str(section(name));
    // What the others are made of.
    add("core");
    let shared = [
        (query || encoding || names(&TEXTS) || names(&["localeCompare"]), "text"),
        (query || names(&FOUND), "find"),
        (query || names(&["sort", "toSorted", "localeCompare"]), "order"),
        (names(&["concat", "flat"]), "flatten"),
        (needs.regexps, "regular expressions"),
        (names(&["RegExp", "match", "search"]), "pattern"),
        (names(&["match", "search"]), "match with"),
    ];
    shared.iter().filter(|(is_used, _)| *is_used).for_each(|(_, name)| add(name));
    // Ours use some of them as well.
    let by_us = |name: &str| {
        query && ["indexOf", "startsWith", "replace", "replaceAll", "split", "sort"].contains(&name)
            || encoding && name == "toLowerCase"
    };
    let mut removed = String::from("delete globalThis.BigInt;\ndelete Math.sumPrecise;\n");
    for (owner, methods) in [("lists", &LISTS[..]), ("texts", &TEXTS[..])] {
        for name in methods {
            if names(&[name]) || by_us(name) {
                add(name);
            } else {
                removed.push_str(&format!("delete {owner}.{name};\n"));
                if FOUND.contains(name) {
                    removed.push_str(&format!("delete lists.{name};\n"));
                }
            }
        }
    }
    let optional = [
        (names(&["localeCompare"]), "localeCompare", "delete texts.localeCompare;\n"),
        (names(&["raw"]), "raw", "delete String.raw;\n"),
        (names(&["fromEntries"]), "fromEntries", "delete Object.fromEntries;\n"),
        (needs.maps, "sets", ""),
        (needs.json, "JSON", ""),
        (names(&["RegExp"]), "RegExp", ""),
        (needs.typed_arrays, "typed arrays", ""),
        (names(&["addHandler"]), "addHandler", ""),
    ];
    for (is_named, name, otherwise) in optional {
        match is_named {
            true => add(name),
            false => removed.push_str(otherwise),
        }
    }
    if needs.regexps && !names(&["RegExp"]) {
        removed.push_str("delete rules.constructor;\ndelete globalThis.RegExp;\n");
    }
    if !needs.random {
        removed.push_str("delete Math.random;\n");
    }
    let pieces = [
        (needs.dates, include_str!("pieces/date.js")),
        (needs.random, include_str!("pieces/random.js")),
        (needs.console, include_str!("pieces/console.js")),
        (needs.helpers, include_str!("pieces/helpers.js")),
        (clone, include_str!("pieces/clone.js")),
        (encoding, include_str!("pieces/encoding.js")),
        (query, include_str!("pieces/query.js")),
    ];
    for (is_needed, piece) in pieces {
        if is_needed {
            text.push_str(piece);
        }
    }
    text.push_str(&removed);
    text.push_str("return () => kept;\n})");
    (needs, text)
}

/// A part of the guard, by its name.
fn section(name: &str) -> &'static str {
    const GUARD: &str = include_str!("pieces/guard.js");
    let mut sections = GUARD.split("//# ").skip(1).filter_map(|section| section.split_once('\n'));
    sections.find(|(own, _)| *own == name).map_or("", |(_, text)| text)
}

/// Reads which handlers there are, once the script has run.
pub(super) const PICK: &str = include_str!("pieces/pick.js");

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
