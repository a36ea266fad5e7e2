use super::*;

/// What is in doubt, however the bytes are cut into reads.
fn doubt(text: &str) -> Option<Misframed> {
    let whole = {
        let mut heads = Heads::default();
        heads.read(text.as_bytes());
        heads.doubt()
    };
    for size in 1..text.len().min(9) {
        let mut heads = Heads::default();
        text.as_bytes().chunks(size).for_each(|piece| heads.read(piece));
        assert_eq!(heads.doubt(), whole, "in pieces of {size}: {text:?}");
    }
    whole
}

#[test]
fn plain_messages_are_beyond_doubt() {
    let messages = [
        "GET / HTTP/1.1\r\nhost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\nContent-Length: 5\r\n\r\nhello",
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\nTransfer-Encoding: chunked\r\n\r\n\
            5;ext=1\r\nhello\r\nA\r\n0123456789\r\n0\r\ntrailer: 1\r\n\r\n",
        "\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    ];
    for message in messages {
        assert_eq!(doubt(message), None, "{message:?}");
    }
    assert_eq!(doubt(&messages.concat()), None, "one behind the other");
}

/// What a body says is nobody's length.
#[test]
fn bodies_are_not_looked_into() {
    let inside = "\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n\n";
    let length = inside.len();
    assert_eq!(
        doubt(&format!("POST / HTTP/1.1\r\ncontent-length: {length}\r\n\r\n{inside}")),
        None
    );
    let chunked = "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n";
    assert_eq!(doubt(&format!("{chunked}{length:x}\r\n{inside}\r\n0\r\n\r\n")), None);
}

#[test]
fn what_can_be_read_in_two_ways_is_in_doubt() {
    let chunked = "Transfer-Encoding: chunked\r\n";
    let length = "CONTENT-LENGTH: 5\r\n";
    let head = |lines: &str| doubt(&format!("POST / HTTP/1.1\r\nhost: a\r\n{lines}\r\n0\r\n\r\n"));
    assert_eq!(head(&format!("{chunked}{length}")), Some(TWO_WAYS));
    assert_eq!(head(&format!("{length}{chunked}")), Some(TWO_WAYS));
    assert_eq!(head(&format!("{length}{length}")), Some(TWO_LENGTHS));
    assert_eq!(head(&format!("content-length:{}5\r\n", " ".repeat(80))), Some(LONG_LENGTH));
    assert_eq!(head("content-length: 99999999999999999999\r\n"), Some(LONG_LENGTH));
    assert_eq!(head("x: 1\n"), Some(BARE_FEED));
    // Also in the second message of a connection.
    let first = "POST / HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc";
    let second = format!("POST / HTTP/1.1\r\n{length}{chunked}\r\n0\r\n\r\n");
    assert_eq!(doubt(&format!("{first}{second}")), Some(TWO_WAYS));
}

#[test]
fn http2_is_not_followed() {
    assert_eq!(doubt("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\n\ncontent-length: 1\n"), None);
}
