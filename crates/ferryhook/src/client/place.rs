//! Which server a command speaks to, and with which key.
//!
//! The server: `--server`, FERRYHOOK_URL, the context, the server of this machine, and at last
//! where one would be if it ran. The key: `--api-key`, FERRYHOOK_API_KEY, or the one that belongs
//! to that server and to no other.

use std::path::Path;

use anyhow::{Context as _, bail};
use ferryhook_core::Secret;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::contexts::Contexts;
use super::local::{self, Local};
use super::{Client, Failure, errands};
use crate::cli::{ServerFlags, WhereFlags};
use crate::config::{Config, Flags, Origin, StoreKind, Values};
use crate::desk::orders::Asked;
use crate::desk::{self};

const USUAL: &str = "http://127.0.0.1:8080";

/// Ours in the environment. They are no settings of a server.
pub const URL_VARIABLE: &str = "FERRYHOOK_URL";
pub const KEY_VARIABLE: &str = "FERRYHOOK_API_KEY";
pub const CONTEXT_VARIABLE: &str = "FERRYHOOK_CONTEXT";

/// A server and how one is known there.
#[derive(Debug, Clone)]
pub struct Place {
    pub server: String,
    pub proof: Option<Secret>,
    /// The context it comes from, if it does.
    pub context: Option<String>,
}

/// What a command works on.
#[derive(Debug)]
pub enum Whom {
    Server(Box<Client>),
    /// The data itself, through the server that has it open or alone.
    Data(Box<(Config, Values)>),
}

impl Whom {
    /// Whoever has the store open answers, or we do.
    pub async fn ask<T: DeserializeOwned>(&self, asked: Asked) -> anyhow::Result<T> {
        match self {
            Self::Server(client) => understood(errands::run(client, asked).await?),
            Self::Data(data) => desk::ask(&data.0, &data.1, asked).await,
        }
    }

    /// The same without opening data that no server has open; `None` when nobody is there.
    pub async fn ask_server<T: DeserializeOwned>(&self, asked: Asked) -> anyhow::Result<Option<T>> {
        match self {
            Self::Server(client) => understood(errands::run(client, asked).await?).map(Some),
            Self::Data(data) => desk::ask_server(&data.0, &data.1, asked).await,
        }
    }

    /// Where work waits for a server that is not there.
    pub fn unattended(&self) -> Option<&Path> {
        match self {
            Self::Data(data) if data.0.store == StoreKind::Embedded => Some(&data.0.data),
            _ => None,
        }
    }
}

fn understood<T: DeserializeOwned>(answer: Value) -> anyhow::Result<T> {
    serde_json::from_value(answer).context("the answer is not understood")
}

/// Asks whomever the flags mean.
pub async fn ask<T: DeserializeOwned>(flags: &WhereFlags, asked: Asked) -> anyhow::Result<T> {
    whom(flags).await?.ask(asked).await
}

/// Connects a command that always needs a server.
pub async fn client(flags: &ServerFlags) -> anyhow::Result<Client> {
    let place = find(flags).await?;
    Ok(Client::new(&place.server, place.proof)?)
}

pub async fn find(flags: &ServerFlags) -> anyhow::Result<Place> {
    let contexts = Contexts::load()?;
    let key = flags.api_key.clone().or_else(|| variable(KEY_VARIABLE)).map(Secret::new);
    let named = flags.context.clone().or_else(|| variable(CONTEXT_VARIABLE));
    let context = match &named {
        Some(name) => {
            let found = contexts.contexts.get_key_value(name);
            let known: Vec<_> = contexts.contexts.keys().cloned().collect();
            Some(found.ok_or_else(|| {
                Failure::not_found(match known.is_empty() {
                    true => format!("there is no context {name:?}; `ferryhook login` makes one"),
                    false => format!("there is no context {name:?}; there is {}", known.join(", ")),
                })
            })?)
        }
        None => contexts.current(),
    };
    let server = flags.server.clone().or_else(|| variable(URL_VARIABLE));
    let server = server.map(|server| server.trim_end_matches('/').to_owned());
    let context = context
        .filter(|(_, context)| server.as_ref().is_none_or(|server| *server == context.server));
    if let Some((name, context)) = context {
        let proof = key.unwrap_or_else(|| context.api_key.clone());
        let (server, proof) = (context.server.clone(), Some(proof));
        return Ok(Place { server, proof, context: Some(name.clone()) });
    }
    if key.is_some() && server.is_some() {
        return Ok(Place { server: server.unwrap_or_default(), proof: key, context: None });
    }
    let here =
        here().await?.filter(|here| server.as_ref().is_none_or(|server| *server == here.url));
    Ok(match here {
        Some(Local { url, key: own }) => {
            Place { server: url, proof: Some(key.unwrap_or(own)), context: None }
        }
        None => {
            let server = server.unwrap_or_else(|| USUAL.to_owned());
            Place { server, proof: key, context: None }
        }
    })
}

/// For commands that can also do without a server. Whatever is said on the command line counts
/// most, then what the environment says, then the file of the installation, then the login.
pub async fn whom(flags: &WhereFlags) -> anyhow::Result<Whom> {
    let (flags, store) = (&flags.server, &flags.store.0);
    let store_flag = store.settings.keys().next();
    let server_flag = flags.server.is_some() || flags.context.is_some();
    if let (Some(setting), true) = (store_flag, server_flag) {
        bail!(
            "either a server or a store: --server and --context do not go with the setting {setting}"
        );
    }
    let data = Box::new(Config::load(store)?);
    let (config, values) = &*data;
    if store_flag.is_some() || store.config.is_some() {
        return Ok(Whom::Data(data));
    }
    let in_environment = [URL_VARIABLE, KEY_VARIABLE, CONTEXT_VARIABLE];
    let is_asked = server_flag
        || flags.api_key.is_some()
        || in_environment.iter().any(|name| variable(name).is_some());
    let has_place = ["data", "store"].iter().any(|key| *values.origin(key) != Origin::Default);
    if !is_asked && has_place {
        return Ok(Whom::Data(data));
    }
    if is_asked || Contexts::load()?.current().is_some() {
        return Ok(Whom::Server(Box::new(client(flags).await?)));
    }
    // Nothing here, and one elsewhere on this machine: that is meant.
    if !config.data.exists()
        && let Some(noted) = local::noted()
        && let Some(Local { url, key }) = local::ask(&noted).await.ok().flatten()
    {
        return Ok(Whom::Server(Box::new(Client::new(&url, Some(key))?)));
    }
    Ok(Whom::Data(data))
}

/// The server that has this directory's data open, or the last `dev`.
async fn here() -> anyhow::Result<Option<Local>> {
    let (config, _) = Config::load(&Flags::default())
        .context("to find a server on this machine its configuration is read")?;
    // What does not answer is not there: a server of an earlier version, for one.
    if let Some(local) = local::ask(&config.data).await.ok().flatten() {
        return Ok(Some(local));
    }
    match local::noted() {
        Some(noted) => Ok(local::ask(&noted).await.ok().flatten()),
        None => Ok(None),
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
