//! Real repositories on the memory engine; what is said and what is stored, as data.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ferryhook_core::env::ManualClock;
use ferryhook_core::{Secret, connection};
use ferryhook_store::engine::memory::Memory;

use super::*;

struct Desk {
    store: Store,
    env: Env,
    clock: Arc<ManualClock>,
    rung: Mutex<Vec<Changed>>,
}

const HOOKS: &str = "
sources:
  - name: orders
    connections:
      - { name: warehouse, url: 'https://example.com/a' }
      - { name: crm, url: 'https://example.com/b', status: paused }
";

impl Desk {
    fn new() -> Self {
        let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
        let store = Store::new(Arc::new(Memory::new(env.clone())), env.clone());
        Self { store, env, clock, rung: Mutex::default() }
    }

    async fn run(&self, text: &str, flags: &[&str]) -> Result<Outcome, ApplyError> {
        let asked = Asked {
            file: "hooks.yaml".into(),
            text: text.into(),
            secrets: Secrets::from([
                ("OLD".into(), Secret::new("old")),
                ("NEW".into(), Secret::new("new")),
            ]),
            dry_run: flags.contains(&"dry-run"),
            prune: flags.contains(&"prune"),
        };
        let bell = |changed| self.rung.lock().unwrap().push(changed);
        run(&self.store, &self.env, &Guard::new(Vec::new()), &asked, &bell).await
    }

    /// One line for each thing, without ids.
    async fn says(&self, text: &str, flags: &[&str]) -> String {
        let outcome = self.run(text, flags).await.unwrap();
        let name = |thing: &Thing| match &thing.connection {
            Some(connection) => format!("{}/{connection}", thing.source),
            None => thing.source.clone(),
        };
        let mut lines: Vec<_> = outcome
            .changes
            .iter()
            .map(|change| {
                let secret = if change.signing_secret.is_some() { " secret" } else { "" };
                let id = if change.thing.id.is_some() { "" } else { " no id" };
                format!("{:?} {} {:?}{secret}{id}", change.what, name(&change.thing), change.fields)
            })
            .collect();
        lines.extend(outcome.left.iter().map(|thing| format!("Left {}", name(thing))));
        lines.push(format!("{} unchanged", outcome.unchanged));
        lines.join("\n")
    }

    async fn present(&self) -> Vec<Existing> {
        let owner = owner::ensure(&self.store, &self.env).await.unwrap();
        read(&self.store, owner).await.unwrap()
    }

    async fn source(&self, name: &str) -> Existing {
        let present = self.present().await;
        present.into_iter().find(|existing| existing.source.name == name).unwrap()
    }

    async fn connection(&self, name: &str) -> Stored<Connection> {
        let mut connections = self.source("orders").await.connections;
        let place = connections.iter().position(|connection| connection.name == name).unwrap();
        connections.swap_remove(place)
    }

    fn rung(&self) -> Vec<Changed> {
        std::mem::take(&mut self.rung.lock().unwrap())
    }
}

