//! Against a real server: `FERRYHOOK_TEST_DYNAMO` is the URL of a DynamoDB Local.
//!
//! The clock stands in the year 2100, because the server deletes by its own clock what has
//! expired, and shall not.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ferryhook_core::Timestamp;
use ferryhook_core::env::ManualClock;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value as Json, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::OnceCell;

use super::tables::Tables;
use super::*;
use crate::batch::{Condition, Patch};
use crate::changes::{ChangesError, Start};
use crate::key::{IndexKey, Part};
use crate::query::Cursor;
use crate::record::{Kind, Record, Stored};
use crate::schema;
use crate::tables::{Index, Table};
use crate::value::{self, Name, Value};

mod random;

/// 2100-01-01 in seconds.
const NOW: i64 = 4_102_444_800;

static TABLES: OnceCell<DynamoConfig> = OnceCell::const_new();

fn server(prefix: &str) -> Option<DynamoConfig> {
    let Ok(endpoint) = std::env::var("FERRYHOOK_TEST_DYNAMO") else {
        eprintln!("skipped: FERRYHOOK_TEST_DYNAMO is not set");
        return None;
    };
    let mut bytes = [0; 6];
    Env::system().fill(&mut bytes);
    let run = bytes.map(|byte| format!("{byte:02x}")).concat();
    Some(DynamoConfig {
        endpoint: Some(endpoint),
        region: None,
        table_prefix: format!("{prefix}-{run}-"),
        ledger_table: format!("{prefix}-{run}-Ledger"),
    })
}

/// Tables of their own for this run, made once.
async fn tables() -> Option<DynamoConfig> {
    let config = server("test")?;
    let made = TABLES.get_or_init(|| async move {
        Box::pin(schema::apply(&config, &mut |_| {})).await.unwrap();
        config
    });
    Some(made.await.clone())
}

fn env() -> (Env, Arc<ManualClock>) {
    let (env, clock) = Env::manual("2100-01-01T00:00:00Z");
    assert_eq!(env.now().as_seconds(), NOW);
    (env, clock)
}

async fn open() -> Option<(Dynamo, Arc<ManualClock>)> {
    let (env, clock) = env();
    Some((Dynamo::open(tables().await?, env).await.unwrap(), clock))
}

/// A record made of whatever the test needs.
#[derive(Debug, Clone)]
struct Thing<K> {
    key: Key,
    indexes: Vec<IndexKey>,
    expires: Option<i64>,
    mirror: Vec<(Name, Value)>,
    attributes: serde_json::Map<String, Json>,
    kind: PhantomData<K>,
}

trait OfKind: Send + Sync + Debug + Clone {
    const KIND: Kind;
}

macro_rules! kinds {
    ($($kind:ident)*) => {$(
        #[derive(Debug, Clone)]
        struct $kind;
        impl OfKind for $kind {
            const KIND: Kind = Kind::$kind;
        }
    )*};
}

kinds!(Source Connection Delivery Schedule);

impl<K: OfKind> Thing<K> {
    fn new(key: Key, attributes: Json) -> Self {
        let Json::Object(attributes) = attributes else { panic!("not an object: {attributes}") };
        Self {
            key,
            indexes: Vec::new(),
            expires: None,
            mirror: Vec::new(),
            attributes,
            kind: PhantomData,
        }
    }

    fn at(mut self, entry: IndexKey) -> Self {
        self.indexes.push(entry);
        self
    }

    fn until(mut self, expires: i64) -> Self {
        self.expires = Some(expires);
        self
    }

    fn stored(self, revision: u64) -> Stored<Self> {
        Stored { record: self, revision }
    }
}

impl<K> Serialize for Thing<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.attributes.serialize(serializer)
    }
}

impl<'de, K> Deserialize<'de> for Thing<K> {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        unreachable!("the tests look at rows")
    }
}

impl<K: OfKind> Record for Thing<K> {
    const KIND: Kind = K::KIND;

    fn key(&self) -> Key {
        self.key.clone()
    }

    fn indexes(&self) -> Vec<IndexKey> {
        self.indexes.clone()
    }

    fn expires_at(&self) -> Option<Timestamp> {
        self.expires.map(Timestamp::from_seconds)
    }

    fn mirror(&self) -> Vec<(Name, Value)> {
        self.mirror.clone()
    }
}

fn delivery(event: &str, connection: &str, attributes: Json) -> Thing<Delivery> {
    let key = Key::new(Table::Events, format!("EVT#{event}"), format!("DLV#{connection}"));
    Thing::new(key, attributes)
}

async fn commit(engine: &dyn Engine, batch: Batch) -> Result<(), StoreError> {
    engine.commit(batch, Durability::Synced).await
}

