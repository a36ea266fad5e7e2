//! Writes into a new data directory what the measured server is to find there: an owner without
//! limits, one source that leads nowhere, and sources that lead to the sink.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use ferryhook_core::key::{Permissions, PlainKey};
use ferryhook_core::{
    Account, Connection, Env, Headers, Id, Key, Map, Member, Secret, Source, Timestamp, User,
    account, connection, key, member, source, user,
};
use ferryhook_store::Store;
use ferryhook_store::engine::embedded::{Embedded, EmbeddedConfig};
use futures_util::future::try_join_all;

/// Written at the same time, so that they share their syncs.
const TOGETHER: usize = 256;

/// Where letters can be sent.
#[derive(Debug)]
pub struct Doors {
    /// Kept, and brought nowhere.
    pub kept: Arc<[String]>,
    /// Brought to the sink; one path for each source.
    pub delivered: Arc<[String]>,
}

pub async fn configure(
    data: &Path,
    sink: SocketAddr,
    sources: usize,
    env: &Env,
) -> anyhow::Result<Doors> {
    let engine = Embedded::open(EmbeddedConfig::new(data), env.clone())?;
    let store = Store::new(Arc::new(engine), env.clone());
    let owner = Owner::sign_up(&store, env).await?;
    let kept = owner.source("Bench, kept", env);
    store.sources().create(&kept).await?;
    let all = owner.ways(&store, sources, sink, env).await?;
    let path = |source: &Source| format!("/in/{}", source.id);
    Ok(Doors {
        kept: [path(&kept)].into(),
        delivered: all.iter().map(|(source, _)| path(source)).collect(),
    })
}

/// Who everything belongs to.
#[derive(Debug)]
pub struct Owner {
    pub user: Id<User>,
    pub account: Id<Account>,
    pub now: Timestamp,
}

impl Owner {
    pub async fn sign_up(store: &Store, env: &Env) -> anyhow::Result<Self> {
        let owner = Self { user: Id::new(env), account: Id::new(env), now: env.now() };
        let (user, account, member) = owner.records();
        store.users().sign_up(&user, &account, &member).await.context("cannot make the owner")?;
        Ok(owner)
    }

    /// Makes sources, each with its connection to the sink.
    pub async fn ways(
        &self,
        store: &Store,
        count: usize,
        sink: SocketAddr,
        env: &Env,
    ) -> anyhow::Result<Vec<(Source, Connection)>> {
        let all: Vec<_> = (0..count).map(|number| self.way(number, sink, env)).collect();
        for some in all.chunks(TOGETHER) {
            let sources = some.iter().map(|(source, _)| source);
            try_join_all(sources.map(|new| async { store.sources().create(new).await })).await?;
            let connections = some.iter().map(|(_, connection)| connection);
            try_join_all(connections.map(|new| async { store.connections().create(new).await }))
                .await?;
        }
        Ok(all)
    }

    /// One that may do everything: a key that may only read, or only write, would be refused half
    /// of what is asked.
    pub async fn key(&self, store: &Store, name: &str, env: &Env) -> anyhow::Result<PlainKey> {
        let plain = PlainKey::generate(env);
        let key = Key {
            id: Id::new(env),
            user_id: self.user,
            account_id: self.account,
            name: name.to_owned(),
            hash: plain.hash(),
            prefix: plain.prefix(),
            permissions: Permissions::Admin,
            operations: None,
            status: key::Status::Active,
            last_used_at: None,
            expires_at: None,
            created_at: self.now,
            metadata: None,
        };
        store.keys().create(&key).await.context("cannot make a key")?;
        Ok(plain)
    }

    fn records(&self) -> (User, Account, Member) {
        let user = User {
            id: self.user,
            email: "bench@localhost".to_owned(),
            name: "Bench".to_owned(),
            first_name: None,
            last_name: None,
            password_hash: None,
            status: user::Status::Active,
            email_verified: true,
            two_factor_enabled: false,
            totp_secret: None,
            totp_last_step: None,
            recovery_codes: Vec::new(),
            session_epoch: 0,
            plan: "self_hosted".to_owned(),
            stripe_customer_id: None,
            stripe_sub_id: None,
            github_id: None,
            google_id: None,
            usage_this_month: 0,
            usage_period_start: self.now,
            last_login_at: None,
            preferences: None,
            default_account_id: self.account,
            created_at: self.now,
            updated_at: self.now,
        };
        let account = Account {
            id: self.account,
            parent_account_id: None,
            path: "/bench/".to_owned(),
            kind: account::AccountType::Conglomerate,
            name: "Bench".to_owned(),
            level: 0,
            status: account::Status::Active,
            child_count: 0,
            key_count: None,
            user_id: self.user,
            created_at: self.now,
            updated_at: self.now,
            metadata: None,
            settings: None,
        };
        let member = Member {
            user_id: self.user,
            account_id: self.account,
            role: member::Role::Admin,
            permissions: Map::new(),
            is_default: true,
            joined_at: self.now,
            invited_by: None,
            status: member::Status::Active,
        };
        (user, account, member)
    }

    /// A source with one connection to the sink, as a user would have it: nothing is turned off.
    pub fn way(&self, number: usize, sink: SocketAddr, env: &Env) -> (Source, Connection) {
        let source = self.source(&format!("Bench {number}"), env);
        let connection = Connection {
            id: Id::new(env),
            source_id: source.id,
            user_id: self.user,
            account_id: self.account,
            name: "Sink".to_owned(),
            status: connection::Status::Active,
            status_reason: None,
            destination_type: connection::DestinationType::Http,
            destination_url: Some(format!("http://{sink}/")),
            destination_config: None,
            method: connection::Method::Post,
            headers: Headers::default(),
            auth: None,
            signing_secret: Secret::new("whsec_YmVuY2htYXJrIGJlbmNobWFyayBiZW5jaG1hcms="),
            previous_secrets: Vec::new(),
            event_types: Vec::new(),
            filters: None,
            transform: None,
            pipeline_order: connection::PipelineOrder::default(),
            retry_config: None,
            timeout_ms: None,
            concurrency_max: None,
            rate_per_second_max: None,
            ordering_key: None,
            ordering_policy: None,
            delivery_count: 0,
            failure_count: 0,
            created_at: self.now,
            updated_at: self.now,
        };
        (source, connection)
    }

    pub fn source(&self, name: &str, env: &Env) -> Source {
        Source {
            id: Id::new(env),
            user_id: self.user,
            account_id: self.account,
            created_by: self.user,
            name: name.to_owned(),
            provider: "custom".to_owned(),
            connection_type: source::ConnectionType::Webhook,
            status: source::Status::Active,
            config: Map::new(),
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
            created_at: self.now,
            updated_at: self.now,
        }
    }
}
