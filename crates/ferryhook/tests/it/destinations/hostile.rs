//! One call goes wrong: the attempt says how, the next one is made on schedule, and nobody else
//! notices.

use std::fs;
use std::io::Read;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

use crate::destination::{Call, Destination, OK, Then, hang, meet, say, say_for_ever};
use crate::stage::{Stage, source, told};

/// Nothing that a destination sends may stay in memory; this is room for the store's own buffers.
const MEMORY_GROWTH_KB_MAX: u64 = 128 * 1024;
/// What other deliveries may take while all of this goes on.
const CALM: Duration = Duration::from_millis(900);
const DRIP: Duration = Duration::from_millis(20);
const CALM_EVENTS: usize = 20;

const NO_LINE: &str = "0 no connection to the destination could be made";
const NO_TLS: &str = "0 the destination does not speak TLS";
const SELF_SIGNED: &str = "0 the certificate comes from an unknown issuer or is self-signed";
const LATE: &str = "0 there was no answer within 1s";
const ENDLESS: &str = "0 the answer's head never ends";
const TOO_LARGE: &str = "0 the answer has too many or too large headers";
const UNHEARD: &str = "0 the destination closed the connection without an answer";
const CUT: &str = "0 the destination closed the connection in the middle of its answer";
const RESET: &str = "0 the destination reset the connection";
const NOT_HTTP: &str = "0 what came back is not an answer in HTTP/1.1";
const UPGRADED: &str = "0 the destination changed to another protocol, unasked";

/// What a destination does, by the path it is called with, and what each attempt says of it.
/// Where the head says 200, the destination has the event, whatever comes after.
const CASES: [(&str, &str); 31] = [
    ("hang", LATE),
    ("drip-head", LATE),
    ("drip-body", "200"),
    ("endless-body", "200"),
    ("long-body", "200"),
    ("bomb", "200"),
    ("endless-1xx", ENDLESS),
    ("large-header", TOO_LARGE),
    ("many-headers", TOO_LARGE),
    ("close", UNHEARD),
    ("close-in-head", CUT),
    ("close-in-body", "200"),
    ("garbage", NOT_HTTP),
    ("http-0.9", NOT_HTTP),
    ("bad-chunk", "200"),
    ("101", UPGRADED),
    ("hints", "200"),
    ("http-1.0", "200"),
    ("odd-headers", "200"),
    ("two-lengths", NOT_HTTP),
    ("status-99", NOT_HTTP),
    ("301", "301 redirects are not followed"),
    ("302", "302 redirects are not followed"),
    ("303", "303 redirects are not followed"),
    ("307", "307 redirects are not followed"),
    ("308", "308 redirects are not followed"),
    ("400", "400"),
    ("404", "404"),
    ("500", "500"),
    ("599", "599"),
    ("999", "999"),
];

