//! Where traces go: OpenTelemetry's own variables, as its specification reads them.

use anyhow::{Context, bail};
use hyper::HeaderMap;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT};

const OURSELVES: &str = concat!("Ferryhook/", env!("CARGO_PKG_VERSION"));

#[derive(Debug)]
pub struct Settings {
    pub endpoint: String,
    /// With what every export carries.
    pub headers: HeaderMap,
    pub resource: Vec<(String, String)>,
}

impl Settings {
    /// `None` when nobody wants traces. An empty variable counts as not set.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> anyhow::Result<Option<Self>> {
        let get = |name| {
            let value = variable(name)?.trim().to_owned();
            (!value.is_empty()).then_some(value)
        };
        if get("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let general = || {
            let base = get("OTEL_EXPORTER_OTLP_ENDPOINT")?;
            Some(format!("{}/v1/traces", base.trim_end_matches('/')))
        };
        let Some(endpoint) = get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").or_else(general) else {
            return Ok(None);
        };
        let written = get("OTEL_EXPORTER_OTLP_HEADERS").unwrap_or_default();
        let headers = headers(&written).context("OTEL_EXPORTER_OTLP_HEADERS")?;
        let written = get("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
        let given = pairs(&written).context("OTEL_RESOURCE_ATTRIBUTES")?;
        let resource = resource(given, get("OTEL_SERVICE_NAME"));
        Ok(Some(Self { endpoint, headers, resource }))
    }
}

fn resource(given: Vec<(String, String)>, name: Option<String>) -> Vec<(String, String)> {
    let mut resource = vec![
        ("service.name".to_owned(), "ferryhook".to_owned()),
        ("service.version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
    ];
    let name = name.map(|name| ("service.name".to_owned(), name));
    for (key, value) in given.into_iter().chain(name) {
        match resource.iter_mut().find(|(other, _)| *other == key) {
            Some(known) => known.1 = value,
            None => resource.push((key, value)),
        }
    }
    resource
}

fn headers(written: &str) -> anyhow::Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    headers.insert(USER_AGENT, HeaderValue::from_static(OURSELVES));
    for (name, value) in pairs(written)? {
        // The value may be a key: it is not repeated in the error.
        let mut value = HeaderValue::try_from(value)
            .ok()
            .with_context(|| format!("the value of {name} is not one a header can have"))?;
        value.set_sensitive(true);
        let name = HeaderName::try_from(&name).with_context(|| format!("{name:?}"))?;
        headers.insert(name, value);
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(headers)
}

/// `a=1,b=2`, where what is special in a value is percent-encoded.
fn pairs(written: &str) -> anyhow::Result<Vec<(String, String)>> {
    let mut pairs = Vec::new();
    for (place, pair) in written.split(',').map(str::trim).enumerate() {
        if pair.is_empty() {
            continue;
        }
        let split = pair.split_once('=').map(|(key, value)| (key.trim(), decoded(value.trim())));
        match split {
            Some((key, Some(value))) if !key.is_empty() => pairs.push((key.to_owned(), value)),
            _ => bail!("entry {} is not of the form name=value", place + 1),
        }
    }
    Ok(pairs)
}

/// `None` for what is not text.
fn decoded(value: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}
