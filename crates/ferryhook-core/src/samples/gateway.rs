//! What passes through: a source, a connection, and one event's whole story.

use serde_json::json;

use super::{CREATED, EXPIRES, UPDATED, id, map, secret, text};
use crate::delivery::{Lane, State};
use crate::event_type::{Declared, Mode};
use crate::secret::Previous;
use crate::{
    Attempt, Claim, Connection, Delivery, Erasure, Event, EventType, Headers, Rejection, Replay,
    Source, claim, connection, erasure, event, inbox, rejection, replay, source,
};

pub fn source() -> Source {
    Source {
        id: id("src_0000000000000001"),
        user_id: id("usr_0000000000000001"),
        account_id: id("acc_0000000000000001"),
        created_by: id("usr_0000000000000002"),
        name: "Stripe Prod".to_owned(),
        provider: "stripe".to_owned(),
        connection_type: source::ConnectionType::Webhook,
        status: source::Status::Active,
        config: map([("region", json!("eu"))]),
        signing_secret: Some(secret("source")),
        previous_secrets: vec![previous("source")],
        signing_algorithm: text("hmac-sha256"),
        verification_mode: Some(source::VerificationMode::Reject),
        body_bytes_max: Some(1_048_576),
        dedup_expression: text("$.id"),
        custom_response: Some(source::CustomResponse {
            status: 202,
            content_type: "text/plain".to_owned(),
            body: "thanks".to_owned(),
        }),
        event_count: 1234,
        last_event_at: Some(UPDATED),
        last_sync_at: Some(UPDATED),
        sync_status: Some(source::SyncStatus::Success),
        created_at: CREATED,
        updated_at: UPDATED,
    }
}

