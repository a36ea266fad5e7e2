//! A connection, as it is written down under its source.

use ferryhook_core::connection::{DestinationType, Method, OrderingPolicy, Status};
use ferryhook_core::order_key::OrderKey;
use ferryhook_core::retry::Policy;
use ferryhook_core::{Headers, Secret, inbox, limits, outgoing};

use super::auth;
use super::reader::{At, Fields};
use super::rules::{self, Rules};

pub(crate) const FIELDS: &[&str] = &[
    "name",
    "destinationType",
    "url",
    "destinationConfig",
    "status",
    "method",
    "headers",
    "auth",
    "eventTypes",
    "filters",
    "transform",
    "pipelineOrder",
    "retry",
    "timeoutMs",
    "concurrency",
    "ratePerSecond",
    "ordering",
    "signingSecret",
];

/// What says how something is sent. From the inbox it is fetched.
const OF_SENDING: [&str; 10] = [
    "url",
    "method",
    "headers",
    "auth",
    "retry",
    "timeoutMs",
    "concurrency",
    "ratePerSecond",
    "ordering",
    "signingSecret",
];

/// Why a connection to the inbox has no pause.
pub(crate) const NOT_PAUSED: &str =
    "an inbox cannot be paused: nothing is sent from it; pause the source to hold its events";

/// The others are not for people to write down, or not there yet.
const TYPES: [(&str, DestinationType); 2] =
    [("http", DestinationType::Http), ("inbox", DestinationType::Inbox)];

const METHODS: [(&str, Method); 6] = [
    ("POST", Method::Post),
    ("PUT", Method::Put),
    ("PATCH", Method::Patch),
    ("DELETE", Method::Delete),
    ("GET", Method::Get),
    ("original", Method::Original),
];

/// How many attempts to skip after has its own field.
const POLICIES: [(&str, OrderingPolicy); 3] = [
    ("block", OrderingPolicy::Block),
    ("park", OrderingPolicy::Park),
    ("skip", OrderingPolicy::Skip { after: 0 }),
];

#[derive(Debug, Clone, PartialEq)]
pub struct ConnectionSpec {
    pub name: String,
    pub destination: Destination,
    /// Absent: active when it is new, otherwise as it is.
    pub status: Option<Status>,
    pub method: Method,
    pub headers: Headers,
    /// As [`DestinationAuth`](ferryhook_core::destination_auth::DestinationAuth) writes it.
    pub auth: Option<Secret>,
    pub rules: Rules,
    /// As JSON text, which [`Policy::parse`] has understood.
    pub retry_config: Option<String>,
    pub timeout_ms: Option<u32>,
    pub concurrency_max: Option<u16>,
    pub rate_per_second_max: Option<u32>,
    pub ordering: Option<Ordering>,
    /// Absent: a new one when it is new, otherwise the one it has.
    pub signing_secret: Option<Secret>,
}

/// Where its events go.
#[derive(Debug, Clone, PartialEq)]
pub enum Destination {
    Http(String),
    /// Nowhere: whoever wants them fetches them.
    Inbox(inbox::Settings),
}

impl Destination {
    pub fn sort(&self) -> DestinationType {
        match self {
            Self::Http(_) => DestinationType::Http,
            Self::Inbox(_) => DestinationType::Inbox,
        }
    }

