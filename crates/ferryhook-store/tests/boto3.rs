//! Somebody else's program can read our tables: one of everything is stored through the
//! repositories, then `scripts/check_dynamo_items.py` looks for it with boto3.
//!
//! Needs a DynamoDB server and a Python that has boto3; `scripts/with-servers` brings both.

#![cfg(feature = "aws")]
#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::io::Write;
use std::process::Command;
use std::sync::Arc;

use ferryhook_core::event::{self, Origin};
use ferryhook_core::samples::{self, CREATED, UPDATED};
use ferryhook_core::{
    Attempt, Claim, Delivery, Env, Event, Id, Key, Notification, OauthState, Rejection, Run,
    Timestamp, run,
};
use ferryhook_store::engine::dynamo::{Dynamo, DynamoConfig};
use ferryhook_store::repositories::{Accepted, Arrival, Mark};
use ferryhook_store::{Store, schema};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/check_dynamo_items.py");
const REGION: &str = "us-west-2";

#[tokio::test]
async fn strangers_find_every_item_by_the_documented_patterns() {
    let (Ok(endpoint), Ok(python)) =
        (std::env::var("FERRYHOOK_TEST_DYNAMO"), std::env::var("FERRYHOOK_TEST_PYTHON"))
    else {
        // Not `eprintln`, which is shown only when a test fails.
        let reason = "boto3: FERRYHOOK_TEST_DYNAMO or FERRYHOOK_TEST_PYTHON is not set";
        let _ = writeln!(std::io::stderr(), "\n!!! SKIPPED, NOT PASSED: {reason} !!!\n");
        return;
    };
    let run = std::process::id();
    let config = DynamoConfig {
        endpoint: Some(endpoint.clone()),
        region: Some(REGION.into()),
        table_prefix: format!("boto3-{run}-"),
        ledger_table: format!("boto3-{run}-ledger"),
    };
    schema::apply(&config, &mut |_| {}).await.unwrap();
    let env = Env::system();
    let engine = Dynamo::open(config.clone(), env.clone()).await.unwrap();
    let store = Store::new(Arc::new(engine), env.clone());
    let cast = Cast::new(&env);
    cast.store_in(&store).await;

    let mut facts = cast.facts();
    facts["endpoint"] = endpoint.into();
    facts["region"] = REGION.into();
    facts["prefix"] = config.table_prefix.into();
    facts["ledger"] = config.ledger_table.into();
    let output = Command::new(python).args([SCRIPT, &facts.to_string()]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    let _ = writeln!(std::io::stderr(), "boto3: {}", told.trim_end());
    assert!(output.status.success(), "{told}{complaint}");

    // What the script, as another program, has put into the ledger has been seen.
    let key = cast.facts()["bareClaim"].as_str().unwrap().to_owned();
    let claim = Claim { key, event_id: None, ..cast.claim.clone() };
    let ledger = store.ledger();
    assert!(matches!(ledger.mark(&claim).await.unwrap(), Mark::Duplicate(_)));
    let event = Event { id: Id::new(&env), ..cast.event.clone() };
    let arrival = Arrival { event, claim: Some(claim), items: Vec::new() };
    let accepted = store.events().accept(&[arrival]).await.unwrap();
    assert_eq!(accepted, [Accepted::Duplicate { first: None }]);

    // And we read what the script has written.
    let Event { source_id, received_at, id, .. } = cast.event;
    let found = store.events().find_of(source_id, received_at, id).await.unwrap().unwrap();
    let expected = Event { status: event::Status::Delivered, retry_count: 3, ..cast.event };
    assert_eq!(found.record, expected);
}

/// The samples, except that nothing has expired yet.
struct Cast {
    earlier_event: Event,
    event: Event,
    attempt: Attempt,
    delivery: Delivery,
    claim: Claim,
    rejection: Rejection,
    key: Key,
    run: Run,
    read: Notification,
    unread: Notification,
    oauth_state: OauthState,
}

impl Cast {
    fn new(env: &Env) -> Self {
        let later = Timestamp::from_seconds(env.now().as_seconds() + 30 * 86_400);
        let expires_at = Some(later);
        let earlier_event = Event {
            origin: Origin::Webhook,
            status: event::Status::Failed,
            expires_at,
            ..samples::event()
        };
        let event = Event {
            id: "evt_-OhqqeV-00000002".parse().unwrap(),
            origin: Origin::Trigger,
            received_at: UPDATED,
            ..earlier_event.clone()
        };
        let id = event.id;
        Self {
            attempt: Attempt { event_id: id, expires_at, ..samples::attempt() },
            delivery: Delivery { event_id: id, expires_at, ..samples::delivery() },
            claim: Claim { expires_at: later, event_id: Some(id), ..samples::claim() },
            rejection: Rejection { expires_at, ..samples::rejection() },
            key: Key { expires_at, ..samples::key() },
            run: Run { status: run::Status::Failed, ..samples::run() },
            read: Notification { expires_at, ..samples::notification() },
            unread: Notification {
                id: "ntf_-OhqqeV-00000002".parse().unwrap(),
                is_read: false,
                read_at: None,
                expires_at,
                ..samples::notification()
            },
            oauth_state: OauthState { expires_at: later, ..samples::oauth_state() },
            earlier_event,
            event,
        }
    }

    async fn store_in(&self, store: &Store) {
        store.users().create(&samples::user()).await.unwrap();
        store.accounts().create(&samples::account()).await.unwrap();
        store.members().add(&samples::member()).await.unwrap();
        store.keys().create(&self.key).await.unwrap();
        store.oauth_states().create(&self.oauth_state).await.unwrap();
        store.plans().create(&samples::plan()).await.unwrap();
        store.usage().add(&samples::usage()).await.unwrap();
        store.sources().create(&samples::source()).await.unwrap();
        store.connections().create(&samples::connection()).await.unwrap();
        let arrivals = [
            Arrival { event: self.earlier_event.clone(), claim: None, items: Vec::new() },
            Arrival {
                event: self.event.clone(),
                claim: Some(self.claim.clone()),
                items: Vec::new(),
            },
        ];
        store.events().accept(&arrivals).await.unwrap();
        store.deliveries().create(&self.delivery).await.unwrap();
        store.attempts().record(&self.attempt).await.unwrap();
        store.rejections().record(&self.rejection).await.unwrap();
        store.schedules().create(&samples::schedule()).await.unwrap();
        store.runs().start(&self.run).await.unwrap();
        store.activities().record(&samples::activity()).await.unwrap();
        store.hooks().create(&samples::hook()).await.unwrap();
        store.notifications().create(&self.read).await.unwrap();
        store.notifications().create(&self.unread).await.unwrap();
    }

    /// What the script has to know to ask; what it finds, it compares with the documents.
    fn facts(&self) -> serde_json::Value {
        serde_json::json!({
            "user": samples::user().id,
            "email": samples::user().email,
            "account": samples::account().id,
            "parent": samples::account().parent_account_id,
            "source": samples::source().id,
            "connection": samples::connection().id,
            "key": self.key.id,
            "keyHash": self.key.hash.expose(),
            "event": self.event.id,
            "earlierEvent": self.earlier_event.id,
            "inboxKey": format!("2026-01-01T01:00:00.000000Z#{}", self.event.id),
            "claim": self.claim.key,
            "bareClaim": format!("{}:bare", self.claim.key),
            "bareClaimUntil": self.claim.expires_at.as_seconds(),
            "schedule": samples::schedule().id,
            "nextRunAt": UPDATED.as_seconds(),
            "run": self.run.id,
            "startedAt": CREATED.as_seconds(),
            "activity": samples::activity().id,
            "hook": samples::hook().id,
            "readNotification": self.read.id,
            "unreadNotification": self.unread.id,
            "day": samples::usage().day,
            "plan": samples::plan().id,
            "state": self.oauth_state.state.expose(),
        })
    }
}
