//! Requests that no honest client sends, byte by byte. Whatever comes, there is one answer, the
//! connection is closed, and the next client is served.

use std::io::Write;

use ferryhook_core::Source;

use crate::ferry::{Answer, Ferry, read_to_close};
use crate::ingest::{ADDRESS, ferry_with, plain};

fn ferry(folder: &tempfile::TempDir) -> Ferry {
    ferry_with(folder.path(), "self_hosted", &[plain()], &[])
}

/// The one answer to these bytes, after which the server closes by itself.
fn only_answer(ferry: &Ferry, request: &[u8]) -> Answer {
    let words = ferry.last_words(request);
    assert_eq!(words.matches("HTTP/1.1 ").count(), 1, "{words}");
    Answer::parse(&words)
}

fn post(headers: &str, body: &str) -> String {
    format!("POST {ADDRESS} HTTP/1.1\r\n{headers}\r\n{body}")
}

/// Whatever follows a request that is refused must not be taken for the next one.
const SMUGGLED: &str = "GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n";

#[test]
fn doubtful_framing_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let ferry = ferry(&folder);
    let chunks = format!("0\r\n\r\n{SMUGGLED}");
    let cases: &[(&str, String)] = &[
        ("no host", post("content-length: 0\r\n", SMUGGLED)),
        ("two hosts", post("host: a\r\nhost: a\r\ncontent-length: 0\r\n", SMUGGLED)),
        ("host with a slash", post("host: a/b\r\ncontent-length: 0\r\n", SMUGGLED)),
        ("host with a user", post("host: u@a\r\ncontent-length: 0\r\n", SMUGGLED)),
        ("empty host", post("host: \r\ncontent-length: 0\r\n", SMUGGLED)),
        (
            "length and chunks",
            post("host: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n", &chunks),
        ),
        (
            "chunks and length",
            post("host: a\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n", &chunks),
        ),
        ("two lengths", post("host: a\r\ncontent-length: 5\r\ncontent-length: 6\r\n", SMUGGLED)),
        (
            "the same length twice",
            post("host: a\r\ncontent-length: 0\r\ncontent-length: 0\r\n", SMUGGLED),
        ),
        ("a list of lengths", post("host: a\r\ncontent-length: 5, 5\r\n", SMUGGLED)),
        ("negative length", post("host: a\r\ncontent-length: -1\r\n", SMUGGLED)),
        ("signed length", post("host: a\r\ncontent-length: +5\r\n", SMUGGLED)),
        ("hexadecimal length", post("host: a\r\ncontent-length: 0x5\r\n", SMUGGLED)),
        (
            "overflowing length",
            post("host: a\r\ncontent-length: 18446744073709551617\r\n", SMUGGLED),
        ),
        ("identity", post("host: a\r\ntransfer-encoding: identity\r\n", &chunks)),
        ("identity, chunked", post("host: a\r\ntransfer-encoding: identity, chunked\r\n", &chunks)),
        ("gzip, chunked", post("host: a\r\ntransfer-encoding: gzip, chunked\r\n", &chunks)),
        ("chunked, chunked", post("host: a\r\ntransfer-encoding: chunked, chunked\r\n", &chunks)),
        (
            "chunked twice",
            post(
                "host: a\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n",
                &chunks,
            ),
        ),
        ("chunked, identity", post("host: a\r\ntransfer-encoding: chunked, identity\r\n", &chunks)),
        ("xchunked", post("host: a\r\ntransfer-encoding: xchunked\r\n", &chunks)),
        ("a space before the colon", post("host: a\r\ntransfer-encoding : chunked\r\n", &chunks)),
        ("a folded line", post("host: a\r\nx: 1\r\n  2\r\ncontent-length: 0\r\n", SMUGGLED)),
        ("bare line feeds", post("host: a\r\n", SMUGGLED).replace("\r\n", "\n")),
        ("one bare line feed", post("host: a\r\nx: 1\ncontent-length: 0\r\n", SMUGGLED)),
        ("a bare carriage return", post("host: a\r\nx: 1\rcontent-length: 5\r\n", SMUGGLED)),
        ("a zero in a value", post("host: a\r\nx: a\0b\r\n", SMUGGLED)),
        ("a zero in a name", post("host: a\r\nx\0y: 1\r\n", SMUGGLED)),
        ("no name", post("host: a\r\n: 1\r\n", SMUGGLED)),
        ("an unknown version", post("host: a\r\n", SMUGGLED).replacen("HTTP/1.1", "HTTP/1.2", 1)),
        ("garbage", "\u{1}\u{2}\u{3}\r\n\r\n".into()),
    ];
    for (name, request) in cases {
        let answer = only_answer(&ferry, request.as_bytes());
        assert_eq!(answer.status, 400, "{name}: {answer:?}");
    }
    assert_eq!(ferry.post(ADDRESS, b"x").status, 200, "the next one is served");
}

