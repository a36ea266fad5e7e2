//! `ferryhook api-keys`: keys for programs, made and shown once, listed, revoked.

use std::io::Write;

use ferryhook_api::keys::KeyView;
use ferryhook_core::{Env, Key};
use serde_json::{Value, json};

use super::columns::{Columns, or_dash, plain, word};
use super::{print_json, runtime};
use crate::cli::{ApiKeyCreate, ApiKeyRevoke, ApiKeysCommand, ListAll, Moment, Scope};
use crate::client::{Failure, place};

/// Keys that are looked at for one name.
const KEYS_MAX: usize = 1000;

pub fn run(command: &ApiKeysCommand) -> anyhow::Result<()> {
    runtime()?.block_on(async {
        match command {
            ApiKeysCommand::List(asked) => list(asked).await,
            ApiKeysCommand::Create(asked) => create(asked).await,
            ApiKeysCommand::Revoke(asked) => revoke(asked).await,
        }
    })
}

async fn list(asked: &ListAll) -> anyhow::Result<()> {
    let client = place::client(&asked.with.server).await?;
    let mut page = client.list::<KeyView>("/v1/api-keys", asked.limit.into()).await?;
    page.data.sort_by_key(|key| key.created_at);
    if asked.with.json {
        return print_json(&json!({ "data": page.data, "hasMore": page.has_more }));
    }
    let mut columns =
        Columns::new(["KEY", "NAME", "BEGINS", "MAY", "STATUS", "LAST USED", "EXPIRES"]);
    for key in &page.data {
        columns.line([
            key.key_id.to_string(),
            key.name.clone(),
            key.key_prefix.clone(),
            key.permissions.to_string(),
            word(&key.status),
            or_dash(key.last_used_at),
            or_dash(key.expires_at),
        ]);
    }
    Ok(write!(std::io::stdout().lock(), "{}", columns.show())?)
}

async fn create(asked: &ApiKeyCreate) -> anyhow::Result<()> {
    let client = place::client(&asked.with.server).await?;
    let now = Env::system().now();
    let expires_at = asked.expires.map(|moment| match moment {
        Moment::At(at) => at,
        Moment::Ago(lasts) => now + lasts,
    });
    let permissions = match asked.permissions {
        Scope::Read => "read",
        Scope::Write => "write",
        Scope::Admin => "admin",
    };
    let mut body = json!({ "name": asked.name, "permissions": permissions });
    if let Some(at) = expires_at {
        body["expiresAt"] = json!(at);
    }
    if !asked.operation.is_empty() {
        body["operations"] = json!(asked.operation);
    }
    let key: Value = client.post("/v1/api-keys", &body).await?;
    if asked.with.json {
        return print_json(&key);
    }
    let word = |name: &str| plain(key[name].as_str().unwrap_or_default());
    let mut out = std::io::stdout().lock();
    writeln!(out, "created {} ({}), may {permissions}", word("name"), word("keyId"))?;
    writeln!(out, "  {} (not shown again)", word("key"))?;
    Ok(())
}

async fn revoke(asked: &ApiKeyRevoke) -> anyhow::Result<()> {
    let client = place::client(&asked.with.server).await?;
    let id = match asked.key.parse::<ferryhook_core::Id<Key>>() {
        Ok(id) => id,
        Err(_) => {
            let keys: Vec<KeyView> = client.list("/v1/api-keys", KEYS_MAX).await?.data;
            let usable = |key: &&KeyView| {
                key.name == asked.key && key.status == ferryhook_core::key::Status::Active
            };
            let named: Vec<_> = keys.iter().filter(usable).collect();
            match &named[..] {
                [key] => key.key_id,
                [] => Err(Failure::not_found(format!("no active key is called {:?}", asked.key)))?,
                _ => Err(Failure::not_found(format!(
                    "more than one key is called {:?}; use its id",
                    asked.key
                )))?,
            }
        }
    };
    let gone = client.delete(&format!("/v1/api-keys/{id}")).await;
    gone.map_err(|failure| failure.about("key", id))?;
    match asked.with.json {
        true => print_json(&json!({ "revoked": id })),
        false => Ok(writeln!(std::io::stdout(), "revoked {id}")?),
    }
}
