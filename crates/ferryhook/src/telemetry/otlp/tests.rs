use ferryhook_flow::trace::{Kind, Link, Value};
use serde_json::json;

use super::*;

fn read(variables: &[(&str, &str)]) -> anyhow::Result<Option<Settings>> {
    let find = |name: &str| variables.iter().find(|(own, _)| *own == name);
    Settings::read(|name| find(name).map(|(_, value)| (*value).to_owned()))
}

const BASE: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/");

#[test]
fn without_an_endpoint_there_are_no_traces() {
    assert!(read(&[]).unwrap().is_none());
    assert!(read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")]).unwrap().is_none());
    assert!(read(&[BASE, ("OTEL_SDK_DISABLED", "True")]).unwrap().is_none());
    assert!(read(&[BASE, ("OTEL_SDK_DISABLED", "false")]).unwrap().is_some());
}

#[test]
fn the_endpoint_of_traces_is_taken_as_it_is() {
    let endpoint = |variables: &[_]| read(variables).unwrap().unwrap().endpoint;
    assert_eq!(endpoint(&[BASE]), "http://collector:4318/v1/traces");
    let own = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://traces.example/x");
    assert_eq!(endpoint(&[BASE, own]), "https://traces.example/x");
}

#[test]
fn headers_and_resource() {
    let settings = read(&[
        BASE,
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20YQ==, x-team = a%2Cb"),
        ("OTEL_RESOURCE_ATTRIBUTES", "service.name=other,deployment.environment.name=test"),
        ("OTEL_SERVICE_NAME", "hooks"),
    ]);
    let settings = settings.unwrap().unwrap();
    assert_eq!(settings.headers["authorization"], "Basic YQ==");
    assert_eq!(settings.headers["x-team"], "a,b");
    assert_eq!(settings.headers["content-type"], "application/json");
    let resource: Vec<_> =
        settings.resource.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let version = concat!("service.version=", env!("CARGO_PKG_VERSION"));
    assert_eq!(resource, ["service.name=hooks", version, "deployment.environment.name=test"]);
}

#[test]
fn what_cannot_be_a_header_is_told_without_its_value() {
    for written in ["secret", "a b=secret", "a=secret%0A", "=secret"] {
        let error = read(&[BASE, ("OTEL_EXPORTER_OTLP_HEADERS", written)]).unwrap_err();
        let told = format!("{error:#}");
        assert!(told.starts_with("OTEL_EXPORTER_OTLP_HEADERS: "), "{told}");
        assert!(!told.contains("secret"), "{told}");
    }
}

#[test]
fn a_span_in_json() {
    let span = Span {
        trace_id: [0x0a; 16],
        span_id: [0, 0, 0, 0, 0, 0, 0, 7],
        parent: Some([1; 8]),
        links: vec![Link { trace_id: [2; 16], span_id: [3; 8] }],
        name: "POST".into(),
        kind: Kind::Client,
        start: "2026-01-01T00:00:00.001Z".parse().unwrap(),
        took: Duration::from_nanos(1_500),
        attributes: vec![
            ("http.response.status_code", Value::Number(503)),
            ("server.address", Value::Text("example.com".into())),
            ("ferryhook.event.duplicate", Value::Flag(true)),
        ],
        error: Some("503".into()),
    };
    let resource = json::resource(&[("service.name".to_owned(), "hooks".to_owned())]);
    let scope = json!({ "name": "ferryhook", "version": env!("CARGO_PKG_VERSION") });
    let written = json!({
        "traceId": "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a",
        "spanId": "0000000000000007",
        "parentSpanId": "0101010101010101",
        "links": [{ "traceId": "02".repeat(16), "spanId": "03".repeat(8) }],
        "name": "POST",
        "kind": 3,
        "startTimeUnixNano": "1767225600001000000",
        "endTimeUnixNano": "1767225600001001500",
        "attributes": [
            { "key": "http.response.status_code", "value": { "intValue": "503" } },
            { "key": "server.address", "value": { "stringValue": "example.com" } },
            { "key": "ferryhook.event.duplicate", "value": { "boolValue": true } },
            { "key": "error.type", "value": { "stringValue": "503" } },
        ],
        "status": { "code": 2 },
    });
    let name = json!({ "key": "service.name", "value": { "stringValue": "hooks" } });
    let expected = json!({ "resourceSpans": [{
        "resource": { "attributes": [name] },
        "scopeSpans": [{ "scope": scope, "spans": [written] }],
    }] });
    assert_eq!(json::request(&resource, &[span]), expected);
}
