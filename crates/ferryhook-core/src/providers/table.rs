//! The table: one row for each provider, sorted by name.
//!
//! A row has an id only where the provider promises one that is the same for every copy of an
//! event and for nothing else. Many send ids that are neither (a payment's id comes with each of
//! its changes), and a hash of the body fails where two events say the same: both would lose
//! events. Such a row leaves the id to the source's own expression. An id that is signed goes before
//! one that is not: whoever sends a request again can write what he likes into the latter.
//!
//! A scheme is `settled` where the provider's own code or documents were read, `experimental` where
//! only others tell. A time is checked where the provider's library does: `within` so many seconds.

mod a_to_g;
mod h_to_p;
mod q_to_z;

use super::Provider;

const PARTS: [&[Provider]; 3] = [a_to_g::PROVIDERS, h_to_p::PROVIDERS, q_to_z::PROVIDERS];

/// In the order of their names.
pub(super) fn rows() -> impl Iterator<Item = &'static Provider> {
    PARTS.into_iter().flatten()
}

/// By binary search.
pub(super) fn find(name: &str) -> Option<&'static Provider> {
    PARTS.into_iter().find_map(|part| {
        let at = part.binary_search_by(|provider| provider.name.cmp(name)).ok()?;
        part.get(at)
    })
}
