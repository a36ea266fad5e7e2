//! Flags of the commands that speak to a server.

use clap::Args;

#[derive(Debug, Clone, Default, Args)]
pub struct ServerFlags {
    /// The server to ask, such as https://hooks.example.com [env: FERRYHOOK_URL] [default: where
    /// you have logged in, or the server on this machine]
    #[arg(long, value_name = "URL", help_heading = "Server")]
    pub server: Option<String>,
    /// The key to show it; others on this machine can see flags, so the variable is better [env:
    /// FERRYHOOK_API_KEY]
    #[arg(long, value_name = "KEY", help_heading = "Server")]
    pub api_key: Option<String>,
    /// A login other than the current one [env: FERRYHOOK_CONTEXT]
    #[arg(long, value_name = "NAME", help_heading = "Server")]
    pub context: Option<String>,
}
