//! `ferryhook whoami`: who the server takes us for.

use std::io::Write;

use ferryhook_api::whoami::WhoAmI;

use super::columns::plain;
use super::{print_json, runtime};
use crate::cli::Whoami;
use crate::client::{Client, place};

pub fn run(asked: &Whoami) -> anyhow::Result<()> {
    runtime()?.block_on(show(asked))
}

async fn show(asked: &Whoami) -> anyhow::Result<()> {
    let place = place::find(&asked.server).await?;
    let client = Client::new(&place.server, place.proof)?;
    let me: WhoAmI = client.get("/v1/whoami").await?;
    if asked.json {
        return print_json(&me);
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "server   {}", client.server())?;
    if let Some(context) = place.context {
        writeln!(out, "context  {}", plain(&context))?;
    }
    writeln!(out, "account  {} ({})", plain(&me.account_name), me.account_id)?;
    writeln!(out, "user     {}", me.user_id)?;
    writeln!(out, "role     {}", me.role)?;
    if let Some(key) = me.key_id {
        writeln!(out, "key      {key}")?;
    }
    Ok(())
}
