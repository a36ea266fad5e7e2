//! When a delivery is tried again, and when no more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ferryhook_core::{Env, Timestamp};
use serde_json::{Value, json};

use crate::destination::{Destination, OK, say};
use crate::stage::{Stage, source, told};

const DAY: u64 = 24 * 60 * 60;
/// Stands for a date.
const IN_A_MINUTE: &str = "in a minute";
const OLD: &str = "whsec_b2xkIHNlY3JldCBvZiB0aGUgdGVzdHM=";
const NEW: &str = "whsec_bmV3IHNlY3JldCBvZiB0aGUgdGVzdHM=";

/// What a destination asks for counts if it is longer than planned, and no longer than a day.
#[test]
fn a_destination_may_ask_for_time() {
    // What is answered, and the wait before the next attempt in seconds.
    let cases = [
        ("429", "7", 7),
        ("503", "7", 7),
        ("503", "1", 5),
        ("429", IN_A_MINUTE, 60),
        ("429", "Wed, 21 Oct 2015 07:28:00 GMT", 5),
        ("429", "-5", 5),
        ("503", "soon", 5),
        ("503", "100000000", DAY),
        ("503", "99999999999999999999999999", 5),
    ];
    let destination = Destination::new(move |call, stream| {
        let (status, wait, _) = cases[call.path().parse::<usize>().unwrap()];
        let wait = match wait {
            IN_A_MINUTE => http_date(Env::system().now() + Duration::from_secs(60)),
            other => other.to_owned(),
        };
        let head = format!("HTTP/1.1 {status} Busy\r\nretry-after: {wait}");
        say(stream, format!("{head}\r\ncontent-length: 0\r\n\r\n"))
    });
    let five = json!({ "retry": { "schedule": [0, 5], "jitterPercent": 0 } });
    let sources = (0..cases.len()).map(|number| number.to_string());
    let sources = sources.map(|name| source(&name, &destination.url(&name), five.clone()));
    let stage = Stage::with(sources.collect());
    let events: Vec<_> =
        (0..cases.len()).map(|number| stage.post(&number.to_string(), "{}")).collect();
    for ((status, asked, seconds), event) in cases.iter().zip(&events) {
        let story = stage.wait_for_attempts(event, 1);
        assert_eq!(told(&story), format!("waiting / {status}"), "{asked}");
        let due = time(&story["deliveries"][0]["nextAttemptAt"]);
        let wait = due.saturating_since(time(&story["attempts"][0]["attemptedAt"]));
        // A date has no fractions.
        let (least, most) = (Duration::from_secs(seconds - 1), Duration::from_secs(seconds + 2));
        assert!(least <= wait && wait <= most, "{status} with {asked:?}: {wait:?}");
    }
    stage.ferry.stop();
}

/// 410 is about the connection: the event has failed, and later ones are held.
#[test]
fn who_is_gone_gets_no_more() {
    let destination =
        Destination::new(|_, stream| say(stream, "HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n"));
    let stage = Stage::with(vec![source("gone", &destination.url(""), json!({}))]);
    let event = stage.post("gone", "{}");
    assert_eq!(told(&stage.wait_until_settled(&event)), "failed gone / 410");
    let env = Env::system();
    let begun = env.elapsed();
    while !stage.export().contains("status: paused") {
        assert!(env.elapsed() - begun < Duration::from_secs(10), "{}", stage.export());
    }
    let later = stage.post("gone", "{}");
    let story = stage.wait(&later, |story| story["deliveries"] != json!([]));
    assert_eq!(told(&story), "held connection_paused", "{story:#}");
    assert_eq!(destination.calls().len(), 1);
    stage.ferry.stop();
}

/// What was given up can be replayed, and is then signed with the secret of that time.
#[test]
fn a_replay_is_signed_with_the_secret_of_its_time() {
    let repaired = Arc::new(AtomicBool::new(false));
    let works = repaired.clone();
    let destination = Destination::new(move |_, stream| match works.load(Ordering::SeqCst) {
        true => say(stream, OK),
        false => say(stream, "HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n"),
    });
    let url = destination.url("");
    let signed_with = |secret| vec![source("shop", &url, json!({ "signingSecret": secret }))];
    let mut stage = Stage::with(signed_with(OLD));
    let event = stage.post("shop", "{}");
    assert_eq!(told(&stage.wait_until_settled(&event)), "failed exhausted / 500 / 500");
    assert_eq!(stage.event(&event)["status"], "failed");

    stage.apply(signed_with(NEW));
    repaired.store(true, Ordering::SeqCst);
    stage.ask(&["replay", &event, "--json"]);
    let story = stage.wait_for_attempts(&event, 3);
    assert_eq!(told(&story), "delivered / 500 / 500 / 200");
    assert_eq!(story["status"], "delivered", "{story:#}");

    let calls = destination.calls();
    let signed: Vec<_> =
        calls.iter().map(|call| (call.is_signed_with(OLD), call.is_signed_with(NEW))).collect();
    // The old one still counts for a while, so that receivers can change theirs.
    assert_eq!(signed, [(true, false), (true, false), (true, true)]);
    stage.ferry.stop();
}

fn time(value: &Value) -> Timestamp {
    value.as_str().unwrap().parse().unwrap()
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`
fn http_date(at: Timestamp) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let text = at.to_string();
    let (year, month, day, time) = (&text[..4], &text[5..7], &text[8..10], &text[11..19]);
    let weekday = DAYS[usize::try_from(at.as_seconds()).unwrap() / 86_400 % 7];
    let month = MONTHS[month.parse::<usize>().unwrap() - 1];
    format!("{weekday}, {day} {month} {year} {time} GMT")
}
