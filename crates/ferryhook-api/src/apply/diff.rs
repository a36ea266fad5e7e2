//! The difference between what is stored and what is wanted, for one source at a time.
//!
//! Reads and writes nothing; new ids, secrets and the time come from [`Env`].

use ferryhook_core::connection::{self, DestinationType, PipelineOrder};
use ferryhook_core::dedup::EVENT_TYPE_SETTING;
use ferryhook_core::handshake::brings_secret;
use ferryhook_core::secret::Previous;
use ferryhook_core::source::{self, ConnectionType};
use ferryhook_core::{Connection, Env, Id, Map, Secret, Source, Timestamp, split};
use ferryhook_store::Stored;
use ferryhook_store::repositories::Edit;
use serde::Serialize;
use serde_json::Value as Json;

use super::Existing;
use super::outcome::{Change, Thing, What};
use crate::manifest::{ConnectionSpec, Destination, SourceSpec};
use crate::owner::Owner;

/// What to write, in this order, and what to say about it.
#[derive(Debug, Default)]
pub(super) struct Difference {
    pub(super) edits: Vec<Edit>,
    pub(super) changes: Vec<Change>,
    pub(super) left: Vec<Thing>,
    pub(super) unchanged: usize,
}

pub(super) fn source(
    spec: &SourceSpec,
    was: Option<&Existing>,
    owner: Owner,
    prune: bool,
    env: &Env,
) -> Difference {
    let mut difference = Difference::default();
    let wanted = wanted_source(spec, was.map(|was| &was.source.record), owner, env);
    match was {
        None => {
            difference.created(Thing::source(&wanted), None);
            difference.edits.push(Edit::CreateSource(wanted.clone()));
        }
        Some(Existing { source, .. }) => {
            if difference.compared(Thing::source(&wanted), &source.record, &wanted) {
                difference.edits.push(Edit::ReplaceSource(source.clone(), wanted.clone()));
            }
        }
    }
    let present = was.map_or(&[][..], |was| &was.connections);
    for spec in &spec.connections {
        let was = present.iter().find(|connection| connection.name == spec.name);
        difference.connection(spec, was, &wanted, env);
    }
    for was in present {
        let named = spec.connections.iter().any(|spec| spec.name == was.name);
        match (named, prune) {
            (true, _) => {}
            (false, true) => difference.delete_connection(&wanted, was, env.now()),
            (false, false) => difference.left.push(Thing::connection(&wanted, was)),
        }
    }
    difference
}

/// Its connections first: a deleted source is not found again, and they would be left over.
pub(super) fn removal(was: Option<&Existing>, env: &Env) -> Difference {
    let mut difference = Difference::default();
    let Some(Existing { source, connections }) = was else { return difference };
    for connection in connections {
        difference.delete_connection(source, connection, env.now());
    }
    let status = source::Status::Deleted;
    let now = Source { status, updated_at: env.now(), ..source.record.clone() };
    difference.deleted(Thing::source(&now));
    difference.edits.push(Edit::ReplaceSource(source.clone(), now));
    difference
}

/// The edits of [`removal`].
pub(crate) fn removal_edits(was: &Existing, env: &Env) -> Vec<Edit> {
    removal(Some(was), env).edits
}

impl Difference {
    fn connection(
        &mut self,
        spec: &ConnectionSpec,
        was: Option<&Stored<Connection>>,
        source: &Source,
        env: &Env,
    ) {
        // What is on its way to a destination cannot be fetched, nor the other way round.
        let other = was.filter(|was| was.destination_type != spec.destination.sort());
        if let Some(other) = other {
            self.delete_connection(source, other, env.now());
        }
        let was = was.filter(|_| other.is_none());
        let wanted = wanted_connection(spec, was.map(|was| &was.record), source, env);
        let thing = Thing::connection(source, &wanted);
        match was {
            None => {
                let signs = spec.destination.sort() == DestinationType::Http;
                let made_up = signs && spec.signing_secret.is_none();
                self.created(thing, made_up.then(|| wanted.signing_secret.clone()));
                self.edits.push(Edit::CreateConnection(wanted));
            }
            Some(was) => {
                if self.compared(thing, &was.record, &wanted) {
                    self.edits.push(Edit::ReplaceConnection(was.clone(), wanted));
                }
            }
        }
    }

