use std::sync::Arc;

use ferryhook_core::{Env, Secret};
use ferryhook_net::client::Guard;
use ferryhook_store::engine::memory::Memory;

use super::*;
use crate::apply::{Asked, Outcome};
use crate::manifest::Secrets;

struct Desk {
    store: Store,
    env: Env,
}

impl Desk {
    fn new() -> Self {
        let env = Env::fixed("2026-01-01T00:00:00Z");
        Self { store: Store::new(Arc::new(Memory::new(env.clone())), env.clone()), env }
    }

    async fn apply(&self, text: &str, secrets: &[(&str, &str)]) -> Outcome {
        let secrets = secrets.iter().map(|(name, value)| ((*name).to_owned(), Secret::new(*value)));
        let asked = Asked {
            file: "hooks.yaml".into(),
            text: text.into(),
            secrets: secrets.collect::<Secrets>(),
            dry_run: false,
            prune: true,
        };
        let guard = Guard::new(Vec::new());
        apply::run(&self.store, &self.env, &guard, &asked, &|_| {}).await.unwrap()
    }
}

const EVERYTHING: &str = r#"
sources:
  - name: shop one
    provider: stripe
    status: paused
    signingSecret: hush
    verificationMode: mark
    bodyBytesMax: 1024
    dedup: "{body.type}:{body.id}"
    eventType: body.kind
    split: data.events
    customResponse: { status: 202, contentType: text/xml, body: <ok/> }
    config: { region: "no", deep: [1, { a: 2.5 }] }
    connections:
      - name: warehouse
        url: https://example.com/hook?a=b
        status: paused
        method: original
        headers: { X-Team: "12", Authorization: open sesame }
        eventTypes: ["*", order.*]
        retry: { schedule: [0, 30], rules: [{ codes: 4xx, then: fail }] }
        timeoutMs: 5000
        concurrency: 8
        ratePerSecond: 50
        ordering: { key: body.order, policy: skip, skipAfter: 3 }
        signingSecret: hush
  - name: "12"
    connections:
      - { name: "true", url: "https://example.com", ordering: { key: body.a, policy: park } }
      - { name: "null", url: "https://example.com", ordering: { key: body.a } }
"#;

/// What is written down makes the same again, and gives nothing away.
#[tokio::test]
async fn an_export_changes_nothing_when_it_is_applied() {
    let desk = Desk::new();
    desk.apply(EVERYTHING, &[]).await;
    let written = run(&desk.store).await.unwrap();
    insta::assert_snapshot!(written, @r#"
    sources:
    - name: "12"
      connections:
      - name: "null"
        url: https://example.com
        ordering:
          key: body.a
      - name: "true"
        url: https://example.com
        ordering:
          key: body.a
          policy: park
    - name: shop one
      provider: stripe
      status: paused
      signingSecret:
        $secret: env:SHOP_ONE_SIGNING_SECRET
      verificationMode: mark
      bodyBytesMax: 1024
      dedup: "{body.type}:{body.id}"
      eventType: body.kind
      split: data.events
      customResponse:
        status: 202
        contentType: text/xml
        body: <ok/>
      config:
        deep:
        - 1
        - a: 2.5
        region: "no"
      connections:
      - name: warehouse
        url: https://example.com/hook?a=b
        status: paused
        method: original
        headers:
          X-Team: "12"
          Authorization:
            $secret: env:SHOP_ONE_WAREHOUSE_AUTHORIZATION
        eventTypes:
        - "*"
        - order.*
        retry:
          schedule:
          - 0
          - 30
          rules:
          - codes: 4xx
            then: fail
        timeoutMs: 5000
        concurrency: 8
        ratePerSecond: 50
        ordering:
          key: body.order
          policy: skip
          skipAfter: 3
    "#);
    let secrets =
        [("SHOP_ONE_SIGNING_SECRET", "hush"), ("SHOP_ONE_WAREHOUSE_AUTHORIZATION", "open sesame")];
    let outcome = desk.apply(&written, &secrets).await;
    assert_eq!((outcome.changes.as_slice(), outcome.unchanged), (&[][..], 5));
}

#[tokio::test]
async fn nothing_is_written_down_as_nothing() {
    let desk = Desk::new();
    let written = run(&desk.store).await.unwrap();
    assert_eq!(written, "sources: []\n");
    assert_eq!(desk.apply(&written, &[]).await.changes, []);
}
