//! A source, as it is written down.

use ferryhook_core::dedup::{EVENT_TYPE_SETTING, Rule, event_type_rule};
use ferryhook_core::handshake::{Handshakes, brings_secret};
use ferryhook_core::source::{ConnectionType, CustomResponse, Status, VerificationMode};
use ferryhook_core::split::{self, Split};
use ferryhook_core::verify::{Verifier, says_how};
use ferryhook_core::{Map, Secret, Source, limits};
use serde_json::Value as Json;

use super::connection::{self, ConnectionSpec};
use super::reader::At;

pub(crate) const FIELDS: &[&str] = &[
    "name",
    "provider",
    "status",
    "signingSecret",
    "verificationMode",
    "bodyBytesMax",
    "dedup",
    "eventType",
    "split",
    "customResponse",
    "config",
    "connections",
];

const PROVIDER: &str = "custom";
const PROVIDER_BYTES_MAX: usize = 64;
const CONTENT_TYPE: &str = "text/plain; charset=utf-8";
const CONTENT_TYPE_BYTES_MAX: usize = 128;

#[derive(Debug, Clone, PartialEq)]
pub struct SourceSpec {
    pub name: String,
    pub provider: String,
    /// Absent: active when it is new, otherwise as it is.
    pub status: Option<Status>,
    pub signing_secret: Option<Secret>,
    pub verification_mode: Option<VerificationMode>,
    pub body_bytes_max: Option<u32>,
    pub dedup_expression: Option<String>,
    pub custom_response: Option<CustomResponse>,
    pub config: Map,
    pub connections: Vec<ConnectionSpec>,
}

pub(super) fn read(at: &At<'_>) -> Option<SourceSpec> {
    let fields = at.fields("a source", FIELDS)?;
    let all = at;
    let name = fields.required("name").and_then(|at| super::name(&at));
    let provider = match fields.get("provider") {
        Some(at) => provider(&at),
        None => Some(PROVIDER.to_owned()),
    };
    let status = fields
        .get("status")
        .and_then(|at| at.one_of(&[("active", Status::Active), ("paused", Status::Paused)]));
    let signing_secret = fields.get("signingSecret").and_then(|at| at.secret());
    let verification_mode = fields.get("verificationMode").and_then(|at| {
        at.one_of(&[("reject", VerificationMode::Reject), ("mark", VerificationMode::Mark)])
    });
    let body_bytes_max = fields
        .get("bodyBytesMax")
        .and_then(|at| at.number(1..=limits::BODY_BYTES_MAX as u64))
        .and_then(|bytes| u32::try_from(bytes).ok());
    let dedup_expression = fields.get("dedup").as_ref().and_then(expression);
    let custom_response = fields.get("customResponse").and_then(|at| custom_response(&at));
    let mut config = fields.get("config").and_then(|at| config(&at)).unwrap_or_default();
    if let Some(at) = fields.get("split") {
        let written = at.json();
        at.accept(Split::parse(Some(&written), provider.as_deref().unwrap_or_default()));
        config.insert(split::SETTING.to_owned(), written);
    }
    let secrets = signing_secret.as_slice();
    let has_proof = |provider: &str| {
        let is_asked = verification_mode.is_some() || says_how(provider, &config);
        !secrets.is_empty() || (is_asked && !brings_secret(provider))
    };
    if let Some(name) = provider.as_deref().filter(|name| has_proof(name)) {
        let at = fields.get("signingSecret").or_else(|| fields.get("config"));
        let at = at.unwrap_or_else(|| all.clone());
        at.accept(Verifier::new(name, secrets, &config));
    }
    if let Some(name) = &provider {
        let at = fields.get("config").unwrap_or_else(|| at.clone());
        at.accept(Handshakes::new(name, signing_secret.as_ref(), &config));
    }
    let event_type = fields.get("eventType");
    if let Some(text) = event_type.as_ref().and_then(expression) {
        config.insert(EVENT_TYPE_SETTING.to_owned(), text.into());
    }
    let connections = fields.get("connections").map(|at| connections(&at)).unwrap_or_default();
    let has_types = provider.as_deref().is_none_or(|name| has_types(name, &config));
    if !has_types
        && event_type.is_none()
        && connections.iter().any(|c| !c.rules.event_types.is_empty())
    {
        // Nothing would ever be delivered.
        at.complain("eventTypes of a connection need an eventType here, such as body.type");
    }
    Some(SourceSpec {
        name: name?,
        provider: provider?,
        status,
        signing_secret,
        verification_mode,
        body_bytes_max,
        dedup_expression,
        custom_response,
        config,
        connections,
    })
}