    fn delete_connection(&mut self, source: &Source, was: &Stored<Connection>, now: Timestamp) {
        let status = connection::Status::Deleted;
        let gone = Connection { status, updated_at: now, ..was.record.clone() };
        self.deleted(Thing::connection(source, &gone));
        self.edits.push(Edit::ReplaceConnection(was.clone(), gone));
    }

    fn created(&mut self, thing: Thing, signing_secret: Option<Secret>) {
        let (what, fields) = (What::Created, Vec::new());
        self.changes.push(Change { what, thing, fields, signing_secret });
    }

    fn deleted(&mut self, thing: Thing) {
        let (what, fields) = (What::Deleted, Vec::new());
        self.changes.push(Change { what, thing, fields, signing_secret: None });
    }

    /// Notes what differs; whether anything does.
    fn compared<T: Serialize>(&mut self, thing: Thing, was: &T, now: &T) -> bool {
        let fields = differing(was, now);
        let differs = !fields.is_empty();
        if differs {
            let what = What::Changed;
            self.changes.push(Change { what, thing, fields, signing_secret: None });
        } else {
            self.unchanged += 1;
        }
        differs
    }
}

pub(crate) fn wanted_source(
    spec: &SourceSpec,
    was: Option<&Source>,
    owner: Owner,
    env: &Env,
) -> Source {
    let now = env.now();
    let was = was.cloned().unwrap_or_else(|| new_source(owner, env));
    // Where the provider brings it, the file need not have it.
    let brought = was.signing_secret.clone().filter(|_| brings_secret(&spec.provider));
    let signing_secret = spec.signing_secret.clone().or(brought);
    let previous_secrets = match &was.signing_secret {
        Some(old) if signing_secret.as_ref().is_some_and(|new| new != old) => {
            Previous::after_rotation(old.clone(), &was.previous_secrets, now)
        }
        // Without a secret nothing is verified, and nothing old is honoured either.
        _ if signing_secret.is_none() => Vec::new(),
        _ => was.previous_secrets.clone(),
    };
    Source {
        name: spec.name.clone(),
        provider: spec.provider.clone(),
        status: spec.status.unwrap_or(was.status),
        signing_secret,
        previous_secrets,
        verification_mode: spec.verification_mode,
        body_bytes_max: spec.body_bytes_max,
        dedup_expression: spec.dedup_expression.clone(),
        custom_response: spec.custom_response.clone(),
        config: spec.config.clone(),
        updated_at: now,
        ..was
    }
}

fn new_source(owner: Owner, env: &Env) -> Source {
    let now = env.now();
    Source {
        id: Id::new(env),
        user_id: owner.user,
        account_id: owner.account,
        created_by: owner.user,
        name: String::new(),
        provider: String::new(),
        connection_type: ConnectionType::Webhook,
        status: source::Status::Active,
        config: Default::default(),
        signing_secret: None,
        previous_secrets: Vec::new(),
        signing_algorithm: None,
        verification_mode: None,
        body_bytes_max: None,
        dedup_expression: None,
        custom_response: None,
        event_count: 0,
        last_event_at: None,
        last_sync_at: None,
        sync_status: None,
        created_at: now,
        updated_at: now,
    }
}

