//! The stream of changes, read from a real server.

mod minute;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::client::{Client, Tenant, told};
use crate::destination::Destination;
use crate::stage::PATIENCE;

/// Somebody who reads the stream, and remembers where they are.
struct Consumer {
    client: Client,
    query: &'static str,
    last: Option<String>,
    stream: BufReader<TcpStream>,
}

fn connect(client: &Client, query: &str, last: Option<&str>) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(&client.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let last = last.map(|last| format!("last-event-id: {last}\r\n")).unwrap_or_default();
    let credential = &client.credential;
    write!(
        stream,
        "GET /v1/stream{query} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {credential}\r\n{last}\r\n",
    )
    .unwrap();
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    assert!(line.starts_with("HTTP/1.1 200"), "{line}");
    stream
}

impl Consumer {
    /// Has begun once it knows where it is.
    fn begin(client: &Client, query: &'static str) -> Self {
        let stream = connect(client, query, None);
        let mut consumer = Self { client: client.clone(), query, last: None, stream };
        while consumer.last.is_none() {
            consumer.line();
        }
        consumer
    }

    fn reconnect(&mut self) {
        self.stream = connect(&self.client, self.query, self.last.as_deref());
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert_ne!(self.stream.read_line(&mut line).unwrap(), 0, "the stream ended");
        let line = line.trim_end().to_owned();
        if let Some(id) = line.strip_prefix("id: ") {
            self.last = Some(id.to_owned());
        }
        line
    }

    fn record(&mut self) -> Value {
        loop {
            if let Some(data) = self.line().strip_prefix("data: ") {
                return serde_json::from_str(data).unwrap();
            }
        }
    }
}

impl Consumer {
    /// The id of the next event that was removed.
    fn removed(&mut self) -> String {
        loop {
            let record = self.record();
            if record["eventName"] == "REMOVE" {
                assert!(record["dynamodb"].get("NewImage").is_none(), "{record:#}");
                let sort = text(&record["dynamodb"]["Keys"]["timestamp#event_id"]["S"]);
                return sort.split_once('#').unwrap().1.to_owned();
            }
        }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}"))
}

fn status(record: &Value) -> &str {
    text(&record["dynamodb"]["NewImage"]["status"]["S"])
}

fn id(record: &Value) -> &str {
    text(&record["dynamodb"]["NewImage"]["event_id"]["S"])
}

fn order(number: usize) -> Value {
    json!({ "eventType": "order.paid", "payload": { "number": number } })
}

/// A tenant whose posted events are delivered.
fn delivering(destination: &Destination) -> Tenant {
    deliver(Tenant::new(), destination)
}

fn deliver(tenant: Tenant, destination: &Destination) -> Tenant {
    let first = tenant.expect(201, "POST", "/v1/events", Some(&order(0)));
    let source = text(&first["sourceId"]);
    let connection = json!({ "name": "crm", "destinationUrl": destination.url("crm") });
    tenant.post(&format!("/v1/sources/{source}/connections"), connection);
    tenant
}

/// In the shape that readers of DynamoDB's streams know, from now on and from the beginning.
#[test]
fn every_change_is_told_as_it_happens() {
    let destination = Destination::kind();
    let tenant = delivering(&destination);
    let mut consumer = Consumer::begin(&tenant.program, "");
    let event = tenant.expect(201, "POST", "/v1/events", Some(&order(7)));
    let record = consumer.record();
    assert_eq!((&record["eventName"], id(&record)), (&json!("INSERT"), text(&event["eventId"])));
    assert_eq!(record["eventSource"], "aws:dynamodb");
    assert_eq!(record["awsRegion"], "local");
    assert_eq!(record["dynamodb"]["SequenceNumber"], *consumer.last.as_ref().unwrap());
    let image = &record["dynamodb"]["NewImage"];
    assert_eq!(image["payload"], json!({ "M": { "number": { "N": "7" } } }));
    assert_eq!(image["user_id"], record["dynamodb"]["Keys"]["user_id"]);
    let mut changed = consumer.record();
    while status(&changed) != "delivered" {
        changed = consumer.record();
    }
    assert_eq!((&changed["eventName"], id(&changed)), (&json!("MODIFY"), text(&event["eventId"])));
    assert_eq!(changed["dynamodb"]["NewImage"]["payload"], image["payload"], "it is whole");

    let mut everything = Consumer::begin(&tenant.program, "?from=start");
    assert_ne!(id(&everything.record()), text(&event["eventId"]), "the one from before");
}

