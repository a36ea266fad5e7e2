//! Host names: which can be asked for at all, and which belong to the inside of some network.

/// Names below these are answered differently on every machine, or mean the machine itself.
const INSIDE: [&str; 5] = ["localhost", "local", "internal", "localdomain", "home.arpa"];

/// What DNS can be asked for. The URL parser lets through more than that.
pub(super) fn is_well_formed(name: &str) -> bool {
    name.len() <= 253 && name.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// A single label, or below one of [`INSIDE`].
pub(super) fn is_inside(name: &str) -> bool {
    !name.contains('.') || INSIDE.iter().any(|zone| is_below(name, zone))
}

/// Means this machine and nothing else, so that nobody needs to be asked (RFC 6761).
pub(super) fn is_this_machine(name: &str) -> bool {
    is_below(name, "localhost")
}

fn is_below(name: &str, zone: &str) -> bool {
    name.strip_suffix(zone).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}