#[test]
fn doubtful_chunks_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let ferry = ferry(&folder);
    let cases = [
        ("not a number", "x\r\nhello\r\n0\r\n\r\n"),
        ("no number", "\r\nhello\r\n0\r\n\r\n"),
        ("negative", "-5\r\nhello\r\n0\r\n\r\n"),
        ("prefixed", "0x5\r\nhello\r\n0\r\n\r\n"),
        ("overflowing", "ffffffffffffffffff\r\nhello\r\n0\r\n\r\n"),
        ("longer than it says", "3\r\nhello\r\n0\r\n\r\n"),
        ("line feed only", "5\nhello\n0\n\n"),
        ("line feed in an extension", "5;a\nb\r\nhello\r\n0\r\n\r\n"),
        ("carriage return in an extension", "5;a\rb\r\nhello\r\n0\r\n\r\n"),
        ("space inside", "5 5\r\nhello\r\n0\r\n\r\n"),
    ];
    for (name, chunks) in cases {
        let request = post("host: a\r\ntransfer-encoding: chunked\r\n", chunks);
        let answer = only_answer(&ferry, format!("{request}{SMUGGLED}").as_bytes());
        assert_eq!(answer.status, 400, "{name}: {answer:?}");
    }
    let whole = "5;ext=1\r\nhello\r\n1\r\n!\r\n0\r\nx-trailer: 1\r\n\r\n";
    let request = post("host: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n", whole);
    assert_eq!(only_answer(&ferry, request.as_bytes()).status, 200);
}

#[test]
fn heads_that_are_too_large() {
    let folder = tempfile::tempdir().unwrap();
    let ferry = ferry(&folder);
    let many: String = (0..101).map(|n| format!("x-{n}: 1\r\n")).collect();
    let cases = [
        ("one long header", post(&format!("host: a\r\nx: {}\r\n", "x".repeat(64 * 1024)), "")),
        ("many headers", post(&format!("host: a\r\n{many}"), "")),
        (
            "a long path",
            format!("POST {ADDRESS}/{} HTTP/1.1\r\nhost: a\r\n\r\n", "x".repeat(64 * 1024)),
        ),
    ];
    for (name, request) in cases {
        let answer = only_answer(&ferry, request.as_bytes());
        assert!([400, 414, 431].contains(&answer.status), "{name}: {answer:?}");
    }
}

#[test]
fn bodies_that_are_too_large() {
    let folder = tempfile::tempdir().unwrap();
    let ferry = ferry(&folder);
    let too_much = 262_145;
    let cases = [
        ("declared and not sent", format!("content-length: {too_much}\r\n"), String::new()),
        ("declared as ten gigabytes", "content-length: 10000000000\r\n".into(), String::new()),
        // No `100 Continue` for what is not wanted: that would be a second answer.
        (
            "expecting",
            format!("content-length: {too_much}\r\nexpect: 100-continue\r\n"),
            String::new(),
        ),
        ("declared and sent", format!("content-length: {too_much}\r\n"), "x".repeat(too_much)),
        (
            "in one chunk",
            "transfer-encoding: chunked\r\n".into(),
            format!("{too_much:x}\r\n{}\r\n0\r\n\r\n", "x".repeat(too_much)),
        ),
        (
            "in many chunks that do not end",
            "transfer-encoding: chunked\r\n".into(),
            format!("1000\r\n{}\r\n", "x".repeat(0x1000)).repeat(65),
        ),
    ];
    for (name, headers, body) in cases {
        let request = post(&format!("host: a\r\n{headers}"), &body);
        let answer = only_answer(&ferry, request.as_bytes());
        assert_eq!(answer.status, 413, "{name}: {answer:?}");
        assert_eq!(answer.json()["code"], "PAYLOAD_TOO_LARGE", "{name}");
    }
    assert_eq!(ferry.post(ADDRESS, &vec![b'x'; 262_144]).status, 200);
    let chunk = "x".repeat(0x10000);
    let chunks = format!("10000\r\n{chunk}\r\n").repeat(4);
    let headers = "host: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n";
    let request = post(headers, &format!("{chunks}0\r\n\r\n"));
    assert_eq!(only_answer(&ferry, request.as_bytes()).status, 200, "exactly the limit");
}

