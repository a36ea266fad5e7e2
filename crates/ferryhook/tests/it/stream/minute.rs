//! The bar in full: cut off every second for a minute, under load. `make soak` runs it;
//! `FERRYHOOK_TEST_STREAM_SECONDS` makes it shorter or longer.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ferryhook_core::Env;

use super::*;

const SECONDS: u64 = 60;
const CUT_EVERY: Duration = Duration::from_secs(1);
const WRITERS: usize = 4;

/// What a consumer was told, in order: the number of each change.
#[derive(Default)]
struct Heard {
    numbers: Vec<String>,
    delivered: BTreeSet<String>,
}

impl Heard {
    fn hear(&mut self, record: &Value) {
        self.numbers.push(text(&record["eventID"]).to_owned());
        if status(record) == "delivered" {
            self.delivered.insert(id(record).to_owned());
        }
    }
}

/// It hears exactly what someone hears who reads all of it in one go.
#[test]
#[ignore = "takes a minute; see `make soak`"]
fn a_consumer_that_is_cut_off_every_second_misses_nothing() {
    let seconds = std::env::var("FERRYHOOK_TEST_STREAM_SECONDS").ok();
    let seconds = seconds.and_then(|text| text.parse().ok()).unwrap_or(SECONDS);
    let destination = Destination::kind();
    let tenant = delivering(&destination);
    let mut consumer = Consumer::begin(&tenant.program, "");
    let begin = consumer.last.clone();
    let (mut heard, mut cuts) = (Heard::default(), 0);
    let env = Env::system();
    let is_over = AtomicBool::new(false);
    let posted: BTreeSet<String> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (client, is_over) = (&tenant.program, &is_over);
                scope.spawn(move || {
                    let mut posted = Vec::new();
                    while !is_over.load(Ordering::Relaxed) {
                        let event = order(posted.len() * WRITERS + writer);
                        let event = told(&client.post("/v1/events", event), 201);
                        posted.push(text(&event["eventId"]).to_owned());
                    }
                    posted
                })
            })
            .collect();
        let (begun, mut connected) = (env.elapsed(), env.elapsed());
        while env.elapsed() - begun < Duration::from_secs(seconds) {
            heard.hear(&consumer.record());
            if env.elapsed() - connected >= CUT_EVERY {
                consumer.reconnect();
                (connected, cuts) = (env.elapsed(), cuts + 1);
            }
        }
        is_over.store(true, Ordering::Relaxed);
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    while heard.delivered.len() < posted.len() {
        heard.hear(&consumer.record());
    }

    let mut at_once = Heard::default();
    consumer.last = begin;
    consumer.reconnect();
    while at_once.delivered.len() < posted.len() {
        at_once.hear(&consumer.record());
    }
    let different: BTreeSet<_> = heard.numbers.iter().collect();
    let repeated = heard.numbers.len() - different.len();
    let missed = at_once.numbers.iter().filter(|number| !different.contains(number)).count();
    println!(
        "{} events, {} changes, cut off {cuts} times, {missed} missed, {repeated} repeated",
        posted.len(),
        heard.numbers.len(),
    );
    assert_eq!(heard.delivered, posted);
    assert_eq!(heard.numbers, at_once.numbers);
}