pub(crate) fn wanted_connection(
    spec: &ConnectionSpec,
    was: Option<&Connection>,
    source: &Source,
    env: &Env,
) -> Connection {
    let now = env.now();
    let is_new = was.is_none();
    let was = was.cloned().unwrap_or_else(|| new_connection(source, env));
    let signing_secret = spec.signing_secret.clone().unwrap_or(was.signing_secret.clone());
    let previous_secrets = match !is_new && signing_secret != was.signing_secret {
        true => Previous::after_rotation(was.signing_secret, &was.previous_secrets, now),
        false => was.previous_secrets,
    };
    let status = spec.status.unwrap_or(was.status);
    spec.rules.given_to(Connection {
        name: spec.name.clone(),
        status,
        // It says why nobody asked for the status; now somebody has.
        status_reason: was.status_reason.filter(|_| status == was.status),
        destination_type: spec.destination.sort(),
        destination_url: spec.destination.url().map(str::to_owned),
        destination_config: config(&spec.destination),
        method: spec.method,
        headers: spec.headers.clone(),
        auth: spec.auth.clone(),
        signing_secret,
        previous_secrets,
        retry_config: spec.retry_config.clone(),
        timeout_ms: spec.timeout_ms,
        concurrency_max: spec.concurrency_max,
        rate_per_second_max: spec.rate_per_second_max,
        ordering_key: spec.ordering.as_ref().map(|ordering| ordering.key.clone()),
        ordering_policy: spec.ordering.as_ref().map(|ordering| ordering.policy),
        updated_at: now,
        ..was
    })
}

/// With what was left out, so that the same wish is the same record.
fn config(destination: &Destination) -> Option<Map> {
    let Destination::Inbox(settings) = destination else { return None };
    let group = ("group".to_owned(), settings.group.as_str().into());
    Some(Map::from_iter([group, ("maxLeases".to_owned(), settings.leases_max.into())]))
}

pub(crate) fn new_connection(source: &Source, env: &Env) -> Connection {
    let now = env.now();
    Connection {
        id: Id::new(env),
        source_id: source.id,
        user_id: source.user_id,
        account_id: source.account_id,
        name: String::new(),
        status: connection::Status::Active,
        status_reason: None,
        destination_type: DestinationType::Http,
        destination_url: None,
        destination_config: None,
        method: connection::Method::default(),
        headers: Default::default(),
        auth: None,
        signing_secret: Secret::generate(env),
        previous_secrets: Vec::new(),
        event_types: Vec::new(),
        filters: None,
        transform: None,
        pipeline_order: PipelineOrder::default(),
        retry_config: None,
        timeout_ms: None,
        concurrency_max: None,
        rate_per_second_max: None,
        ordering_key: None,
        ordering_policy: None,
        delivery_count: 0,
        failure_count: 0,
        created_at: now,
        updated_at: now,
    }
}

/// The fields in which two records differ, as the file calls them. Going by the stored form, so
/// that a field added later is not forgotten here.
fn differing<T: Serialize>(was: &T, now: &T) -> Vec<String> {
    let (was, now) = (form(was), form(now));
    let mut fields: Vec<String> = now
        .keys()
        .chain(was.keys().filter(|name| !now.contains_key(*name)))
        .filter(|name| was.get(*name) != now.get(*name))
        .filter_map(|name| called(name))
        .map(str::to_owned)
        .collect();
    fields.dedup();
    fields
}

/// The stored attributes, with the fields that are kept among a source's settings beside them.
fn form(record: &impl Serialize) -> Map {
    let Ok(Json::Object(mut form)) = serde_json::to_value(record) else { return Map::new() };
    for field in [split::SETTING, EVENT_TYPE_SETTING] {
        let setting =
            form.get_mut("config").and_then(|config| config.as_object_mut()?.remove(field));
        form.extend(setting.map(|value| (field.to_owned(), value)));
    }
    form
}

/// What the file calls a stored attribute; nothing for those that only follow others.
fn called(attribute: &str) -> Option<&str> {
    Some(match attribute {
        "updatedAt" | "previousSecrets" | "statusReason" => return None,
        "dedupExpression" => "dedup",
        "destinationUrl" => "url",
        "retryConfig" => "retry",
        "concurrencyMax" => "concurrency",
        "ratePerSecondMax" => "ratePerSecond",
        "orderingKey" | "orderingPolicy" => "ordering",
        same => same,
    })
}
