use ferryhook_core::connection::{self, Method, OrderingPolicy, PipelineOrder};
use ferryhook_core::{inbox, source};
use serde_json::json;

use super::*;

fn parse_with(text: &str, secrets: &[(&str, &str)]) -> Result<Manifest, String> {
    let secrets = secrets.iter().map(|(name, value)| ((*name).to_owned(), Secret::new(*value)));
    Manifest::parse(text, &secrets.collect(), &Guard::new(Vec::new())).map_err(|complaints| {
        complaints.iter().map(Complaint::to_string).collect::<Vec<_>>().join("\n")
    })
}

fn parse(text: &str) -> Manifest {
    parse_with(text, &[]).unwrap()
}

fn complaints(text: &str) -> String {
    parse_with(text, &[]).unwrap_err()
}

/// Complaints about one connection that has these lines beside its name and URL.
fn about_connection(lines: &str) -> String {
    let lines = lines.replace('\n', "\n        ");
    complaints(&format!(
        "sources:\n  - name: a\n    connections:\n      - name: b\n        url: https://example.com\n        {lines}"
    ))
}

#[test]
fn a_name_is_enough_for_a_source_and_a_url_for_a_connection() {
    let manifest = parse(
        "
        sources:
          - name: orders
            connections:
              - name: warehouse
                url: https://example.com/hook
        ",
    );
    let [source] = &manifest.sources[..] else { panic!("{manifest:?}") };
    assert_eq!((&*source.name, &*source.provider), ("orders", "custom"));
    assert_eq!(source.status, None);
    let [connection] = &source.connections[..] else { panic!("{source:?}") };
    assert_eq!(connection.destination, Destination::Http("https://example.com/hook".to_owned()));
    assert_eq!((connection.method, connection.status), (Method::Post, None));
    assert!(connection.headers.is_empty() && connection.signing_secret.is_none());
}

