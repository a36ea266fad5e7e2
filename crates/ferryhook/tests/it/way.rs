//! Lays a way from a source to a destination into a data directory that no server has open.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use ferryhook_core::{
    Connection, Env, Headers, Id, Map, Secret, Source, User, connection, samples,
};
use ferryhook_store::Store;
use ferryhook_store::engine::embedded::{Embedded, EmbeddedConfig};

/// What deliveries are signed with.
pub const SECRET: &str = "whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cw==";

#[derive(Debug, Clone)]
pub struct Way {
    /// A way to nowhere has none: its events are kept.
    pub destination: Option<SocketAddr>,
    pub concurrency: Option<u16>,
}

impl Way {
    pub fn to(destination: SocketAddr) -> Self {
        Self { destination: Some(destination), concurrency: None }
    }

    pub fn to_nowhere() -> Self {
        Self { destination: None, concurrency: None }
    }
}

/// Makes the directory if need be; the owner's plan has no limits.
pub fn lay(data: &Path, way: &Way) -> Id<Source> {
    let env = Env::system();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let engine = Embedded::open(EmbeddedConfig::new(data), env.clone()).unwrap();
        let store = Store::new(Arc::new(engine), env.clone());
        let user = User { plan: "self_hosted".to_owned(), ..samples::user() };
        store.users().sign_up(&user, &samples::account(), &samples::member()).await.unwrap();
        let source = source();
        store.sources().create(&source).await.unwrap();
        if let Some(destination) = way.destination {
            let connection = connection(destination, way.concurrency);
            store.connections().create(&connection).await.unwrap();
        }
        source.id
    })
}

/// It takes everything.
fn source() -> Source {
    Source {
        provider: "custom".to_owned(),
        config: Map::new(),
        signing_secret: None,
        previous_secrets: Vec::new(),
        signing_algorithm: None,
        verification_mode: None,
        body_bytes_max: None,
        dedup_expression: None,
        custom_response: None,
        ..samples::source()
    }
}

/// It wants everything, and is tried again soon and often.
fn connection(destination: SocketAddr, concurrency: Option<u16>) -> Connection {
    let waits = [[0; 4].as_slice(), &[1; 26]].concat();
    Connection {
        status_reason: None,
        destination_url: Some(format!("http://{destination}/hook")),
        destination_config: None,
        method: connection::Method::Post,
        headers: Headers::default(),
        auth: None,
        signing_secret: Secret::new(SECRET),
        previous_secrets: Vec::new(),
        event_types: Vec::new(),
        filters: None,
        transform: None,
        retry_config: Some(format!(r#"{{"schedule":{waits:?},"jitterPercent":0}}"#)),
        timeout_ms: None,
        concurrency_max: concurrency,
        rate_per_second_max: None,
        ordering_key: None,
        ..samples::connection()
    }
}