pub fn connection() -> Connection {
    Connection {
        id: id("conn_0000000000000001"),
        source_id: id("src_0000000000000001"),
        user_id: id("usr_0000000000000001"),
        account_id: id("acc_0000000000000001"),
        name: "Orders".to_owned(),
        status: connection::Status::Active,
        status_reason: text("answered 410"),
        destination_type: connection::DestinationType::Http,
        destination_url: text("https://orders.example.com/hook"),
        destination_config: Some(map([("region", json!("eu"))])),
        method: connection::Method::Put,
        headers: Headers::from_iter([("X-Team", "payments")]),
        auth: Some(secret("auth")),
        signing_secret: secret("connection"),
        previous_secrets: vec![previous("connection")],
        event_types: vec!["order.*".to_owned()],
        filters: text(r#"[{"path":"$.amount","operator":"gt","value":100}]"#),
        transform: text(r#"{"type":"passthrough"}"#),
        pipeline_order: connection::PipelineOrder::TransformFirst,
        retry_config: text("[0,30,120]"),
        timeout_ms: Some(5_000),
        concurrency_max: Some(8),
        rate_per_second_max: Some(50),
        ordering_key: text("$.order"),
        ordering_policy: Some(connection::OrderingPolicy::Skip { after: 3 }),
        delivery_count: 1200,
        failure_count: 34,
        created_at: CREATED,
        updated_at: UPDATED,
    }
}

fn previous(name: &str) -> Previous {
    Previous { secret: secret(&format!("previous-{name}")), valid_until: UPDATED }
}

pub fn event() -> Event {
    Event {
        id: id("evt_-OhqqeV-00000001"),
        source_id: id("src_0000000000000001"),
        user_id: id("usr_0000000000000001"),
        account_id: id("acc_0000000000000001"),
        origin: event::Origin::Webhook,
        status: event::Status::Retrying,
        event_type: text("order.completed"),
        retry_count: 2,
        metadata: Some(map([("correlation_id", json!("req-abc123"))])),
        dedup_key: text("STRIPE:evt_1"),
        duplicate_count: 1,
        method: text("POST"),
        path: text("/orders"),
        query: text("v=2"),
        content_type: text("application/json"),
        source_ip: text("203.0.113.7"),
        headers: Headers::from_iter([("X-B", "2"), ("x-a", "1"), ("X-B", "3")]),
        body: r#"{"id":"evt_1","amount":120}"#.into(),
        payload: Some(map([("amount", json!(120))])),
        received_at: CREATED,
        occurred_at: Some(CREATED),
        processing_tries: 1,
        processing_error: text("the transform took too long"),
        pending_since: Some(CREATED),
        processed_at: Some(UPDATED),
        delivered_at: Some(UPDATED),
        expires_at: Some(EXPIRES),
    }
}

pub fn delivery() -> Delivery {
    Delivery {
        event_id: id("evt_-OhqqeV-00000001"),
        connection_id: id("conn_0000000000000001"),
        source_id: id("src_0000000000000001"),
        account_id: id("acc_0000000000000001"),
        state: State::Waiting { next_attempt_at: UPDATED },
        lane: Lane::Live,
        attempts: 2,
        attempts_before: 0,
        order_key: text("order-7"),
        last_status_code: Some(503),
        last_error: text("timed out"),
        created_at: CREATED,
        updated_at: UPDATED,
        expires_at: Some(EXPIRES),
        inbox: None,
    }
}

/// The same, to be fetched.
pub fn inbox_item() -> Delivery {
    let place = inbox::Place {
        group: "billing".parse().unwrap_or_default(),
        leases_max: 5,
        event_type: text("order.completed"),
        received_at: CREATED,
        alone: false,
    };
    Delivery { inbox: Some(place), ..delivery() }
}

pub fn attempt() -> Attempt {
    Attempt {
        event_id: id("evt_-OhqqeV-00000001"),
        connection_id: id("conn_0000000000000001"),
        number: 2,
        destination_url: "https://orders.example.com/hook".to_owned(),
        status_code: 503,
        response_body: text("busy"),
        error: text("timed out"),
        latency_ms: 120,
        dns_ms: Some(2),
        connect_ms: Some(10),
        tls_ms: Some(20),
        first_byte_ms: Some(80),
        attempted_at: UPDATED,
        expires_at: Some(EXPIRES),
    }
}

pub fn rejection() -> Rejection {
    Rejection {
        id: id("rej_-OhqqeV-00000001"),
        source_id: id("src_0000000000000001"),
        account_id: id("acc_0000000000000001"),
        cause: rejection::Cause::Signature,
        detail: text("Stripe-Signature is missing"),
        method: "POST".to_owned(),
        url: text("https://hooks.example.com/in/src_0000000000000001/orders?attempt=1"),
        path: text("/orders"),
        query: text("v=2"),
        content_type: text("application/json"),
        source_ip: text("203.0.113.7"),
        headers: Headers::from_iter([("X-A", "1")]),
        body: r#"{"id":"evt_1"}"#.into(),
        body_truncated: true,
        rejected_at: CREATED,
        expires_at: Some(EXPIRES),
    }
}

pub fn replay() -> Replay {
    let event_id = id("evt_-OhqqeV-00000001");
    Replay {
        id: id("rpl_-OhqqeV-00000001"),
        account_id: id("acc_0000000000000001"),
        selection: replay::Selection::Ids { ids: vec![event_id, id("evt_-OhqqeV-00000002")] },
        connections: vec![id("conn_0000000000000001")],
        rate_per_second: 100,
        state: replay::State::Running { lease_until: UPDATED },
        counts: replay::Counts { matched: 7, replayed: 4, skipped: 2, failed: 1 },
        position: Some(replay::Position { received_at: CREATED, event_id }),
        waiting_for: Some(id("conn_0000000000000001")),
        last_error: text("there is no such event"),
        created_at: CREATED,
        updated_at: UPDATED,
        expires_at: Some(EXPIRES),
    }
}

pub fn erasure() -> Erasure {
    let event_id = id("evt_-OhqqeV-00000001");
    Erasure {
        id: id("era_-OhqqeV-00000001"),
        account_id: id("acc_0000000000000001"),
        what: erasure::What::Subject {
            subject: erasure::Subject {
                filter: text(r#"{"body":{"email":"ada@example.com"}}"#),
                paths: vec!["body.email".to_owned()],
                source_id: Some(id("src_0000000000000001")),
                from: Some(CREATED),
                to: Some(UPDATED),
            },
        },
        state: erasure::State::Running { lease_until: UPDATED },
        counts: erasure::Counts { looked_at: 70, erased: 7, failed: 1 },
        position: Some(replay::Position { received_at: CREATED, event_id }),
        last_error: text("a stored event cannot be decoded"),
        created_by: Some(id("usr_0000000000000001")),
        created_at: CREATED,
        updated_at: UPDATED,
        expires_at: Some(EXPIRES),
    }
}

pub fn claim() -> Claim {
    Claim {
        key: "ALOWARE:719285063".to_owned(),
        seen_at: CREATED,
        expires_at: EXPIRES,
        source: text("ALOWARE"),
        notes: text("initial insert"),
        event_id: Some(id("evt_-OhqqeV-00000001")),
        state: Some(claim::State::Leased),
        fencing_token: Some(7),
        lease_until: Some(UPDATED),
    }
}

/// With drifts, and a declaration.
pub fn event_type() -> EventType {
    let mut known = EventType::new(id("acc_0000000000000001"), "order.paid");
    known.count(42, CREATED);
    let older = json!({ "number": 7, "lines": [{ "sku": "a", "price": 1.25 }], "note": null });
    for _ in 0..40 {
        known.learn(&older, source().id, event().id, CREATED);
    }
    let newer = json!({ "number": "7", "lines": [], "note": "n", "by": { "name": "Ada" } });
    known.learn(&newer, source().id, event().id, UPDATED);
    known.declared = Some(Declared {
        schema: r#"{"type":"object","required":["number"]}"#.to_owned(),
        mode: Mode::Warn,
        declared_at: CREATED,
        told_at: Some(UPDATED),
    });
    known.mismatches = 3;
    known.unchecked = 2;
    known
}
