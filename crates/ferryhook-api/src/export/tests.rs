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
    config: { region: "no", deep: [1, { a: 2.5, apiKey: hush }], privateKeys: [hush, { x: hush }] }
    connections:
      - name: warehouse
        url: https://example.com/hook?a=b
        status: paused
        method: original
        headers: { X-Team: "12", Authorization: open sesame }
        eventTypes: ["*", order.*]
        filters: [{ path: body.a, operator: gt, value: 1.5 }]
        transform: { type: field_map, remove: [a.b] }
        pipelineOrder: transform_first
        retry: { schedule: [0, 30], rules: [{ codes: 4xx, then: fail }] }
        timeoutMs: 5000
        concurrency: 8
        ratePerSecond: 50
        ordering: { key: body.order, policy: skip, skipAfter: 3 }
        signingSecret: hush
  - name: "12"
    connections:
      - { name: inbox, destinationType: inbox, destinationConfig: { group: billing } }
      - { name: "true", url: "https://example.com", ordering: { key: body.a, policy: park } }
      - { name: "null", url: "https://example.com", ordering: { key: body.a } }
      - name: token
        url: https://example.com
        auth:
          type: oauth2
          tokenUrl: https://login.example.com/token
          clientId: we
          clientSecret: hush
          parameters: { resource: quiet }
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
      - name: inbox
        destinationType: inbox
        destinationConfig:
          group: billing
          maxLeases: 5
      - name: "null"
        url: https://example.com
        ordering:
          key: body.a
      - name: token
        url: https://example.com
        auth:
          type: oauth2
          tokenUrl: https://login.example.com/token
          clientId: we
          clientSecret:
            $secret: env:12_TOKEN_AUTH_CLIENT_SECRET
          authStyle: basic
          parameters:
            resource:
              $secret: env:12_TOKEN_AUTH_PARAMETERS_RESOURCE
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
          apiKey:
            $secret: env:SHOP_ONE_CONFIG_DEEP_1_API_KEY
        region: "no"
        privateKeys:
        - $secret: env:SHOP_ONE_CONFIG_PRIVATE_KEYS_0
        - x:
            $secret: env:SHOP_ONE_CONFIG_PRIVATE_KEYS_1_X
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
        filters:
        - path: body.a
          operator: gt
          value: 1.5
        transform:
          type: field_map
          remove:
          - a.b
        pipelineOrder: transform_first
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
    let secrets = [
        ("SHOP_ONE_SIGNING_SECRET", "hush"),
        ("SHOP_ONE_WAREHOUSE_AUTHORIZATION", "open sesame"),
        ("SHOP_ONE_CONFIG_DEEP_1_API_KEY", "hush"),
        ("SHOP_ONE_CONFIG_PRIVATE_KEYS_0", "hush"),
        ("SHOP_ONE_CONFIG_PRIVATE_KEYS_1_X", "hush"),
        ("12_TOKEN_AUTH_CLIENT_SECRET", "hush"),
        ("12_TOKEN_AUTH_PARAMETERS_RESOURCE", "quiet"),
    ];
    let outcome = desk.apply(&written, &secrets).await;
    assert_eq!((outcome.changes.as_slice(), outcome.unchanged), (&[][..], 7));
}

#[tokio::test]
async fn nothing_is_written_down_as_nothing() {
    let desk = Desk::new();
    let written = run(&desk.store).await.unwrap();
    assert_eq!(written, "sources: []\n");
    assert_eq!(desk.apply(&written, &[]).await.changes, []);
}

/// Every kind has its secrets left out, and says where they go.
#[tokio::test]
async fn credentials_are_written_down_without_their_secrets() {
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(vec!["we.example".to_owned()]).unwrap();
    let certificate = certificate.self_signed(&key).unwrap().pem();
    let pem = json!({ "certificate": certificate, "privateKey": key.serialize_pem() });
    let auths = [
        json!({ "type": "header", "name": "X-Key", "value": "hush" }),
        json!({ "type": "basic", "username": "ada", "password": "hush" }),
        json!({ "type": "bearer", "token": "hush", "clientCertificate": pem }),
        json!({ "type": "mtls", "clientCertificate": pem }),
    ];
    let connections: Vec<_> = auths
        .iter()
        .enumerate()
        .map(|(n, auth)| json!({ "name": format!("c{n}"), "url": "https://example.com", "auth": auth }))
        .collect();
    let desk = Desk::new();
    let wanted = json!({ "sources": [{ "name": "a", "connections": connections }] }).to_string();
    desk.apply(&wanted, &[]).await;
    let written = run(&desk.store).await.unwrap();
    assert!(!written.contains("hush") && !written.contains("PRIVATE KEY"), "{written}");
    assert!(written.contains("BEGIN CERTIFICATE"), "{written}");
    let key = key.serialize_pem();
    let secrets = [
        ("A_C0_AUTH_VALUE", "hush"),
        ("A_C1_AUTH_PASSWORD", "hush"),
        ("A_C2_AUTH_TOKEN", "hush"),
        ("A_C2_AUTH_CLIENT_CERTIFICATE_PRIVATE_KEY", &key),
        ("A_C3_AUTH_CLIENT_CERTIFICATE_PRIVATE_KEY", &key),
    ];
    let outcome = desk.apply(&written, &secrets).await;
    assert_eq!((outcome.changes.as_slice(), outcome.unchanged), (&[][..], 5));
    let without = json!({ "sources": [{ "name": "a", "connections": [
        { "name": "c0", "url": "https://example.com" },
    ] }] });
    let outcome = desk.apply(&without.to_string(), &[]).await;
    assert_eq!(outcome.changes[0].fields, ["auth"], "what is left out is taken away");
}