#[test]
fn every_misfortune_is_written_down_and_tried_again() {
    let canary = Destination::kind();
    let elsewhere = canary.address;
    let bad = Destination::new(move |call, stream| misbehave(call, stream, elsewhere));
    let calm = Destination::kind();
    let (plain, reset) = (meet(speak_plainly), meet(reset));
    let secure = meet(shake_hands(self_signed()));
    let fail_4xx = json!({
        "retry": { "schedule": [0, 1], "rules": [{ "codes": "4xx", "then": "fail" }] }
    });

    let mut sources: Vec<_> =
        CASES.iter().map(|(path, _)| source(path, &bad.url(path), json!({}))).collect();
    let mut named = |name, url: String, more| sources.push(source(name, &url, more));
    named("refused", format!("http://{}", closed_port()), json!({}));
    named("reset", format!("http://{reset}"), json!({}));
    named("no-name", "http://ferryhook.invalid".to_owned(), json!({}));
    named("no-tls", format!("https://{plain}"), json!({}));
    named("self-signed", format!("https://{secure}"), json!({}));
    named("ruled", bad.url("404"), fail_4xx);
    named("calm", calm.url(""), json!({}));
    let stage = Stage::with(sources);
    let memory = memory_kb(&stage);

    let post = |name: &'static str| (name, stage.post(name, "{}"));
    let events: Vec<_> = CASES.iter().map(|(name, _)| post(name)).collect();
    let [refused, reset, no_name, no_tls, self_signed, ruled] =
        ["refused", "reset", "no-name", "no-tls", "self-signed", "ruled"].map(post);
    let acknowledged: Vec<_> = (0..CALM_EVENTS)
        .map(|_| {
            post("calm");
            calm.now()
        })
        .collect();
    for (at, call) in acknowledged.iter().zip(calm.wait_for(CALM_EVENTS)) {
        let took = call.at.saturating_sub(*at);
        assert!(took < CALM, "an event took {took:?} to a destination that does no wrong");
    }

    for ((name, event), (_, attempt)) in events.iter().zip(CASES) {
        let story = stage.wait_until_settled(event);
        assert_eq!(told(&story), twice_unless_taken(attempt), "{name}");
        check_time(name, &story);
        match *name {
            // As it came: nothing is unpacked.
            "bomb" => {
                let kept = &story["attempts"][0]["responseBody"];
                assert!(kept.as_str().unwrap().starts_with("\u{1f}\u{fffd}\u{8}"), "{kept}");
            }
            "endless-body" | "long-body" => {
                let kept = story["attempts"][0]["responseBody"].as_str().unwrap();
                assert_eq!(kept.len(), 1000, "{name}");
            }
            _ => {}
        }
    }
    let settled = |(_, event): (&str, String)| told(&stage.wait_until_settled(&event));
    assert_eq!(settled(refused), twice_unless_taken(NO_LINE));
    assert_eq!(settled(reset), twice_unless_taken(RESET));
    assert_eq!(settled(no_tls), twice_unless_taken(NO_TLS));
    assert_eq!(settled(self_signed), twice_unless_taken(SELF_SIGNED));
    assert_eq!(settled(ruled), "failed refused / 404");
    // How it fails is up to the name servers of this machine, if it has any.
    let story = settled(no_name);
    assert!(story.starts_with("failed exhausted / 0 the name "), "{story}");
    assert_eq!(story.split(" / ").count(), 3, "{story}");

    assert_eq!(canary.calls().len(), 0, "a redirect was followed");
    let grown = memory_kb(&stage).saturating_sub(memory);
    assert!(grown < MEMORY_GROWTH_KB_MAX, "{grown} KB of answers were kept");
    stage.ferry.stop();
}

/// The whole call has one deadline, and the second attempt waits for its time.
fn check_time(name: &str, story: &Value) {
    let attempts = story["attempts"].as_array().unwrap();
    for attempt in attempts {
        let took = attempt["latencyMs"].as_u64().unwrap();
        assert!(took < 2000, "{name} took {took} ms");
    }
    let at = |attempt: &Value| -> ferryhook_core::Timestamp {
        attempt["attemptedAt"].as_str().unwrap().parse().unwrap()
    };
    if let [first, second] = &attempts[..] {
        let wait = at(second).saturating_since(at(first));
        assert!(wait >= Duration::from_secs(1), "{name} was tried again after {wait:?}");
    }
}

fn twice_unless_taken(attempt: &str) -> String {
    match attempt {
        "200" => "delivered / 200".to_owned(),
        _ => format!("failed exhausted / {attempt} / {attempt}"),
    }
}