    pub fn url(&self) -> Option<&str> {
        match self {
            Self::Http(url) => Some(url),
            Self::Inbox(_) => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Ordering {
    pub key: String,
    pub policy: OrderingPolicy,
}

pub(super) fn read(at: &At<'_>) -> Option<ConnectionSpec> {
    let called = |name| at.reading.dialect.connection_field(name);
    let known: Vec<_> = FIELDS.iter().map(|name| called(name)).collect();
    let fields = at.fields("a connection", &known)?;
    let name = fields.required("name").and_then(|at| super::name(&at));
    let destination = destination(&fields, called);
    let url = destination.as_ref().and_then(Destination::url);
    let status = fields
        .get("status")
        .and_then(|at| at.one_of(&[("active", Status::Active), ("paused", Status::Paused)]));
    let method = fields.get("method").and_then(|at| at.one_of(&METHODS)).unwrap_or_default();
    let headers = fields.get("headers").map(|at| headers(&at)).unwrap_or_default();
    let auth = fields.get("auth").and_then(|at| auth::read(&at, url, &headers));
    let rules = rules::read(&fields);
    let retry_config = fields.get(called("retry")).and_then(|at| retry(&at));
    let timeout_ms = fields
        .get("timeoutMs")
        .and_then(|at| at.number(limits::TIMEOUT_MS_MIN..=limits::TIMEOUT_MS_MAX));
    let concurrency_max =
        fields.get("concurrency").and_then(|at| at.number(1..=limits::CONCURRENCY_MAX));
    let rate_per_second_max =
        fields.get("ratePerSecond").and_then(|at| at.number(1..=limits::RATE_PER_SECOND_MAX));
    let ordering = fields.get("ordering").and_then(|at| ordering(&at));
    let signing_secret = fields.get("signingSecret").and_then(|at| at.secret());
    Some(ConnectionSpec {
        name: name?,
        destination: destination?,
        status,
        method,
        headers,
        auth,
        rules,
        retry_config,
        timeout_ms,
        concurrency_max,
        rate_per_second_max,
        ordering,
        signing_secret,
    })
}

fn destination(
    fields: &Fields<'_>,
    called: impl Fn(&'static str) -> &'static str,
) -> Option<Destination> {
    let sort = match fields.get("destinationType") {
        Some(at) => at.one_of(&TYPES)?,
        None => DestinationType::Http,
    };
    if sort == DestinationType::Inbox {
        return inbox(fields, called).map(Destination::Inbox);
    }
    if let Some(at) = fields.get("destinationConfig") {
        at.complain("means something only with destinationType: inbox");
    }
    fields.required(called("url")).and_then(|at| url(&at)).map(Destination::Http)
}

fn inbox(
    fields: &Fields<'_>,
    called: impl Fn(&'static str) -> &'static str,
) -> Option<inbox::Settings> {
    for at in OF_SENDING.into_iter().filter_map(|name| fields.get(called(name))) {
        at.complain("means nothing for an inbox: events wait there until somebody fetches them");
    }
    if let Some(at) = fields.get("status")
        && at.json() == "paused"
    {
        at.complain(NOT_PAUSED);
    }
    let Some(at) = fields.get("destinationConfig") else { return Some(Default::default()) };
    let config = at.fields("an inbox", &["group", "maxLeases"])?;
    let usual = inbox::Settings::default();
    let group = match config.get("group") {
        Some(at) => at.text().and_then(|text| at.accept(text.parse())),
        None => Some(usual.group),
    };
    let leases_max = match config.get("maxLeases") {
        Some(at) => at.number(1..=limits::INBOX_LEASES_MAX),
        None => Some(usual.leases_max),
    };
    Some(inbox::Settings { group: group?, leases_max: leases_max? })
}

fn url(at: &At<'_>) -> Option<String> {
    let url = at.short_text(limits::URL_BYTES_MAX)?;
    // As far as that goes without asking DNS; each attempt looks again.
    at.accept(at.reading.guard.target(&url))?;
    Some(url)
}

fn headers(at: &At<'_>) -> Headers {
    let mut headers = Vec::new();
    for (name, value) in at.entries() {
        if let Some(text) = value.secret()
            && value.accept(outgoing::check_custom(name, text.expose())).is_some()
        {
            headers.push((name.to_owned(), text.expose().to_owned()));
        }
    }
    let headers = Headers::new(headers);
    at.accept(outgoing::check_all_custom(&headers));
    headers
}

/// Kept as the text that it is read from again at each start.
fn retry(at: &At<'_>) -> Option<String> {
    let text = at.accept(serde_json::to_string(&at.json()))?;
    at.accept(Policy::parse(&text))?;
    Some(text)
}

fn ordering(at: &At<'_>) -> Option<Ordering> {
    let fields = at.fields("ordering", &["key", "policy", "skipAfter"])?;
    let key = fields.required("key").and_then(|at| {
        let text = at.text()?;
        at.accept(OrderKey::parse(&text)).map(|_| text)
    });
    let most = limits::ATTEMPTS_MAX as u16;
    let after = fields.get("skipAfter").map(|at| (at.number(1..=most), at));
    let policy = match fields.get("policy") {
        Some(at) => at.one_of(&POLICIES)?,
        None => OrderingPolicy::default(),
    };
    let policy = match (policy, after) {
        (OrderingPolicy::Skip { .. }, Some((after, _))) => OrderingPolicy::Skip { after: after? },
        (OrderingPolicy::Skip { .. }, None) => {
            at.complain("skipAfter is missing: how many attempts until the next event goes ahead");
            return None;
        }
        (_, Some((_, at))) => {
            at.complain("means something only with policy: skip");
            return None;
        }
        (policy, None) => policy,
    };
    Some(Ordering { key: key?, policy })
}
