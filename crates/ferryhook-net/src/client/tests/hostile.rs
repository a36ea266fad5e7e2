//! Destinations that break, stall, flood and lie. A call ends in time, in bounds, and says what
//! it met.

use super::*;

/// What a receiver does after it has read the request and said something.
#[derive(Clone, Copy)]
enum Then {
    Close,
    Reset,
    Stall,
    /// Says this for as long as anyone listens.
    Repeat(&'static [u8]),
    /// Says this again and again, slowly.
    Drip(&'static [u8]),
}

/// For those that must get something before their deadline.
const LESS_SHORT: Duration = Duration::from_millis(900);

/// More than sockets buffer between two ends of a loopback, and little enough.
const FLOOD_MAX: usize = 32 << 20;

async fn receiver(says: impl Into<Bytes>, then: Then) -> Receiver {
    let says = says.into();
    Receiver::start(move |mut visit| {
        let says = says.clone();
        async move {
            visit.request().await;
            visit.say(&says).await;
            match then {
                Then::Close => {}
                Then::Reset => visit.stream.set_zero_linger().unwrap(),
                Then::Stall => visit.wait().await,
                Then::Repeat(what) => {
                    while visit.say(what).await {
                        visit.seen.flooded.fetch_add(what.len(), Ordering::SeqCst);
                    }
                }
                Then::Drip(what) => {
                    let mut ticks = tokio::time::interval(Duration::from_millis(10));
                    while visit.say(what).await {
                        ticks.tick().await;
                    }
                }
            }
        }
    })
    .await
}

async fn call(says: impl Into<Bytes>, then: Then, timeout: Duration) -> Result<Reply, Unsent> {
    let receiver = receiver(says, then).await;
    let client = client();
    let outcome = client.send(Outgoing { timeout, ..post(&receiver.url()) }).await;
    assert_eq!((receiver.connections(), client.pool.count()), (1, 0));
    let flooded = receiver.seen.flooded.load(Ordering::SeqCst);
    assert!(flooded < FLOOD_MAX, "the client took {flooded} bytes");
    outcome
}

#[track_caller]
fn failed(outcome: Result<Reply, Unsent>, why: Why, message: &str) {
    let unsent = outcome.unwrap_err();
    assert_eq!((unsent.why, unsent.message.as_str()), (why, message));
}

#[track_caller]
fn answered(outcome: Result<Reply, Unsent>, status: u16, body: &[u8]) {
    let reply = outcome.unwrap();
    assert_eq!((reply.status, &reply.body[..]), (status, body));
}

const NOT_HTTP: &str = "what came back is not an answer in HTTP/1.1";
const TOO_LARGE: &str = "the answer has too many or too large headers";
const UNANSWERED: &str = "the destination closed the connection without an answer";
const CUT: &str = "the destination closed the connection in the middle of its answer";

#[tokio::test]
async fn closing_before_an_answer() {
    failed(call("", Then::Close, PATIENCE).await, Why::Broken, UNANSWERED);
}

#[tokio::test]
async fn closing_within_the_head() {
    for cut in ["H", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK\r\nx: y\r\n", "HTTP/1.1 100 Go\r\n\r\nHT"]
    {
        failed(call(cut, Then::Close, PATIENCE).await, Why::Broken, CUT);
    }
}

#[tokio::test]
async fn resetting_before_an_answer() {
    let message = "the destination reset the connection";
    failed(call("", Then::Reset, PATIENCE).await, Why::Broken, message);
}

#[tokio::test]
async fn resetting_within_the_head() {
    let outcome = call("HTTP/1.1 2", Then::Reset, PATIENCE).await;
    assert_eq!(outcome.unwrap_err().why, Why::Broken);
}

#[tokio::test]
async fn what_is_not_http() {
    for garbage in [
        "hello\r\n\r\n",
        "<html>this is HTTP/0.9</html>\r\n\r\n",
        "SSH-2.0-OpenSSH_9.6\r\n\r\n",
        "220 mail.example.com ESMTP\r\n",
        "\0\x01\x02\x03\x04\x05\x06\x07\x08\r\n\r\n",
        "HTTP/3.0 200 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 xyz OK\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
    ] {
        let outcome = call(garbage, Then::Stall, PATIENCE).await;
        failed(outcome, Why::BadAnswer, NOT_HTTP);
    }
}

#[tokio::test]
async fn another_protocol_unasked() {
    let switch = "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n";
    for then in [Then::Stall, Then::Close, Then::Repeat(&[b'x'; 4096])] {
        failed(
            call(switch, then, PATIENCE).await,
            Why::BadAnswer,
            "the destination changed to another protocol, unasked",
        );
    }
}

#[tokio::test]
async fn a_header_of_two_megabytes() {
    let head = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "y".repeat(2 << 20));
    failed(call(head, Then::Stall, PATIENCE).await, Why::BadAnswer, TOO_LARGE);
}

#[tokio::test]
async fn a_header_without_end() {
    let outcome = call("HTTP/1.1 200 OK\r\nx: ", Then::Repeat(&[b'y'; 4096]), PATIENCE).await;
    failed(outcome, Why::BadAnswer, TOO_LARGE);
}

#[tokio::test]
async fn twenty_thousand_headers() {
    let head = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x: y\r\n".repeat(20_000));
    failed(call(head, Then::Stall, PATIENCE).await, Why::BadAnswer, TOO_LARGE);
    let headers = |count| format!("HTTP/1.1 204 OK\r\n{}\r\n", "x: y\r\n".repeat(count));
    let just_so_many = call(headers(limits::HEADERS_MAX), Then::Close, PATIENCE).await;
    assert_eq!(just_so_many.unwrap().headers.len(), limits::HEADERS_MAX);
    let one_more = call(headers(limits::HEADERS_MAX + 1), Then::Close, PATIENCE).await;
    failed(one_more, Why::BadAnswer, TOO_LARGE);
}

#[tokio::test]
async fn interim_answers_without_end() {
    let outcome = call("", Then::Repeat(b"HTTP/1.1 100 Continue\r\n\r\n"), PATIENCE).await;
    failed(outcome, Why::BadAnswer, "the answer's head never ends");
}

#[tokio::test]
async fn saying_nothing() {
    let outcome = call("", Then::Stall, SHORT).await;
    assert_eq!(outcome.as_ref().unwrap_err().timing.first_byte, None);
    failed(outcome, Why::Timeout, "there was no answer within 300ms");
}

#[tokio::test]
async fn dripping_the_head() {
    let outcome = call("HTTP/1.1 200 OK\r\n", Then::Drip(b"x: y\r\n"), LESS_SHORT).await;
    assert!(outcome.as_ref().unwrap_err().timing.first_byte.is_some());
    failed(outcome, Why::Timeout, "there was no answer within 900ms");
}

#[tokio::test]
async fn dripping_interim_answers() {
    let outcome = call("", Then::Drip(b"HTTP/1.1 102 Processing\r\n\r\n"), SHORT).await;
    failed(outcome, Why::Timeout, "there was no answer within 300ms");
}

/// The status holds; the body is what came until the deadline.
#[tokio::test]
async fn dripping_the_body() {
    let drip = Then::Drip(b"x");
    let outcome =
        call("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n", drip, LESS_SHORT).await;
    let reply = outcome.unwrap();
    assert_eq!(reply.status, 200);
    assert!(!reply.body.is_empty() && reply.body.iter().all(|byte| *byte == b'x'));
    assert!(reply.timing.total >= LESS_SHORT);
}

#[tokio::test]
async fn stalling_within_the_body() {
    let says = "HTTP/1.1 503 Busy\r\ncontent-length: 10\r\n\r\nabc";
    answered(call(says, Then::Stall, LESS_SHORT).await, 503, b"abc");
}

#[tokio::test]
async fn cutting_the_body() {
    let says = "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc";
    answered(call(says, Then::Close, PATIENCE).await, 200, b"abc");
    let says = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n5\r\nde";
    answered(call(says, Then::Close, PATIENCE).await, 200, b"abcde");
    // After a reset what was on its way may be gone, but not the status that had come.
    let outcome = call("HTTP/1.1 500 Oops\r\ncontent-length: 10\r\n\r\n", Then::Reset, PATIENCE);
    match outcome.await {
        Ok(reply) => assert_eq!(reply.status, 500),
        Err(unsent) => assert_eq!(unsent.why, Why::Broken), // it overtook the head
    }
}

#[tokio::test]
async fn a_chunk_that_is_none() {
    let says = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n";
    answered(call(says, Then::Stall, PATIENCE).await, 200, b"abc");
    let says = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n";
    answered(call(says, Then::Stall, PATIENCE).await, 200, b"");
}

#[tokio::test]
async fn a_body_that_ends_with_the_connection() {
    answered(call("HTTP/1.0 200 OK\r\n\r\nabc", Then::Close, PATIENCE).await, 200, b"abc");
    answered(call("HTTP/1.1 200 OK\r\n\r\nabc", Then::Close, PATIENCE).await, 200, b"abc");
}

#[tokio::test]
async fn bodies_without_end_are_left_early() {
    let kept = vec![b'x'; limits::BODY_BYTES_KEPT];
    let flood = Then::Repeat(&[b'x'; 4096]);
    for head in [
        "HTTP/1.1 200 OK\r\ncontent-length: 10737418240\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 18446744073709551600\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffff\r\n",
    ] {
        answered(call(head, flood, PATIENCE).await, 200, &kept);
    }
}

#[tokio::test]
async fn chunks_of_one_byte_without_end() {
    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let outcome = call(head, Then::Repeat(b"1\r\nx\r\n"), PATIENCE).await;
    answered(outcome, 200, &vec![b'x'; limits::BODY_BYTES_KEPT]);
}

#[tokio::test]
async fn framing_of_chunks_without_end() {
    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let extension = format!("{head}3;");
    answered(call(extension, Then::Repeat(&[b'x'; 4096]), PATIENCE).await, 200, b"");
    let trailers = format!("{head}3\r\nabc\r\n0\r\n");
    answered(
        call(trailers, Then::Repeat(b"x: yyyyyyyyyyyyyyyyyyyyyyyyyy\r\n"), PATIENCE).await,
        200,
        b"abc",
    );
}

/// A receiver that does not read does not hold the call beyond its deadline.
#[tokio::test]
async fn not_reading_the_request() {
    let receiver = Receiver::start(async |visit| {
        let _held = visit;
        std::future::pending::<()>().await;
    })
    .await;
    let body = Bytes::from(vec![b'x'; 16 << 20]);
    let outgoing = Outgoing { body, timeout: SHORT, ..post(&receiver.url()) };
    failed(client().send(outgoing).await, Why::Timeout, "there was no answer within 300ms");
}

/// An answer that comes before the request was read counts; the connection does not.
#[tokio::test]
async fn answering_before_the_request_is_read() {
    let receiver = Receiver::start(async |mut visit| {
        visit.say(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n").await;
        std::future::pending::<()>().await;
    })
    .await;
    let client = client();
    let body = Bytes::from(vec![b'x'; 16 << 20]);
    let reply = client.send(Outgoing { body, ..post(&receiver.url()) }).await.unwrap();
    assert_eq!((reply.status, client.pool.count()), (413, 0));
}

/// Nobody listens there. The text is the one for every failure inside: it tells no port scan
/// whether something was closed, filtered or slow.
#[tokio::test]
async fn closed_ports_of_the_inside_look_like_filtered_ones() {
    let listener = TcpListener::bind("127.0.0.9:0").await.unwrap(); // nobody else is there
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let closed = client().send(post(&url)).await.unwrap_err();
    assert_eq!(closed.why, Why::Refused);
    let env = Env::system();
    let mut filtered = Course::start(&env);
    filtered.begin(course::Step::ConnectingInside);
    let filtered = filtered.conclude::<()>(None, SHORT).unwrap_err();
    assert_eq!((closed.why, closed.message), (filtered.why, filtered.message));
}