fn misbehave(call: &Call, stream: &mut TcpStream, canary: SocketAddr) -> Then {
    let close = |_| Then::Close;
    match call.path() {
        "hang" => hang(stream),
        "drip-head" => {
            say(stream, "HTTP/1.1 200 OK\r\nx: ");
            say_for_ever(stream, b".", DRIP)
        }
        "drip-body" => {
            say(stream, "HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n");
            say_for_ever(stream, b".", DRIP)
        }
        "endless-body" => {
            say(stream, "HTTP/1.1 200 OK\r\n\r\n");
            say_for_ever(stream, &[b'.'; 64 * 1024], Duration::ZERO)
        }
        "long-body" => {
            say(stream, "HTTP/1.1 200 OK\r\ncontent-length: 10737418240\r\n\r\n");
            say(stream, [b'.'; 64 * 1024]);
            hang(stream)
        }
        "bomb" => {
            let zeros = [&b"\x1f\x8b\x08\0\0\0\0\0\0\x03"[..], &[0; 4096]].concat();
            let length = zeros.len();
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {length}\r\n\r\n"
            );
            say(stream, [head.as_bytes(), &zeros].concat())
        }
        "endless-1xx" => say_for_ever(stream, b"HTTP/1.1 100 Continue\r\n\r\n", Duration::ZERO),
        "large-header" => {
            let value = "a".repeat(2 * 1024 * 1024);
            close(say(stream, format!("HTTP/1.1 200 OK\r\nx: {value}\r\n\r\n")))
        }
        "many-headers" => {
            let headers = "x: 1\r\n".repeat(20_000);
            close(say(stream, format!("HTTP/1.1 200 OK\r\n{headers}\r\n")))
        }
        "close" => Then::Close,
        "close-in-head" => close(say(stream, "HTTP/1.1 200 OK\r\ncontent-le")),
        "close-in-body" => close(say(stream, "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf")),
        "garbage" => close(say(stream, "SSH-2.0-OpenSSH_9.9\r\n\x00\x01\x02\r\n")),
        "http-0.9" => close(say(stream, "<html>welcome</html>\n")),
        "bad-chunk" => {
            let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
            close(say(stream, format!("{head}what\r\nis this\r\n")))
        }
        "101" => {
            say(
                stream,
                "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
            );
            hang(stream)
        }
        "hints" => {
            let hints = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(10);
            say(stream, format!("HTTP/1.1 100 Continue\r\n\r\n{hints}"));
            say(stream, OK)
        }
        "http-1.0" => close(say(stream, "HTTP/1.0 200\r\n\r\nfine")),
        "odd-headers" => {
            let odd = b"HTTP/1.1 200 OK\r\nno colon\r\nna me: x\r\nx: \xff\xfe\r\ncontent-length: 0\r\n\r\n";
            say(stream, odd)
        }
        "two-lengths" => close(say(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
        )),
        "status-99" => close(say(stream, "HTTP/1.1 99 What\r\ncontent-length: 0\r\n\r\n")),
        status if status.starts_with('3') => say(
            stream,
            format!(
                "HTTP/1.1 {status} Over there\r\nlocation: http://{canary}/\r\ncontent-length: 0\r\n\r\n"
            ),
        ),
        "" => say(stream, OK),
        status => say(stream, format!("HTTP/1.1 {status} No\r\ncontent-length: 0\r\n\r\n")),
    }
}

/// As a web server does when it is sent a TLS handshake.
fn speak_plainly(mut stream: TcpStream) {
    let _ = stream.read(&mut [0; 1024]);
    say(&mut stream, "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
    hang(&mut stream);
}

/// To close with something unread is to reset.
fn reset(stream: TcpStream) {
    let _ = stream.peek(&mut [0]);
    drop(stream);
}

fn closed_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

fn self_signed() -> Arc<ServerConfig> {
    let rcgen::CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    Arc::new(config.with_single_cert(vec![cert.der().clone()], key.into()).unwrap())
}

fn shake_hands(config: Arc<ServerConfig>) -> impl Fn(TcpStream) + Send + Sync + Clone {
    move |stream| {
        let connection = ServerConnection::new(config.clone()).unwrap();
        let _ = StreamOwned::new(connection, stream).read(&mut [0]);
    }
}

/// The most it ever had.
fn memory_kb(stage: &Stage) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", stage.ferry.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.unwrap().trim().trim_end_matches(" kB").parse().unwrap()
}
