//! How many calls one core brings through the client. The receivers have a thread of their own
//! and answer blindly; what is counted is the time of the calling thread, which is all that a
//! delivery costs us here.
//!
//! `cargo bench -p ferryhook-net --bench client -- [calls] [callers] [body bytes]`

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use ferryhook_core::Env;
use ferryhook_net::{Client, Guard, Outbound, Outgoing, Roots, Tasks};
use hyper::header::{HeaderName, HeaderValue};
use hyper::{HeaderMap, Method};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok";

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse::<u64>().ok());
    let calls = numbers.next().unwrap_or(200_000);
    let callers = numbers.next().unwrap_or(64);
    let body_bytes = usize::try_from(numbers.next().unwrap_or(1024)).expect("fits");

    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        runtime().block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            tell.send(listener.local_addr().expect("bound")).expect("listening");
            let tasks = Tasks::new();
            while let Ok((stream, _)) = listener.accept().await {
                tasks.spawn("receiver", answer_blindly(stream, body_bytes));
            }
        });
    });
    let address = told.recv().expect("an address");

    let guard = Guard::new(vec!["127.0.0.0/8".parse().expect("a net")]);
    let target = guard.target(&format!("http://{address}/hook")).expect("allowed");
    let outgoing = Outgoing {
        target,
        method: Method::POST,
        headers: headers(),
        body: Bytes::from(vec![b'x'; body_bytes]),
        identity: None,
        timeout: Duration::from_secs(30),
    };
    let env = Env::system();
    runtime().block_on(async {
        let tasks = Tasks::new();
        let client = Client::new(guard, env.clone(), tasks.clone(), Roots::public());
        let left = Arc::new(AtomicU64::new(calls));
        let (started, busy_before) = (env.elapsed(), thread_time());
        for _ in 0..callers {
            let (client, outgoing, left) = (client.clone(), outgoing.clone(), left.clone());
            tasks.spawn("caller", async move {
                while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok() {
                    let reply = client.send(outgoing.clone()).await.expect("an answer");
                    assert_eq!((reply.status, reply.body.len()), (200, 2));
                }
            });
        }
        tasks.finish(Duration::from_secs(600)).await;
        let took = (env.elapsed() - started).as_secs_f64();
        let busy = (thread_time() - busy_before).as_secs_f64();
        println!(
            "{calls} calls by {callers} callers: {:.0}/s; {:.1} µs of one core each, so {:.0}/s a core",
            calls as f64 / took,
            busy * 1e6 / calls as f64,
            calls as f64 / busy,
        );
    });
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// As many as a signed delivery has.
fn headers() -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("content-type", "application/json"),
        ("user-agent", "Ferryhook/0.1"),
        ("x-ferryhook-event-id", "evt_01h455vb4pex5vsknk084sn02q"),
        (
            "x-ferryhook-signature",
            "t=1700000000,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd",
        ),
        ("x-ferryhook-timestamp", "1700000000"),
        ("webhook-id", "evt_01h455vb4pex5vsknk084sn02q"),
        ("webhook-timestamp", "1700000000"),
        ("webhook-signature", "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw="),
        ("x-github-event", "push"),
        ("x-github-delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958"),
    ] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers
}

/// Takes the end of a body for the end of a request: heads and bodies have fixed lengths here.
async fn answer_blindly(mut stream: TcpStream, body_bytes: usize) {
    stream.set_nodelay(true).expect("a socket");
    let (mut chunk, mut text, mut request_bytes) = (vec![0; 64 * 1024], 0, None);
    while let Ok(read @ 1..) = stream.read(&mut chunk).await {
        let length = *request_bytes.get_or_insert_with(|| {
            let head = chunk.windows(4).position(|window| window == b"\r\n\r\n").expect("a head");
            head + 4 + body_bytes
        });
        text += read;
        if text >= length {
            text -= length;
            stream.write_all(ANSWER).await.expect("a client");
        }
    }
}

/// What this thread has run so far, as the kernel counts it.
fn thread_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap_or_default();
    let mut fields = stat.rsplit(") ").next().unwrap_or_default().split(' ').skip(11);
    let mut ticks = || fields.next().and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
    Duration::from_millis((ticks() + ticks()) * 10)
}
