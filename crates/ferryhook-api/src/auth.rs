//! Signing in: how people prove who they are, and how they stop.
//!
//! One file for each thing they can do. All that end with somebody signed in go through
//! [`entry`], which begins the session in the same commit that uses up what was proved.
//!
//! Nobody learns from here whether an address has an account: not by what is answered, and not by
//! how long it takes. Guessing is slowed down by [`brake`].

pub mod brake;
pub mod change_password;
pub mod forgot_password;
pub mod login;
pub mod logout;
pub mod me;
pub mod oauth;
pub mod pages;
pub mod refresh;
pub mod reset_password;
pub mod second_factor;
pub mod sessions;
pub mod setup;
pub mod signup;
pub mod verify_email;
pub mod view;

pub(crate) mod cookies;
pub(crate) mod entry;
pub(crate) mod errands;
pub(crate) mod reproof;

use std::str::FromStr;
use std::sync::Arc;

use ferryhook_core::Env;
use ferryhook_net::client::Outbound;
use ferryhook_net::{Guard, Tasks};
use ferryhook_store::Store;

use crate::mail::Mailer;
use crate::passwords::Passwords;
use crate::tokens::Tokens;
use brake::Brake;
use errands::Errands;
use oauth::Platforms;

pub use view::{Profile, SignedIn};

/// What signing in needs, shared by all of it.
#[derive(Debug)]
pub struct Auth {
    pub tokens: Tokens,
    pub passwords: Passwords,
    pub mail: Mailer,
    pub settings: Settings,
    pub(crate) brake: Brake,
    pub(crate) errands: Errands,
    pub(crate) platforms: Platforms,
}

/// What the operator has decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub signup: Signup,
    /// Where people reach this server, without a slash at the end: for links, and for platforms
    /// that send people back.
    pub base_url: String,
    /// Somebody who signs up has to show that the address is theirs before they get in. Only
    /// where letters reach people, or nobody could.
    pub verifies_addresses: bool,
    /// In tokens; the same on every server that shares the store.
    pub issuer: String,
    pub github: Option<oauth::github::Settings>,
    pub google: Option<oauth::google::Settings>,
}

/// Who may make an account here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signup {
    Open,
    /// Whoever was invited into an account.
    Invite,
    Off,
}

impl FromStr for Signup {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "open" => Ok(Self::Open),
            "invite" => Ok(Self::Invite),
            "off" => Ok(Self::Off),
            _ => Err(()),
        }
    }
}

/// Where it stands in the world.
#[derive(Clone)]
pub struct Surroundings {
    pub store: Store,
    pub env: Env,
    pub tasks: Tasks,
    pub mail: Mailer,
    /// Calls the platforms that people sign in through. They are the operator's choice.
    pub outbound: Arc<dyn Outbound>,
    pub guard: Guard,
}

impl Auth {
    pub fn new(settings: Settings, around: Surroundings) -> Self {
        let Surroundings { store, env, tasks, mail, outbound, guard } = around;
        Self {
            tokens: Tokens::new(store, env.clone(), &settings.issuer),
            passwords: Passwords::new(env.clone()),
            mail,
            brake: Brake::new(env.clone()),
            errands: Errands::new(tasks),
            platforms: Platforms::new(&settings, &outbound, &guard, env),
            settings,
        }
    }
}

impl std::fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Surroundings").field("mail", &self.mail).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