/// Whether its events say what type they are. A connection that lists types gets nothing otherwise.
/// The same for a source that is there. What apps post says its type by itself.
pub(crate) fn says_types(source: &Source) -> bool {
    source.connection_type == ConnectionType::Trigger || has_types(&source.provider, &source.config)
}

fn has_types(provider: &str, config: &Map) -> bool {
    event_type_rule(provider).is_some() || config.contains_key(EVENT_TYPE_SETTING)
}

fn provider(at: &At<'_>) -> Option<String> {
    let text = at.short_text(PROVIDER_BYTES_MAX)?;
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    if !text.chars().all(word) {
        at.complain("must be made of a-z, 0-9, _ and -");
        return None;
    }
    Some(text)
}

fn expression(at: &At<'_>) -> Option<String> {
    let text = at.text()?;
    at.accept(Rule::parse(&text))?;
    Some(text)
}

fn custom_response(at: &At<'_>) -> Option<CustomResponse> {
    let fields = at.fields("customResponse", &["status", "contentType", "body"])?;
    // Who was stored must hear so: anything else and the sender would send it again.
    let status = match fields.get("status") {
        Some(at) => at.number(200..=299),
        None => Some(200),
    };
    let content_type = match fields.get("contentType") {
        Some(at) => content_type(&at),
        None => Some(CONTENT_TYPE.to_owned()),
    };
    let body = match fields.get("body") {
        Some(at) => at.text().filter(|body| {
            let max = limits::CUSTOM_RESPONSE_BYTES_MAX;
            let fits = body.len() <= max;
            if !fits {
                at.complain(format!("must have at most {max} bytes, not {}", body.len()));
            }
            fits
        }),
        None => Some(String::new()),
    };
    Some(CustomResponse { status: status?, content_type: content_type?, body: body? })
}

fn content_type(at: &At<'_>) -> Option<String> {
    let text = at.short_text(CONTENT_TYPE_BYTES_MAX)?;
    if !text.chars().all(|c| c.is_ascii_graphic() || c == ' ') {
        at.complain("must be a media type such as application/json");
        return None;
    }
    Some(text)
}

fn config(at: &At<'_>) -> Option<Map> {
    let map = match at.resolved(limits::SECRET_BYTES_MAX)? {
        Json::Object(map) => map,
        _ => {
            at.complain("must be a map");
            return None;
        }
    };
    let bytes = serde_json::to_string(&map).map_or(usize::MAX, |text| text.len());
    let max = limits::SOURCE_CONFIG_BYTES_MAX;
    if bytes > max {
        at.complain(format!("must have at most {max} bytes as JSON, not {bytes}"));
        return None;
    }
    for field in [split::SETTING, EVENT_TYPE_SETTING] {
        if map.contains_key(field) {
            at.complain(format!("{field} is a field of the source, not of its config"));
            return None;
        }
    }
    Some(map)
}

fn connections(at: &At<'_>) -> Vec<ConnectionSpec> {
    let items = at.list();
    let max = limits::CONNECTIONS_PER_SOURCE_MAX;
    if items.len() > max {
        at.complain(format!("a source has at most {max} connections, not {}", items.len()));
        return Vec::new();
    }
    let read: Vec<_> = items.iter().map(|item| (item, connection::read(item))).collect();
    let named = read.iter().map(|(item, spec)| (*item, spec.as_ref().map(|s| &*s.name)));
    super::require_unique_names(named, "connection");
    read.into_iter().filter_map(|(_, spec)| spec).collect()
}