/// The attributes of the row, as JSON, with its revision.
async fn get(engine: &dyn Engine, key: &Key) -> Option<(u64, Json)> {
    let row = engine.get(key).await.unwrap()?;
    Some((row.revision, json_of(row)))
}

fn json_of(row: Row) -> Json {
    value::from_item(row.item).unwrap()
}

#[tokio::test]
async fn an_insert_is_found_and_not_repeated() {
    let Some((dynamo, clock)) = open().await else {
        return;
    };
    let mut thing = delivery("i1", "a", json!({"n": 1, "list": [1, {"x": null}], "half": 0.5}))
        .until(NOW + 60)
        .at(IndexKey::new(Index::Due, "i1", 5));
    thing.mirror = vec![("event_id".into(), "i1".into())];
    commit(&dynamo, Batch::new().insert(&thing)).await.unwrap();
    let found = (1, json!({"n": 1, "list": [1, {"x": null}], "half": 0.5}));
    assert_eq!(get(&dynamo, &thing.key).await, Some(found));
    let again = commit(&dynamo, Batch::new().insert(&thing)).await.unwrap_err();
    assert!(again.refused_at(0), "{again}");

    // Once expired it is absent, and a new one takes its place entirely.
    clock.advance(Duration::from_secs(60));
    assert_eq!(get(&dynamo, &thing.key).await, None);
    let query = || Query::index(Kind::Delivery, Index::Due, "i1");
    assert_eq!(dynamo.query(query()).await.unwrap().rows, []);
    let patch = Patch::of(Kind::Delivery, thing.key.clone()).set("n", 2);
    let late = commit(&dynamo, Batch::new().patch(patch)).await.unwrap_err();
    assert!(late.refused_at(0), "{late}");
    let next = delivery("i1", "a", json!({"m": 1})).until(NOW + 600);
    commit(&dynamo, Batch::new().insert(&next)).await.unwrap();
    assert_eq!(get(&dynamo, &thing.key).await, Some((1, json!({"m": 1}))));
    assert_eq!(dynamo.query(query()).await.unwrap().rows, []);
}

#[tokio::test]
async fn a_batch_is_done_as_a_whole_or_refused_at_its_first_broken_condition() {
    let Some((dynamo, _)) = open().await else {
        return;
    };
    let a = delivery("b1", "a", json!({"status": "open"})).until(NOW + 60);
    let b = delivery("b1", "b", json!({})).until(NOW + 60);
    commit(&dynamo, Batch::new().insert(&a)).await.unwrap();
    let is = |value: &str| Condition::Is("status".into(), value.into());
    let refused = Batch::new()
        .insert(&b)
        .require(a.key.clone(), is("done"))
        .require(Key::new(Table::Events, "EVT#b1", "DLV#c"), Condition::Exists);
    let error = commit(&dynamo, refused).await.unwrap_err();
    assert!(error.refused_at(1), "{error}");
    assert_eq!(get(&dynamo, &b.key).await, None);

    let held = Batch::new().insert(&b).require(a.key.clone(), is("open"));
    commit(&dynamo, held).await.unwrap();
    assert!(get(&dynamo, &b.key).await.is_some());

    let stale = Batch::new().delete(&b.clone().stored(2));
    assert!(commit(&dynamo, stale).await.unwrap_err().refused_at(0));
    commit(&dynamo, Batch::new().delete(&b.clone().stored(1))).await.unwrap();
    assert_eq!(get(&dynamo, &b.key).await, None);
}

#[tokio::test]
async fn sums_that_fail_are_malformed_and_broken_conditions_refused() {
    let Some((dynamo, _)) = open().await else {
        return;
    };
    let thing = delivery("s1", "a", json!({"n": i64::MAX - 1, "text": "x", "big": u64::MAX}));
    commit(&dynamo, Batch::new().insert(&thing)).await.unwrap();
    let patch = || Patch::of(Kind::Delivery, thing.key.clone());
    for bad in [patch().add("n", 2), patch().add("text", 1), patch().add("big", -1)] {
        let error = commit(&dynamo, Batch::new().patch(bad)).await.unwrap_err();
        assert!(matches!(error, StoreError::Malformed(_)), "{error}");
    }
    let both = patch().add("n", 2).when(Condition::Revision(9));
    let error = commit(&dynamo, Batch::new().patch(both)).await.unwrap_err();
    assert!(error.refused_at(0), "{error}");

    let bytes = Value::Bytes(bytes::Bytes::from_static(b"\0\xff"));
    let good = patch().add("n", 1).add("new", -3).remove("text").set("raw", bytes.clone());
    commit(&dynamo, Batch::new().patch(good)).await.unwrap();
    let row = dynamo.get(&thing.key).await.unwrap().unwrap();
    assert_eq!(row.revision, 2);
    assert_eq!(row.item.get("n"), Some(&Value::from(i64::MAX)));
    assert_eq!(row.item.get("new"), Some(&Value::from(-3)));
    assert_eq!(row.item.get("raw"), Some(&bytes));
    assert_eq!(row.item.len(), 4);
}

