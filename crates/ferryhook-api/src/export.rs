//! Export: writes down what is stored as the manifest that would make it so.
//!
//! Secrets stay where they are. In their place stands the name of a variable, for whoever applies
//! the manifest to fill; the secret of a connection is left out, because apply leaves it alone.

use axum::extract::State;
use ferryhook_core::connection::{DestinationType, Method, OrderingPolicy, PipelineOrder};
use ferryhook_core::dedup::EVENT_TYPE_SETTING;
use ferryhook_core::destination_auth::DestinationAuth;
use ferryhook_core::{Connection, Map, Secret, Source, connection, source, split};
use ferryhook_store::{Store, StoreError, Stored};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use utoipa::ToSchema;

use crate::apply::{self, Existing};
use crate::call::{ApiResult, Found};
use crate::caller::Caller;
use crate::manifest::Dialect;
use crate::owner::{self, Owner};
use crate::problem::Problem;
use crate::router::App;
use crate::settings::is_secretive;

/// A header with one of these in its name holds something that is nobody's business.
const SECRETIVE: [&str; 7] = ["auth", "cookie", "key", "pass", "secret", "signature", "token"];

#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("what is stored cannot be written down: {0}")]
    Unwritable(#[from] serde_saphyr::SerializeError),
}

/// What would make it so again.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportedManifest {
    /// In YAML. In place of a secret stands the name of a variable.
    pub manifest: String,
}

/// `GET /v1/export`
pub async fn show(State(app): State<App>, caller: Caller) -> ApiResult<Found<ExportedManifest>> {
    let owner = Owner { user: caller.owner(), account: caller.account() };
    let manifest = of(&app.store, owner).await.map_err(|error| match error {
        ExportError::Store(error) => error.into(),
        error => {
            tracing::error!(%error, "an account cannot be exported");
            Problem::internal()
        }
    })?;
    Ok(Found(ExportedManifest { manifest }))
}

/// All that the owner of the installation has.
pub async fn run(store: &Store) -> Result<String, ExportError> {
    match owner::find(store).await? {
        Some(owner) => of(store, owner).await,
        None => written_down(Vec::new()),
    }
}

/// All sources with their connections, by name.
async fn of(store: &Store, owner: Owner) -> Result<String, ExportError> {
    written_down(apply::read(store, owner).await?)
}

fn written_down(mut present: Vec<Existing>) -> Result<String, ExportError> {
    present.sort_by(|one, other| one.source.name.cmp(&other.source.name));
    let sources: Vec<Json> = present.iter().map(written).collect();
    Ok(serde_saphyr::to_string(&json!({ "sources": sources }))?)
}

fn written(existing: &Existing) -> Json {
    let Existing { source, connections } = existing;
    let mut fields = source_fields(source, &|_| variable(&[&source.name, "signing secret"]));
    if let Some(Json::Object(config)) = fields.get_mut("config") {
        hide(config, &format!("{} config", source.name));
    }
    if !connections.is_empty() {
        let one = |connection: &Stored<Connection>| {
            let value = |name: &str, value: &str| {
                let lower = name.to_ascii_lowercase();
                match SECRETIVE.iter().any(|part| lower.contains(part)) {
                    true => variable(&[&source.name, &connection.name, name]),
                    false => value.into(),
                }
            };
            let secret = |field: &str, _: &Secret| {
                variable(&[&source.name, &connection.name, "auth", &apart(field)])
            };
            connection_fields(connection, Dialect::File, &value, &secret)
        };
        let connections: Vec<Map> = connections.iter().map(one).collect();
        fields.insert("connections".to_owned(), json!(connections));
    }
    fields.into()
}

/// What is secret among the settings that a source's provider needs, by its name. `way` leads to
/// it, so that no two share a variable. As deep as the JSON, whose reader has a bound.
fn hide(config: &mut Map, way: &str) {
    for (name, value) in config.iter_mut() {
        hide_value(value, &format!("{way} {}", apart(name)), is_secretive(name));
    }
}

fn hide_value(value: &mut Json, way: &str, is_secret: bool) {
    match value {
        Json::String(text) if is_secret && !text.is_empty() => *value = variable(&[way]),
        Json::Object(inner) if is_secret => {
            for (name, value) in inner.iter_mut() {
                hide_value(value, &format!("{way} {}", apart(name)), true);
            }
        }
        Json::Object(inner) => hide(inner, way),
        Json::Array(items) => {
            for (place, item) in items.iter_mut().enumerate() {
                hide_value(item, &format!("{way} {place}"), is_secret);
            }
        }
        _ => {} // a number or a flag is how something is done, and would not be read back as one
    }
}

