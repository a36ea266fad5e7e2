use super::*;

/// As `getNormalizedEncodedURI` of the provider's toolkit writes them.
#[test]
fn a_query_is_escaped_twice() {
    for (url, path) in [
        ("https://h.io/in/a", "/in/a"),
        ("https://h.io", "/"),
        ("https://h.io/in/a b/ä?x=1&y=a b%20", "/in/a%20b/%C3%A4?x%253D1%2526y%253Da%2520b%252520"),
    ] {
        assert_eq!(canonical_path(url), path, "{url}");
    }
}
