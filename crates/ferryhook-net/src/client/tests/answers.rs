//! What is sent and what comes back, with receivers that behave.

use super::*;

#[tokio::test]
async fn an_answer_has_status_headers_and_body() {
    let receiver = Receiver::answering(
        b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 7\r\ncontent-length: 4\r\n\r\nwait",
    )
    .await;
    let reply = client().send(post(&receiver.url())).await.unwrap();
    assert_eq!(reply.status, 429);
    assert_eq!(reply.headers["retry-after"], "7");
    assert_eq!(reply.body, "wait");
}

#[tokio::test]
async fn the_client_frames_the_message_whatever_the_headers_say() {
    let receiver = Receiver::answering(OK).await;
    let mut outgoing = post(&format!("{}?a=b%20c#part", receiver.url()));
    for (name, value) in [
        ("host", "elsewhere"),
        ("content-length", "4000"),
        ("transfer-encoding", "chunked"),
        ("connection", "close, x-signature"),
        ("upgrade", "h2c"),
        ("expect", "100-continue"),
        ("te", "trailers"),
        ("trailer", "x-signature"),
        ("x-signature", "abc"),
    ] {
        outgoing.headers.append(HeaderName::from_static(name), value.parse().unwrap());
    }
    client().send(outgoing).await.unwrap();
    let mut lines: Vec<_> =
        receiver.requests()[0].split("\r\n").map(str::to_owned).collect::<Vec<_>>();
    lines[1..4].sort();
    assert_eq!(
        lines,
        [
            "POST /hook?a=b%20c HTTP/1.1",
            "Content-Length: 2",
            &format!("Host: {}", receiver.address),
            "X-Signature: abc",
            "",
            "{}"
        ]
    );
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let elsewhere = Receiver::answering(OK).await;
    let there = elsewhere.url();
    let receiver = Receiver::start(move |mut visit| {
        let answer = format!("HTTP/1.1 307 Go\r\nlocation: {there}\r\ncontent-length: 0\r\n\r\n");
        async move {
            while visit.request().await {
                visit.say(answer.as_bytes()).await;
            }
        }
    })
    .await;
    let reply = client().send(post(&receiver.url())).await.unwrap();
    assert_eq!(reply.status, 307);
    assert_eq!(elsewhere.connections(), 0);
}

#[tokio::test]
async fn a_packed_body_stays_packed() {
    let receiver = Receiver::answering(
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\n\x1f\x8b\x08",
    )
    .await;
    let reply = client().send(post(&receiver.url())).await.unwrap();
    assert_eq!(reply.body, &b"\x1f\x8b\x08"[..]);
    assert!(!receiver.requests()[0].to_lowercase().contains("accept-encoding"));
}

#[tokio::test]
async fn a_chunked_body_comes_in_one_piece_and_its_trailers_are_left_out() {
    let receiver = Receiver::answering(
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nx: y\r\n\r\n",
    )
    .await;
    let client = client();
    for _ in 0..2 {
        let reply = client.send(post(&receiver.url())).await.unwrap();
        assert_eq!(reply.body, "abcde");
        assert!(!reply.headers.contains_key("x"));
    }
    assert_eq!(receiver.connections(), 1);
}

#[tokio::test]
async fn an_answer_to_head_has_no_body_to_wait_for() {
    let receiver = Receiver::answering(b"HTTP/1.1 200 OK\r\ncontent-length: 4000000\r\n\r\n").await;
    let client = client();
    for _ in 0..2 {
        let mut outgoing = post(&receiver.url());
        (outgoing.method, outgoing.body) = (Method::HEAD, Bytes::new());
        assert_eq!(client.send(outgoing).await.unwrap().status, 200);
    }
    assert_eq!(receiver.connections(), 1);
}

#[tokio::test]
async fn interim_answers_are_skipped() {
    let receiver = Receiver::answering(
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n\
          HTTP/1.1 204 No Content\r\n\r\n",
    )
    .await;
    let reply = client().send(post(&receiver.url())).await.unwrap();
    assert_eq!((reply.status, reply.headers.len()), (204, 0));
}

/// A literal address needs no lookup, a plain URL no TLS, a second call no connection.
#[tokio::test]
async fn the_timing_has_the_steps_that_happened() {
    let receiver = Receiver::answering(OK).await;
    let client = client();
    let first = client.send(post(&receiver.url())).await.unwrap().timing;
    assert_eq!((first.dns, first.tls), (None, None));
    assert!(first.connect.is_some());
    assert!(first.total >= first.connect.unwrap() + first.first_byte.unwrap());
    let second = client.send(post(&receiver.url())).await.unwrap().timing;
    assert_eq!((second.dns, second.connect, second.tls), (None, None, None));
    assert!(second.first_byte.is_some());
}

#[tokio::test]
async fn tunnels_are_not_opened() {
    let receiver = Receiver::answering(OK).await;
    let mut outgoing = post(&receiver.url());
    outgoing.method = Method::CONNECT;
    assert_eq!(client().send(outgoing).await.unwrap_err().why, Why::Blocked);
    assert_eq!(receiver.connections(), 0);
}

#[tokio::test]
async fn this_machine_can_be_called_by_name_where_the_operator_allows_it() {
    let receiver = Receiver::answering(OK).await;
    let url = format!("http://localhost:{}/hook", receiver.address.port());
    assert_eq!(client().send(post(&url)).await.unwrap().status, 200);
    assert!(receiver.requests()[0].contains(&format!("localhost:{}", receiver.address.port())));
}
