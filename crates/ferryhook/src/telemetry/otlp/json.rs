//! The shape of an export: `ExportTraceServiceRequest` as the OTLP specification writes it in
//! JSON. Ids are hexadecimal, enums are numbers, and 64-bit integers are strings.

use std::time::Duration;

use ferryhook_core::Timestamp;
use ferryhook_flow::trace::{Kind, Link, Span, Value};
use serde_json::{Value as Json, json};

const ERROR: u8 = 2;

pub fn resource(attributes: &[(String, String)]) -> Json {
    let pairs = attributes.iter();
    let attributes = pairs.map(|(key, value)| json!({ "key": key, "value": text(value) }));
    json!({ "attributes": attributes.collect::<Vec<_>>() })
}

pub fn request(resource: &Json, spans: &[Span]) -> Json {
    let spans: Vec<_> = spans.iter().map(span).collect();
    let scope = json!({ "name": "ferryhook", "version": env!("CARGO_PKG_VERSION") });
    let scope_spans = json!([{ "scope": scope, "spans": spans }]);
    json!({ "resourceSpans": [{ "resource": resource, "scopeSpans": scope_spans }] })
}

fn span(span: &Span) -> Json {
    let mut attributes: Vec<_> =
        span.attributes.iter().map(|(key, of)| json!({ "key": key, "value": value(of) })).collect();
    let mut written = json!({
        "traceId": trace_id(span.trace_id),
        "spanId": span_id(span.span_id),
        "name": span.name,
        "kind": kind(span.kind),
        "startTimeUnixNano": nanos(span.start, Duration::ZERO),
        "endTimeUnixNano": nanos(span.start, span.took),
    });
    if let Some(parent) = span.parent {
        written["parentSpanId"] = span_id(parent).into();
    }
    if !span.links.is_empty() {
        written["links"] = span.links.iter().map(link).collect();
    }
    if let Some(error) = &span.error {
        attributes.push(json!({ "key": "error.type", "value": text(error) }));
        written["status"] = json!({ "code": ERROR });
    }
    written["attributes"] = attributes.into();
    written
}

fn link(link: &Link) -> Json {
    json!({ "traceId": trace_id(link.trace_id), "spanId": span_id(link.span_id) })
}

fn value(value: &Value) -> Json {
    match value {
        Value::Text(value) => text(value),
        Value::Number(number) => json!({ "intValue": number.to_string() }),
        Value::Flag(flag) => json!({ "boolValue": flag }),
    }
}

fn text(text: &str) -> Json {
    json!({ "stringValue": text })
}

fn kind(kind: Kind) -> u8 {
    match kind {
        Kind::Internal => 1,
        Kind::Server => 2,
        Kind::Client => 3,
    }
}

fn trace_id(id: [u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(id))
}

fn span_id(id: [u8; 8]) -> String {
    format!("{:016x}", u64::from_be_bytes(id))
}

fn nanos(start: Timestamp, after: Duration) -> String {
    let start = u128::from(start.as_millis().max(0).unsigned_abs()) * 1_000_000;
    (start + after.as_nanos()).to_string()
}