#[tokio::test]
async fn pages_neither_skip_nor_repeat() {
    let Some((dynamo, _)) = open().await else {
        return;
    };
    let key = |sort: String| Key::new(Table::Main, "USER#p1", sort);
    for n in 0..23 {
        // Every third row is of another kind and passed over.
        let batch = match n % 3 {
            0 => {
                Batch::new().insert(&Thing::<Connection>::new(key(format!("X#{n:02}")), json!({})))
            }
            _ => Batch::new().insert(
                &Thing::<Source>::new(
                    key(format!("X#{n:02}")),
                    json!({"n": n, "accountId": "p1", "status": "active"}),
                )
                .at(IndexKey::new(Index::AccountStatus, "p1", "active")),
            ),
        };
        commit(&dynamo, batch).await.unwrap();
    }
    let numbers: Vec<i64> = (0..23).filter(|n| n % 3 != 0).collect();
    for limit in [1, 2, 5, 15, 16, 50] {
        for order in [Order::Ascending, Order::Descending] {
            let table = Query::table(Kind::Source, "USER#p1").prefix("X#");
            let index = Query::index(Kind::Source, Index::AccountStatus, "p1");
            for (query, sorted) in [(table, true), (index, false)] {
                let query = Query { order, ..query.limit(limit) };
                let mut found = list(&dynamo, query, limit).await;
                match (sorted, order) {
                    (true, Order::Descending) => found.reverse(),
                    (true, Order::Ascending) => {}
                    (false, _) => found.sort_unstable(),
                }
                assert_eq!(found, numbers, "{limit} {order:?} {sorted}");
            }
        }
    }
    let part = |n: &str| Some(Part::from(n));
    for (from, to, count) in [
        (part("X#05"), part("X#08"), 3),
        (part("X#20"), None, 2),
        (None, part("X#02"), 2),
        (part("X#08"), part("X#05"), 0),
    ] {
        let query = Query::table(Kind::Source, "USER#p1").between(from, to);
        assert_eq!(list(&dynamo, query, 50).await.len(), count);
    }
}

async fn list(engine: &dyn Engine, query: Query, limit: usize) -> Vec<i64> {
    let mut numbers = Vec::new();
    let mut after: Option<Cursor> = None;
    for _ in 0..100 {
        let page = engine.query(query.clone().after(after)).await.unwrap();
        assert!(page.rows.len() <= limit);
        numbers.extend(page.rows.into_iter().map(|row| json_of(row)["n"].as_i64().unwrap()));
        after = page.next;
        if after.is_none() {
            return numbers;
        }
    }
    panic!("the pages do not end")
}

/// The write was done and its answer lost: the second try must not find itself in the way.
#[tokio::test]
async fn a_lost_answer_is_asked_for_again() {
    let Some(config) = tables().await else { return };
    let endpoint = config.endpoint.clone().unwrap();
    let upstream = endpoint.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let through = format!("http://{}", listener.local_addr().unwrap());
    let lose = Arc::new(AtomicBool::new(false));
    let proxy = async {
        loop {
            let (client, _) = listener.accept().await.unwrap();
            Box::pin(relay(client, &upstream, &lose)).await;
        }
    };
    let test = async {
        let config = DynamoConfig { endpoint: Some(through), ..config.clone() };
        let dynamo = Dynamo::open(config, env().0).await.unwrap();
        let thing = delivery("lost", "a", json!({"n": 1}));
        lose.store(true, Ordering::SeqCst);
        commit(&dynamo, Batch::new().insert(&thing)).await.unwrap();
        assert!(!lose.load(Ordering::SeqCst), "an answer was lost");
        lose.store(true, Ordering::SeqCst);
        let sum = Patch::of(Kind::Delivery, thing.key.clone()).add("n", 1);
        commit(&dynamo, Batch::new().patch(sum)).await.unwrap();
        assert!(!lose.load(Ordering::SeqCst), "an answer was lost");
        assert_eq!(get(&dynamo, &thing.key).await, Some((2, json!({"n": 2}))));
    };
    tokio::select! {
        () = proxy => {}
        () = test => {}
    }
}

