use super::*;

const LENGTH: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\ndate: now\r\n\r\nhello";
const CHUNKS: &[u8] = b"HTTP/1.1 404 Not Found\r\ntransfer-encoding: chunked\r\n\r\n\
    3\r\nhel\r\n2;a=b\r\nlo\r\n0\r\n\r\n";
const TRAILERS: &[u8] = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
    5\r\nhello\r\n0\r\na: b\r\n\r\n";

#[test]
fn a_message_ends_where_it_says() {
    for sent in [LENGTH, CHUNKS, TRAILERS] {
        let more = [sent, b"HTTP/1.1 200 OK\r\n"].concat();
        let message = Message::parse(&more).unwrap().unwrap();
        assert_eq!((message.body.as_ref(), message.length), (&b"hello"[..], sent.len()));
    }
}

#[test]
fn every_beginning_of_a_message_waits_for_more() {
    for sent in [LENGTH, CHUNKS, TRAILERS] {
        for length in 0..sent.len() {
            assert_eq!(Message::parse(&sent[..length]).unwrap(), None, "{length}");
        }
    }
}

#[test]
fn a_message_without_length_has_no_body() {
    let message = Message::parse(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap().unwrap();
    assert_eq!((message.body.len(), status(message.head)), (0, Some(204)));
}

#[test]
fn what_is_too_long_or_no_number_is_an_error() {
    let endless = vec![b'x'; HEAD_BYTES_MAX + 1];
    let too_long = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", BODY_BYTES_MAX + 1);
    let no_number = b"HTTP/1.1 200 OK\r\ncontent-length: five\r\n\r\n";
    let no_chunk = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfive\r\n";
    for bytes in [&endless, too_long.as_bytes(), no_number, no_chunk] {
        assert!(Message::parse(bytes).is_err());
    }
}