#[tokio::test]
async fn a_second_run_changes_nothing() {
    let desk = Desk::new();
    insta::assert_snapshot!(desk.says(HOOKS, &[]).await, @"
    Created orders []
    Created orders/warehouse [] secret
    Created orders/crm [] secret
    0 unchanged
    ");
    let before = desk.source("orders").await;
    desk.clock.advance(Duration::from_secs(60));
    assert_eq!(desk.says(HOOKS, &[]).await, "3 unchanged");
    assert_eq!(desk.source("orders").await.source, before.source);
    assert_eq!(desk.connection("crm").await.status, connection::Status::Paused);
}

#[tokio::test]
async fn a_dry_run_says_it_and_writes_nothing() {
    let desk = Desk::new();
    insta::assert_snapshot!(desk.says(HOOKS, &["dry-run"]).await, @"
    Created orders [] no id
    Created orders/warehouse [] no id
    Created orders/crm [] no id
    0 unchanged
    ");
    assert_eq!(owner::find(&desk.store).await.unwrap(), None, "not even an owner");
    desk.says(HOOKS, &[]).await;
    let renamed = HOOKS.replace("/a'", "/c'");
    assert_eq!(
        desk.says(&renamed, &["dry-run"]).await,
        "Changed orders/warehouse [\"url\"]\n2 unchanged"
    );
    assert_eq!(desk.says(HOOKS, &[]).await, "3 unchanged");
}

#[tokio::test]
async fn changed_fields_are_named_as_in_the_file() {
    let desk = Desk::new();
    desk.says(HOOKS, &[]).await;
    let text = "
sources:
  - name: orders
    provider: github
    dedup: body.id
    eventType: body.kind
    split: true
    bodyBytesMax: 9
    signingSecret: s
    verificationMode: reject
    customResponse: {}
    connections:
      - name: warehouse
        url: https://example.com/z
        method: PUT
        headers: { X-A: b }
        eventTypes: [a]
        retry: [0]
        timeoutMs: 2000
        concurrency: 2
        ratePerSecond: 2
        ordering: { key: body.id, policy: park }
        signingSecret: s
      - { name: crm, url: 'https://example.com/b', status: active }
";
    insta::assert_snapshot!(desk.says(text, &[]).await, @r#"
    Changed orders ["provider", "signingSecret", "verificationMode", "bodyBytesMax", "dedup", "customResponse", "split", "eventType"]
    Changed orders/warehouse ["url", "method", "headers", "signingSecret", "eventTypes", "retry", "timeoutMs", "concurrency", "ratePerSecond", "ordering"]
    Changed orders/crm ["status"]
    0 unchanged
    "#);
    insta::assert_snapshot!(desk.says(HOOKS, &[]).await, @r#"
    Changed orders ["provider", "signingSecret", "verificationMode", "bodyBytesMax", "dedup", "customResponse", "split", "eventType"]
    Changed orders/warehouse ["url", "method", "headers", "eventTypes", "retry", "timeoutMs", "concurrency", "ratePerSecond", "ordering"]
    Changed orders/crm ["status"]
    0 unchanged
    "#);
}

/// Without --prune only the file's own things are touched; with it the others go.
#[tokio::test]
async fn what_is_not_in_the_file_is_left_or_pruned() {
    let desk = Desk::new();
    desk.says(HOOKS, &[]).await;
    let other = "
sources:
  - name: orders
    connections: [{ name: warehouse, url: 'https://example.com/a' }]
  - name: billing
";
    insta::assert_snapshot!(desk.says(other, &[]).await, @"
    Created billing []
    Left orders/crm
    2 unchanged
    ");
    insta::assert_snapshot!(desk.says("sources: [{ name: billing }]", &["prune", "dry-run"]).await, @"
    Deleted orders/crm []
    Deleted orders/warehouse []
    Deleted orders []
    1 unchanged
    ");
    insta::assert_snapshot!(desk.says(other, &["prune"]).await, @"
    Deleted orders/crm []
    3 unchanged
    ");
    insta::assert_snapshot!(desk.says("sources: [{ name: billing }]", &["prune"]).await, @"
    Deleted orders/warehouse []
    Deleted orders []
    1 unchanged
    ");
    assert_eq!(desk.says("sources: [{ name: billing }]", &["prune"]).await, "1 unchanged");
    assert_eq!(desk.present().await.len(), 1);
}

/// Its rows stay, so that deliveries keep their meaning; the name is free for another.
#[tokio::test]
async fn a_pruned_name_can_be_used_again() {
    let desk = Desk::new();
    desk.says(HOOKS, &[]).await;
    let first = desk.source("orders").await.source.id;
    desk.says("sources: []", &["prune"]).await;
    desk.says(HOOKS, &[]).await;
    assert_ne!(desk.source("orders").await.source.id, first);
}

/// A pause by hand, or because a destination was gone, survives a run that says nothing of it.
/// What is on its way to a destination cannot be fetched, so that it is another connection.
#[tokio::test]
async fn a_connection_that_becomes_an_inbox_is_a_new_one() {
    let desk = Desk::new();
    desk.run(HOOKS, &[]).await.unwrap();
    let before = desk.connection("warehouse").await;
    let inbox = "
sources:
  - name: orders
    connections:
      - { name: warehouse, destinationType: inbox, destinationConfig: { group: stock } }
";
    insta::assert_snapshot!(desk.says(inbox, &[]).await, @"
    Deleted orders/warehouse []
    Created orders/warehouse []
    Left orders/crm
    1 unchanged
    ");
    let after = desk.connection("warehouse").await;
    assert_ne!(after.id, before.id);
    assert_eq!(after.destination_type, connection::DestinationType::Inbox);
    assert_eq!(desk.says(inbox, &[]).await, "Left orders/crm\n2 unchanged");
    let patient = inbox.replace("stock", "stock, maxLeases: 9");
    insta::assert_snapshot!(desk.says(&patient, &[]).await, @r#"
    Changed orders/warehouse ["destinationConfig"]
    Left orders/crm
    1 unchanged
    "#);
}

#[tokio::test]
async fn a_status_that_is_not_named_stays() {
    let desk = Desk::new();
    desk.says(HOOKS, &[]).await;
    let was = desk.connection("warehouse").await;
    let gone = Connection {
        status: connection::Status::Paused,
        status_reason: Some("answered 410".into()),
        ..was.record.clone()
    };
    desk.store.connections().replace(&was, gone).await.unwrap();
    assert_eq!(desk.says(HOOKS, &[]).await, "3 unchanged");

    let active = HOOKS.replace("/a'", "/a', status: active");
    assert_eq!(desk.says(&active, &[]).await, "Changed orders/warehouse [\"status\"]\n2 unchanged");
    let connection = desk.connection("warehouse").await;
    assert_eq!((connection.status, &connection.status_reason), (connection::Status::Active, &None));
}

/// Both secrets count for a day, on either side.
#[tokio::test]
async fn a_changed_secret_is_a_rotation() {
    let desk = Desk::new();
    let text = |name: &str| {
        let secret = format!("signingSecret: {{ $secret: env:{name} }}");
        format!(
            "sources: [{{ name: orders, {secret}, connections: [{{ name: c, url: 'https://example.com', {secret} }}] }}]"
        )
    };
    desk.says(&text("OLD"), &[]).await;
    insta::assert_snapshot!(desk.says(&text("NEW"), &[]).await, @r#"
    Changed orders ["signingSecret"]
    Changed orders/c ["signingSecret"]
    0 unchanged
    "#);
    let Existing { source, connections } = desk.source("orders").await;
    assert_eq!(source.signing_secret, Some(Secret::new("new")));
    for previous in [&source.previous_secrets, &connections[0].previous_secrets] {
        let [old] = &previous[..] else { panic!("{previous:?}") };
        assert_eq!(old.secret, Secret::new("old"));
        assert_eq!(old.valid_until, desk.env.now() + limits::SECRET_OVERLAP);
    }
    assert_eq!(desk.says(&text("NEW"), &[]).await, "2 unchanged");
}

#[tokio::test]
async fn a_file_with_mistakes_changes_nothing() {
    let desk = Desk::new();
    let error = desk.run("sources:\n  - name: good\n  - nmae: bad\n", &[]).await.unwrap_err();
    insta::assert_snapshot!(error, @"
    hooks.yaml has mistakes, so nothing was changed
    hooks.yaml:3:5: sources[1].nmae: no such field; a source has name, provider, status, signingSecret, verificationMode, bodyBytesMax, dedup, eventType, split, customResponse, config, connections
    hooks.yaml:3:5: sources[1]: name is missing
    ");
    assert_eq!(owner::find(&desk.store).await.unwrap(), None);
}

/// One ring for each source that was written, and none where nothing was.
#[tokio::test]
async fn the_bell_rings_after_each_commit() {
    let desk = Desk::new();
    let paused = "sources: [{ name: orders, status: paused }, { name: billing }]";
    desk.says(paused, &[]).await;
    assert_eq!(desk.rung().len(), 2);
    desk.says(paused, &[]).await;
    assert_eq!(desk.rung(), []);

    desk.says(HOOKS, &["dry-run"]).await;
    assert_eq!(desk.rung(), []);
    desk.says(&HOOKS.replace("orders\n", "orders\n    status: active\n"), &[]).await;
    let Existing { source, connections } = desk.source("orders").await;
    let rung = desk.rung();
    let [changed] = &rung[..] else { panic!("{rung:?}") };
    assert_eq!((changed.source, changed.resumed), (source.id, true));
    assert_eq!(changed.connections.len(), connections.len());
}

/// More at once than one commit may have.
#[tokio::test]
async fn a_source_can_change_all_of_its_connections() {
    let desk = Desk::new();
    let text = |prefix: &str| {
        let connections: Vec<_> = (0..limits::CONNECTIONS_PER_SOURCE_MAX)
            .map(|n| format!("{{ name: {prefix}{n}, url: 'https://example.com' }}"))
            .collect();
        format!("sources: [{{ name: orders, connections: [{}] }}]", connections.join(", "))
    };
    desk.says(&text("a"), &[]).await;
    assert_eq!(desk.rung().len(), 1, "a source with all its connections is one commit");
    let outcome = desk.run(&text("b"), &["prune"]).await.unwrap();
    assert_eq!(outcome.changes.len(), 2 * limits::CONNECTIONS_PER_SOURCE_MAX);
    let all = limits::CONNECTIONS_PER_SOURCE_MAX + 1;
    assert_eq!(desk.says(&text("b"), &["prune"]).await, format!("{all} unchanged"));
}

/// Two of one name can only come from elsewhere, and no file can mean one of them.
#[tokio::test]
async fn a_name_that_stands_for_two_is_refused() {
    let desk = Desk::new();
    desk.says(HOOKS, &[]).await;
    let twin = Source { id: Id::new(&desk.env), ..desk.source("orders").await.source.record };
    desk.store.sources().create(&twin).await.unwrap();
    let error = desk.run(HOOKS, &[]).await.unwrap_err();
    insta::assert_snapshot!(error, @r#"there are 2 sources called "orders", so the file cannot say which one it means"#);
}
