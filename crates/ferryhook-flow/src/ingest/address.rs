//! The address of a source: `/in/{source_id}`, and whatever the sender puts behind it.

use ferryhook_core::{Id, Source};

pub const PREFIX: &str = "/in/";

/// The source, and what follows its id as it was sent. `None` for what cannot be an address.
pub(super) fn parse(path: &str) -> Option<(Id<Source>, &str)> {
    let rest = path.strip_prefix(PREFIX)?;
    let end = rest.find('/').unwrap_or(rest.len());
    let (id, suffix) = rest.split_at(end);
    Some((id.parse().ok()?, suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_and_what_follows_it() {
        let parsed = |path| parse(path).map(|(id, rest)| (id.to_string(), rest.to_owned()));
        let id = "src_0000000000000001".to_owned();
        assert_eq!(parsed("/in/src_0000000000000001"), Some((id.clone(), String::new())));
        assert_eq!(parsed("/in/src_0000000000000001/a%20b//"), Some((id, "/a%20b//".into())));
        for path in
            ["/in/", "/in", "/in/evt_0000000000000001", "/in/src_1", "/in/src_000000000000000%31"]
        {
            assert_eq!(parsed(path), None, "{path}");
        }
    }
}
