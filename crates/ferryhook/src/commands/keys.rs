//! `ferryhook keys rotate-master`: wraps every data key with another master key.
//!
//! The server that has the data open does it, because it has to go on with the new key; without
//! one, and on DynamoDB, this command does it itself.

use std::io::{IsTerminal, Write};

use anyhow::{Context, bail};
use ferryhook_core::sealing::MasterKey;
use ferryhook_core::{Env, Secret};
use ferryhook_store::vault::Rotated;

use super::{print_json, runtime};
use crate::cli::RotateMaster;
use crate::config::{Config, MasterKeySetting, NEW_MASTER_KEY_VARIABLE, StoreKind};
use crate::control::{self, Request};
use crate::master::{self, Rotation};
use crate::storage;

pub fn rotate_master(asked: &RotateMaster) -> anyhow::Result<()> {
    let (config, values) = Config::load(&asked.flags.0)?;
    if config.store == StoreKind::Memory {
        let origin = values.origin("store");
        bail!("the memory store (setting store, from {origin}) keeps no keys to rotate");
    }
    let new = new_key(asked)?;
    let is_given = new.is_some();
    let rotation = runtime()?.block_on(rotate(&config, new))?;
    match asked.json {
        true => print_json(&rotation),
        false => Ok(write!(std::io::stdout().lock(), "{}", told(&rotation, &config, is_given))?),
    }
}

fn new_key(asked: &RotateMaster) -> anyhow::Result<Option<MasterKey>> {
    let variable = std::env::var(NEW_MASTER_KEY_VARIABLE).ok().filter(|text| !text.is_empty());
    match (&asked.new_key_file, variable) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => {
            bail!("--new-key-file and {NEW_MASTER_KEY_VARIABLE} are both given; give one of them")
        }
        (Some(file), None) => Ok(Some(master::read(file)?.current)),
        (None, Some(text)) => {
            let key = MasterKey::parse(&text);
            Ok(Some(key.with_context(|| format!("{NEW_MASTER_KEY_VARIABLE} cannot be used"))?))
        }
    }
}

async fn rotate(config: &Config, new: Option<MasterKey>) -> anyhow::Result<Rotation> {
    let text: Option<Secret> = new.as_ref().map(|key| key.text().clone());
    if config.store == StoreKind::Embedded
        && let Some(rotation) = control::ask(&config.data, &Request::RotateMaster(text)).await?
    {
        return Ok(rotation);
    }
    let env = Env::system();
    let storage = storage::open_existing(config, env.clone()).await?;
    let is_watched = std::io::stderr().is_terminal();
    let rotation = storage.keys.rotate(new, &env, |so_far| {
        if is_watched {
            show(so_far);
        }
    });
    let rotation = rotation.await;
    if is_watched {
        eprintln!();
    }
    rotation
}

/// One line that counts up. Nobody there is fine too.
fn show(Rotated { rewrapped, already }: Rotated) {
    let mut out = std::io::stderr().lock();
    let _ = write!(out, "\r{} data keys, {rewrapped} wrapped anew", rewrapped + already);
    let _ = out.flush();
}

/// What was done, and what is to be done next.
fn told(rotation: &Rotation, config: &Config, is_given: bool) -> String {
    let Rotation { former_id, master_id, rewrapped, already, file, retired } = rotation;
    let mut told = format!(
        "the master key is {master_id} now, and was {former_id}: {rewrapped} data keys wrapped \
         anew, {already} were already\n"
    );
    if let Some(file) = file {
        told += &format!("{file} is the new key; there is nothing else to do\n");
    }
    if let Some(retired) = retired {
        told += &format!("backups made before need {retired}; delete it when none is left\n");
    }
    if file.is_none() {
        told += match (&config.master_key, is_given) {
            (_, false) => "next: take the former keys out of the configuration of every server\n",
            (MasterKeySetting::File(_), true) => {
                "next: put the new key into the file that masterKeyFile names, before the next start\n"
            }
            (_, true) => {
                "next: set FERRYHOOK_MASTER_KEY or FERRYHOOK_MASTER_KEY_FILE to the new key, before \
                 the next start\n"
            }
        };
        told += "keep the old key for as long as there are backups from before\n";
    }
    if config.store == StoreKind::Dynamodb {
        told += "servers that knew only the old key while this ran may have made keys under it: \
                 restart them with both, the new one first, and run this again until nothing is \
                 wrapped anew\n";
    }
    told
}