/// Somebody who sends on and on still gets to read why it was for nothing.
#[test]
fn a_large_body_does_not_drown_its_answer() {
    let folder = tempfile::tempdir().unwrap();
    let ferry = ferry(&folder);
    let mut stream = ferry.connect();
    let eight = 8 * 1024 * 1024;
    write!(stream, "{}", post(&format!("host: a\r\ncontent-length: {eight}\r\n"), "")).unwrap();
    // A plain client writes everything before it reads anything.
    stream.write_all(&vec![b'x'; eight]).unwrap();
    assert_eq!(Answer::parse(&read_to_close(&mut stream)).status, 413);
}

#[test]
fn continue_is_said_to_those_who_are_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let ferry = ferry(&folder);
    let headers = "host: a\r\nconnection: close\r\ncontent-length: 5\r\nexpect: 100-continue\r\n";
    let words = ferry.last_words(post(headers, "hello").as_bytes());
    assert!(words.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK"), "{words}");
}

/// Half a body and then silence: told so, and closed.
#[test]
fn a_body_that_does_not_come() {
    let folder = tempfile::tempdir().unwrap();
    let variables = [("FERRYHOOK_INGEST_BODY_SECONDS", "1")];
    let ferry = ferry_with(folder.path(), "self_hosted", &[plain()], &variables);
    for request in [
        post("host: a\r\ncontent-length: 5\r\n", "he"),
        post("host: a\r\ntransfer-encoding: chunked\r\n", "5\r\nhe"),
    ] {
        let answer = only_answer(&ferry, request.as_bytes());
        assert_eq!((answer.status, &answer.json()["code"]), (408, &"REQUEST_TIMEOUT".into()));
    }
}

/// Connections that say nothing, or begin and stop, are in nobody's way.
#[test]
fn idle_connections_do_not_stop_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let ferry = ferry(&folder);
    let idle: Vec<_> = (0..400)
        .map(|n| {
            let mut stream = ferry.connect();
            let head = post("host: a\r\ncontent-length: 5\r\n", "he");
            stream.write_all(&head.as_bytes()[..[0, 1, 20, head.len()][n % 4]]).unwrap();
            stream
        })
        .collect();
    for _ in 0..20 {
        assert_eq!(ferry.post(ADDRESS, b"x").status, 200);
    }
    drop(idle);
    ferry.stop();
}

/// Bytes are bytes: no parser is let loose on what nobody asked to read.
#[test]
fn bodies_that_are_odd() {
    let folder = tempfile::tempdir().unwrap();
    let stripe = Source { provider: "stripe".into(), ..plain() };
    let lists = Source {
        id: "src_0000000000000002".parse().unwrap(),
        provider: "hubspot".into(),
        ..plain()
    };
    let ferry = ferry_with(folder.path(), "self_hosted", &[stripe, lists], &[]);
    let deep = format!("{}{}", "[".repeat(120_000), "]".repeat(120_000));
    let bodies: [(&str, Vec<u8>); 9] = [
        ("nothing", Vec::new()),
        ("binary", (0..=255).collect()),
        ("not UTF-8", b"{\"id\":\"\xff\"}".to_vec()),
        ("deep JSON", deep.clone().into_bytes()),
        ("deep inside", format!("{{\"a\":{deep},\"id\":\"1\"}}").into_bytes()),
        ("a long number", format!("{{\"id\":{}}}", "9".repeat(100_000)).into_bytes()),
        ("names twice", br#"{"id":"a","id":"b"}"#.to_vec()),
        ("half a surrogate", br#"{"id":"\ud800"}"#.to_vec()),
        ("gzip", b"\x1f\x8b\x08\0\0\0\0\0\0\x03".to_vec()),
    ];
    for (name, body) in bodies {
        for path in [ADDRESS, "/in/src_0000000000000002"] {
            let headers = "content-type: application/json\r\ncontent-encoding: gzip\r\n";
            let answer = ferry.post_with(path, headers, &body);
            assert_eq!(answer.status, 200, "{name}: {answer:?}");
        }
    }
}
