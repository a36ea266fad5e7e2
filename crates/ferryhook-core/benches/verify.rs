//! What it costs to verify a request of 1 KiB, for schemes of each kind, in time of this thread.
//!
//! `cargo bench -p ferryhook-core --bench verify -- [rounds]`
//!
//! Ends with an error when an HMAC takes longer than it may.

use std::process::ExitCode;
use std::time::Duration;

use ferryhook_core::verify::sign::{Draft, sign};
use ferryhook_core::verify::{NoCertificates, Request, Verdict, Verifier};
use ferryhook_core::{Headers, Map, Secret, Timestamp};

const BODY_BYTES: usize = 1024;
const HMAC_NANOSECONDS_MAX: u128 = 10_000;
const NOW: Timestamp = Timestamp::from_seconds(1_700_000_000);

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse::<u32>().ok());
    let rounds = numbers.next().unwrap_or(200_000).max(1);
    let whsec = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3";
    let slowest = [
        ("github", "secret"),
        ("stripe", "whsec_secret"),
        ("slack", "secret"),
        ("standard-webhooks", whsec),
        ("shopify", "secret"),
        ("hubspot", "secret"),
        ("linear", "secret"),
        ("twilio", "secret"),
        ("mailgun", "secret"),
        ("contentful", "secret"),
        ("livekit", "secret"),
        ("gitlab", "secret"),
    ]
    .map(|(provider, secret)| measure(provider, secret, rounds))
    .into_iter()
    .max();
    if slowest.is_some_and(|slowest| slowest > HMAC_NANOSECONDS_MAX) {
        eprintln!("an HMAC of {BODY_BYTES} bytes may take {HMAC_NANOSECONDS_MAX} ns");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Nanoseconds for one request.
fn measure(provider: &str, secret: &str, rounds: u32) -> u128 {
    let frame = r#"{"id":"evt_1","type":"a.b","text":""}"#;
    let filler = "x".repeat(BODY_BYTES - frame.len());
    let body = match provider {
        "twilio" => format!("Body={}", "x".repeat(BODY_BYTES - 5)),
        _ => frame.replace(r#""text":"""#, &format!(r#""text":"{filler}""#)),
    };
    let content_type = match provider {
        "twilio" => "application/x-www-form-urlencoded",
        _ => "application/json",
    };
    let others = ["host", "user-agent", "accept", "content-length", "x-request-id", "via"];
    let mut headers: Vec<_> = others.map(|name| (name.to_owned(), "value".to_owned())).to_vec();
    headers.push(("content-type".to_owned(), content_type.to_owned()));
    let draft = Draft {
        method: "POST".to_owned(),
        url: "https://hooks.example.com/in/src_1".to_owned(),
        headers,
        body: body.into_bytes(),
    };
    let secret = Secret::new(secret);
    let draft = sign(provider, &secret, &Map::new(), draft, NOW).expect("it signs");
    let verifier = Verifier::new(provider, &[secret], &Map::new()).expect("it verifies");
    let headers = Headers::new(draft.headers);
    let request =
        Request { method: &draft.method, url: &draft.url, headers: &headers, body: &draft.body };

    let started = thread_time();
    for _ in 0..rounds {
        assert_eq!(verifier.check(&request, NOW, &NoCertificates), Verdict::Valid);
    }
    let each = (thread_time() - started).as_nanos() / u128::from(rounds);
    println!("{provider:<20} {each:>8} ns");
    each
}

/// What this thread has run so far, as the kernel counts it.
fn thread_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap_or_default();
    let mut fields = stat.rsplit(") ").next().unwrap_or_default().split(' ').skip(11);
    let mut ticks = || fields.next().and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
    Duration::from_millis((ticks() + ticks()) * 10)
}