/// The bar: who is cut off again and again under load misses nothing, and hears of each event in
/// the order in which things happened to it.
#[test]
fn a_consumer_that_keeps_reconnecting_misses_nothing() {
    let destination = Destination::kind();
    reconnecting(&delivering(&destination), 4, 50);
}

fn reconnecting(tenant: &Tenant, writers: usize, each: usize) {
    let mut consumer = Consumer::begin(&tenant.program, "");
    let seen = std::thread::scope(|scope| {
        for writer in 0..writers {
            let client = &tenant.program;
            scope.spawn(move || {
                for number in 0..each {
                    told(&client.post("/v1/events", order(writer * each + number)), 201);
                }
            });
        }
        let mut seen = BTreeMap::<String, Vec<(String, String)>>::new();
        let mut delivered = 0;
        let mut records = 0;
        while delivered < writers * each {
            let record = consumer.record();
            let what = (text(&record["eventName"]).to_owned(), status(&record).to_owned());
            delivered += usize::from(what.1 == "delivered");
            seen.entry(id(&record).to_owned()).or_default().push(what);
            records += 1;
            if records % 3 == 0 {
                consumer.reconnect();
            }
        }
        seen
    });
    assert_eq!(seen.len(), writers * each);
    for (id, changes) in seen {
        let names: Vec<_> = changes.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names[0], "INSERT", "{id}: {changes:?}");
        assert!(names[1..].iter().all(|name| *name == "MODIFY"), "{id}: {changes:?}");
        assert_eq!(changes.last().unwrap().1, "delivered", "{id}: {changes:?}");
    }
}

/// By its name, also to who was away meanwhile, and although its source went as well. Nobody hears
/// of a neighbour's.
#[test]
fn that_an_event_was_deleted_is_told() {
    let mut tenant = Tenant::new();
    let source = told(&tenant.person.post("/v1/sources", json!({ "name": "shop" })), 201);
    let source = text(&source["sourceId"]);
    let post = |number: usize| {
        let body = json!({ "order": number }).to_string();
        let answer = tenant.ferry.post(&format!("/in/{source}"), body.as_bytes());
        text(&told(&answer, 200)["id"]).to_owned()
    };
    let neighbour = neighbour(&tenant);
    let others = told(&neighbour.post("/v1/events", order(1)), 201);
    let mut consumer = Consumer::begin(&tenant.program, "");
    let before = consumer.last.clone();
    let ours = [post(1), post(2)];
    let delete = |client: &Client, event: &str| {
        told(&client.delete(&format!("/v1/events/{event}")), 204);
    };
    delete(&neighbour, text(&others["eventId"]));
    delete(&tenant.person, &ours[0]);
    assert_eq!(consumer.removed(), ours[0]);

    let erasure = told(&tenant.person.post("/v1/erasures", json!({ "eventIds": [ours[1]] })), 202);
    let path = format!("/v1/erasures/{}", text(&erasure["erasureId"]));
    tenant.program = tenant.person.clone();
    tenant.wait(&path, |erasure| erasure["isGone"] == true);
    told(&tenant.person.delete(&format!("/v1/sources/{source}")), 204);
    consumer.last = before;
    consumer.reconnect();
    for event in ours {
        assert_eq!(consumer.removed(), event);
    }
}

fn neighbour(tenant: &Tenant) -> Client {
    let who = json!({
        "email": "two@example.com", "password": "correct horse battery", "name": "Two"
    });
    let signed_in = told(&tenant.person.with("").post("/v1/auth/signup", who), 201);
    tenant.person.with(text(&signed_in["accessToken"]))
}

#[test]
fn a_consumer_goes_on_after_a_crash_of_the_server() {
    let mut tenant = Tenant::new();
    let mut consumer = Consumer::begin(&tenant.program, "");
    let before = tenant.expect(201, "POST", "/v1/events", Some(&order(1)));
    assert_eq!(id(&consumer.record()), text(&before["eventId"]));
    let behind = tenant.expect(201, "POST", "/v1/events", Some(&order(2)));
    tenant.end("KILL");
    tenant.begin_again();
    consumer.client = tenant.program.clone();
    consumer.reconnect();
    assert_eq!(id(&consumer.record()), text(&behind["eventId"]));
    let last = tenant.expect(201, "POST", "/v1/events", Some(&order(3)));
    assert_eq!(id(&consumer.record()), text(&last["eventId"]));
}