/// The settings of a source, as they are read back. `secret` says what stands for its secret.
pub(crate) fn source_fields(source: &Source, secret: &dyn Fn(&Secret) -> Json) -> Map {
    let hidden = secret;
    let mut config = source.config.clone();
    let (split, event_type) = (config.remove(split::SETTING), config.remove(EVENT_TYPE_SETTING));
    let secret = source.signing_secret.as_ref();
    let mut fields = Fields::default();
    fields.put("name", Some(&source.name));
    fields.put("provider", Some(&source.provider).filter(|name| *name != "custom"));
    fields.put("status", (source.status == source::Status::Paused).then_some("paused"));
    fields.put("signingSecret", secret.map(hidden));
    fields.put("verificationMode", source.verification_mode);
    fields.put("bodyBytesMax", source.body_bytes_max);
    fields.put("dedup", source.dedup_expression.as_ref());
    fields.put("eventType", event_type);
    fields.put("split", split);
    fields.put("customResponse", source.custom_response.as_ref());
    fields.put("config", Some(config).filter(|config| !config.is_empty()));
    fields.0
}

/// The settings of a connection, without its secret, which stays when it is not spoken of. `value`
/// says what stands for the value of a header, `secret` what for one in its auth.
pub(crate) fn connection_fields(
    connection: &Connection,
    dialect: Dialect,
    value: &dyn Fn(&str, &str) -> Json,
    secret: &dyn Fn(&str, &Secret) -> Json,
) -> Map {
    let called = |name| dialect.connection_field(name);
    let mut headers = Fields::default();
    for (name, text) in connection.headers.iter() {
        headers.put(name, Some(value(name, text)));
    }
    let method = Some(connection.method).filter(|method| *method != Method::default());
    let types = Some(&connection.event_types).filter(|types| !types.is_empty());
    let json = |text: &Option<String>| -> Option<Json> {
        text.as_deref().and_then(|text| serde_json::from_str(text).ok())
    };
    let order = Some(connection.pipeline_order).filter(|order| *order != PipelineOrder::default());
    let paused = connection.status == connection::Status::Paused;
    let inbox = connection.destination_type == DestinationType::Inbox;
    let mut fields = Fields::default();
    fields.put("name", Some(&connection.name));
    fields.put("destinationType", inbox.then_some(connection.destination_type));
    fields.put(called("url"), connection.destination_url.as_ref());
    fields.put("destinationConfig", connection.destination_config.as_ref().filter(|_| inbox));
    fields.put("status", paused.then_some("paused"));
    fields.put("method", method);
    fields.put("headers", Some(headers.0).filter(|headers| !headers.is_empty()));
    fields.put("auth", connection.auth.as_ref().and_then(|auth| written_auth(auth, secret)));
    fields.put("eventTypes", types);
    fields.put("filters", json(&connection.filters));
    fields.put("transform", json(&connection.transform));
    fields.put("pipelineOrder", order);
    fields.put(called("retry"), json(&connection.retry_config));
    fields.put("timeoutMs", connection.timeout_ms);
    fields.put("concurrency", connection.concurrency_max);
    fields.put("ratePerSecond", connection.rate_per_second_max);
    fields.put("ordering", connection.ordering_key.as_deref().map(|key| ordering(key, connection)));
    fields.0
}

/// Nothing for what cannot be read: it might be a secret from one end to the other.
fn written_auth(auth: &Secret, secret: &dyn Fn(&str, &Secret) -> Json) -> Option<Map> {
    Some(DestinationAuth::parse(auth.expose()).ok()?.written(secret))
}

/// `clientSecret` as `client_Secret`.
fn apart(field: &str) -> String {
    field
        .chars()
        .flat_map(|c| c.is_ascii_uppercase().then_some('_').into_iter().chain([c]))
        .collect()
}

fn ordering(key: &str, connection: &Connection) -> Json {
    match connection.ordering_policy.unwrap_or_default() {
        OrderingPolicy::Block => json!({ "key": key }),
        OrderingPolicy::Park => json!({ "key": key, "policy": "park" }),
        OrderingPolicy::Skip { after } => {
            json!({ "key": key, "policy": "skip", "skipAfter": after })
        }
    }
}

/// `{"$secret": "env:SHOP_SIGNING_SECRET"}`
fn variable(parts: &[&str]) -> Json {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let name: String = parts.join("_").chars().map(plain).collect();
    json!({ "$secret": format!("env:{name}") })
}

/// The fields of a map, in the order in which they are put; what is absent is left out.
#[derive(Default)]
struct Fields(Map);

impl Fields {
    fn put<T: Serialize>(&mut self, name: &str, value: Option<T>) {
        let value = value.and_then(|value| serde_json::to_value(value).ok());
        self.0.extend(value.map(|value| (name.to_owned(), value)));
    }
}

#[cfg(test)]
mod tests;
