//! `ferryhook login`: proves who we are once, and keeps a key for the next time.
//!
//! A password is asked for, used and forgotten: what is kept is an API key made for this command
//! line, which `logout` revokes.

mod prompt;

use std::io::Write;

use anyhow::ensure;
use ferryhook_api::auth::SignedIn;
use ferryhook_api::auth::login::{LoginAnswer, SecondFactorAsked};
use ferryhook_api::keys::KeyView;
use ferryhook_api::whoami::WhoAmI;
use ferryhook_core::Secret;
use ferryhook_core::key::Permissions;
use serde_json::json;

use super::columns::plain;
use super::{given, print_json, runtime};
use crate::cli::{Login, ServerFlags};
use crate::client::contexts::{Context, Contexts};
use crate::client::{Client, Failure, place};

pub fn run(asked: &Login) -> anyhow::Result<()> {
    runtime()?.block_on(log_in(asked))
}

async fn log_in(asked: &Login) -> anyhow::Result<()> {
    let server = match &asked.url {
        Some(url) => url.trim_end_matches('/').to_owned(),
        None => place::find(&ServerFlags::default()).await?.server,
    };
    let stranger = Client::new(&server, None)?;
    let (key, key_id) = match &asked.api_key {
        Some(key) => (Secret::new(given::secret(key)?), None),
        None => with_password(asked, &stranger).await?,
    };
    let me: WhoAmI = Client::new(&server, Some(key.clone()))?.get("/v1/whoami").await?;
    let name = asked.name.clone().unwrap_or_else(|| host(&server));
    ensure!(!name.is_empty(), "a login needs a name");
    let mut contexts = Contexts::load()?;
    let context = Context {
        server: server.clone(),
        api_key: key,
        key_id,
        account: Some(me.account_name.clone()),
    };
    contexts.contexts.insert(name.clone(), context);
    contexts.current = Some(name.clone());
    let file = contexts.save()?;
    if asked.json {
        return print_json(&json!({ "context": name, "server": server, "account": me.account_id }));
    }
    let account = plain(&me.account_name);
    let mut out = std::io::stdout().lock();
    writeln!(out, "logged in to {server} as {} of {account}", me.role)?;
    Ok(writeln!(out, "  the key is in {}, context {name}", file.display())?)
}

/// A key for this command line, and its id.
async fn with_password(
    asked: &Login,
    stranger: &Client,
) -> anyhow::Result<(Secret, Option<String>)> {
    let email = match &asked.email {
        Some(email) => email.clone(),
        None => prompt::line("E-mail: ")?,
    };
    let password = prompt::hidden("Password: ")?;
    let body = json!({ "email": email, "password": password });
    let wrong = |failure| wrong(failure, stranger.server());
    let answer = stranger.post("/v1/auth/login", &body).await.map_err(wrong)?;
    let signed_in: SignedIn = match answer {
        LoginAnswer::In(signed_in) => *signed_in,
        LoginAnswer::SecondFactor(SecondFactorAsked { second_factor, .. }) => {
            let code = match &asked.code {
                Some(code) => code.clone(),
                None => prompt::line("Code of your app: ")?,
            };
            let body = json!({ "secondFactor": second_factor, "code": code });
            stranger.post("/v1/auth/login/totp", &body).await.map_err(wrong)?
        }
    };
    let token = Secret::new(signed_in.access_token);
    let person = Client::new(stranger.server(), Some(token))?;
    let key = make_key(&person).await;
    end_session(&person).await;
    let KeyView { key, key_id, .. } = key?;
    Ok((Secret::new(key.unwrap_or_default()), Some(key_id.to_string())))
}

async fn make_key(person: &Client) -> Result<KeyView, Failure> {
    let me: WhoAmI = person.get("/v1/whoami").await?;
    // As much as they may themselves; a key that could more is not given out.
    let widest = [Permissions::Admin, Permissions::Write, Permissions::Read];
    let permissions = widest.into_iter().find(|scope| scope.role() <= me.role);
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let name = format!("ferryhook on {host}");
    let body = json!({ "name": name, "permissions": permissions });
    person.post("/v1/api-keys", &body).await
}

/// The key takes its place. One that stays open ends by itself.
async fn end_session(person: &Client) {
    let sessions: Result<serde_json::Value, _> = person.get("/v1/auth/sessions").await;
    let sessions = sessions.unwrap_or_default();
    let is_ours = |session: &&serde_json::Value| session["isCurrent"] == true;
    let list = sessions["data"].as_array().cloned().unwrap_or_default();
    if let Some(id) = list.iter().find(is_ours).and_then(|own| own["sessionId"].as_str()) {
        let _ = person.delete(&format!("/v1/auth/sessions/{id}")).await;
    }
}

/// Not the words for a key.
fn wrong(failure: Failure, server: &str) -> Failure {
    match failure {
        Failure::NotSignedIn { .. } => Failure::BadLogin { server: server.to_owned() },
        other => other,
    }
}

fn host(server: &str) -> String {
    let host = server.split("://").last().unwrap_or_default();
    host.split('/').next().unwrap_or_default().to_owned()
}
