//! Streams of several shards, read as a consumer would.

use super::server::{Server, Shard};
use crate::StoreError;
use crate::changes::{Change, ChangesError, Place, Start, Wanted};
use crate::engine::Engine;
use crate::engine::dynamo::{Dynamo, DynamoConfig};
use crate::record::Kind;
use ferryhook_core::Env;

const PARENT: &str = "shardId-00000001414562045508-00000001";
const LEFT: &str = "shardId-00000001414562045508-00000002";
const RIGHT: &str = "shardId-00000001414562045508-00000003";

fn shard(id: &'static str, parent: Option<&'static str>, numbers: &[usize]) -> Shard {
    Shard { id, parent, numbers: numbers.to_vec(), is_closed: false }
}

fn closed(shard: Shard) -> Shard {
    Shard { is_closed: true, ..shard }
}

fn split() -> Vec<Shard> {
    vec![
        shard(RIGHT, Some(PARENT), &[5, 7]),
        closed(shard(PARENT, None, &[1, 2, 3])),
        shard(LEFT, Some(PARENT), &[4, 6, 8]),
    ]
}

/// One that knows nothing of what others have read.
async fn open(server: &Server) -> Dynamo {
    let config = DynamoConfig {
        endpoint: Some(server.address.clone()),
        region: Some("us-east-1".into()),
        table_prefix: String::new(),
        ledger_table: "ledger".into(),
    };
    Dynamo::open(config, Env::system()).await.unwrap()
}

async fn read(
    engine: &Dynamo,
    start: Start,
    limit: usize,
) -> Result<(Vec<Change>, Place), StoreError> {
    let mut wanted = Wanted::new(Kind::Event, start).limit(limit);
    let mut told = Vec::new();
    loop {
        let page = engine.changes(&wanted).await?;
        told.extend(page.changes);
        if page.is_end {
            return Ok((told, page.next));
        }
        wanted.start = Start::After(page.next);
    }
}

fn numbers(told: &[Change]) -> Vec<usize> {
    told.iter().map(|change| change.sequence.parse().unwrap()).collect()
}

fn sorted(told: &[Change]) -> Vec<usize> {
    let mut numbers = numbers(told);
    numbers.sort_unstable();
    numbers
}

#[tokio::test]
async fn a_split_is_read_from_its_parent_on() {
    let server = Server::start(split());
    let (told, _) = read(&open(&server).await, Start::Oldest, 100).await.unwrap();
    assert_eq!(numbers(&told)[..3], [1, 2, 3]);
    assert_eq!(sorted(&told), [1, 2, 3, 4, 5, 6, 7, 8]);
    for change in &told {
        let place = Start::After(change.place.clone());
        let (rest, _) = read(&open(&server).await, place, 1).await.unwrap();
        let at = told.iter().position(|other| other == change).unwrap();
        assert_eq!(sorted(&rest), sorted(&told[at + 1..]), "behind {}", change.place);
    }
}

#[tokio::test]
async fn a_number_alone_is_enough_before_a_split() {
    let server = Server::start(split());
    let place = Start::After(Place::new("2"));
    let (told, _) = read(&open(&server).await, place, 100).await.unwrap();
    assert_eq!(sorted(&told), [3, 4, 5, 6, 7, 8]);
}

/// Also where the shard is closed while someone listens, and one child is seen late.
#[tokio::test]
async fn a_split_is_followed() {
    let server = Server::start(vec![shard(PARENT, None, &[1])]);
    let engine = open(&server).await;
    let (told, next) = read(&engine, Start::Oldest, 100).await.unwrap();
    assert_eq!((numbers(&told), next.as_str()), (vec![1], "000000000000000000001"));
    server.state.lock().unwrap().shards = split()[1..].to_vec();
    let mut all = Vec::new();
    let mut place = next;
    for expected in [4, 6] {
        while all.len() < expected {
            engine.changed(&place).await.unwrap();
            let (told, next) = read(&engine, Start::After(place), 2).await.unwrap();
            all.extend(told);
            place = next;
        }
        server.state.lock().unwrap().shards = split();
        if expected == 4 {
            // One that has not looked for shards yet.
            let (told, next) = read(&open(&server).await, Start::After(place), 100).await.unwrap();
            all.extend(told);
            place = next;
        }
    }
    assert_eq!(numbers(&all)[..2], [2, 3]);
    assert_eq!(sorted(&all), [2, 3, 4, 5, 6, 7, 8]);
}

#[tokio::test]
async fn who_listens_keeps_the_iterator_and_shares_it() {
    let server = Server::start(split());
    let engine = open(&server).await;
    let (_, mut place) = read(&engine, Start::Oldest, 100).await.unwrap();
    let (iterators, requests) =
        (server.answered("GetShardIterator"), server.answered("GetRecords"));
    for _ in 0..3 {
        engine.changed(&place).await.unwrap();
        for _ in 0..10 {
            let (told, next) = read(&engine, Start::After(place), 100).await.unwrap();
            assert!(told.is_empty());
            place = next;
        }
    }
    assert_eq!(server.answered("GetShardIterator"), iterators);
    assert!(server.answered("GetRecords") - requests <= 2 * 2 * 3, "two shards, three times");
}

#[tokio::test]
async fn a_busy_server_and_an_old_iterator_are_no_matter() {
    let server = Server::start(split());
    server.refuse("DescribeStream", "LimitExceededException");
    server.refuse("GetShardIterator", "ThrottlingException");
    server.refuse("GetRecords", "ProvisionedThroughputExceededException");
    let engine = open(&server).await;
    let (told, place) = read(&engine, Start::Oldest, 100).await.unwrap();
    assert_eq!(told.len(), 8);
    engine.changed(&place).await.unwrap();
    server.refuse("GetRecords", "ExpiredIteratorException");
    server.refuse("GetRecords", "LimitExceededException");
    server.state.lock().unwrap().shards[0].numbers.push(9);
    let (told, _) = read(&engine, Start::After(place), 100).await.unwrap();
    assert_eq!(numbers(&told), [9]);
}

#[tokio::test]
async fn what_was_trimmed_is_too_old() {
    let server = Server::start(split());
    server.refuse("GetShardIterator", "TrimmedDataAccessException");
    for place in ["2", "1414562045507-00000009~000000000000000000002"] {
        let place = Start::After(Place::new(place));
        let refused = read(&open(&server).await, place, 100).await.unwrap_err();
        assert!(matches!(refused, StoreError::Changes(ChangesError::TooOld(_))), "{refused}");
        assert!(refused.to_string().contains("too old"), "{refused}");
    }
}

/// At another server, to which the moment at which someone began is only a time.
#[tokio::test]
async fn now_is_a_place_for_everyone() {
    let server = Server::start(split());
    let engine = open(&server).await;
    let (told, now) = read(&engine, Start::Now, 100).await.unwrap();
    assert!(told.is_empty());
    server.state.lock().unwrap().shards[2].numbers.push(9);
    engine.changed(&now).await.unwrap();
    let (told, _) = read(&engine, Start::After(now.clone()), 100).await.unwrap();
    assert_eq!(numbers(&told), [9]);
    let (told, _) = read(&open(&server).await, Start::After(now), 100).await.unwrap();
    assert!(numbers(&told).contains(&9), "{told:?}");
}
