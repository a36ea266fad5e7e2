use super::*;

/// A link in a letter must not be able to lead anybody away from here.
#[test]
fn the_way_on_is_a_path_here() {
    for fine in [None, Some("/"), Some("/sources?status=active&x=%2F"), Some("/a//b")] {
        assert_eq!(next(fine).unwrap(), fine.unwrap_or("/"));
    }
    let long = format!("/{}", "a".repeat(NEXT_BYTES_MAX));
    for bad in [
        "",
        "sources",
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "\\\\evil",
        "/a b",
        "/\t/evil",
        "/a\r\nx: y",
        "javascript:alert(1)",
        "/#x",
        "/ä",
        &long,
    ] {
        assert!(next(Some(bad)).is_err(), "{bad:?}");
    }
}
