//! What the sender may have called us by.

use crate::verify::template::path_and_query;

/// The same place under other names: with or without TLS, slash, port and query.
pub(super) fn variants(url: &str) -> impl Iterator<Item = String> {
    let mut variants: Vec<String> = Vec::new();
    let Some((_, rest)) = url.split_once("://") else { return variants.into_iter() };
    let (path, query) = path_and_query(url);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let bare = host.rsplit_once(':').map_or(host, |(bare, _)| bare);
    let slashed = match path.strip_suffix('/') {
        Some(bare) => bare.to_owned(),
        None => format!("{path}/"),
    };
    for scheme in ["https", "http"] {
        for host in [host, bare] {
            for path in [path, slashed.as_str()] {
                if !query.is_empty() {
                    variants.push(format!("{scheme}://{host}{path}?{query}"));
                }
                variants.push(format!("{scheme}://{host}{path}"));
            }
        }
    }
    variants.retain(|other| other != url);
    variants.into_iter()
}
