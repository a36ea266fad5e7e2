//! What strangers' data is fed to, here and by the fuzzer (`scripts/fuzz`).
//!
//! Each target takes bytes apart into what a function wants and asks more of the answer than that
//! there is one: the same twice, within its bounds, agreed with by another reader. A short run over
//! the seeds in `fuzz/seeds` and what becomes of them by chance belongs to every test run.

mod door;
mod rules;
mod signed;

/// A function that must stand whatever it is given.
#[derive(Debug)]
pub struct Target {
    pub name: &'static str,
    pub run: fn(&[u8]),
}

pub const TARGETS: &[Target] = &[
    Target { name: "json", run: rules::json },
    Target { name: "json_path", run: rules::json_path },
    Target { name: "filter", run: rules::filter },
    Target { name: "event_types", run: rules::event_types },
    Target { name: "dedup_rule", run: door::dedup_rule },
    Target { name: "provider_body", run: door::provider_body },
    Target { name: "handshake", run: door::handshake },
    Target { name: "cloud_events", run: door::cloud_events },
    Target { name: "traceparent", run: door::traceparent },
    Target { name: "signature_header", run: signed::header },
    Target { name: "signature_line", run: signed::line },
];

/// The pieces between zero bytes; the last one has the rest.
fn pieces<const N: usize>(data: &[u8]) -> [&[u8]; N] {
    let mut split = data.splitn(N, |byte| *byte == 0);
    std::array::from_fn(|_| split.next().unwrap_or_default())
}

fn text(data: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(data)
}

/// `Name: value` on each line.
fn headers(data: &[u8]) -> crate::Headers {
    let lines = text(data);
    let pairs = lines.lines().filter_map(|line| line.split_once(':'));
    pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect()
}

#[cfg(test)]
mod tests;