/// One connection after another; when told to lose an answer, it breaks off in its place.
async fn relay(mut client: TcpStream, upstream: &str, lose: &AtomicBool) {
    let mut server = TcpStream::connect(upstream).await.unwrap();
    let (mut asked, mut answered) = ([0; 16384], [0; 16384]);
    loop {
        tokio::select! {
            read = client.read(&mut asked) => match read {
                Ok(0) | Err(_) => return,
                Ok(read) => server.write_all(&asked[..read]).await.unwrap(),
            },
            read = server.read(&mut answered) => match read {
                Ok(0) | Err(_) => return,
                Ok(_) if lose.swap(false, Ordering::SeqCst) => return,
                Ok(read) => client.write_all(&answered[..read]).await.unwrap(),
            },
        }
    }
}

#[tokio::test]
async fn a_missing_table_says_what_to_do() {
    let Some(config) = server("missing") else {
        return;
    };
    let dynamo = Dynamo::open(config, env().0).await.unwrap();
    let thing = delivery("m", "a", json!({}));
    let got = dynamo.get(&thing.key).await.unwrap_err();
    let committed = commit(&dynamo, Batch::new().insert(&thing)).await.unwrap_err();
    for error in [got, committed] {
        assert!(error.to_string().contains("run `ferryhook schema apply`"), "{error}");
    }
}

#[tokio::test]
async fn a_table_without_a_stream_keeps_no_changes() {
    let Some(config) = server("quiet") else { return };
    let name = config.names().of(Table::Events);
    let tables = Tables::open(&config).await.unwrap();
    tables.create_bare(Table::Events, &name).await.unwrap();
    let dynamo = Dynamo::open(config, env().0).await.unwrap();
    let error = dynamo.changes(&Wanted::new(Kind::Event, Start::Oldest)).await.unwrap_err();
    assert!(matches!(error, StoreError::Changes(ChangesError::NotKept)), "{error}");
}

/// The bounds count the record; its keys and index entries come on top.
#[tokio::test]
async fn an_item_too_large_for_the_server_is_out_of_bounds() {
    let Some((dynamo, _)) = open().await else {
        return;
    };
    let body = "x".repeat(ferryhook_core::limits::ITEM_BYTES_MAX - 8);
    let thing = delivery("big", "a", json!({ "body": body }));
    let error = commit(&dynamo, Batch::new().insert(&thing)).await.unwrap_err();
    assert!(matches!(error, StoreError::OutOfBounds(_)), "{error}");
}

#[tokio::test]
async fn nobody_there_is_unavailable_in_time() {
    let config = DynamoConfig {
        endpoint: Some("http://127.0.0.1:9".into()),
        region: None,
        table_prefix: String::new(),
        ledger_table: "ledger".into(),
    };
    let env = Env::system();
    let dynamo = Dynamo::open(config.clone(), env.clone()).await.unwrap();
    let began = env.elapsed();
    let error = dynamo.get(&delivery("x", "a", json!({})).key).await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(..)), "{error}");
    assert!(env.elapsed() - began < retry::DEADLINE + Duration::from_secs(1));

    let nonsense = DynamoConfig { endpoint: Some("localhost:8000".into()), ..config };
    let error = Dynamo::open(nonsense, env).await.unwrap_err();
    assert!(matches!(error, StoreError::Unusable(_)), "{error}");
}

#[tokio::test]
async fn the_schema_is_applied_once() {
    let Some(config) = server("schema") else {
        return;
    };
    let mut lines = Vec::new();
    let mut tell = |line: &str| lines.push(line.to_owned());
    let first = Box::pin(schema::apply(&config, &mut tell)).await.unwrap();
    assert_eq!(first.steps.len(), 22);
    assert!(lines.len() >= first.steps.len());
    let second = Box::pin(schema::apply(&config, &mut |_| {})).await.unwrap();
    assert!(second.is_empty(), "{second}");
    assert!(Box::pin(schema::plan(&config)).await.unwrap().is_empty());
}

/// A table of an older version gets what it lacks.
#[tokio::test]
#[ignore = "a DynamoDB Local takes most of a minute to add an index"]
async fn the_schema_completes_a_bare_table() {
    let Some(config) = server("bare") else { return };
    let name = config.names().of(Table::Accounts);
    let tables = Tables::open(&config).await.unwrap();
    tables.create_bare(Table::Accounts, &name).await.unwrap();
    let plan = Box::pin(schema::apply(&config, &mut |_| {})).await.unwrap();
    let steps = plan.steps.iter().filter(|step| step.name == name);
    let changes: Vec<_> = steps.map(|step| step.change).collect();
    assert_eq!(changes, [schema::Change::AddIndex(Index::AccountParent)]);
    assert!(Box::pin(schema::plan(&config)).await.unwrap().is_empty());
}