#[test]
fn every_field_is_read() {
    let text = r#"
        sources:
          - name: orders
            provider: stripe
            status: paused
            signingSecret: { "$secret": "env:STRIPE" }
            verificationMode: mark
            bodyBytesMax: 1024
            dedup: body.id
            eventType: body.kind
            split: data.events
            customResponse: { status: 202, contentType: text/xml, body: <ok/> }
            config: { region: eu, retries: 3 }
            connections:
              - name: warehouse
                url: https://example.com/hook
                status: active
                method: original
                headers:
                  X-Team: payments
                  Authorization: { "$secret": "env:TOKEN" }
                eventTypes: [order.*, "refund"]
                filters: [{ path: body.a, operator: exists }]
                transform: { type: passthrough }
                pipelineOrder: transform_first
                retry: { schedule: [0, 30], rules: [{ codes: 4xx, then: fail }] }
                timeoutMs: 5000
                concurrency: 8
                ratePerSecond: 50
                ordering: { key: body.order, policy: skip, skipAfter: 3 }
                signingSecret: hush
    "#;
    let manifest = parse_with(text, &[("STRIPE", "whsec_1"), ("TOKEN", "Bearer 2")]).unwrap();
    let source = &manifest.sources[0];
    assert_eq!(source.provider, "stripe");
    assert_eq!(source.status, Some(source::Status::Paused));
    assert_eq!(source.signing_secret, Some(Secret::new("whsec_1")));
    assert_eq!(source.verification_mode, Some(source::VerificationMode::Mark));
    assert_eq!(source.body_bytes_max, Some(1024));
    assert_eq!(source.dedup_expression.as_deref(), Some("body.id"));
    let response = source.custom_response.as_ref().unwrap();
    assert_eq!(
        (response.status, &*response.content_type, &*response.body),
        (202, "text/xml", "<ok/>")
    );
    let config =
        json!({ "region": "eu", "retries": 3, "split": "data.events", "eventType": "body.kind" });
    assert_eq!(serde_json::Value::from(source.config.clone()), config);

    let connection = &source.connections[0];
    assert_eq!(connection.status, Some(connection::Status::Active));
    assert_eq!(connection.method, Method::Original);
    let headers: Vec<_> = connection.headers.iter().collect();
    assert_eq!(headers, [("X-Team", "payments"), ("Authorization", "Bearer 2")]);
    assert_eq!(connection.rules.event_types, ["order.*", "refund"]);
    let rules = &connection.rules;
    assert_eq!(rules.filters.as_deref(), Some(r#"[{"path":"body.a","operator":"exists"}]"#));
    assert_eq!(rules.transform.as_deref(), Some(r#"{"type":"passthrough"}"#));
    assert_eq!(rules.pipeline_order, PipelineOrder::TransformFirst);
    let retry = r#"{"schedule":[0,30],"rules":[{"codes":"4xx","then":"fail"}]}"#;
    assert_eq!(connection.retry_config.as_deref(), Some(retry));
    assert_eq!(connection.timeout_ms, Some(5000));
    assert_eq!(connection.concurrency_max, Some(8));
    assert_eq!(connection.rate_per_second_max, Some(50));
    let ordering = connection.ordering.as_ref().unwrap();
    assert_eq!(
        (&*ordering.key, ordering.policy),
        ("body.order", OrderingPolicy::Skip { after: 3 })
    );
    assert_eq!(connection.signing_secret, Some(Secret::new("hush")));
}

/// People write words that YAML once took for something else.
#[test]
fn words_stay_words() {
    for name in ["no", "on", "y", "null-ish", "1e", "0x"] {
        assert_eq!(parse(&format!("sources: [{{ name: {name} }}]")).sources[0].name, name);
    }
    assert_eq!(parse("sources:\n- name: \"12\"\n  provider: ~").sources[0].provider, "custom");
}

#[test]
fn variables_are_found_wherever_they_stand() {
    let text = r#"
        sources:
          - signingSecret: { "$secret": "env:ONE" }
            connections: [{ headers: { A: { $secret: env:TWO } } }, { signingSecret: { "$secret": "file:x" } }]
    "#;
    assert_eq!(variables(text).into_iter().collect::<Vec<_>>(), ["ONE", "TWO"]);
    assert!(variables("sources: [").is_empty());
}

/// Everything that is wrong at once, each with its place and the way to it.
#[test]
fn complaints_say_where() {
    insta::assert_snapshot!(complaints("
sources:
  - nmae: orders
    status: off
    signingSecret: { $secret: env:NOT_SET }
    bodyBytesMax: 0
    config: [1]
  - name: 12
    provider: Stripe
    customResponse: { status: 500 }
  - name: twice
    signingSecret: { $secret: vault:a }
    verificationMode: [mark]
    connections:
      - url: https://example.com
      - name: same
        url: https://example.com
      - name: same
        url: https://example.com
  - name: twice
    config: { split: true }
  - name: rules
    dedup: order.id
    eventType: [a]
    split: 7
  - name: untyped
    connections: [{ name: a, url: 'https://example.com', eventTypes: [order.*] }]
version: 1
"), @r#"
    3:5: sources[0].nmae: no such field; a source has name, provider, status, signingSecret, verificationMode, bodyBytesMax, dedup, eventType, split, customResponse, config, connections
    3:5: sources[0]: name is missing
    4:13: sources[0].status: must be one of active, paused, not "off"
    5:31: sources[0].signingSecret.$secret: the environment has no variable NOT_SET
    6:19: sources[0].bodyBytesMax: must be a whole number from 1 to 10485760
    7:13: sources[0].config: must be a map
    8:11: sources[1].name: must be text (put it in quotes), not a number
    9:15: sources[1].provider: must be made of a-z, 0-9, _ and -
    10:31: sources[1].customResponse.status: must be a whole number from 200 to 299
    12:31: sources[2].signingSecret.$secret: must be env: and the name of a variable
    13:23: sources[2].verificationMode: must be one of reject, mark, not a list
    15:9: sources[2].connections[0]: name is missing
    18:9: sources[2].connections[2]: connection 1 is called "same" too
    20:5: sources[3]: source 2 is called "twice" too
    21:13: sources[3].config: split is a field of the source, not of its config
    23:12: sources[4].dedup: a path starts with body, headers, query, path, cloudevent or $ (such as body.id), not with "order"
    24:16: sources[4].eventType: must be text, not a list
    25:12: sources[4].split: split is "array", the path of an array such as "data.events", true or false
    26:5: sources[5]: eventTypes of a connection need an eventType here, such as body.type
    28:1: version: no such field; a manifest has sources
    "#);
}

#[test]
fn complaints_about_connections_say_what_is_wrong() {
    let said = [
        "filters: [{path: $.a}]",
        "transform: {type: magic}",
        "pipelineOrder: any",
        "method: post",
        "headers: [a]",
        "headers: {X-A: 1}",
        "headers: {Host: a, 'b c': d}",
        "eventTypes: order.*",
        "eventTypes: ['']",
        "retry: [0, 86401]",
        "retry: {schedule: [], jitter: 1}",
        "timeoutMs: 999",
        "timeoutMs: 1.5",
        "concurrency: 1001",
        "ratePerSecond: fast",
        "ordering: {policy: block}",
        "ordering: {key: order}",
        "ordering: {key: body.a, policy: skip}",
        "ordering: {key: body.a, policy: park, skipAfter: 2}",
        "signingSecret: ''",
    ]
    .map(about_connection);
    insta::assert_snapshot!(said.join("\n"), @r#"
    6:18: sources[0].connections[0].filters: at /0: the rule has no "operator"
    6:20: sources[0].connections[0].transform: at /type: must be passthrough, field_map or javascript
    6:24: sources[0].connections[0].pipelineOrder: must be one of filter_first, transform_first, not "any"
    6:17: sources[0].connections[0].method: must be one of POST, PUT, PATCH, DELETE, GET, original, not "post"
    6:18: sources[0].connections[0].headers: must be a map, not a list
    6:24: sources[0].connections[0].headers.X-A: must be text (put it in quotes), not a number
    6:25: sources[0].connections[0].headers.Host: Host belongs to the transport of each request and cannot be set
    6:35: sources[0].connections[0].headers.b c: "b c" is not a header name: letters, digits and !#$%&'*+-.^_`|~ only
    6:21: sources[0].connections[0].eventTypes: must be a list, not text
    2:5: sources[0]: eventTypes of a connection need an eventType here, such as body.type
    6:21: sources[0].connections[0].eventTypes: an event type must not be empty; leave the list empty to get every event
    6:16: sources[0].connections[0].retry: a wait is at most 86400 seconds, not 86401
    6:16: sources[0].connections[0].retry: the retry configuration is not understood: unknown field `jitter`, expected one of `schedule`, `jitterPercent`, `rules`
    6:20: sources[0].connections[0].timeoutMs: must be a whole number from 1000 to 30000
    6:20: sources[0].connections[0].timeoutMs: must be a whole number from 1000 to 30000
    6:22: sources[0].connections[0].concurrency: must be a whole number from 1 to 1000
    6:24: sources[0].connections[0].ratePerSecond: must be a number, not text
    6:19: sources[0].connections[0].ordering: key is missing
    6:25: sources[0].connections[0].ordering.key: a path starts with body, headers, query, path, cloudevent or $ (such as body.id), not with "order"
    6:19: sources[0].connections[0].ordering: skipAfter is missing: how many attempts until the next event goes ahead
    6:58: sources[0].connections[0].ordering.skipAfter: means something only with policy: skip
    6:24: sources[0].connections[0].signingSecret: must have 1 to 1024 bytes, not 0
    "#);
}

/// Complaints about one connection to the inbox that has these lines beside its name.
fn about_inbox(lines: &str) -> String {
    let lines = lines.replace('\n', "\n        ");
    complaints(&format!(
        "sources:\n  - name: a\n    connections:\n      - name: b\n        destinationType: inbox\n        {lines}"
    ))
}

#[test]
fn an_inbox_needs_no_address() {
    let inbox = |config: &str| {
        let manifest = parse(&format!(
            "sources: [{{name: a, connections: [{{name: b, destinationType: inbox{config}}}]}}]"
        ));
        manifest.sources[0].connections[0].destination.clone()
    };
    assert_eq!(inbox(""), Destination::Inbox(inbox::Settings::default()));
    let told = inbox::Settings { group: "billing".parse().unwrap(), leases_max: 3 };
    let config = ", destinationConfig: {group: billing, maxLeases: 3}";
    assert_eq!(inbox(config), Destination::Inbox(told));
}

#[test]
fn complaints_about_an_inbox() {
    let said = [
        "url: https://example.com",
        "status: paused",
        "signingSecret: s",
        "retry: [0]",
        "ordering: {key: body.a}",
        "destinationConfig: {group: Billing, maxLeases: 0, visibility: 30}",
        "destinationConfig: [a]",
        "destinationConfig: {group: 7}",
    ]
    .map(about_inbox);
    insta::assert_snapshot!(said.join("\n"), @r#"
    6:14: sources[0].connections[0].url: means nothing for an inbox: events wait there until somebody fetches them
    6:17: sources[0].connections[0].status: an inbox cannot be paused: nothing is sent from it; pause the source to hold its events
    6:24: sources[0].connections[0].signingSecret: means nothing for an inbox: events wait there until somebody fetches them
    6:16: sources[0].connections[0].retry: means nothing for an inbox: events wait there until somebody fetches them
    6:19: sources[0].connections[0].ordering: means nothing for an inbox: events wait there until somebody fetches them
    6:36: sources[0].connections[0].destinationConfig.group: must have 1 to 64 characters of a-z, 0-9, - and _, not "Billing"
    6:56: sources[0].connections[0].destinationConfig.maxLeases: must be a whole number from 1 to 1000
    6:59: sources[0].connections[0].destinationConfig.visibility: no such field; an inbox has group, maxLeases
    6:28: sources[0].connections[0].destinationConfig: must be a map, not a list
    6:36: sources[0].connections[0].destinationConfig.group: must be text (put it in quotes), not a number
    "#);
    let said = ["destinationConfig: {group: a}", "destinationType: sqs"].map(about_connection);
    insta::assert_snapshot!(said.join("\n"), @r#"
    6:28: sources[0].connections[0].destinationConfig: means something only with destinationType: inbox
    6:26: sources[0].connections[0].destinationType: must be one of http, inbox, not "sqs"
    "#);
}

#[test]
fn a_destination_must_be_one_that_may_be_called() {
    let said = [
        "ftp://example.com",
        "https://10.0.0.1/x",
        "http://localhost",
        "https://u:p@example.com",
        "x",
    ]
    .map(|url| {
        complaints(&format!("sources: [{{name: a, connections: [{{name: b, url: '{url}'}}]}}]"))
    });
    insta::assert_snapshot!(said.join("\n"), @"
    1:50: sources[0].connections[0].url: only http and https URLs can be called
    1:50: sources[0].connections[0].url: 10.0.0.1 is not a public address
    1:50: sources[0].connections[0].url: localhost is a name inside a network, not a public one
    1:50: sources[0].connections[0].url: the URL must not contain a user name or password
    1:50: sources[0].connections[0].url: this is not a complete URL
    ");
}

#[test]
fn what_is_no_yaml_is_one_complaint() {
    let said = [
        "sources: [",
        "sources:\n\t- name: a",
        "sources:\n  - name: a\n    name: b",
        "sources: []\n---\nsources: []",
        "- a",
        "sources: {a: b}",
        "",
        "a: *nobody",
    ]
    .map(complaints);
    insta::assert_snapshot!(said.join("\n"), @"
    1:10: unclosed bracket '['
    2:2: tabs disallowed within this context (block indentation)
    3:5: name stands there twice
    3:1: there is a second document in the file
    1:1: must be a map, not a list
    1:10: sources: must be a list, not a map
    1:1: sources is missing
    1:4: alias references unknown anchor
    ");
}

#[test]
fn the_bounds_hold_at_their_edges() {
    let named = |length: usize| format!("sources: [{{name: {}}}]", "n".repeat(length));
    assert!(parse_with(&named(limits::NAME_CHARACTERS_MAX), &[]).is_ok());
    assert!(parse_with(&named(limits::NAME_CHARACTERS_MAX + 1), &[]).is_err());

    let connected = |count: usize| {
        let connections: Vec<_> =
            (0..count).map(|n| format!("{{name: c{n}, url: 'https://example.com'}}")).collect();
        format!("sources: [{{name: a, connections: [{}]}}]", connections.join(","))
    };
    assert!(parse_with(&connected(limits::CONNECTIONS_PER_SOURCE_MAX), &[]).is_ok());
    let said = complaints(&connected(limits::CONNECTIONS_PER_SOURCE_MAX + 1));
    assert!(said.contains("a source has at most 76 connections, not 77"), "{said}");

    let sized = |bytes: usize| "sources: []".to_owned() + &" ".repeat(bytes - 11);
    assert!(parse_with(&sized(limits::MANIFEST_BYTES_MAX), &[]).is_ok());
    assert!(parse_with(&sized(limits::MANIFEST_BYTES_MAX + 1), &[]).is_err());

    let deep = |levels: usize| {
        format!(
            "sources: [{{name: a, config: {{a: {}{}}}}}]",
            "[".repeat(levels),
            "]".repeat(levels)
        )
    };
    assert!(parse_with(&deep(8), &[]).is_ok());
    assert!(parse_with(&deep(1000), &[]).is_err());
}

/// What could never prove anything, or would let everybody through, is found before it is stored.
#[test]
fn complaints_about_proof() {
    let said = [
        "provider: stripe, verificationMode: reject",
        "provider: nobody, signingSecret: a",
        "provider: plaid, config: { jwks: nonsense }",
        "provider: hubspot, config: { scheme: v3 }",
        "provider: meta, config: { verifyToken: [1] }",
        "provider: github, signingSecret: a, config: { handshake: twitter }",
        "provider: cloudevents, config: { allowedOrigins: { a: b } }",
    ]
    .map(|fields| parse_with(&format!("sources: [{{ name: a, {fields} }}]"), &[]).unwrap_err());
    assert!(said.iter().all(|said| said.starts_with("1:") && !said.contains('\n')), "{said:#?}");
    // Where the provider brings its secret, there is none yet.
    parse("sources: [{ name: a, provider: asana, verificationMode: reject }]");
}

#[test]
fn credentials_are_read_with_their_secrets() {
    let text = r#"
        sources:
          - name: a
            connections:
              - name: b
                url: https://example.com
                auth:
                  type: oauth2
                  tokenUrl: https://login.example.com/token
                  clientId: we
                  clientSecret: { "$secret": "env:OURS" }
                  scope:
                  parameters: { resource: { "$secret": "env:RESOURCE" } }
    "#;
    let expected = ["OURS", "RESOURCE"].map(str::to_owned);
    assert_eq!(variables(text), BTreeSet::from(expected));
    let manifest = parse_with(text, &[("OURS", "hush"), ("RESOURCE", "r")]).unwrap();
    let auth = manifest.sources[0].connections[0].auth.as_ref().unwrap();
    assert_eq!(
        auth.expose(),
        r#"{"type":"oauth2","tokenUrl":"https://login.example.com/token","clientId":"we","clientSecret":"hush","authStyle":"basic","parameters":{"resource":"r"}}"#
    );
}

/// Each at the field that has to be mended, and without what stands in it.
#[test]
fn complaints_about_credentials() {
    let said = [
        "auth: hush",
        "auth: {}",
        "auth: { type: magic }",
        "auth: { type: bearer }",
        "auth: { type: bearer, token: hush, user: hush }",
        "auth: { type: bearer, token: [hush] }",
        "auth: { type: bearer, token: { $secret: env:NOBODY } }",
        "auth: { type: basic, username: { $secret: env:NOBODY }, password: { $secret: hush } }",
        "auth: { type: header, name: Host, value: hush }",
        "headers: { Authorization: hush }\nauth: { type: bearer, token: hush }",
        "headers: { x-key: hush }\nauth: { type: header, name: X-Key, value: hush }",
        "auth: { type: oauth2, tokenUrl: 'http://10.0.0.1/', clientId: a, clientSecret: hush }",
        "auth: { type: oauth2, tokenUrl: 'ftp://a.b/', clientId: a, clientSecret: hush }",
        "auth: { type: mtls, clientCertificate: { certificate: hush, privateKey: hush } }",
    ]
    .map(about_connection);
    let said = said.join("\n").replace("sources[0].connections[0].", "");
    assert!(!said.contains("hush"), "{said}");
    insta::assert_snapshot!(said, @"
    6:15: auth: must be a map, not text
    6:15: auth: type is missing
    6:23: auth.type: must be one of header, basic, bearer, oauth2, mtls
    6:15: auth: token is missing
    6:50: auth.user: is no field of this type
    6:38: auth.token: must be text
    6:49: auth.token.$secret: the environment has no variable NOBODY
    6:51: auth.username.$secret: the environment has no variable NOBODY
    6:86: auth.password.$secret: must be env: and the name of a variable
    6:37: auth.name: cannot be used: Host belongs to the transport of each request and cannot be set
    7:15: auth: sets the header authorization, which stands in headers too
    7:15: auth: sets the header X-Key, which stands in headers too
    6:41: auth.tokenUrl: cannot be called: 10.0.0.1 is not a public address
    6:41: auth.tokenUrl: cannot be called: only http and https URLs can be called
    6:63: auth.clientCertificate.certificate: is not PEM: it has no -----BEGIN
    ");
}

#[test]
fn a_certificate_has_its_own_key_and_goes_over_tls() {
    let pair = || {
        let key = rcgen::KeyPair::generate().unwrap();
        let params = rcgen::CertificateParams::new(vec!["we.example".to_owned()]).unwrap();
        (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
    };
    let ((certificate, key), (_, other)) = (pair(), pair());
    let told = |url: &str, key: &str| {
        let pem = json!({ "certificate": certificate, "privateKey": key });
        let auth = json!({ "type": "mtls", "clientCertificate": pem });
        let connection = json!({ "name": "b", "url": url, "auth": auth });
        let text = json!({ "sources": [{ "name": "a", "connections": [connection] }] }).to_string();
        parse_with(&text, &[]).err().map(|said| said.split_once(": ").unwrap().1.to_owned())
    };
    assert_eq!(told("https://example.com", &key), None);
    assert_eq!(
        told("https://example.com", &other).as_deref(),
        Some(
            "sources[0].connections[0].auth.clientCertificate.privateKey: does not belong to the \
             certificate"
        )
    );
    assert_eq!(
        told("https://example.com", &certificate).as_deref(),
        Some(
            "sources[0].connections[0].auth.clientCertificate.privateKey: holds no private key in \
             PEM (PKCS #8, PKCS #1 or SEC 1, without a passphrase)"
        )
    );
    assert_eq!(
        told("http://example.com", &key).as_deref(),
        Some("sources[0].connections[0].auth.clientCertificate: can be shown over https only")
    );
}