/// By source and type; and nobody hears of a neighbour's.
#[test]
fn a_consumer_hears_what_it_asked_for() {
    let tenant = Tenant::new();
    let neighbour = neighbour(&tenant);
    let mut by_type = Consumer::begin(&tenant.program, "?type=user.*");
    told(&neighbour.post("/v1/events", order(1)), 201);
    tenant.post("/v1/events", order(2));
    let user = json!({ "eventType": "user.created", "payload": {} });
    let event = tenant.post("/v1/events", user);
    assert_eq!(id(&by_type.record()), text(&event["eventId"]));

    let mut all = Consumer::begin(&tenant.program, "?from=start");
    let ours = all.record();
    assert_eq!(ours["dynamodb"]["NewImage"]["payload"]["M"]["number"]["N"], "2");

    let refused = tenant.call("GET", "/v1/stream?after=17", None);
    assert_eq!(refused.status, 400, "{refused:?}");
    let refused = tenant.call("GET", "/v1/stream?source=src_0000000000000000", None);
    assert_eq!(refused.status, 404, "{refused:?}");
}

#[test]
fn a_server_that_keeps_no_changes_says_so() {
    let tenant = Tenant::with(&[("FERRYHOOK_STREAM_KEPT_HOURS", "0")]);
    let refused = tenant.call("GET", "/v1/stream", None);
    assert_eq!(refused.status, 409, "{refused:?}");
}

/// Those who read are let go, and the server has nothing left undone.
#[test]
fn a_server_that_stops_ends_its_streams() {
    let tenant = Tenant::new();
    let mut consumer = Consumer::begin(&tenant.program, "");
    tenant.ferry.stop();
    let mut rest = String::new();
    consumer.stream.read_to_string(&mut rest).unwrap();
}

/// The same from the stream of a table, which the server reads.
#[cfg(feature = "aws")]
mod of_tables {
    use super::*;
    use crate::tables::{as_variables, made};

    fn tenant(name: &str) -> Option<Tenant> {
        let tables = made(name)?;
        Some(Tenant::with(&as_variables(&tables)))
    }

    #[test]
    fn a_consumer_that_keeps_reconnecting_misses_nothing() {
        let Some(tenant) = tenant("stream") else { return };
        let destination = Destination::kind();
        reconnecting(&deliver(tenant, &destination), 3, 8);
    }

    /// From every kind of place: where nothing was told yet, behind a record, and by its number.
    #[test]
    fn a_consumer_goes_on_at_another_server() {
        let Some(mut tenant) = tenant("stream-again") else { return };
        let mut quiet = Consumer::begin(&tenant.program, "");
        let mut consumer = Consumer::begin(&tenant.program, "?from=start");
        let events: Vec<String> = (0..4)
            .map(|number| text(&tenant.post("/v1/events", order(number))["eventId"]).to_owned())
            .collect();
        let mut number = String::new();
        for event in &events[..2] {
            let record = inserted(&mut consumer);
            assert_eq!(id(&record), event);
            text(&record["dynamodb"]["SequenceNumber"]).clone_into(&mut number);
        }
        tenant.end("KILL");
        tenant.begin_again();
        for behind in [&mut quiet, &mut consumer] {
            behind.client = tenant.program.clone();
            behind.reconnect();
        }
        for event in &events {
            assert_eq!(id(&inserted(&mut quiet)), event);
        }
        for event in &events[2..] {
            assert_eq!(id(&inserted(&mut consumer)), event);
        }
        consumer.last = Some(number);
        consumer.reconnect();
        assert_eq!(id(&inserted(&mut consumer)), events[2]);

        let refused = tenant.call("GET", "/v1/stream?after=17-ab~3", None);
        assert_eq!(refused.status, 400, "{refused:?}");
        assert!(refused.body.contains("too old"), "{refused:?}");
        let refused = tenant.call("GET", "/v1/stream?after=garbled", None);
        assert_eq!(refused.status, 400, "{refused:?}");
    }

    fn inserted(consumer: &mut Consumer) -> Value {
        loop {
            let record = consumer.record();
            if record["eventName"] == "INSERT" {
                return record;
            }
        }
    }
}
