//! What can be typed about logins.

use clap::{Args, Subcommand};

use super::ServerFlags;

#[derive(Debug, Args)]
pub struct Login {
    /// The server, such as https://hooks.example.com [env: FERRYHOOK_URL]
    #[arg(value_name = "URL")]
    pub url: Option<String>,
    /// Log in with this key instead of a password; - reads it from the standard input.
    #[arg(long, value_name = "KEY")]
    pub api_key: Option<String>,
    /// Who logs in; asked for where it is not given.
    #[arg(long, value_name = "ADDRESS", conflicts_with = "api_key")]
    pub email: Option<String>,
    /// The code of the second factor; asked for where one is needed.
    #[arg(long, value_name = "CODE", conflicts_with = "api_key")]
    pub code: Option<String>,
    /// What this login is called; the name of the server if nothing is said.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Logout {
    /// Which login; the current one if nothing is said.
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

#[derive(Debug, Args)]
pub struct Whoami {
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub server: ServerFlags,
}

#[derive(Debug, Subcommand)]
pub enum ContextCommand {
    /// List the servers you have logged in to.
    List {
        /// Say it as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Make a login the current one.
    Use {
        #[arg(value_name = "NAME")]
        name: String,
    },
}
