//! A server that speaks like DynamoDB's streams, for what no real one does when it is asked to:
//! to split a shard, to trim it, to be busy.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value as Json, json};

use crate::tables::Table;

#[derive(Debug, Clone, Default)]
pub(super) struct Server {
    pub(super) address: String,
    pub(super) state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) shards: Vec<Shard>,
    /// Errors that are the answers to the next requests of a kind.
    pub(super) refusals: BTreeMap<&'static str, VecDeque<&'static str>>,
    /// How many requests of a kind were answered.
    pub(super) answered: BTreeMap<String, usize>,
}

#[derive(Debug, Clone)]
pub(super) struct Shard {
    pub(super) id: &'static str,
    pub(super) parent: Option<&'static str>,
    pub(super) numbers: Vec<usize>,
    pub(super) is_closed: bool,
}

impl Server {
    pub(super) fn start(shards: Vec<Shard>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State { shards, ..State::default() }));
        let server = Self { address, state };
        let answering = server.clone();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (client, answering) = (client.unwrap(), answering.clone());
                std::thread::spawn(move || answering.serve(client));
            }
        });
        server
    }

    pub(super) fn refuse(&self, operation: &'static str, code: &'static str) {
        let mut state = self.state.lock().unwrap();
        state.refusals.entry(operation).or_default().push_back(code);
    }

    pub(super) fn answered(&self, operation: &str) -> usize {
        self.state.lock().unwrap().answered.get(operation).copied().unwrap_or_default()
    }

    fn serve(&self, client: TcpStream) {
        let mut client = BufReader::new(client);
        loop {
            let (mut operation, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                if client.read_line(&mut line).unwrap_or(0) == 0 {
                    return;
                }
                let Some((name, value)) = line.trim().split_once(": ") else {
                    if line.trim().is_empty() {
                        break;
                    }
                    continue;
                };
                match &*name.to_ascii_lowercase() {
                    "content-length" => length = value.parse().unwrap(),
                    "x-amz-target" => value.rsplit('.').next().unwrap().clone_into(&mut operation),
                    _ => {}
                }
            }
            let mut body = vec![0; length];
            client.read_exact(&mut body).unwrap();
            let body: Json = serde_json::from_slice(&body).unwrap();
            let (status, answer) = self.state.lock().unwrap().answer(&operation, &body);
            let answer = answer.to_string();
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/x-amz-json-1.0\r\ncontent-length: {}\r\n\r\n",
                answer.len()
            );
            client.get_mut().write_all((head + &answer).as_bytes()).unwrap();
        }
    }
}

impl State {
    fn answer(&mut self, operation: &str, body: &Json) -> (&'static str, Json) {
        let refusals = self.refusals.get_mut(operation);
        if let Some(code) = refusals.and_then(VecDeque::pop_front) {
            return ("400 Bad Request", json!({ "__type": code, "message": "as the test wants" }));
        }
        *self.answered.entry(operation.to_owned()).or_default() += 1;
        let stream = json!({ "StreamEnabled": true, "StreamViewType": "NEW_IMAGE" });
        let answer = match operation {
            "DescribeTable" => {
                json!({ "Table": { "LatestStreamArn": ARN, "StreamSpecification": stream } })
            }
            "DescribeStream" => self.describe(body["ExclusiveStartShardId"].as_str()),
            "GetShardIterator" => self.iterator(body),
            "GetRecords" => self.records(body["ShardIterator"].as_str().unwrap()),
            other => panic!("nobody should ask for {other}"),
        };
        ("200 OK", answer)
    }

    /// One shard a page.
    fn describe(&self, after: Option<&str>) -> Json {
        let at = after.map_or(0, |after| self.place(after) + 1);
        let shard = &self.shards[at];
        let text = |number: &usize| format!("{number:0>21}");
        let mut range = json!({});
        // One without records has begun behind all that there are.
        let first = shard.numbers.first().map_or("9".repeat(21), text);
        range["StartingSequenceNumber"] = first.into();
        if shard.is_closed {
            range["EndingSequenceNumber"] = shard.numbers.last().map(text).into();
        }
        let mut shown = json!({ "ShardId": shard.id, "SequenceNumberRange": range });
        if let Some(parent) = shard.parent {
            shown["ParentShardId"] = parent.into();
        }
        let mut page = json!({ "StreamViewType": "NEW_IMAGE", "Shards": [shown] });
        if at + 1 < self.shards.len() {
            page["LastEvaluatedShardId"] = shard.id.into();
        }
        json!({ "StreamDescription": page })
    }

    fn iterator(&self, body: &Json) -> Json {
        let shard = body["ShardId"].as_str().unwrap();
        let numbers = &self.shards[self.place(shard)].numbers;
        let index = match body["ShardIteratorType"].as_str().unwrap() {
            "LATEST" => numbers.len(),
            "TRIM_HORIZON" => 0,
            _ => {
                let after: usize = body["SequenceNumber"].as_str().unwrap().parse().unwrap();
                numbers.iter().filter(|number| **number <= after).count()
            }
        };
        json!({ "ShardIterator": format!("{shard}/{index}") })
    }

    /// Two records a page, all of them removals.
    fn records(&self, iterator: &str) -> Json {
        let (shard, index) = iterator.split_once('/').unwrap();
        let Shard { id, numbers, is_closed, .. } = &self.shards[self.place(shard)];
        let index: usize = index.parse().unwrap();
        let end = numbers.len().min(index + 2);
        let shape = Table::Events.shape();
        let record = |number: &usize| {
            let sort = shape.sort.unwrap().name;
            let keys =
                json!({ shape.partition.name: { "S": id }, sort: { "S": number.to_string() } });
            let change = json!({ "Keys": keys, "SequenceNumber": format!("{number:0>21}") });
            json!({ "eventName": "REMOVE", "dynamodb": change })
        };
        let records: Vec<_> = numbers[index..end].iter().map(record).collect();
        let mut answer = json!({ "Records": records });
        if !is_closed || end < numbers.len() {
            answer["NextShardIterator"] = format!("{shard}/{end}").into();
        }
        answer
    }

    fn place(&self, id: &str) -> usize {
        self.shards.iter().position(|shard| shard.id == id).unwrap()
    }
}

const ARN: &str =
    "arn:aws:dynamodb:us-east-1:000000000000:table/Events/stream/2026-01-01T00:00:00.000";
